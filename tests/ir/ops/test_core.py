"""The core operations by hand: sizes, floats and rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from ircert.errors import OpError
from ircert.ir.ops import Add, Affine, Concat, Input, Op, Relu, Select
from ircert.ir.ops.base import SizeMismatch
from ircert.ir.rational import Rationals

X = [Fraction(1, 3), Fraction(-2)]
WEIGHT, BIAS = np.array([[1.0, 0.5], [0.0, -1.0], [3.0, 0.0]]), np.array([0.25, 0.0, -1.0])


@pytest.mark.parametrize(
    ("op", "operands", "wanted"),
    [
        (Relu(), [X], [Fraction(1, 3), 0]),
        (Add(), [X, X, X], [1, -6]),
        (Concat(), [X, X[:1]], [*X, Fraction(1, 3)]),
        (Select(np.array([1, 0, 1])), [X], [-2, Fraction(1, 3), -2]),
        (Affine(WEIGHT, BIAS), [X], [Fraction(1, 3) - 1 + Fraction(1, 4), 2, 0]),
        (Affine(csr_array(WEIGHT), BIAS), [X], [Fraction(1, 3) - 1 + Fraction(1, 4), 2, 0]),
    ],
    ids=["relu", "add", "concat", "select", "dense", "sparse"],
)
def test_values(op: Op, operands: list[list[Fraction]], wanted: list[Fraction]) -> None:
    assert op.core
    assert op.exact(*(Rationals.of_fractions(given) for given in operands)).fractions() == wanted
    floats = op.evaluate(*(np.array([[float(v) for v in given]] * 2) for given in operands))
    assert floats.tolist() == [pytest.approx([float(v) for v in wanted])] * 2
    assert op.size(*map(len, operands)) == len(wanted)


@pytest.mark.parametrize(
    ("op", "sizes"), [(Add(), (2, 3)), (Affine(WEIGHT), (3,)), (Select(np.array([2])), (2,))], ids=lambda v: str(v)[:8]
)
def test_operands_that_do_not_fit(op: Op, sizes: tuple[int, ...]) -> None:
    with pytest.raises(SizeMismatch):
        op.size(*sizes)


def test_a_map_without_its_bias() -> None:
    product = Affine(WEIGHT, BIAS).exact_product(Rationals.of_fractions(X))
    assert product.fractions() == [Fraction(1, 3) - 1, 2, 1]


def test_equal_attributes_make_equal_operations_however_they_are_stored() -> None:
    assert Affine(WEIGHT, BIAS) == Affine(csr_array(WEIGHT), BIAS)
    assert Affine(WEIGHT, BIAS) != Affine(WEIGHT)
    assert len({Relu(), Relu(), Add()}) == 2


def test_core_operations_are_not_lowered() -> None:
    with pytest.raises(TypeError, match="core operation"):
        Relu().lower(None, "x")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [lambda: Input(0), lambda: Affine(WEIGHT, BIAS[:2]), lambda: Select(np.array([-1]))])
def test_wrong_attributes(make: object) -> None:
    with pytest.raises(OpError):
        make()  # type: ignore[operator]
