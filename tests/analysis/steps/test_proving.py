"""Stretches of steps: closed forms, and matrices that are not positive for all lengths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.analysis.steps.proving import Steps, is_definite, least_lipschitz_bound
from ircert.analysis.steps.step_map import StepMap
from ircert.geometry.place import Place
from ircert.ir.ops.exp import Exp


def linear(rows: list[list[float]]) -> StepMap:
    return StepMap(ircert.load([(np.array(rows), None)]))


@pytest.mark.rule("SS-3")
def test_one_sided_constants() -> None:
    place = Place.everywhere(np.zeros(2))
    for rows, longest in (([[-1.0, 0.0], [0.0, 3.0]], 1.0), ([[-1.0, 8.0], [0.0, -1.0]], 1.0)):
        step = linear(rows)
        assert Steps(step.at(longest * 0.99), place, 0).hold_everywhere()
        assert Steps(step.at(longest * 0.99), place, 0).hold_on(place.ball(1.0))
        assert not Steps(step.at(longest * 1.01), place, 0).hold_everywhere()
        assert not Steps(step.at(longest * 1.01), place, 0).hold_on(place.ball(1.0))


@pytest.mark.rule("SS-3")
def test_no_stretch_crosses_a_singular_step() -> None:
    place, step = Place.everywhere(np.zeros(2)), linear([[-1.0, 0.0], [0.0, -1.0]])
    assert not Steps(step.at(1.25), place, 0, step.at(0.75)).hold_everywhere()
    assert not Steps(step.at(1.25), place, 0, step.at(0.75)).hold_on(place.ball(1.0))
    assert Steps(step.at(1.75), place, 0, step.at(1.25)).hold_everywhere()  # -I serves both


@pytest.mark.rule("SS-2")
def test_lipschitz_constants() -> None:
    build = ircert.Builder(2)
    assert least_lipschitz_bound(
        build.graph(build.affine(build.relu(build.input), [[0.0, 2.0], [1.0, 0.0]]))
    ) == pytest.approx(2)
    assert least_lipschitz_bound(build.graph(build.affine(build.input, np.zeros((2, 2))))) == Fraction(0)
    assert least_lipschitz_bound(build.graph(build.node(Exp(), build.input))) is None


def test_definite() -> None:
    assert is_definite(np.array([[1.0, 5.0], [-5.0, 1.0]]))
    assert not is_definite(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert not is_definite(-np.eye(3))
