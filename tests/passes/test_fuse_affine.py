from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.ir.arrays import nonzeros
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine
from ircert.passes.fuse_affine import FuseAffine
from ircert.testing import assert_preserves, graphs, mlps, residual_networks


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs())
def test_preserves(graph: Graph) -> None:
    assert_preserves(FuseAffine(), graph)


@given(mlps(depth=0), mlps(depth=0), st.data())
def test_a_chain_is_fused_exactly_when_nothing_rounds(first: Graph, second: Graph, data: st.DataObject) -> None:
    """Small dyadic numbers never round, so two layers of them always become one."""
    glue = [[float(data.draw(st.integers(-3, 3))) for _ in range(first.output_dim)] for _ in range(second.input_dim)]
    chain = first.then(ircert.load([(glue, None)])).then(second)
    rewrite = FuseAffine().run(chain)
    if _is_dyadic(chain):
        assert len(rewrite.result) <= 2
    assert (len(rewrite.result) > 2) == bool(rewrite.notes)


def _is_dyadic(graph: Graph) -> bool:
    affine = [node.op for node in graph.nodes if isinstance(node.op, Affine)]
    numbers = [np.concatenate([nonzeros(op.weight).data, op.bias]) * 8 for op in affine]
    return all(np.array_equal(values, values.round()) for values in numbers)


@given(residual_networks())
def test_nodes_and_neurons_never_grow(graph: Graph) -> None:
    fused = FuseAffine().run(graph).result
    assert len(fused) <= len(graph)
    assert _neurons(fused) == _neurons(graph)


def _neurons(graph: Graph) -> int:
    return sum(graph.sizes[node.name] for node in graph.nodes if node.op.kind == "relu")
