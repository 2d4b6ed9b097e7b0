"""lower-rich: rich operations become affine maps and relu, and curves (tanh, gelu, …) stay."""

from __future__ import annotations

from dataclasses import dataclass

from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Curve
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.canonicalize import Canonicalize
from ircert.passes.rebuilding import rebuild


@dataclass(frozen=True)
class LowerRich(GraphPass):
    """What `canonicalize` does, in graphs that have curves as well; operations that are neither are refused by name."""

    name = "lower-rich"
    ensures = ("lowered",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Lower node by node; without a curve it is `canonicalize`."""
        if not any(isinstance(node.op, Curve) for node in source.nodes):
            return Canonicalize().run(source)
        return Rewrite(rebuild(source, _lowered))


def _lowered(build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
    return None if node.op.core or isinstance(node.op, Curve) else node.op.lower(build, *operands)
