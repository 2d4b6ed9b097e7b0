"""Balls in which few neurons switch, with many inputs."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.ball_secants import closed_by_secants
from ircert.engines.boxes.trees.phase_tree import Tools
from tests.engines.boxes.making import setting_of

SIZE = 24


def kinks(*factors: float, outputs: int = SIZE) -> ircert.Graph:
    """A (x + Σ a_k relu(w_k x) e_k) with w_k(e_k) = 1: the determinant is det A times that of the kinks, 1 + a_k each.

    The w_k are long, so that no C with sym(C J) positive definite is found by inverting one Jacobian.
    """
    rng, count = np.random.default_rng(1), len(factors)
    build = ircert.Builder(SIZE)
    rows = np.concatenate([np.eye(count), 30.0 * rng.standard_normal((count, SIZE - count))], axis=1)
    bent = build.relu(build.affine(build.input, rows))
    whole = build.add(build.input, build.affine(bent, np.eye(SIZE, count) * np.array(factors)))
    return build.graph(build.affine(whole, rng.standard_normal((outputs, SIZE))))


def tools_of(setting: Setting) -> Tools:
    return Tools.of(setting, Descent(setting, ExactMaps(setting)), Counts())


@pytest.mark.rule("E-2")
@pytest.mark.parametrize(
    ("factors", "good"), [((3.0,), True), ((-0.9,), True), ((-1.1,), False), ((2.0, -0.5, 1.0), True), ((2, -3), False)]
)
@pytest.mark.parametrize("outputs", [SIZE, SIZE + 2])
def test_corners_decide_about_kinks_through_the_centre(factors: tuple[float, ...], good: bool, outputs: int) -> None:
    tools = tools_of(setting_of(kinks(*factors, outputs=outputs), np.zeros(SIZE)))
    assert closed_by_secants(tools, 1.0) is good
    assert tools.counts.nodes == 1


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_searches_with_many_inputs_pass_a_kink_through_the_centre(norm: str | int) -> None:
    result = ircert.certify(kinks(3.0, -0.5), np.zeros(SIZE), norm=norm, engine="boxes", max_radius=1.0, time_limit=60)
    assert result.verdict == "certified"
    assert "secant" in result.radius.certified.evidence
