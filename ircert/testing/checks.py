"""Checks that any pass, ours or a third party's, can be put through."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.ir.graph import Graph
from ircert.ir.parser import parse
from ircert.passes.base import Pass
from ircert.passes.pipeline import Pipeline
from ircert.passes.rebuilding import identical


def sample_points(graph: Graph, count: int = 8, seed: int = 0) -> NDArray[np.float64]:
    """Points at which to compare: the origin, corners, and normal points on several scales."""
    rng = np.random.default_rng(seed)
    n = graph.input_dim
    scales = 2.0 ** rng.integers(-3, 6, size=(count, 1))
    corners = rng.choice([-1.0, 0.0, 1.0], size=(count, n))
    return np.concatenate([np.zeros((1, n)), corners, scales * rng.standard_normal((count, n))])


def assert_same_function(a: Graph, b: Graph, points: Any = None) -> None:
    """Assert that two graphs have the same exact values at the points (by default `sample_points`)."""
    assert (a.input_dim, a.output_dim) == (b.input_dim, b.output_dim), (
        f"the graphs map {a.input_dim} -> {a.output_dim} and {b.input_dim} -> {b.output_dim}"
    )
    chosen = sample_points(a) if points is None else np.asarray(points)
    for x in np.atleast_2d(chosen):
        left, right = a.exact(x), b.exact(x)
        assert list(left) == list(right), f"at {x.tolist()} the values differ: {list(left)} and {list(right)}"


def assert_preserves(rewrite_pass: Pass[Graph, Graph], graph: Graph, points: Any = None) -> Graph:
    """Assert that a pass keeps its contract on a graph, and return the graph it makes.

    Checked: the declared requirements and promises; the IR's rules; new(x) == lift.reads(old)(x) in exact rationals at
    the points (of the *new* graph) that the promise is about; that "unchanged" is reported exactly when nothing
    changed; and that the pass neither depends on nor alters the graph it was given.
    """
    text_before = str(graph)
    rewrite = Pipeline((rewrite_pass,)).run(graph)
    after = rewrite.result
    assert str(graph) == text_before, f"{rewrite_pass.name} changed the graph it was given"
    assert after is graph or not identical(after, graph), f"{rewrite_pass.name} returned a copy instead of its argument"
    again = Pipeline((rewrite_pass,)).run(graph).result
    assert identical(after, again), f"{rewrite_pass.name} gives different results for the same graph"
    chosen = sample_points(after) if points is None else np.asarray(points)
    for x in filter(rewrite.lift.holds, np.atleast_2d(chosen)):
        new = list(after.exact(x))
        old = list(rewrite.lift.reads(graph.exact)(x))
        assert new == old, f"{rewrite_pass.name} changed the value at {x.tolist()} from {old} to {new}"
    assert_round_trips(after)
    return after


def assert_round_trips(graph: Graph) -> None:
    """Assert that the text form gives the graph back, names, storage and bounds included."""
    assert identical(parse(str(graph)), graph), f"the text does not round-trip:\n{graph}"
