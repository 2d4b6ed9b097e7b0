"""Hunting in floats never leaves them: extreme weights, radii and centres give no points rather than errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier, _changes, falsify
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Violated
from tests.effort import some_of
from tests.engines.boxes.making import fold, setting_of

LARGEST = np.finfo(np.float64).max


def hunted(layers: Any, center: Any, problem: str, reach: float) -> Descent:
    setting = setting_of(ircert.load(layers), center, problem)
    left = iter(range(40))
    descent = Descent(setting, ExactMaps(setting), lambda: next(left, None) is not None)
    falsify(setting, descent, reach, 0)
    return descent


@pytest.mark.rule("E-1")
@pytest.mark.parametrize(
    ("scale", "center", "reach", "problem"),
    some_of(
        [1.0, 1e-300, 5e-324, 1e300], [0.0, 1.0, -LARGEST], [1.0, 1e300, 1e308, LARGEST], ["local", "pseudo"], every=4
    ),
)
def test_points_beyond_the_floats_are_left_out(scale: float, center: float, reach: float, problem: str) -> None:
    """scale * (|x1 - 1|, x2, x1 + x2): Newton's steps divide by the scale."""
    fold = [
        (scale * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), scale * np.array([-1.0, 1.0, 0.0, 0.0])),
        (np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0], [1.0, -1.0, 1.0, -1.0]]), None),
    ]
    for rows in (2, 3):
        outer = (fold[1][0][:rows], None)
        hunted([fold[0], outer], [center, 0.0], problem, reach)


@pytest.mark.rule("E-1")
def test_a_nearest_pair_beyond_the_floats_is_none() -> None:
    """The fold of |1e-10 x1 - 1e308| lies at 1e318: there is no ball that reaches it."""
    fold = [
        (np.array([[1e-10, 0.0], [-1e-10, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.array([-1e308, 1e308, 0.0, 0.0])),
        (np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]), None),
    ]
    setting = setting_of(ircert.load(fold), [0.0, 0.0])
    descent = Descent(setting, ExactMaps(setting))
    sides = np.array([-1, 1, 1, -1], dtype=np.int8), np.array([1, -1, 1, -1], dtype=np.int8)
    assert not descent.improve(*sides)
    assert descent.best is None


def test_of_points_beyond_folds_the_one_is_tried_whose_way_crosses_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond x1 = 1/2 all points are turned: the way to the farthest of these leaves the ball of radius 1 last."""
    setting = setting_of(fold(at=0.5), np.zeros(2))
    found, tried = Falsifier(setting, Descent(setting, ExactMaps(setting))), []
    monkeypatch.setattr(found, "try_point", lambda point, _: tried.append(point.tolist()))
    found.look(np.array([[0.4, 0.1], [0.55, 0.9], [0.98, 0.95], [0.6, 0.8]]), 2.0)
    assert tried == [[0.98, 0.95], [0.6, 0.8]]


def test_patterns_that_determinants_tell_apart_need_no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of(fold(at=0.5), np.zeros(2))
    descent = Descent(setting, ExactMaps(setting))
    off, on = np.full((2, setting.neurons), -1, dtype=np.int8)
    on[:] = 1
    with pytest.raises(Violated):
        Falsifier(setting, descent).try_patterns(off, on, 1.0)
    monkeypatch.setattr(Descent, "_measured", None)
    assert not Descent(setting, ExactMaps(setting)).improve(on, on)


@pytest.mark.rule("E-1")
def test_folds_where_the_other_outputs_stand_still_are_passed_by() -> None:
    """(x1 folded at -1, -2, ..., x2) and max(-x1 - 7/2, 0): folds up to -3 are no violations, the one at -4 is."""
    places = np.arange(1.0, 7.0)
    along = np.array([1.0, -1.0, *(2.0 * (-1.0) ** np.arange(6))])
    folded = [
        (np.outer([1.0, *[-1.0] * 7, 0.0, 0.0], [1.0, 0.0]) + np.outer([0.0] * 8 + [1.0, -1.0], [0.0, 1.0]),
         np.array([0.0, 0.0, *-places, 0.0, 0.0])),
        (np.array([[*along, 0.0, 0.0], [0.0] * 8 + [1.0, -1.0]]), None),
    ]  # fmt: skip
    other = [(np.array([[-1.0, 0.0]]), np.array([-3.5])), (np.array([[1.0]]), None)]
    both = ircert.stack(ircert.load(folded), ircert.load(other))
    setting = replace(setting_of(both, [0.25, 0.5], "transform"), constrained=2)
    steps = np.linspace(0.0, 6.0, 61)
    found = _changes(setting, Secants(setting), np.array([-1.0, 0.0]), steps)
    assert [0.25 - (low + high) / 2 for low, _, high in found] == pytest.approx([-4.0, -5.0], abs=0.1)
    descent = Descent(setting, ExactMaps(setting))
    falsify(setting, descent, 6.0, 0)
    assert descent.best is not None
