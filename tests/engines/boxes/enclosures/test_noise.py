"""Errors of open relus that are followed through later layers: bounds hold exactly, and are narrower for it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.enclosures.noise import ALL, MOST, Noise, relus_to_follow
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.rational import Rationals
from tests.engines.boxes.making import boxes_in, setting_of


def deep(seed: int, n: int, widths: tuple[int, ...], scale: float = 1.0, *, skips: bool = False) -> ircert.Graph:
    """Relus in layers, or with all layers before them where there are skips; every other layer is scaled."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(n)
    parts = [build.input]
    for k, width in enumerate(widths):
        below = build.concat(*parts) if skips and k else parts[-1]
        size = (n + sum(widths[:k])) if skips or not k else widths[k - 1]
        factor = scale if k % 2 else 1 / scale
        weight = factor * rng.standard_normal((width, size)) / np.sqrt(size)
        parts.append(build.relu(build.affine(below, weight, factor * rng.standard_normal(width) / 2)))
    return build.graph(build.affine(parts[-1], rng.standard_normal((n, widths[-1]))))


def exact_neurons(setting: Setting, point: list[Fraction]) -> list[Fraction]:
    values = {setting.graph.input: Rationals.of_fractions(point)}
    found: list[Fraction] = []
    for node in setting.graph.nodes:
        if node.name == setting.graph.input:
            continue
        operands = [values[name] for name in node.operands]
        if node.name in setting.relus:
            found += [Fraction(v, operands[0].denominator) for v in operands[0].numerators]
        values[node.name] = node.op.exact(*operands)
    return found


def assert_holds(setting: Setting, known: Enclosures, low: Any, high: Any, rng: np.random.Generator) -> None:
    """Bounds on every neuron, and its distance from its line, at corners and inner points."""
    for k in range(len(low)):
        for _ in range(3):
            shares = rng.choice([0.0, 1.0, 0.25], len(low[k]))
            ends = zip(low[k].tolist(), high[k].tolist(), shares.tolist(), strict=True)
            point = [Fraction(a) + Fraction(s) * (Fraction(b) - Fraction(a)) for a, b, s in ends]
            moved = [x - Fraction(m) for x, m in zip(point, known.middle[:, k].tolist(), strict=True)]
            for i, z in enumerate(exact_neurons(setting, point)):
                assert Fraction(float(known.low[i, k])) <= z <= Fraction(float(known.high[i, k]))
                line = sum((Fraction(a) * d for a, d in zip(known.lines[i, :, k].tolist(), moved, strict=True)), z * 0)
                off = abs(z - line - Fraction(float(known.values[i, k])))
                assert off <= Fraction(float(known.errors[i, k]))


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("scale", [1.0, 2.0**-300, 1e12, 3e100])
def test_bounds_hold_for_numbers_of_any_size(scale: float, skips: bool) -> None:
    rng = np.random.default_rng(3)
    setting = setting_of(deep(5, 3, (9, 8, 7, 6), scale, skips=skips), np.zeros(3))
    network = Batches(setting)
    assert len(network.followed) == 2
    low, high = boxes_in(rng, 3, 12)
    known = enclose(network, low, high, np.inf)
    assert known.open[: 9 + 8].any()
    assert_holds(setting, known, low, high, rng)


@pytest.mark.rule("E-2")
def test_bounds_hold_where_few_errors_have_columns() -> None:
    rng = np.random.default_rng(1)
    setting = setting_of(deep(2, 1, (40, 30, 20)), np.zeros(1))
    low, high = np.array([[-3.0], [-0.5]]), np.array([[3.0], [0.5]])
    known = enclose(Batches(setting), low, high, np.inf)
    assert known.open[:40].sum(axis=0).max() > MOST * 4  # a column for A, b, e and the sum
    assert_holds(setting, known, low, high, rng)


@pytest.mark.parametrize("norm", tuple(Norm))
def test_bounds_of_third_layers_are_narrower(norm: Norm) -> None:
    rng = np.random.default_rng(0)
    setting = setting_of(deep(1, 3, (24, 24, 24)), np.zeros(3), norm=norm)
    low, high = boxes_in(rng, 3, 20)
    network, without = Batches(setting), Batches(setting)
    without.followed = set()
    with_columns, sums = (enclose(network, low, high, 3.0) for network in (network, without))
    widths = [(known.high - known.low)[48:] for known in (with_columns, sums)]
    open_ = sums.open[:24].sum(axis=0) > 4
    assert open_.any()
    assert np.median((widths[0] / widths[1])[:, open_]) < 0.8
    assert (with_columns.open <= sums.open)[:48].all()


def test_errors_of_different_relus_cancel() -> None:
    """relu(z) - relu(z) behind two more layers: whatever the error of z is, it is 0."""
    build = ircert.Builder(1)
    first = build.relu(build.affine(build.input, [[1.0]]))
    second = build.relu(build.affine(first, [[1.0], [1.0]], [8.0, 8.0]))
    third = build.relu(build.affine(second, [[1.0, -1.0]], [-0.25]))
    network = Batches(setting_of(build.graph(third), [0.0]))
    known = enclose(network, np.array([[-1.0]]), np.array([[1.0]]), np.inf)
    assert known.open[0, 0]
    assert known.off[3, 0]
    network.followed = set()
    assert enclose(network, np.array([[-1.0]]), np.array([[1.0]]), np.inf).open[3, 0]


def test_which_relus_are_followed() -> None:
    graph = setting_of(deep(0, 2, (3, 3, 3, 3)), np.zeros(2)).graph
    relus = [node.name for node in graph.nodes if node.op.kind == "relu"]
    assert relus_to_follow(graph, set(relus)) == set(relus[:2])
    shallow = setting_of(deep(0, 2, (3, 3)), np.zeros(2)).graph
    assert relus_to_follow(shallow, {node.name for node in shallow.nodes if node.op.kind == "relu"}) == set()


def test_the_largest_errors_have_columns() -> None:
    noise = Noise(1)
    errors = np.arange(1.0, 10.0)[:, None] * np.array([1.0, 0.0])
    state, rest = noise.followed(np.zeros((9, 1, 2)), errors)
    assert state.shape == (9, 1 + MOST, 2)
    assert rest[:, 0].tolist() == [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert not rest[:, 1].any()
    assert (noise.reach(state)[:, 0] >= np.array([0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])).all()
    assert not noise.reach(state)[:, 1].any()


def test_layers_share_the_columns() -> None:
    """However many layers there are: walks of deep networks take no more time and memory than that."""
    for own, many in [(2, 1), (2, 2), (5, 7), (3, 40), (1, 40)]:
        noise, state, errors = Noise(own, many), np.zeros((50, own, 3)), np.ones((50, 3))
        for _ in range(many):
            state, rest = noise.followed(state, errors)
            assert (rest == 0).any(axis=0).all()
        assert state.shape[1] - own <= max(many, ALL * own)
        assert many > 1 or state.shape[1] - own == MOST * own


@pytest.mark.rule("E-2")
def test_bounds_hold_where_many_layers_share_the_columns() -> None:
    rng = np.random.default_rng(4)
    setting = setting_of(deep(6, 2, (16,) * 9), np.zeros(2))
    low, high = boxes_in(rng, 2, 6)
    known = enclose(Batches(setting), low, high, np.inf)
    assert known.open[:16].sum(axis=0).max() > ALL * 5 // 7  # a column for A, b, e and the sum; 7 layers
    assert_holds(setting, known, low, high, rng)
