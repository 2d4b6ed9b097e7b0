from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import PassError
from ircert.ir.graph import Graph
from ircert.passes.interval_bounds import IntervalBounds
from ircert.passes.pipeline import Pipeline
from ircert.passes.stable_neurons import StableNeurons
from ircert.testing import assert_preserves, graphs

NETWORK = ircert.load([([[1.0, -1.0], [0.5, 2.0]], [0.0, 4.0]), ([[1.0, 0.5]], None)])


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6", "P-16")
@given(graphs(rich=False), st.sampled_from([0.0, 0.125, 2.0]))
def test_preserves_on_the_ball(graph: Graph, radius: float) -> None:
    center = np.full(graph.input_dim, 0.5)
    bounded = IntervalBounds(tuple(center.tolist()), radius, method="interval").run(graph).result
    points = center + radius * np.random.default_rng(0).uniform(-1, 1, size=(8, graph.input_dim))
    made = assert_preserves(StableNeurons(), bounded, points)
    assert neurons(made) <= neurons(graph)


def neurons(graph: Graph) -> int:
    return sum(graph.sizes[node.name] for node in graph.nodes if node.op.kind == "relu")


@pytest.mark.rule("P-16")
def test_outside_the_ball_nothing_is_promised() -> None:
    pipeline = Pipeline.parse("interval-bounds{center=[0, 0], radius=1},stable-neurons,fix-inputs{values={1: 0.0}}")
    run = pipeline.run(NETWORK)
    assert neurons(run.result) == 1
    assert run.lift.holds(np.array([Fraction(1)], dtype=object))
    assert not run.lift.holds(np.array([1 + Fraction(1, 10**30)], dtype=object))
    assert "on the ball of radius 1.0 in norm inf alone" in run.notes[0]
    far = [Fraction(-100)]
    assert run.result.exact(far).tolist() != run.lift.reads(NETWORK.exact)(np.array(far, dtype=object)).tolist()


@pytest.mark.rule("P-4")
def test_it_needs_bounds() -> None:
    with pytest.raises(PassError, match=r"it carries no bounds; run `interval-bounds` before it"):
        Pipeline.parse("stable-neurons").run(NETWORK)


def test_nothing_to_decide_is_nothing_done() -> None:
    wide = IntervalBounds((0.0, 0.0), 100.0).run(NETWORK).result
    assert StableNeurons().run(wide).result is wide
