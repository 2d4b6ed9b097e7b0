"""Residual blocks: exactly at the limit nothing is claimed."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.ir.ops.curves import Tanh
from ircert.structure.contraction import follows


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
