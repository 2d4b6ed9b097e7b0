from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine
from ircert.passes.eliminate_zeros import EliminateZeros
from ircert.testing import assert_preserves, assert_same_function, graphs, mlps, residual_networks


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs(rich=False))
def test_preserves(graph: Graph) -> None:
    assert_preserves(EliminateZeros(), graph)


@given(mlps() | residual_networks())
def test_networks(graph: Graph) -> None:
    smaller = assert_preserves(EliminateZeros(), graph)
    assert _neurons(smaller) <= _neurons(graph)


def _neurons(graph: Graph) -> int:
    return sum(graph.sizes[node.name] for node in graph.nodes if node.op.kind == "relu")


@given(mlps(depth=2), st.data())
def test_added_junk_vanishes_again(graph: Graph, data: st.DataObject) -> None:
    """Dead, constant and duplicate neurons added to a network leave no more neurons than it had without them."""
    before = EliminateZeros().run(graph).result
    junk = _with_junk(graph, data.draw(st.integers(0, 10**6)))
    assert_same_function(graph, junk)
    assert _neurons(EliminateZeros().run(junk).result) <= _neurons(before)


def _with_junk(graph: Graph, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    layers = [node.op for node in graph.nodes if isinstance(node.op, Affine)]
    weights = [(op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()) for op in layers]
    biases = [np.array(op.bias) for op in layers]
    for k in range(len(layers) - 1):
        inputs, outputs = weights[k].shape[1], weights[k + 1].shape[0]
        unread = rng.standard_normal((2, inputs))
        dead = np.zeros((2, inputs))
        copy = weights[k][:1]
        weights[k] = np.concatenate([weights[k], unread, dead, copy])
        biases[k] = np.concatenate([biases[k], rng.standard_normal(2), [-1.0, 0.0], biases[k][:1]])
        read_dead = rng.standard_normal((outputs, 2))
        weights[k + 1] = np.concatenate(
            [weights[k + 1], np.zeros((outputs, 2)), read_dead, np.zeros((outputs, 1))], axis=1
        )
        # The copy takes over half of the original's columns: exact, and it must be put together again.
        half = weights[k + 1][:, 0] / 2
        weights[k + 1][:, 0], weights[k + 1][:, -1] = half, half
    return ircert.load(list(zip(weights, biases, strict=True)))


def test_sparse_storage_where_it_pays() -> None:
    rng = np.random.default_rng(0)
    pruned = rng.standard_normal((100, 100)) * (rng.random((100, 100)) < 0.05)
    dense = rng.standard_normal((100, 100))
    graph = EliminateZeros().run(ircert.load([(pruned, None), (dense, None), (csr_array(dense), None)])).result
    assert [issparse(node.op.weight) for node in graph.nodes if isinstance(node.op, Affine)] == [True, False, False]
