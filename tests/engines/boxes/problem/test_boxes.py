"""Boxes and where they lie in a ball: every answer is safe."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.problem.boxes import Boxes, around, beyond, faces, farthest, inside, joined, nearest, trimmed
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Mask
from tests.engines.boxes.making import residual, setting_of
from tests.oracle.build import square

NORMS = tuple(Norm)


def test_halves_share_the_middle_of_one_side() -> None:
    boxes = Boxes(np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[4.0, 1.0], [2.0, 8.0]]))
    left, right = boxes.halves(np.array([0, 1]))
    assert left.high.tolist() == [[2.0, 1.0], [2.0, 5.0]]
    assert right.low.tolist() == [[2.0, 0.0], [1.0, 5.0]]
    assert np.array_equal(left.low, boxes.low)
    assert np.array_equal(right.high, boxes.high)
    assert boxes.widths.tolist() == [[4.0, 1.0], [1.0, 6.0]]


def test_some_and_all_of_them() -> None:
    boxes = Boxes(np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2) + 1)
    parts = [boxes.take(np.array([0])), boxes.take(np.array([False, True, True]))]
    assert [len(part) for part in parts] == [1, 2]
    assert np.array_equal(joined(parts).low, boxes.low)


@pytest.mark.parametrize("norm", NORMS)
def test_the_ball_without_its_boundary_is_inside(norm: Norm) -> None:
    setting = setting_of(ircert.load(square()), [0.0, 0.0], norm=norm, high=np.array([0.5, np.inf]))
    low = np.array([[-0.25, -0.25], [0.0, 0.0], [0.0, 0.0]])
    high = np.array([[0.25, 0.25], [0.5, 0.25], [0.25, 1.0]])
    assert inside(setting, Boxes(low, high), 1.0).tolist() == [True, False, False], "in; at the domain; at the ball"


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("size", [5e-324, 1e-310, 1.0, 1e300])
def test_distances_of_boxes_are_strict(size: float, norm: str) -> None:
    setting = setting_of(ircert.load(square()), [0.0, 0.0], norm=norm)
    corner = Boxes(np.array([[size, 0.0]]), np.array([[size, 0.0]]))
    assert 0 <= nearest(setting, corner)[0] < size < farthest(setting, corner)[0]


def _holding(boxes: Boxes, center: list[Fraction], steps: list[Fraction], scale: float) -> list[list[Mask]]:
    """For each coordinate and each step from the centre, which boxes hold it."""
    sides = zip(center, boxes.low.T.tolist(), boxes.high.T.tolist(), strict=True)
    return [
        [np.array([a <= c + s * Fraction(scale) <= b for a, b in zip(low, high, strict=True)]) for s in steps]
        for c, low, high in sides
    ]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("scale", [1e-310, 1.0, 1e150])
def test_trimmed_boxes_keep_all_points_of_the_ball(scale: float, norm: Norm) -> None:
    rng = np.random.default_rng(int(norm.power))
    center = scale * np.array([0.1, -0.2, 0.3])
    setting = setting_of(residual(rng, 3, 2), center, norm=norm)
    low = center + scale * rng.uniform(-1.2, 1.0, (80, 3))
    boxes = Boxes(low, low + scale * rng.uniform(0.0, 0.6, (80, 3)))
    found = trimmed(setting, boxes, scale)
    assert (found.low >= boxes.low).all()
    assert (found.high <= boxes.high).all()
    assert (found.widths < boxes.widths).any() == (norm != "inf")
    points = [sign * Fraction(a, b) for sign in (1, -1) for a, b in ((0, 1), (2, 7), (5, 7), (3, 5), (4, 5), (2, 5))]
    held, kept = (_holding(part, setting.exact_center, points, scale) for part in (boxes, found))
    met = 0
    for steps in product(range(len(points)), repeat=3):
        if norm.measure([points[k] for k in steps]) > 1:
            continue
        before, after = (
            np.logical_and.reduce([side[k] for side, k in zip(sides, steps, strict=True)]) for sides in (held, kept)
        )
        assert (after == before).all()
        met += int(before.sum())
    assert met > 10


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("scale", [1e-310, 1.0, 1e150])
def test_boxes_that_are_cut_keep_all_points_outside_of_the_ball(scale: float, norm: Norm) -> None:
    rng = np.random.default_rng(int(norm.power))
    center = scale * np.array([0.1, -0.2, 0.3])
    setting = setting_of(residual(rng, 3, 2), center, norm=norm)
    low = center + scale * rng.uniform(-1.2, 1.0, (200, 3))
    boxes = Boxes(low, low + scale * rng.uniform(0.0, 1.2, (200, 3)))
    found = beyond(setting, boxes, scale)
    assert ((boxes.low <= found.low) & (found.low <= found.high) & (found.high <= boxes.high)).all()
    cut = (found.widths < boxes.widths).sum(axis=1)
    assert (cut > 0).sum() > 10
    assert (cut <= (1 if norm == "inf" else 3)).all()
    points = [sign * Fraction(a, b) for sign in (1, -1) for a, b in ((0, 1), (2, 7), (5, 7), (1, 1), (6, 5), (7, 4))]
    held, kept = (_holding(part, setting.exact_center, points, scale) for part in (boxes, found))
    lost = 0
    for steps in product(range(len(points)), repeat=3):
        before, after = (
            np.logical_and.reduce([side[k] for side, k in zip(sides, steps, strict=True)]) for sides in (held, kept)
        )
        if norm.measure([points[k] for k in steps]) >= 1:
            assert (after == before).all()
        lost += int((before & ~after).sum())
    assert lost > 10


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("length", [10.0, 1e3, 1e7, 1e12, 1e200])
def test_ends_of_long_boxes_that_are_cut_off_lie_in_the_ball(length: float, norm: Norm) -> None:
    """Sums of sizes of which one is large have hardly a digit of the others."""
    rng = np.random.default_rng(0)
    setting = setting_of(residual(rng, 3, 2), np.zeros(3), norm=norm)
    far = rng.uniform(0.4, 0.5, (100, 3))
    far[:, 0] = length * rng.uniform(0.5, 1.0, 100)
    found = beyond(setting, Boxes(np.zeros((100, 3)), far), 1.0)
    cut = np.flatnonzero(found.low[:, 0] > 0)
    assert len(cut) > 10
    for k in cut:
        end = [Fraction(np.nextafter(found.low[k, 0], 0.0)), *map(Fraction, far[k, 1:])]
        assert norm.measure(end) <= 1


@pytest.mark.parametrize("norm", NORMS)
def test_a_ball_without_an_end_or_a_radius_cuts_nothing(norm: Norm) -> None:
    setting = setting_of(ircert.load(square()), [0.0, 0.0], norm=norm)
    boxes = Boxes(np.array([[0.0, 0.0]]), np.array([[3.0, 0.5]]))
    assert [beyond(setting, boxes, radius).widths.tolist() for radius in (0.0, np.inf)] == [[[3.0, 0.5]]] * 2
    assert beyond(setting, boxes, 1.0).widths[0, 0] < 3.0


def test_boxes_that_miss_the_ball_stay_as_they_are() -> None:
    setting = setting_of(ircert.load(square()), [0.0, 0.0], norm=Norm.ONE)
    far = Boxes(np.array([[2.0, 2.0]]), np.array([[3.0, 3.0]]))
    assert np.array_equal(trimmed(setting, far, 1.0).low, far.low)


@pytest.mark.parametrize("norm", NORMS)
def test_a_side_without_an_end_is_far(norm: Norm) -> None:
    setting = setting_of(residual(np.random.default_rng(0), 3, 2), np.full(3, 1e308), norm=norm)
    with np.errstate(all="ignore"):
        left, _ = Boxes(np.full((1, 3), 9e307), np.full((1, 3), 1.5e308)).halves(np.array([0]))
        assert left.high[0, 0] == np.inf, "the middle overflows"
        assert farthest(setting, left)[0] == np.inf


@pytest.mark.parametrize("norm", NORMS)
def test_a_narrow_fold_where_middles_overflow_is_not_overlooked(norm: Norm) -> None:
    """x1 - 2 relu(x1 - t) + 2 relu(x1 - t - e), which goes back between t and t + e: too narrow to be met by chance."""
    weight = np.vstack([np.eye(3), np.eye(3)[[0, 0]]])
    out = np.hstack([np.eye(3), [[-2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]])
    graph = ircert.load([(weight, np.array([0.0, 0.0, 0.0, -1.13e308, -1.13e308 - 1e302])), (out, np.zeros(3))])
    found = ircert.certify(graph, np.full(3, 1.2e308), radius=4e307, norm=norm, engine="boxes", time_limit=2)
    assert found.verdict != "certified"


def exact_length(gaps: list[Fraction], norm: str) -> Fraction:
    return {"inf": max(gaps), "1": sum(gaps, Fraction(0)), "2": sum((g * g for g in gaps), Fraction(0))}[norm]


@pytest.mark.parametrize("norm", NORMS)
def test_distances_are_safe(norm: str) -> None:
    rng = np.random.default_rng(1)
    graph = residual(rng, 3, 2)
    setting = setting_of(graph, rng.standard_normal(3), norm=norm)
    low = setting.center + rng.uniform(-1, 1, (50, 3)) * 2.0 ** rng.integers(-50, 3, (50, 3))
    boxes = Boxes(low, low + rng.uniform(0, 1, (50, 3)) * 2.0 ** rng.integers(-50, 2, (50, 3)))
    power = 2 if norm == "2" else 1
    for k in range(50):
        near, far = [], []
        for a, b, c in zip(boxes.low[k], boxes.high[k], setting.exact_center, strict=True):
            x, y = Fraction(a), Fraction(b)
            near.append(max(x - c, c - y, Fraction(0)))
            far.append(max(abs(x - c), abs(y - c)))
        assert Fraction(nearest(setting, boxes)[k]) ** power <= exact_length(near, norm)
        assert Fraction(farthest(setting, boxes)[k]) ** power >= exact_length(far, norm)


def test_the_box_around_a_ball_and_its_faces() -> None:
    setting = setting_of(residual(np.random.default_rng(0), 2, 2), [1.0, 0.1])
    exact = around(setting, 0.5)
    assert exact.low[0, 0] == 0.5
    assert exact.high[0, 0] == 1.5
    assert Fraction(exact.low[0, 1]) <= Fraction(0.1) - Fraction(0.5)
    assert Fraction(exact.high[0, 1]) >= Fraction(0.1) + Fraction(0.5)
    sides = faces(exact)
    assert len(sides) == 4
    assert ((sides.widths == 0).sum(axis=1) == 1).all()
    assert not inside(setting, sides, 0.5).any()
    assert inside(setting, Boxes(exact.low + 0.125, exact.high - 0.125), 0.5).all()
