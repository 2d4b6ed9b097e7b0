"""Boxes are left out or shrunk, and no point with the value is lost."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.fibres import Aim
from ircert.engines.boxes.problem.boxes import Boxes
from ircert.ir.ops import Curve
from tests.engines.boxes.enclosures.test_smooth import CURVES, setting


@pytest.mark.rule("FS-4")
@pytest.mark.parametrize("curve", CURVES, ids=lambda op: op.kind)
def test_points_with_the_value_stay(curve: Curve) -> None:
    asked, rng = setting(curve), np.random.default_rng(0)
    network = Batches(asked)
    points = asked.center + rng.uniform(-1, 1, (40, 3))
    half = 10.0 ** rng.uniform(-5, 0, (40, 1)) * np.ones(3)
    shift = rng.uniform(-1, 1, (40, 3)) * half
    boxes = Boxes(points + shift - half, points + shift + half)
    known = enclose(network, boxes.low, boxes.high, np.inf)
    for k, value in enumerate(asked.outputs(points)):
        aim = Aim.between(value, value)
        assert not aim.misses(network, known)[k]
        left = aim.shrunk(network, known, boxes)
        assert (left.low[k] - 1e-12 <= points[k]).all()
        assert (points[k] <= left.high[k] + 1e-12).all()


@pytest.mark.rule("FS-4")
def test_small_boxes_are_shrunk_and_others_left_out() -> None:
    asked = setting(CURVES[0])
    network = Batches(asked)
    center, half = asked.center, 1e-3
    boxes = Boxes(center[None] - half, center[None] + 0.9 * half)
    known = enclose(network, boxes.low, boxes.high, np.inf)
    value = asked.outputs(center[None])[0]
    left = Aim.between(value, value).shrunk(network, known, boxes)
    assert (left.widths < 0.2 * boxes.widths).all()
    assert Aim.between(value + 1.0, value + 1.0).misses(network, known).all()


def test_what_is_beyond_floats_cuts_nothing_off() -> None:
    asked = setting(CURVES[0])
    network = Batches(asked)
    boxes = Boxes(np.full((1, 3), -1.5e308), np.full((1, 3), 1.5e308))
    with np.errstate(all="ignore"):
        known = enclose(network, boxes.low, boxes.high, np.inf)
    left = Aim.between(np.zeros(3), np.zeros(3)).shrunk(network, known, boxes)
    assert (left.low == boxes.low).all()
    assert (left.high == boxes.high).all()
