"""Between which numbers the entries of nodes lie, on the whole space or for inputs in some range."""

from __future__ import annotations

import numpy as np

from ircert.bounds.curves import bounds_of
from ircert.bounds.directed import exp_down, exp_up
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, LinearImageOp, MaxPool, Relu, Select
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Cos, Curve, Elu, Erf, Sigmoid, Sin, Softplus, Softsign, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu, Max, Min
from ircert.ir.ops.smooth import Choose, Product, Reciprocal, Softmax
from ircert.ir.ops.square import Square
from ircert.limits import checkpoint
from ircert.structure.affine_ranges import of_affine
from ircert.structure.range import (
    Range,
    absolute,
    clipped,
    largest,
    one_of,
    product,
    reciprocal,
    rectified,
    square,
    total,
)

VALUES: dict[type[Op], tuple[float, float]] = {
    Softplus: (0.0, np.inf),
    Sigmoid: (0.0, 1.0),
    Tanh: (-1.0, 1.0),
    Erf: (-1.0, 1.0),
    Softsign: (-1.0, 1.0),
}
"""Values of functions, the ends of which they never attain."""


def ranges(graph: Graph, start: Range | None = None) -> dict[str, Range]:
    """The ranges of all nodes, for inputs in a range."""
    found: dict[str, Range] = {}
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            checkpoint()
            if node.operands:
                found[node.name] = _range(graph, node, [found[name] for name in node.operands])
            else:
                found[node.name] = start or Range.between(graph.input_dim)
    return found


def _range(graph: Graph, node: Node, operands: list[Range]) -> Range:
    op, x = node.op, operands[0]
    if isinstance(op, Affine | LinearImageOp):
        return of_affine(op, x)
    if type(op) is Select:
        return x.take(op.indices)
    if type(op) is Clip:
        return clipped(x, op.low, op.high)
    if type(op) is MaxPool:
        return largest([x.take(member) for member in op.members])
    if type(op) is LeakyRelu:
        return _leaky(x, op)
    if isinstance(op, Curve) and type(op) is not Exp:
        return _curve(op, x)
    return _joined(op, operands) or Range.between(graph.sizes[node.name])


def _joined(op: Op, operands: list[Range]) -> Range | None:
    """By operations without numbers of their own; None where nothing is known."""
    kind, x = type(op), operands[0]
    if kind in (Add, Concat, Max, Min):
        return {Add: total, Concat: Range.beside, Max: largest, Min: _smallest}[kind](operands)
    if kind is Product:
        return square(x) if operands[0] is operands[1] else product(*operands)
    if kind in (Relu, Abs, Reciprocal, Exp):
        return {Relu: rectified, Abs: absolute, Reciprocal: reciprocal, Exp: _exp}[kind](x)
    if kind is Choose:
        return one_of(operands[2:])
    if kind is Softmax:
        size = len(x.low)
        return Range(np.zeros(size), np.ones(size), np.ones(size, dtype=bool), np.zeros(size, dtype=bool))
    return None


def _smallest(operands: list[Range]) -> Range:
    return -largest([-x for x in operands])


def _exp(x: Range) -> Range:
    low = exp_down(x.low)
    return Range(low, exp_up(x.high), x.above | (low == 0), x.below)


def _leaky(x: Range, op: LeakyRelu) -> Range:
    """max(x, 0) + slope min(x, 0)."""
    slope = np.broadcast_to(op.slope, x.low.shape)
    return total([rectified(x), product(Range.closed(slope, slope), -rectified(-x))])


def _curve(op: Curve, x: Range) -> Range:
    """By tables, where an end is finite or nothing else is known; and by what the function never attains."""
    size = len(x.low)
    if type(op) is Square:
        return square(x)
    always = _always(op, size)
    if always is not None and not (np.isfinite(x.low) | np.isfinite(x.high)).any():
        return always
    found = Range.closed(*bounds_of(op).values(x.low, x.high))
    return found if always is None else found.within(always)


def _always(op: Curve, size: int) -> Range | None:
    """Values on the whole space."""
    if type(op) in VALUES:
        return Range.between(size, *VALUES[type(op)], strictly=True)
    if type(op) is Elu and op.alpha > 0:
        return Range.between(size, -op.alpha, strictly=True)
    return Range.between(size, -1.0, 1.0) if isinstance(op, Sin | Cos) else None
