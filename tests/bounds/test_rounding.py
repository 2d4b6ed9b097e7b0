"""Pseudo-inverses of floats, where there are any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.bounds.rounding import between, left_inverse, pseudo_inverse

ENDLESS = [[np.inf, 5e-324, 5e-324], [np.inf, 5e-324, 5e-324], [-1.0, 1e160, 1e-320]]
"""LAPACK never comes to an end with this one."""


@pytest.mark.parametrize("matrix", [ENDLESS, [[np.nan]], [[[1.0]], [[np.inf]]]])
def test_what_is_not_finite_has_none(matrix: Any) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        pseudo_inverse(np.array(matrix))


def test_what_is_finite_has_one() -> None:
    assert pseudo_inverse(np.diag([2.0, 0.0])).tolist() == [[0.5, 0.0], [0.0, 0.0]]
    assert pseudo_inverse(np.array([[[2.0]], [[4.0]]])).ravel().tolist() == [0.5, 0.25]


@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_no_engine_asks_for_one_that_there_is_not(norm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of two finite bounds may be infinite."""
    real, asked = np.linalg.pinv, []

    def finite(matrix: Any, *more: Any, **options: Any) -> Any:
        asked.append(bool(np.isfinite(matrix).all()))
        return real(np.where(np.isfinite(matrix), matrix, 0.0), *more, **options)

    monkeypatch.setattr(np.linalg, "pinv", finite)
    weight = [[1.7e308, 5e-324, 5e-324], [1.7e308, 5e-324, 5e-324], [-1.0, 1e160, 1e-320]]
    other = [([[1.0, 2.0, -1.0], [0.5, -1.0, 1.0]], None), ([[1.0, 1.0]], None)]
    ircert.certify(
        [(weight, None)],
        [-0.5, 2.0, -0.5],
        "transform",
        other=other,
        norm=norm,
        radius=2.0,
        engine="boxes",
        time_limit=1,
    )
    assert all(asked)


def test_middles_lie_between_and_are_the_bound_of_a_flat_side() -> None:
    flat = np.array([5e-324, -1.5e-323, 1.0, 1.7e308, -1.7e308])
    assert (between(flat, flat) == flat).all()
    low, high = np.array([0.0, 1e308, -1.7e308, 5e-324]), np.array([1.0, 1.5e308, -1e308, 1e-323])
    assert ((low <= between(low, high)) & (between(low, high) <= high)).all()


def test_left_inverses() -> None:
    rng = np.random.default_rng(0)
    for shape in ((5, 5), (7, 5)):
        matrix = rng.standard_normal(shape)
        assert left_inverse(matrix) @ matrix == pytest.approx(np.eye(5), abs=1e-10)
    singular = np.diag([1.0, 0.0])
    assert left_inverse(singular) == pytest.approx(singular), "as far as there is one"
    with pytest.raises(np.linalg.LinAlgError):
        left_inverse(np.full((2, 2), np.nan))
