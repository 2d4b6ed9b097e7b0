"""Nearest points of polytopes, beside a solver that knows nothing of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from ircert.engines.boxes.falsification.nearest_points import nearest_points
from ircert.geometry.norm import Norm


def polytopes(rng: np.random.Generator, norm: Norm, count: int, rows: int, n: int) -> tuple[Any, Any, Any]:
    """Rows of dual length 1, most of which hold at 0; every other polytope has a plane."""
    slopes, planes = rng.normal(size=(count, rows, n)), rng.normal(size=(count, n + 1))
    slopes /= norm.dual.lengths(slopes)[:, :, None]
    planes /= norm.dual.lengths(planes[:, :-1])[:, None]
    planes[:, -1] = rng.uniform(-0.3, 0.3, count)
    planes[::2] = 0.0
    return slopes, rng.uniform(-0.2, 0.8, (count, rows)), planes


def least(norm: Norm, slopes: Any, heights: Any, plane: Any) -> float:
    """The distance, by linear programs or least squares; infinite beyond 1."""
    n = slopes.shape[1]
    equal = plane[None] if plane.any() else np.zeros((0, n + 1))
    if norm == Norm.TWO:
        rows = [
            {"type": "ineq", "fun": lambda v: slopes @ v + heights},
            {"type": "eq", "fun": lambda v: equal[:, :-1] @ v + equal[:, -1]},
        ]
        found = minimize(lambda v: v @ v, np.zeros(n), constraints=rows, method="SLSQP", tol=1e-11)
        length = np.sqrt(found.fun) if found.success else np.inf
    elif norm == Norm.ONE:
        both, same = np.c_[-slopes, slopes], np.c_[equal[:, :-1], -equal[:, :-1]]
        found = linprog(np.ones(2 * n), both, heights, same, -equal[:, -1])
        length = found.fun if found.status == 0 else np.inf
    else:
        unit, one = np.eye(n), np.ones((n, 1))
        table = np.block([[-slopes, np.zeros((len(slopes), 1))], [unit, -one], [-unit, -one]])
        same = np.c_[equal[:, :-1], np.zeros(len(equal))]
        sides = np.r_[heights, np.zeros(2 * n)]
        found = linprog(np.r_[np.zeros(n), 1.0], table, sides, same, -equal[:, -1], bounds=(None, None))
        length = found.fun if found.status == 0 else np.inf
    return float(length) if length <= 1.0 else np.inf


@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize(("rows", "n"), [(1, 1), (4, 2), (12, 3), (24, 5)])
def test_distances_are_those_of_solvers(rows: int, n: int, norm: Norm) -> None:
    slopes, heights, planes = polytopes(np.random.default_rng(rows), norm, 40, rows, n)
    found = nearest_points(norm, slopes, heights, planes)
    expected = [least(norm, *given) for given in zip(slopes, heights, planes, strict=True)]
    assert found.lengths == pytest.approx(expected, abs=1e-5)
    assert np.isfinite(found.lengths).any()


@pytest.mark.parametrize("norm", Norm)
def test_points_lie_in_their_polytopes_and_are_held_back_by_rows_that_are_zero(norm: Norm) -> None:
    slopes, heights, planes = polytopes(np.random.default_rng(0), norm, 200, 10, 4)
    found = nearest_points(norm, slopes, heights, planes)
    for k in np.flatnonzero(found.lengths < np.inf):
        values = slopes[k] @ found.points[k] + heights[k]
        assert values.min() > -1e-9
        assert abs(planes[k, :-1] @ found.points[k] + planes[k, -1]) < 1e-9
        assert norm.lengths(found.points[k]) == pytest.approx(found.lengths[k], abs=1e-9)
        held = found.holding[k][found.holding[k] >= 0]
        assert len(set(held)) == len(held)
        assert np.abs(values[held]).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("norm", Norm)
def test_without_rows_that_are_violated_the_nearest_point_is_zero(norm: Norm) -> None:
    found = nearest_points(norm, np.zeros((1, 1, 3)), np.ones((1, 1)), np.zeros((1, 4)))
    assert found.lengths.tolist() == [0.0]
    through = np.array([[1.0, 0.0, 0.0, 0.0]])
    found = nearest_points(norm, np.zeros((1, 1, 3)), np.ones((1, 1)), through)
    assert found.lengths == pytest.approx([0.0], abs=1e-9)
