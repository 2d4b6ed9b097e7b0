"""Rows that chords of spheres are orthogonal to, and pairs of boxes that they close."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.cutting.chords import Chords
from ircert.engines.boxes.cutting.turning import turning
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.enclosures.patches import sides
from ircert.engines.boxes.problem.boxes import Boxes, around, faces
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.ops.curves import Silu, Tanh
from tests.engines.boxes.enclosures.test_smooth import setting

NORMS, RADIUS = [Norm.INF, Norm.ONE, Norm.TWO], 1.3


def pieces(asked: Setting, rng: np.random.Generator, count: int, cuts: int) -> Boxes:
    """Small boxes of the sides of a ball, or of the cube in front of a sphere."""
    n = asked.size
    whole = faces(around(asked, RADIUS)) if asked.norm == Norm.INF else sides(n, asked.norm)
    found = whole.take(rng.integers(len(whole), size=count))
    for _ in range(cuts):
        free = np.argmax(rng.random(found.widths.shape) * (found.widths > 0), axis=1)
        found = found.halves(free)[int(rng.integers(2))]
    return found


def points(asked: Setting, boxes: Boxes, k: int, rng: np.random.Generator, count: int) -> Array:
    u = boxes.low[k] + rng.random((count, asked.size)) * boxes.widths[k]
    if asked.norm == Norm.INF:
        return np.asarray(u)
    return np.asarray(asked.center + RADIUS * u / asked.norm.lengths(u)[:, None])


def chords_of(asked: Setting, boxes: Boxes) -> tuple[Enclosures, Chords]:
    round_ = asked.norm != Norm.INF
    known = enclose(Batches(asked), boxes.low, boxes.high, RADIUS, tilted=True, on_sphere=round_)
    return known, (Chords.of_patches if round_ else Chords.of)(asked, known, boxes.low, boxes.high)


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("norm", NORMS)
def test_rows_are_orthogonal_to_chords(norm: Norm) -> None:
    asked, rng = setting(Silu(), norm), np.random.default_rng(1)
    boxes = pieces(asked, rng, 30, 5)
    _, found = chords_of(asked, boxes)
    for k in range(30):
        x, y = points(asked, boxes, k, rng, 50), points(asked, boxes, k, rng, 50)
        room = np.abs(found.rates[..., k]).sum(axis=1) + found.spare[:, k]
        product = np.abs((x - y) @ found.middle[:, k])
        assert (product <= np.abs(x - y) @ room + 1e-12).all()
        assert found.middle[:, k].any()
        if norm == Norm.TWO:  # the row of each pair is its midpoint
            away = np.abs((x + y) / 2 - asked.center - found.middle[:, k])
            assert (away <= room + 1e-12).all()


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("norm", NORMS[1:])
def test_boxes_around_the_sphere_have_rows_inside_the_domain_alone(norm: Norm) -> None:
    asked = setting(Silu(), norm)
    inside = Setting(asked.graph, "local", 3, Place(asked.center, norm, np.full(3, -1.0), np.full(3, 9.0)))
    low = np.array([[0.5, 0.5, 0.5], [-1.0, 0.5, 0.5], [-0.4, 0.5, 0.5]])
    boxes = Boxes(low, low + 0.6)
    known = enclose(Batches(inside), boxes.low, boxes.high, RADIUS, tilted=True)
    rows = Chords.of(inside, known, boxes.low, boxes.high).middle
    assert rows[:, 0].all()
    assert not rows[:, 1].any()
    assert rows[:, 2].any() == (norm == Norm.TWO)  # in norm 1, the sign of the first coordinate is not known


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("norm", NORMS)
def test_pairs_in_regular_pieces_do_not_collide(norm: Norm) -> None:
    asked, rng = setting(Silu(), norm), np.random.default_rng(2)
    closed = 0
    for cuts in (0, 3, 6, 9):
        boxes = pieces(asked, rng, 40, cuts)
        known, rows = chords_of(asked, boxes)
        still = np.zeros_like(known.half, dtype=bool)
        found = turning(Batches(asked), Slopes.on_boxes(known, still), rows)
        assert not found.signs.any()
        closed += int(found.regular.sum())
        for k in np.flatnonzero(found.regular).tolist():
            x, y = points(asked, boxes, k, rng, 200), points(asked, boxes, k, rng, 200)
            gaps = norm.lengths(asked.outputs(x) - asked.outputs(y))
            assert (gaps > 1e-6 * norm.lengths(x - y)).all()
    assert 10 < closed < 160


@pytest.mark.rule("E-18")
def test_a_sphere_that_touches_a_fold_is_closed_in_large_pieces() -> None:
    """(x - 2 tanh(x), y): folds are crossed along x, and the sphere around (2, 0) that touches one runs along y."""
    build = ircert.Builder(2)
    bent = build.node(Tanh(), build.select(build.input, [0]))
    graph = build.graph(build.add(build.input, build.affine(bent, [[-2.0], [0.0]])))
    asked = Setting(graph, "local", 2, Place.everywhere(np.array([2.0, 0.0]), Norm.TWO))
    radius = (2.0 - float(np.arccosh(np.sqrt(2.0)))) * (1 - 1e-9)
    low, high = np.array([[-1.0, -0.05]]), np.array([[-1.0, 0.3]])
    known = enclose(Batches(asked), low, high, radius, tilted=True, on_sphere=True)
    slopes = Slopes.on_boxes(known, np.zeros((2, 1), dtype=bool))
    assert turning(Batches(asked), slopes, Chords.of_patches(asked, known, low, high)).regular.all()
    assert not turning(Batches(asked), slopes).regular.any()
