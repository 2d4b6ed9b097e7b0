from __future__ import annotations

import pytest
from hypothesis import given

from ircert.ir.graph import Graph
from ircert.passes.canonicalize import Canonicalize
from ircert.testing import assert_preserves, graphs


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs())
def test_preserves(graph: Graph) -> None:
    assert_preserves(Canonicalize(), graph)


@given(graphs())
def test_only_core_operations_remain(graph: Graph) -> None:
    assert all(node.op.core for node in Canonicalize().run(graph).result.nodes)
