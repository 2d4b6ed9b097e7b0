from __future__ import annotations

import pytest
from hypothesis import given
from scipy.sparse import issparse

from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, LinearImageOp
from ircert.passes.lower_conv import LowerConv
from ircert.testing import assert_preserves, graphs


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs())
def test_preserves(graph: Graph) -> None:
    assert_preserves(LowerConv(), graph)


@given(graphs())
def test_no_image_maps_remain_and_they_are_sparse(graph: Graph) -> None:
    lowered = LowerConv().run(graph).result
    assert not any(isinstance(node.op, LinearImageOp) for node in lowered.nodes)
    for node in graph.nodes:
        if isinstance(node.op, LinearImageOp):
            assert isinstance(lowered[node.name].op, Affine)
            assert issparse(lowered[node.name].op.weight)  # type: ignore[attr-defined]
