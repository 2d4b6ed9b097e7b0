from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import ircert
from ircert.ir.graph import Graph
from ircert.passes.fold_residual import FoldResidual
from ircert.passes.merge_multiples import MergeMultiples, merged
from ircert.testing import assert_preserves, graphs, residual_networks


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs(rich=False))
def test_preserves(graph: Graph) -> None:
    assert_preserves(MergeMultiples(), graph)


@given(residual_networks())
def test_a_folded_network_keeps_its_function(graph: Graph) -> None:
    assert_preserves(MergeMultiples(), FoldResidual().run(graph).result)


def neurons(graph: Graph) -> int:
    return sum(graph.sizes[node.name] for node in graph.nodes if node.op.kind == "relu")


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        ([[1.0, 2.0], [-1.0, -2.0]], 1),
        ([[1.0, 2.0], [2.0, 4.0], [-0.5, -1.0]], 1),
        ([[1.0, 2.0], [1.0, 2.5]], 2),
        ([[3.0, 0.0], [1.0, 0.0]], 2),  # 1/3 is no double
    ],
)
def test_families(rows: list[list[float]], left: int) -> None:
    graph = ircert.load([(rows, [0.25 * row[0] for row in rows]), ([[1.0] * len(rows)], None)])
    assert neurons(assert_preserves(MergeMultiples(), graph)) == left


def test_many_rows() -> None:
    """Rows that are multiples of no other are told apart by their rounded quotients alone."""
    weight = np.random.default_rng(0).normal(size=(190, 200))
    weight[7, :3] = [0.0, -0.0, 1.0]
    weight[8] = -4.0 * weight[7]
    graph = ircert.load([(weight, weight[:, 5]), (np.ones((1, 190)), None)])
    assert neurons(merged(graph)) == 189


def test_pairs_of_large_maps_that_are_mostly_zero() -> None:
    """x as relu(x) - relu(-x) beside dense neurons, with more numbers than are compared as fractions."""
    rng = np.random.default_rng(0)
    first = np.vstack([rng.normal(size=(8, 600)), np.eye(600), -np.eye(600)])
    last = np.hstack([rng.normal(size=(600, 8)), np.eye(600), -np.eye(600)])
    found = merged(ircert.load([(first, rng.normal(size=1208) * (np.arange(1208) < 8)), (last, None)]))
    assert neurons(found) == 608


def test_rows_with_many_numbers_are_left_alone() -> None:
    row = np.ones((1, 50_000))
    graph = ircert.load([(np.vstack([row, -row]), None), (np.eye(2), None)])
    assert merged(graph) is graph
