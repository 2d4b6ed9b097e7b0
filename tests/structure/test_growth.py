"""Lipschitz constants in ranges: closed forms, and pairs of points."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.bounds.operator_norms import Unbounded
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops import MaxPool
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import Max
from ircert.ir.ops.smooth import Product, Softmax
from ircert.structure.growth import lipschitz_bound_in
from ircert.structure.range import Range
from ircert.structure.ranges import ranges
from tests.structure.flows import couplings


def bound(graph: Graph, radius: float, norm: Norm) -> float:
    inputs = Range.between(graph.input_dim, -radius, radius)
    return float(lipschitz_bound_in(graph, ranges(graph, inputs), norm))


@pytest.mark.rule("L-9")
@pytest.mark.parametrize("norm", Norm)
def test_closed_forms(norm: Norm) -> None:
    build = ircert.Builder(2)
    product = build.graph(build.node(Product(), build.input, build.node(Exp(), build.input)))
    assert bound(product, 1.0, norm) == pytest.approx(2 * np.e)
    assert bound(build.graph(build.node(Max(), build.input, build.input)), 1.0, norm) >= 1
    build = ircert.Builder(3)
    pool = build.graph(build.node(MaxPool((1, 3), (2,), stride=(1,)), build.input))
    assert bound(pool, 1.0, norm) == (1 if norm == Norm.INF else 2)


@pytest.mark.rule("L-9")
@pytest.mark.parametrize("norm", Norm)
def test_pairs(norm: Norm) -> None:
    graph = couplings(np.random.default_rng(0), 4, 2, scaled=True)
    x, y = np.random.default_rng(1).uniform(-0.5, 0.5, (2, 500, 4))
    quotients = norm.lengths(graph(x) - graph(y)) / norm.lengths(x - y)
    assert quotients.max() <= bound(graph, 0.5, norm) < np.inf


@pytest.mark.rule("L-9")
def test_nothing_is_known() -> None:
    build = ircert.Builder(2)
    for name in (build.node(Softmax(2), build.input), build.node(Product(), build.input, build.node(Tanh(), "x"))):
        with pytest.raises(Unbounded):
            bound(build.graph(name), np.inf, Norm.INF)
