"""Residual blocks: exactly at the limit nothing is claimed."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.bounds.curves import bounds_of
from ircert.ir.ops import Conv, Curve
from ircert.ir.ops.curves import Elu, HardSwish, Tanh
from ircert.ir.ops.gates import GeluCubic
from ircert.structure.contraction import STEEPEST, follows, slope_bound


@pytest.mark.rule("ST-6")
@pytest.mark.parametrize(
    ("size", "times", "expected"), [(0.999, 1, True), (1.0, 1, False), (1.5, 2, True), (2.0, 2, False)]
)
def test_the_limit_is_the_number_of_times_that_it_is_added(size: float, times: int, *, expected: bool) -> None:
    build = ircert.Builder(3)
    step = build.affine(build.relu(build.input), size * np.eye(3)[[1, 2, 0]])
    graph = build.graph(build.add(*[build.input] * times, step))
    assert follows(graph, graph[graph.output], graph.input, set()) == (size < times)


@pytest.mark.rule("ST-6")
def test_what_is_known_does_not_move() -> None:
    """s + 5 h + tanh(s)/2, where h is known, or not."""
    build = ircert.Builder(2)
    s, h = build.select(build.input, [0]), build.select(build.input, [1])
    total = build.add(s, build.affine(h, [[5.0]]), build.affine(build.node(Tanh(), s), [[0.5]]))
    graph = build.graph(build.concat(total, h))
    assert follows(graph, graph[total], s, {h})
    assert not follows(graph, graph[total], s, set())


@pytest.mark.rule("ST-6")
@pytest.mark.parametrize(("size", "expected"), [(0.99, True), (1.01, False)])
def test_convolutions_at_size(size: float, *, expected: bool) -> None:
    """x + W3 elu(W2 elu(W1 x)) on 3x32x32; in the norms 1 and inf the blocks are far above 1."""
    rng = np.random.default_rng(0)
    build = ircert.Builder(3072)
    x, shapes = build.input, [(8, 3, 3, 3), (8, 8, 1, 1), (3, 8, 3, 3)]
    for shape in shapes:
        weight = rng.normal(size=shape)
        symbols = np.moveaxis(np.fft.fft2(weight, (33, 33)), (2, 3), (0, 1))
        weight *= np.cbrt(size) / np.linalg.norm(symbols, 2, axis=(2, 3)).max()
        x = build.node(Conv((shape[1], 32, 32), weight, padding=(shape[2] // 2,) * 4), build.node(Elu(), x))
    graph = build.graph(build.add(build.input, x))
    assert follows(graph, graph[graph.output], graph.input, set()) == expected


@pytest.mark.rule("ST-6")
@pytest.mark.parametrize("curve", [*(op for op in STEEPEST if issubclass(op, Curve)), GeluCubic, HardSwish])
def test_slopes_against_tables(curve: type[Curve]) -> None:
    """Interval arithmetic never finds a steeper place, but for its width."""
    assert float(slope_bound(curve())) >= bounds_of(curve()).steepest - 1e-8
