"""Residual blocks: from k s + g(s), with |g(s) - g(t)| < k |s - t| in some norm, follows s.

g is all that is added to s, as far as it is computed from s and from what is known. Its Lipschitz constant is bounded
by operator norms of its affine maps and slopes of its functions, in fractions rounded up.
"""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction

import numpy as np

from ircert.bounds.curves import bounds_of
from ircert.bounds.map_norms import map_norm_bound
from ircert.bounds.operator_norms import Unbounded
from ircert.exact.rounding import root_up
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, LinearImageOp, Relu, Select
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import (
    Cos,
    Elu,
    Erf,
    Gelu,
    GeluTanh,
    HardSwish,
    Mish,
    Sigmoid,
    Silu,
    Sin,
    Softplus,
    Softsign,
    Tanh,
)
from ircert.ir.ops.gates import GeluCubic, GeluErf, Swish
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu

STEEPEST: dict[type[Op], Fraction] = {
    **dict.fromkeys((Relu, Abs, Clip, Tanh, Softplus, Softsign, Sin, Cos), Fraction(1)),
    Sigmoid: Fraction(1, 4),
    **dict.fromkeys((Erf, Gelu, GeluErf, GeluTanh), Fraction(113, 100)),
    **dict.fromkeys((Silu, Swish), Fraction(11, 10)),
    Mish: Fraction(109, 100),
}
"""Bounds on slopes: erf's is 2/sqrt(pi); those of gelu_erf and swish do not depend on the rate."""


def follows(graph: Graph, total: Node, start: str, known: Set[str]) -> bool:
    """Whether the sum `total`, which is known, determines its operand `start`; nodes that are known are constants."""
    times = total.operands.count(start)
    rest = [name for name in total.operands if name != start]
    try:
        return bool(times) and any(Growth(graph, start, known, norm).of_sum(rest) < times for norm in Norm)
    except Unbounded:
        return False


def lipschitz_bound(graph: Graph, norm: Norm) -> Fraction:
    """A Lipschitz constant on the whole space, in one norm for inputs and outputs; Unbounded where none is found."""
    return Growth(graph, graph.input, frozenset(), norm).of_sum([graph.output])


class Growth:
    """Lipschitz constants of nodes as functions of one node, in one norm; Unbounded where there is none."""

    def __init__(self, graph: Graph, start: str, known: Set[str], norm: Norm) -> None:
        self.graph, self.norm = graph, norm
        self.found: dict[str, Fraction] = {**dict.fromkeys(known, Fraction(0)), start: Fraction(1)}

    def of_sum(self, names: list[str]) -> Fraction:
        """Of the sum of some nodes."""
        return sum(map(self._of, names), Fraction(0))

    def _of(self, name: str) -> Fraction:
        pending = [name]  # graphs are deeper than Python's stack
        while pending:
            node = self.graph[pending[-1]]
            missing = [operand for operand in node.operands if operand not in self.found]
            if node.name not in self.found and not missing:
                self.found[node.name] = self._step(node, [self.found[operand] for operand in node.operands])
            if node.name in self.found:
                pending.pop()
            pending += missing
        return self.found[name]

    def _step(self, node: Node, operands: list[Fraction]) -> Fraction:
        op = node.op
        if not operands:  # the input, which is not computed from the start
            raise Unbounded
        if not any(operands):
            return Fraction(0)
        if isinstance(op, Affine | LinearImageOp):
            return map_norm_bound(op, self.norm) * operands[0]
        if type(op) is Add:
            return sum(operands, Fraction(0))
        if type(op) is Concat:
            return self.side_by_side(operands)
        if type(op) is Select:
            repeats = int(np.bincount(op.indices).max())
            return operands[0] * (1 if self.norm == Norm.INF else repeats)
        return self._function(node, operands)

    def _function(self, node: Node, operands: list[Fraction]) -> Fraction:
        """Of operations that are not affine."""
        return slope_bound(node.op) * operands[0]

    def side_by_side(self, operands: list[Fraction]) -> Fraction:
        """Of entries one after the other."""
        if self.norm == Norm.INF:
            return max(operands)
        if self.norm == Norm.ONE:
            return sum(operands, Fraction(0))
        return Fraction(root_up(sum((value * value for value in operands), Fraction(0))))


def slope_bound(op: Op) -> Fraction:
    """A number that no slope of an operation on single numbers exceeds; Unbounded where there is none."""
    if type(op) in STEEPEST:
        return STEEPEST[type(op)]
    if type(op) is LeakyRelu:
        return max(Fraction(1), Fraction(float(np.abs(op.slope).max())))
    if type(op) is Elu:
        return max(Fraction(1), abs(Fraction(op.alpha)))
    if isinstance(op, GeluCubic | HardSwish):
        return Fraction(float(np.max(bounds_of(op).steepest)))
    raise Unbounded
