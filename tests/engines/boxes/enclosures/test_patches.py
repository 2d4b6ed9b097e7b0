"""Pieces of spheres: their points, and segments between these, lie where patches say."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.enclosures import enclose, ranges
from ircert.engines.boxes.enclosures.patches import Patches, patches, sides
from ircert.engines.boxes.problem.boxes import Boxes
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.ops.curves import Gelu
from tests.effort import examples
from tests.engines.boxes.enclosures.test_smooth import setting
from tests.engines.boxes.making import residual

ROUND = [Norm.ONE, Norm.TWO]


def boxes_on_sides(rng: np.random.Generator, n: int, norm: Norm, count: int) -> Boxes:
    """Boxes of any size, cut out of the sides."""
    found = sides(n, norm)
    found = found.take(rng.integers(len(found), size=count))
    for _ in range(int(rng.integers(0, 12))):
        free = np.argmax(rng.random(found.widths.shape) * (found.widths > 0), axis=1)
        found = found.halves(free)[int(rng.integers(2))]
    return found


def on_sphere(u: list[float], center: Array, radius: float, norm: Norm) -> list[arb]:
    exact = [arb(v) for v in u]
    length = sum((abs(v) for v in exact), arb(0)) if norm == Norm.ONE else sum((v * v for v in exact), arb(0)).sqrt()
    return [arb(c) + arb(radius) * v / length for c, v in zip(center.tolist(), exact, strict=True)]


def bend(x: list[arb], center: Array, radius: float, ray: Array) -> arb:
    """How far a point is from the middle along the ray, in parts of the radius."""
    along = sum(((v - arb(c)) * arb(p) for v, c, p in zip(x, center.tolist(), ray.tolist(), strict=True)), arb(0))
    return along / arb(radius) / sum((arb(p) ** 2 for p in ray.tolist()), arb(0))


def is_within(made: Patches, k: int, u: list[float], middle: Array, x: list[arb], z: arb) -> bool:
    flat = int(np.argmax(np.abs(middle) == 1.0))
    for i, value in enumerate(x):
        line = arb(float(made.middle[i, k]))
        for j, (a, m) in enumerate(zip(u, middle.tolist(), strict=True)):
            line += arb(float(made.slopes[i, j, k])) * (z if j == flat else arb(a) - arb(m))
        if not abs(value - line) <= arb(float(made.errors[i, k])):
            return False
    return True


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("norm", ROUND)
@examples(30)
@given(seed=st.integers(0, 10**6))
def test_points_of_the_sphere_lie_on_their_patch(norm: Norm, seed: int) -> None:
    """In arithmetic of 200 bits: off by at most e from the plane, and bent by no more than it says."""
    rng, ctx.prec = np.random.default_rng(seed), 200
    n, radius = int(rng.integers(2, 5)), float(10.0 ** rng.uniform(-3, 3))
    center = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 2)
    asked = Setting(residual(rng, n, 3), "local", n, Place.everywhere(center, norm))
    boxes = boxes_on_sides(rng, n, norm, 6)
    middle = (boxes.low + boxes.high) / 2
    made = patches(asked, radius, middle.T, (boxes.widths / 2).T)
    for k in range(len(boxes)):
        flat = int(np.argmax(boxes.widths[k] == 0))
        ray = made.slopes[:, flat, k] / radius
        for share in [*rng.random((6, n)), *rng.integers(0, 2, (6, n)).astype(float)]:
            u = (boxes.low[k] + share * boxes.widths[k]).tolist()
            x = on_sphere(u, center, radius, norm)
            most = arb(float(made.half[flat, k])) + arb(1e-13)
            z = bend(x, made.middle[:, k], radius, ray) if norm == Norm.TWO else arb(0)
            assert abs(z) <= most * (1 + arb(float(np.abs(center).max())) / arb(radius))
            assert is_within(made, k, u, middle[k], x, z)


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("norm", ROUND)
def test_sides_hold_all_directions(norm: Norm) -> None:
    found, rng = sides(3, norm), np.random.default_rng(0)
    for ray in rng.normal(size=(100, 3)):
        u = ray / np.abs(ray).max()
        assert ((found.low <= u) & (u <= found.high)).all(axis=1).any()
    assert len(found) == (24 if norm == Norm.ONE else 6)
    if norm == Norm.ONE:
        assert not ((found.low < 0) & (found.high > 0)).any()


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("norm", ROUND)
def test_neurons_slopes_and_outputs_on_a_patch_and_its_segments(norm: Norm) -> None:
    asked, rng, radius = setting(Gelu(), norm), np.random.default_rng(3), 1.7
    network = Batches(asked)
    boxes = boxes_on_sides(rng, 3, norm, 40)
    known = enclose(network, boxes.low, boxes.high, radius, tilted=True, on_sphere=True)
    rows = np.repeat(rng.normal(size=(3, 4))[:, :, None], 40, axis=2)
    value, reach = ranges(network, known, rows)
    tilts = known.tilts
    assert tilts is not None
    for k in range(40):
        u = boxes.low[k] + rng.random((300, 3)) * boxes.widths[k]
        x = asked.center + radius * u / norm.lengths(u)[:, None]
        x = np.concatenate([x, (x + x[::-1]) / 2])
        z, slopes = asked.preactivations(x), asked.derivatives(x)
        assert ((z >= known.low[:, k] - 1e-12) & (z <= known.high[:, k] + 1e-12)).all()
        assert ((slopes >= known.least[:, k] - 1e-11) & (slopes <= known.most[:, k] + 1e-11)).all()
        room = np.abs(tilts.rates[..., k]).sum(axis=1) + tilts.rests[:, k]
        curved = asked.curved
        assert (np.abs(slopes - tilts.middles[:, k]) <= room + 1e-11)[:, curved].all()
        outputs = asked.outputs(x) @ rows[:, :, k]
        assert (np.abs(outputs - value[:, k]) <= reach[:, k] + 1e-12).all()
