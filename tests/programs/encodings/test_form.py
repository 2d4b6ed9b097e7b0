"""Linear forms: what they are at a point of the program, entry by entry."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from ircert.ir.arrays import Array
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form, exact_sum
from ircert.programs.program import Block, Origin

X, Y = Block("x", 0, 2), Block("y", 2, 1)


def at(form: Form, x: list[float], y: list[float]) -> list[float]:
    values = {X: np.array(x), Y: np.array(y)}
    return list(sum((term @ values[block] for block, term in form.terms.items()), form.constant))


def of(x: list[list[float]], y: list[list[float]], constant: list[float]) -> Form:
    return Form({X: csr_array(np.array(x)), Y: csr_array(np.array(y))}, np.array(constant))


MIXED = of([[1.0, 2.0], [0.0, -1.0]], [[3.0], [0.0]], [10.0, 20.0])


def test_maps_selections_sums_and_stacks() -> None:
    assert at(MIXED, [1.0, 1.0], [1.0]) == [16.0, 19.0]
    assert at(MIXED.mapped(np.array([[1.0, -1.0]]), np.array([0.5])), [1.0, 1.0], [1.0]) == [-2.5]
    assert at(MIXED.take(np.array([1, 1, 0])), [1.0, 1.0], [1.0]) == [19.0, 19.0, 16.0]
    assert at(MIXED.plus(Form.of(X), -2.0), [1.0, 1.0], [1.0]) == [14.0, 17.0]
    assert at(Form.stacked([Form.of(Y), MIXED, Form.fixed(np.array([7.0]))]), [1.0, 1.0], [1.0]) == [1, 16, 19, 7]


def test_which_forms_only_move_variables() -> None:
    assert Form.of(X).only_moves()
    assert Form.stacked([Form.of(X), Form.fixed(np.zeros(1)), Form.of(Y)]).only_moves()
    assert not Form.of(X).take(np.array([0, 0])).only_moves(), "a variable occurs twice"
    assert not MIXED.only_moves()
    assert not Form.of(X).mapped(np.eye(2), np.zeros(2)).only_moves()


@pytest.mark.parametrize(("second", "exact"), [(0.5, True), (2.0**-60, False)])
def test_sums_that_would_round_are_not_made(second: float, exact: bool) -> None:
    parts = [Form({X: csr_array(np.eye(2) * v)}, np.zeros(2)) for v in (1.0, second)]
    found = exact_sum(parts)
    assert (found is not None) is exact
    constants = [Form({X: csr_array(np.eye(2))}, np.array([v, 0.0])) for v in (1.0, second)]
    assert (exact_sum(constants) is not None) is exact


def rows_of(form: Form, rhs: Array) -> tuple[list[list[float]], list[float]]:
    build = ProgramBuilder()
    build.variables("x", 2, 0.0, 1.0)
    build.variables("y", 1, 0.0, 1.0)
    form.rows(build, "row", "<=", rhs)
    program = build.program()
    return program.matrix.toarray().tolist(), program.rhs.tolist()


def test_rows_have_the_constant_on_the_right() -> None:
    assert rows_of(MIXED, np.array([11.0, 0.0])) == ([[1.0, 2.0, 3.0], [0.0, -1.0, 0.0]], [1.0, -20.0])


def test_rows_without_variables_are_compared_at_once() -> None:
    assert rows_of(Form.fixed(np.array([1.0])), np.array([1.0])) == ([], [])
    with pytest.raises(ArithmeticError, match="do not hold"):
        rows_of(Form.fixed(np.array([1.0])), np.array([0.5]))


def test_constants_cancel_before_anything_rounds() -> None:
    build = ProgramBuilder()
    x = build.variables("x", 1, 0.0, 1.0)
    huge = Form({x: csr_array(np.eye(1))}, np.array([2.0**60]))
    huge.equals(build, "row", [Fraction(2**60) + Fraction(1, 4)], Origin("n"))
    assert build.program().rhs.tolist() == [0.25]
