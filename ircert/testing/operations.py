"""Checks that any operation, ours or a third party's, can be put through."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Op
from ircert.passes.canonicalize import Canonicalize
from ircert.testing.checks import assert_round_trips, assert_same_function, sample_points

REACH, STEP = 4, 0.25
"""By default the points of a grid are tried as well: kinks at its numbers are met, and both sides of them."""
TOLERANCE = 1e-9


def check_operation(op: Op, *sizes: int, points: Any = None) -> Graph:
    """Assert that an operation keeps its contract on operands of these sizes; the graph of it alone.

    Checked: its size; that a batch is its points; that floats are close to exact values; that copies are equal and the
    text form gives it back; that, taken entry by entry, it is the same (elementwise); and that what it is lowered to
    has core operations only and the same exact values, at the points (of all operands, one after the other).
    """
    graph = _graph(op, sizes)
    chosen = _points(graph) if points is None else np.atleast_2d(np.asarray(points, dtype=np.float64))
    assert graph.output_dim == op.size(*sizes), f"{op.kind} has another size than it says"
    _check_evaluation(op, graph, chosen)
    assert pickle.loads(pickle.dumps(op)) == op, f"a copy of {op.kind} is not equal to it"
    if op.elementwise:
        _check_entries(op, sizes[0], graph, chosen)
    if op.piecewise_linear and not op.core:
        lowered = Canonicalize().run(graph).result
        assert all(node.op.core for node in lowered.nodes), f"{op.kind} is not lowered to core operations"
        assert_same_function(graph, lowered, chosen)
    assert_round_trips(graph)
    return graph


def _graph(op: Op, sizes: tuple[int, ...]) -> Graph:
    """The operation on consecutive parts of the input."""
    build = Builder(sum(sizes))
    starts = np.cumsum([0, *sizes]).tolist()
    parts = [build.select(build.input, range(a, a + size)) for a, size in zip(starts, sizes, strict=False)]
    return build.graph(build.node(op, *(parts if len(sizes) > 1 else [build.input])))


def _points(graph: Graph) -> NDArray[np.float64]:
    """A grid on the diagonals (x, ±x, x, …), and sample points of all sizes."""
    line = np.arange(-REACH, REACH + STEP, STEP)[:, None]
    signs = np.where(np.arange(graph.input_dim) % 2, -1.0, 1.0)
    return np.concatenate([line * np.ones(graph.input_dim), line * signs, sample_points(graph)])


def _check_evaluation(op: Op, graph: Graph, points: NDArray[np.float64]) -> None:
    batch = np.asarray(graph(points))
    for x, values in zip(points, batch, strict=True):
        assert np.array_equal(values, graph(x)), f"{op.kind} has other values in a batch, at {x.tolist()}"
        if op.piecewise_linear:
            exact = np.array([float(v) for v in graph.exact(x)])
            close = np.allclose(values, exact, rtol=TOLERANCE, atol=TOLERANCE * (1 + np.abs(exact).max(initial=0.0)))
            assert close, f"{op.kind} at {x.tolist()}: floats give {values.tolist()}, rationals {exact.tolist()}"


def _check_entries(op: Op, size: int, graph: Graph, points: NDArray[np.float64]) -> None:
    """Entry i of the result depends on entry i of each operand."""
    count = graph.input_dim // size
    for i in range(size):
        alone = _graph(op.take(np.array([i])), (1,) * count)
        columns = i + size * np.arange(count)
        assert np.array_equal(graph(points)[:, [i]], alone(points[:, columns])), (
            f"entry {i} of {op.kind} is another one"
        )
