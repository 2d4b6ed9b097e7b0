"""lower-conv: convolutions and average pooling become sparse affine maps."""

from __future__ import annotations

from dataclasses import dataclass

from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import LinearImageOp
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.rebuilding import rebuild


@dataclass(frozen=True)
class LowerConv(GraphPass):
    """Replace conv and average_pool by affine maps with sparse matrices; every other operation stays."""

    name = "lower-conv"
    ensures = ("no-image-maps",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """One affine map per image map, under the same name."""
        return Rewrite(rebuild(source, _lowered))


def _lowered(build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
    if isinstance(node.op, LinearImageOp):
        return build.node(node.op.affine, *operands, name=node.name)
    return None
