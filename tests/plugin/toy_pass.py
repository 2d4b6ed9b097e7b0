"""double-negation: -(-x) is x."""

from dataclasses import dataclass

import numpy as np

from ircert.ir.ops import Affine
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.rebuilding import rebuild


@dataclass(frozen=True)
class DoubleNegation(GraphPass):
    """Drop pairs of affine maps that negate every entry."""

    name = "double-negation"

    def run(self, source):
        """One walk over the graph."""
        return Rewrite(rebuild(source, _without_pairs))


def _without_pairs(build, node, operands):
    inner = build.nodes[operands[0]]
    return inner.operands[0] if _negates(node.op) and _negates(inner.op) else None


def _negates(op):
    if not isinstance(op, Affine) or op.bias.any() or op.weight.shape[0] != op.weight.shape[1]:
        return False
    dense = op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()
    return np.array_equal(dense, -np.eye(len(dense)))
