"""Balls by degree: maps without a fold whose sheets overlap, and maps that turn too much for one matrix."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.cutting.smooth_degree import SmoothDegree
from ircert.engines.boxes.falsification.turned_points import proved_sign
from ircert.engines.boxes.problem.outcome import Counts
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import HardSwish
from tests.engines.boxes.making import setting_of

HALF = {Norm.INF: 0.5, Norm.ONE: 1.0, Norm.TWO: math.sqrt(0.5)}
"""How far from 1 the nearest z and i z lie: (1 ± i) / 2."""


def fourth_power(more: int = 0) -> Graph:
    """z -> z^4 / 16 of complex numbers |z| < 2, beside other inputs: 6 hard_swish(x) - 3 x is x² for |x| <= 3."""
    build = ircert.Builder(2 + more)

    def squared(z: str) -> str:
        parts = build.affine(z, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
        squares = build.affine(build.node(HardSwish(), parts), 6 * np.eye(4))
        squares = build.add(squares, build.affine(parts, -3 * np.eye(4)))
        return build.affine(squares, [[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.5, -0.5]])

    powers = squared(squared(build.affine(build.input, 0.5 * np.eye(2, 2 + more))))
    return build.graph(build.concat(powers, build.select(build.input, range(2, 2 + more))) if more else powers)


def test_the_map_is_what_it_says() -> None:
    z = np.random.default_rng(0).uniform(-1.2, 1.2, (50, 2))
    expected = (z[:, 0] + 1j * z[:, 1]) ** 4 / 16
    assert np.allclose(fourth_power()(z), np.stack([expected.real, expected.imag], axis=1), atol=1e-12)


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("norm", list(HALF))
def test_sheets_that_overlap_without_a_fold(norm: Norm) -> None:
    """Determinants are positive but at 0, and z and i z have one image."""
    below = 0.8 if norm == "1" else 0.97  # 0 itself has the same distance in norm 1
    for share, expected in ((below, "closed"), (1.03, "stopped")):
        counts = Counts()
        setting = setting_of(fourth_power(), [1.0, 0.0], norm=norm)
        degree = SmoothDegree(setting, proved_sign(setting, setting.center), counts, lambda: None)
        assert degree.advance(share * HALF[norm], lambda: counts.effort > 20_000) == expected  # noqa: B023
        assert degree.reached == (share * HALF[norm] if expected == "closed" else 0.0)


@pytest.mark.rule("E-18")
def test_a_search_goes_up_to_the_overlap() -> None:
    result = ircert.certify(fourth_power(), [1.0, 0.0], engine="boxes", time_limit=30.0, tol=1e-2)
    assert 0.45 < result.radius.certified <= 0.5
    assert result.radius.refuted is None or result.radius.refuted >= 0.5
    assert "boundary" in result.radius.certified.evidence


@pytest.mark.rule("E-18")
def test_a_wrong_sign_closes_nothing() -> None:
    counts, setting = Counts(), setting_of(fourth_power(), [1.0, 0.0])
    degree = SmoothDegree(setting, -proved_sign(setting, setting.center), counts, lambda: None)
    assert degree.advance(0.1, lambda: counts.effort > 3_000) == "stopped"


@pytest.mark.rule("E-18")
@pytest.mark.parametrize(
    ("low", "expected"), [([-9.0, 0.0], "closed"), ([-9.0, -0.6], "stopped"), ([0.6, -9.0], "closed")]
)
def test_the_boundary_is_that_of_the_ball_cut_with_the_domain(low: list[float], expected: str) -> None:
    """Half of a disc, without any z and i z, and discs cut where they still have them, or no longer."""
    counts = Counts()
    setting = setting_of(fourth_power(), [1.0, 0.0], norm=Norm.TWO, low=low)
    degree = SmoothDegree(setting, proved_sign(setting, setting.center), counts, lambda: None)
    assert degree.advance(0.72 if low[0] > 0 else 0.8, lambda: counts.effort > 20_000) == expected
