"""canonicalize: rich operations become affine maps and relu, each by its own exact lowering."""

from __future__ import annotations

from dataclasses import dataclass

from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Relu
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.rebuilding import rebuild


@dataclass(frozen=True)
class Canonicalize(GraphPass):
    """Lower every operation that is not core (leaky_relu, abs, max, min, clip, conv, pooling).

    Each lowering is exact (see `spec/ir.md`). relu(relu(x)) becomes relu(x).
    """

    name = "canonicalize"
    ensures = ("canonical",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Lower node by node (lowerings use core operations only), then drop the relus that do nothing."""
        return Rewrite(rebuild(rebuild(source, _lowered), _without_second_relu))


def _lowered(build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
    return None if node.op.core else node.op.lower(build, *operands)


def _without_second_relu(build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
    twice = isinstance(node.op, Relu) and isinstance(build.nodes[operands[0]].op, Relu)
    return operands[0] if twice else None
