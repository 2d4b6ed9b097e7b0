"""Graphs shrunk to the entries that matter."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.ir.graph import Graph
from ircert.passes.shrinking import Compact, Shrinker


def neurons(graph: Graph) -> int:
    return sum(graph.sizes[node.name] for node in graph.nodes if node.op.kind == "relu")


def same(graph: Graph, shrunk: Graph) -> None:
    points = np.random.default_rng(0).integers(-16, 17, (20, graph.input_dim)) / 8
    assert shrunk.input_dim == graph.input_dim
    assert np.array_equal(graph.exact(points), shrunk.exact(points))


def layered(first: object, bias: object, last: object) -> Graph:
    build = ircert.Builder(2)
    return build.graph(build.affine(build.relu(build.affine(build.input, first, bias)), last))


@pytest.mark.parametrize(
    ("first", "bias", "last", "plain", "merged"),
    [
        ([[1, 0], [0, 1]], [0, 0], [[1, 1]], 2, 2),
        ([[1, 0], [0, 1]], [0, 0], [[1, 0]], 1, 1),
        ([[1, 0], [1, 0]], [0, 0], [[1, 2]], 2, 1),
        ([[1, 0], [0, 0]], [0, 3], [[1, 2]], 2, 1),
        ([[0, 0], [0, 0]], [-1, 3], [[1, 2]], 2, 0),
    ],
    ids=["nothing", "unread", "twins", "constant", "all constant"],
)
def test_neurons_that_go(first: object, bias: object, last: object, plain: int, merged: int) -> None:
    graph = layered(np.array(first, float), np.array(bias, float), np.array(last, float))
    for merge, count in ((False, plain), (True, merged)):
        shrunk = Shrinker(graph, merge=merge).run()
        assert neurons(shrunk) == count
        same(graph, shrunk)


def test_sums_of_weights_that_would_round_keep_twins_apart() -> None:
    """Twins read with 1 and 2^-60: their sum is no float, so both columns stay."""
    graph = layered(np.array([[1.0, 0.0], [1.0, 0.0]]), np.zeros(2), np.array([[1.0, 2.0**-60]]))
    shrunk = Shrinker(graph, merge=True).run()
    same(graph, shrunk)
    assert neurons(shrunk) == 1


def test_entries_through_concat_and_select() -> None:
    build = ircert.Builder(2)
    both = build.concat(build.relu(build.input), build.affine(build.input, [[2.0, 0.0], [0.0, 3.0]]))
    graph = build.graph(build.select(both, [3, 0]))
    shrunk = Shrinker(graph, merge=True).run()
    same(graph, shrunk)
    assert neurons(shrunk) == 1


def test_parts_of_a_compact_value() -> None:
    value = Compact("n", np.array([2, -1, 0]), np.array([0.0, 5.0, 0.0])).take(np.array([1, 2]))
    assert (value.where.tolist(), value.constant.tolist()) == ([-1, 0], [5.0, 0.0])
