from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.ir.graph import Graph
from ircert.passes.cancel_terms import CancelTerms
from ircert.passes.pipeline import Pipeline
from ircert.questions.network import Network
from ircert.testing import assert_preserves, assert_same_function, graphs, residual_networks

MERGE = "bypass-idle-relus,merge-multiples"


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs(rich=False))
def test_preserves(graph: Graph) -> None:
    assert_preserves(CancelTerms(), graph)


@given(residual_networks())
def test_a_folded_network_keeps_its_function(graph: Graph) -> None:
    assert_preserves(CancelTerms(), Pipeline.parse(f"fold-residual,{MERGE}")(graph))


def neurons(graph: Graph) -> int:
    return sum(graph.sizes[node.name] for node in graph.nodes if node.op.kind == "relu")


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2**32 - 1))
def test_what_folding_added_goes_again(size: int, width: int, blocks: int, layers: int, seed: int) -> None:
    """Weights that round in every product: x comes back as itself, through any number of blocks and layers."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(size)
    x = build.input
    for _ in range(blocks):
        h = x
        for _ in range(layers):
            h = build.relu(build.affine(h, rng.normal(size=(width, build.size(h))), rng.normal(size=width)))
        x = build.add(x, build.affine(h, rng.normal(size=(size, width))))
    residual = build.graph(x)
    plain = Pipeline.parse("fold-residual")(residual)
    merged = Network(plain).merged
    assert neurons(plain) > neurons(residual) >= neurons(merged)
    assert_same_function(residual, merged)
