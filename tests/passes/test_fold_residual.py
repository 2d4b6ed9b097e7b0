from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import ircert
from ircert.ir.graph import Graph
from ircert.passes.fold_residual import FoldResidual
from ircert.testing import assert_preserves, graphs, mlps, residual_networks


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs(rich=False))
def test_preserves(graph: Graph) -> None:
    assert_preserves(FoldResidual(), graph)


@pytest.mark.rule("P-1", "P-4")
@given(residual_networks())
def test_residual_networks_become_plain_mlps(graph: Graph) -> None:
    folded = assert_preserves(FoldResidual(), graph)
    kinds = [node.op.kind for node in folded.nodes]
    assert kinds == ["input", "affine", *["relu", "affine"] * (len(kinds) // 2 - 1)]
    assert all(node.operands == (before.name,) for before, node in pairwise(folded.nodes))


@given(mlps())
def test_plain_mlps_stay(graph: Graph) -> None:
    assert FoldResidual().run(graph).result is graph


def test_widths_are_those_of_the_proposition() -> None:
    """x + W2 relu(W1 relu(W0 x)): every hidden layer carries x as a pair, so it grows by 2 n."""
    build = ircert.Builder(2)
    a = build.relu(build.affine(build.input, np.ones((5, 2))))
    b = build.relu(build.affine(a, np.ones((3, 5))))
    graph = build.graph(build.add(build.affine(b, np.ones((2, 3))), build.input))
    folded = FoldResidual().run(graph).result
    assert [folded.sizes[f"a{k}"] for k in (1, 2)] == [5 + 4, 3 + 4]
    assert len(folded) == 6


def test_a_contraction_with_full_mantissas_keeps_its_depth_per_block() -> None:
    """Blocks in a row whose products round: one extra layer per joint, and the exact function."""
    rng = np.random.default_rng(0)
    build = ircert.Builder(3)
    x = build.input
    for _ in range(4):
        hidden = build.relu(build.affine(x, rng.standard_normal((4, 3)), rng.standard_normal(4)))
        x = build.add(x, build.affine(hidden, rng.standard_normal((3, 4)), rng.standard_normal(3)))
    graph = build.graph(x)
    rewrite = FoldResidual().run(graph)
    assert sum(node.op.kind == "relu" for node in rewrite.result.nodes) == 7
    assert "as pairs relu(z), relu(-z)" in rewrite.notes[0]
    assert_preserves(FoldResidual(), graph)
