"""Checks of passes: broken ones are caught."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import ircert
from ircert.errors import PassError
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Relu
from ircert.passes.base import GraphPass, Lift, Rewrite
from ircert.testing import assert_preserves, assert_same_function, sample_points

NETWORK = ircert.load([([[0.1, 2.0], [3.0, -4.0]], [0.5, 0.0]), ([[1.0, 0.3]], None)])


class Rounds(GraphPass):
    """Multiplies everything out in floats."""

    name = "rounds"

    def run(self, source: Graph) -> Rewrite[Graph]:
        nodes = []
        for node in source.nodes:
            if isinstance(node.op, Affine):
                weight = node.op.weight * 0.1 / 0.1 if isinstance(node.op.weight, np.ndarray) else node.op.weight
                node = Node(node.name, Affine(weight, node.op.bias), node.operands)
            nodes.append(node)
        return Rewrite(Graph(nodes, source.output))


class Copies(GraphPass):
    name = "copies"

    def run(self, source: Graph) -> Rewrite[Graph]:
        return Rewrite(Graph(source.nodes, source.output))


class WrongLift(GraphPass):
    name = "wrong-lift"

    def run(self, source: Graph) -> Rewrite[Graph]:
        return Rewrite(source.fix({0: 1.0}), Lift(point=lambda x: np.concatenate([[0.0], x])))


class ForgetsRelu(GraphPass):
    name = "forgets-relu"

    def run(self, source: Graph) -> Rewrite[Graph]:
        def op(node: Node) -> Node:
            return (
                Node(node.name, Affine(np.eye(source.sizes[node.name])), node.operands)
                if isinstance(node.op, Relu)
                else node
            )

        return Rewrite(Graph([op(node) for node in source.nodes], source.output))


@dataclass
class Moody(GraphPass):
    name = "moody"
    calls: int = 0

    def run(self, source: Graph) -> Rewrite[Graph]:
        self.calls += 1
        return Rewrite(ircert.parse(str(source).replace("h1", f"h1_{self.calls}")))


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (Rounds(), "changed the value"),
        (Copies(), "returned a copy"),
        (WrongLift(), "changed the value"),
        (ForgetsRelu(), "changed the value"),
        (Moody(), "different results"),
    ],
)
def test_broken_passes_are_caught(broken: GraphPass, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        assert_preserves(broken, NETWORK)


def test_contracts_are_checked_too() -> None:
    class Promises(GraphPass):
        name = "promises"
        ensures = ("canonical",)

        def run(self, source: Graph) -> Rewrite[Graph]:
            build = ircert.Builder(source.input_dim)
            return Rewrite(build.graph(build.node(ircert.ir.ops.Abs(), build.input)))

    with pytest.raises(PassError, match="a bug in the pass"):
        assert_preserves(Promises(), NETWORK)


def test_different_functions_are_told_apart() -> None:
    with pytest.raises(AssertionError, match="2 -> 1 and 2 -> 2"):
        assert_same_function(NETWORK, ircert.stack(NETWORK, NETWORK))
    nudged = ircert.load([([[0.1, 2.0], [3.0, -4.0]], [0.5, 5e-324]), ([[1.0, 0.3]], None)])
    with pytest.raises(AssertionError, match="values differ"):
        assert_same_function(NETWORK, nudged)
    assert_same_function(NETWORK, NETWORK.then(ircert.load([([[1.0]], None)])))


def test_sample_points_are_deterministic_and_hold_the_origin() -> None:
    assert np.array_equal(sample_points(NETWORK), sample_points(NETWORK))
    assert (sample_points(NETWORK)[0] == 0).all()
