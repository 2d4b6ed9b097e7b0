"""Completions of partial histories in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.reproduction.experiments.parts.completed_histories import HISTORY, PAPER
from ircert.reproduction.maps.brusselator_map import BrusselatorMap
from ircert.reproduction.maps.partial_history import CASES, Case, History

OTHER = History(a=0.8, b=1.7)


def test_the_ten_cases_are_all_choices_of_three() -> None:
    assert len({frozenset(case.given) for case in CASES}) == 10
    assert [case.number for case in CASES] == list(range(1, 11))
    assert CASES[9].name == "(x, x', y') ⇒ (y, τ)"


def test_a_step_is_that_of_the_map() -> None:
    x, y, t = 1.3, 0.7, 0.2
    row = OTHER.complete(np.array(x), np.array(y), np.array(t))
    np.testing.assert_allclose(row[3:], BrusselatorMap(OTHER.b, t, OTHER.a)([x, y]), rtol=1e-14)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.number))
def test_completions(case: Case) -> None:
    """Of random complex histories too: every root solves both equations and keeps what is given."""
    random = np.random.default_rng(case.number)
    for start in random.uniform(-2, 2, size=(50, 3)) + 0.5j * random.uniform(-1, 1, size=(50, 3)):
        row = OTHER.complete(*start)
        found = case.completions(OTHER, row)
        assert len(found) == case.most
        np.testing.assert_allclose(
            found[:, list(case.given)], np.tile(row[list(case.given)], (case.most, 1)), rtol=1e-6
        )
        assert np.abs(found - row).max(axis=1).min() < 1e-6


def test_the_jacobian_is_that_of_differences() -> None:
    h = 1e-6
    for point in np.random.default_rng(0).uniform([-1, -1, 0.05], [3, 3, 0.3], size=(20, 3)):
        rows = [(OTHER.complete(*(point + s)) - OTHER.complete(*(point - s))) / (2 * h) for s in h * np.eye(3)]
        np.testing.assert_allclose(OTHER.jacobian(point[None])[0], np.stack(rows, axis=1), atol=1e-7)


def test_only_real_completions_are_real() -> None:
    x, x1, y1 = PAPER[-1][0]
    assert len(CASES[9].completions(HISTORY, [x, 0, 0, x1, y1])) == 2
    assert len(CASES[9].real(HISTORY, [x, 0, 0, x1, y1])) == 0


def test_what_has_no_solution_has_no_completion() -> None:
    """At x = 0 the next x says nothing about y: the quotient does not exist."""
    assert len(CASES[2].completions(HISTORY, [0.0, 0, 0.1, 0.5, 0])) == 0
