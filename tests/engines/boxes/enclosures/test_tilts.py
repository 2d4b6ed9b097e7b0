"""Slopes that move with the point: what is said of boxes holds at points, and is of second order."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.bounds.curves import bounds_of
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.geometry.norm import Norm
from ircert.ir.ops import CURVES, Curve
from ircert.ir.ops.curves import Tanh
from tests.engines.boxes.enclosures.test_smooth import CURVES as SOME
from tests.engines.boxes.enclosures.test_smooth import setting


@pytest.mark.rule("IR-20")
@pytest.mark.parametrize("kind", CURVES, ids=lambda kind: kind.kind)
def test_lines_lie_around_derivatives(kind: type[Curve]) -> None:
    bounds, rng = bounds_of(kind()), np.random.default_rng(0)
    low = np.r_[rng.normal(size=3000) * 4, rng.uniform(-60, 60, 500)]
    high = low + np.exp(rng.uniform(-12, 2, len(low)))
    lines = bounds.slope_lines(low, high)
    for share in (0.0, 1.0, *rng.random(12)):
        z = np.clip(low + share * (high - low), low, high)
        least, most = bounds.at(z)[1]
        line = lines.slope * z + lines.shift
        assert (np.maximum(least - line, line - most) <= lines.error + 1e-15).all()
    (left, *_), (right, *_) = bounds.tables.tails
    short = (high - low < 1e-2) & np.isfinite(lines.error) & (low > left) & (high < right)
    assert (lines.error[short] <= 2 * (high - low)[short] ** 2 + 1e-12).mean() > 0.9


@pytest.mark.rule("E-17")
@pytest.mark.parametrize("norm", [Norm.INF, Norm.TWO])
@pytest.mark.parametrize("curve", SOME, ids=lambda op: op.kind)
def test_slopes_of_points_follow_their_boxes(curve: Curve, norm: Norm) -> None:
    asked, rng, radius = setting(curve, norm), np.random.default_rng(3), 1.5
    middle = asked.center + rng.uniform(-1, 1, (12, 3))
    half = 10.0 ** rng.uniform(-4, 0.3, (12, 3))
    known = enclose(Batches(asked), middle - half, middle + half, radius, tilted=True)
    slopes = Slopes.on_boxes(known, np.zeros((3, 12), dtype=bool))
    tilts = slopes.tilts
    assert tilts is not None
    for k in range(12):
        t = rng.uniform(-1, 1, (200, 3))
        points = middle[k] + half[k] * t
        inside = norm.lengths(points - asked.center) < radius
        true = asked.derivatives(points[inside])
        assert not (np.abs(true - slopes.middle[:, k]) > slopes.spare[:, k] + 1e-11).any()  # no number: too steep
        moved = slopes.middle[:, k] + t[inside] @ tilts.rates[:, :, k].T
        assert not (np.abs(true - moved) > tilts.rests[:, k] + 1e-11).any()


def test_what_is_left_is_of_second_order() -> None:
    asked = setting(Tanh())
    network, rests = Batches(asked), []
    for half in (1e-2, 1e-3):
        known = enclose(network, asked.center[None] - half, asked.center[None] + half, 9.0, tilted=True)
        tilts = Slopes.on_boxes(known, np.zeros((3, 1), dtype=bool)).tilts
        assert tilts is not None
        rests.append(tilts.rests[asked.curved].max())
    assert rests[1] < 0.02 * rests[0]
    plain = enclose(network, asked.center[None] - 0.1, asked.center[None] + 0.1, 9.0)
    assert plain.tilts is None
