from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

import ircert
from ircert.ir.graph import Graph
from ircert.passes.bypass_idle_relus import BypassIdleRelus
from ircert.passes.fold_residual import FoldResidual
from ircert.testing import assert_preserves, graphs, residual_networks


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs(rich=False))
def test_preserves(graph: Graph) -> None:
    assert_preserves(BypassIdleRelus(), graph)


@given(residual_networks())
def test_a_folded_network_keeps_its_function(graph: Graph) -> None:
    assert_preserves(BypassIdleRelus(), FoldResidual().run(graph).result)


def neurons(graph: Graph) -> int:
    return sum(graph.sizes[node.name] for node in graph.nodes if node.op.kind == "relu")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("row", "bias", "left"),
    [
        ([1.0, 2.0], 0.0, 0),
        ([1.0, 0.0], 0.5, 0),
        ([0.0, 0.0], 1.0, 0),
        ([0.0, 0.0], -1.0, 0),
        ([-1.0, -2.0], 0.0, 0),
        ([-1.0, 0.0], -0.5, 0),
        ([1.0, -(2.0**-1074)], 0.0, 1),
        ([1.0, 2.0], -(2.0**-1074), 1),
        ([-1.0, -2.0], 2.0**-1074, 1),
    ],
)
def test_signs_of_rows_behind_a_relu(sparse: bool, row: list[float], bias: float, left: int) -> None:
    build = ircert.Builder(2)
    weight = csr_array(np.array([row])) if sparse else [row]
    before = build.relu(build.input)
    graph = build.graph(build.concat(before, build.relu(build.affine(before, weight, [bias]))))
    assert neurons(assert_preserves(BypassIdleRelus(), graph)) == 2 + left


def test_negative_weights_on_entries_that_are_never_positive() -> None:
    """-(-relu(x)) is relu(x); of relu(x) - relu(y) nothing is known."""
    build = ircert.Builder(2)
    minus = build.affine(build.relu(build.input), [[-1.0, 0.0], [0.0, -1.0]])
    graph = build.graph(build.relu(build.affine(minus, [[-1.0, -1.0], [-1.0, 1.0]])))
    assert neurons(assert_preserves(BypassIdleRelus(), graph)) == 2 + 1


def test_signs_of_inputs_are_unknown() -> None:
    graph = ircert.load([([[1.0], [2.0]], [1.0, 0.0]), ([[1.0, 1.0]], None)])
    assert BypassIdleRelus().run(graph).result is graph
