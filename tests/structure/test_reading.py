"""What entries read: the three ways to ask say the same."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.ir.ops.smooth import Product, Softmax
from ircert.structure.reading import Reading


def some_graph() -> ircert.Graph:
    build = ircert.Builder(4)
    a = build.affine(build.input, [[1.0, 0.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 3.0]])
    b = build.relu(build.select(build.input, [3, 3, 0]))
    c = build.concat(build.node(Product(), a, b), build.add(a, b))
    return build.graph(build.node(Softmax(6), c))


@pytest.mark.rule("ST-1")
def test_edges_reads_and_what_is_computed_agree() -> None:
    graph = some_graph()
    reading, rng = Reading(graph), np.random.default_rng(0)
    for node in graph.nodes[1:]:
        size = graph.sizes[node.name]
        for _ in range(8):
            entries = rng.integers(0, 2, size).astype(bool)
            known = [rng.integers(0, 3, graph.sizes[name]) > 0 for name in node.operands]
            read = reading.read(node, entries)
            edges = reading.edges(node)
            if edges is None:
                assert all(mask.all() == entries.any() for mask in read)
                continue
            for (rows, columns), mask, has in zip(edges, read, known, strict=True):
                assert set(columns[entries[rows]]) == set(np.flatnonzero(mask))
                unknown = {int(i) for i, j in zip(rows, columns, strict=True) if not has[j]}
                assert not unknown & set(np.flatnonzero(reading.computed(node, known)))
            blocked = {int(i) for (rows, cols), has in zip(edges, known, strict=True) for i in rows[~has[cols]]}
            assert set(np.flatnonzero(~reading.computed(node, known))) == blocked
