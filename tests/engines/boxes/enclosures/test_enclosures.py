"""Enclosures hold for exact values of the network, whatever its numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches, inverses
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose, ranges
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.rational import Rationals
from tests.engines.boxes.making import boxes_in, residual, setting_of

NORMS = tuple(Norm)


def exact_signs(setting: Setting, point: list[Fraction]) -> list[int]:
    values = {setting.graph.input: Rationals.of_fractions(point)}
    signs: list[int] = []
    for node in setting.graph.nodes:
        if node.name == setting.graph.input:
            continue
        operands = [values[name] for name in node.operands]
        if node.name in setting.relus:
            signs += [int(v > 0) - int(v < 0) for v in operands[0].numerators]
        values[node.name] = node.op.exact(*operands)
    return signs


def corner(low: np.ndarray, high: np.ndarray, rng: np.random.Generator) -> list[Fraction]:
    """A corner of a box, or a point of it."""
    shares = rng.choice([0, 1, 0.5, 0.25], len(low))
    return [Fraction(a) + Fraction(s) * (Fraction(b) - Fraction(a)) for a, b, s in zip(low, high, shares, strict=True)]


def check(setting: Setting, low: np.ndarray, high: np.ndarray, known: Enclosures, radius: Fraction) -> int:
    """Phases and ranges at points of the boxes, as far as they lie in the ball; how many did."""
    rng = np.random.default_rng(7)
    network = Batches(setting)
    rows, good = inverses(known.output)
    rows = np.swapaxes(np.where(good, rows, 0.0), 0, 1)
    value, reach = ranges(network, known, rows)
    inside = 0
    for k in range(len(low)):
        for _ in range(3):
            point = corner(low[k], high[k], rng)
            gaps = [abs(a - c) for a, c in zip(point, setting.exact_center, strict=True)]
            size = {"inf": max(gaps), "1": sum(gaps), "2": sum(g * g for g in gaps)}[setting.norm]
            if size > radius ** (2 if setting.norm == "2" else 1):
                continue
            inside += 1
            signs = exact_signs(setting, point)
            assert all(s >= 0 for s, on in zip(signs, known.on[:, k], strict=True) if on)
            assert all(s <= 0 for s, off in zip(signs, known.off[:, k], strict=True) if off)
            output = setting.graph.exact(point)
            for i in np.flatnonzero(np.isfinite(reach[:, k]) & np.isfinite(value[:, k])):
                true = sum((Fraction(r) * v for r, v in zip(rows[:, i, k].tolist(), output, strict=True)), Fraction(0))
                assert abs(true - Fraction(value[i, k])) <= Fraction(reach[i, k])
    return inside


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_phases_and_ranges(n: int, norm: str) -> None:
    rng = np.random.default_rng(n)
    setting = setting_of(residual(rng, n, 5), np.zeros(n), norm=norm)
    low, high = boxes_in(rng, n, 20)
    known = enclose(Batches(setting), low, high, 2.0)
    assert known.on.any()
    assert known.off.any()
    assert (~known.on & ~known.off).any()
    assert check(setting, low, high, known, Fraction(2)) > (0 if norm == "1" else 5)


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("scale", [1e-300, 2.0**-540, 1e-12, 1e12, 1e150])
@pytest.mark.parametrize("norm", NORMS)
def test_weights_of_any_size(scale: float, norm: str) -> None:
    """(x1 - 2 relu(x1 - 1/2), x2) with a neuron of another size, on boxes that touch the kink."""
    first = np.array([[1.0, 0.0], [-1.0, 0.0], [scale, 0.0], [0.0, 1.0]])
    bias = np.array([0.0, 0.0, -scale / 2, 8.0])
    last = np.array([[1.0, -1.0, -2.0 * min(1 / scale, 1e300), 0.0], [0.0, 0.0, 0.0, 1.0]])
    setting = setting_of(ircert.load([(first, bias), (last, np.zeros(2))]), [0.0, 0.0], norm=norm)
    low = np.array([[-1.0, -1.0], [0.5, 0.0], [0.0, 0.0], [0.25, -0.5], [0.5, 0.5]])
    high = np.array([[1.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.75, 0.5], [0.5, 0.5]])
    known = enclose(Batches(setting), low, high, 1.0)
    assert check(setting, low, high, known, Fraction(1)) > 2


def test_coefficients_that_floats_lose_count_with_the_size_of_the_box() -> None:
    small = 2.0**-1060 * (1 + 0.4 * 2.0**-14)
    build = ircert.Builder(1)
    tiny = build.affine(build.affine(build.input, [[2.0**-530]]), [[small / 2.0**-530]], [-small * 2.0**40])
    setting = setting_of(build.graph(build.relu(tiny)), [0.0])
    low, high = np.array([[-(2.0**40)]]), np.array([[2.0**40 * (1 + 2.0**-20)]])
    assert not enclose(Batches(setting), low, high, 2.0**41).off.any()
