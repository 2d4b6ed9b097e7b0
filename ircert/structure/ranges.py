"""Between which numbers the entries of nodes lie on the whole space, and which of them are never 0.

A bound may be one that is never attained, as 0 is for exp: then 0 as a lower bound says positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.ir.arrays import Array, Mask
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Concat, LinearImageOp, Relu, Select
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Erf, Sigmoid, Softplus, Softsign, Tanh
from ircert.ir.ops.piecewise import Abs
from ircert.ir.ops.smooth import Exp, Product, Reciprocal
from ircert.structure.linear_maps import bias, interval, reads_signed

VALUES: dict[type[Op], tuple[float, float]] = {
    Exp: (0.0, np.inf),
    Softplus: (0.0, np.inf),
    Sigmoid: (0.0, 1.0),
    Tanh: (-1.0, 1.0),
    Erf: (-1.0, 1.0),
    Softsign: (-1.0, 1.0),
}
"""Values of functions, the ends of which they never attain."""
FAR = 1e300
"""In the place of infinite ends, in sums whose infinite ends are known from elsewhere."""


@dataclass(frozen=True)
class Range:
    """low <= entry <= high; `above` and `below` where equality never holds."""

    low: Array
    high: Array
    above: Mask
    below: Mask

    @staticmethod
    def between(size: int, low: float = -np.inf, high: float = np.inf, *, strictly: bool = False) -> Range:
        """The same for all entries."""
        return Range(np.full(size, low), np.full(size, high), *(np.full(size, strictly) for _ in range(2)))

    @property
    def positive(self) -> Mask:
        """Which entries are more than 0."""
        return np.asarray((self.low > 0) | ((self.low == 0) & self.above))

    @property
    def negative(self) -> Mask:
        """Which entries are less than 0."""
        return np.asarray((self.high < 0) | ((self.high == 0) & self.below))

    @property
    def never_zero(self) -> Mask:
        """Which entries are certainly not 0."""
        return np.asarray(self.positive | self.negative)


def ranges(graph: Graph) -> dict[str, Range]:
    """The ranges of all nodes."""
    found: dict[str, Range] = {}
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            found[node.name] = _range(graph, node, [found[name] for name in node.operands])
    return found


def _range(graph: Graph, node: Node, operands: list[Range]) -> Range:
    size, op = graph.sizes[node.name], node.op
    kind = type(op)
    if kind in VALUES:
        return Range.between(size, *VALUES[kind], strictly=True)
    if isinstance(op, Affine | LinearImageOp):
        return _affine(op, operands[0])
    if kind is Concat:
        parts = ([getattr(x, name) for x in operands] for name in ("low", "high", "above", "below"))
        return Range(*(np.concatenate(part) for part in parts))
    if isinstance(op, Select):
        x, chosen = operands[0], op.indices
        return Range(x.low[chosen], x.high[chosen], x.above[chosen], x.below[chosen])
    if kind is Relu or kind is Abs:
        x = operands[0]
        positive = x.positive if kind is Relu else x.never_zero
        return Range(np.zeros(size), np.full(size, np.inf), positive, np.zeros(size, dtype=bool))
    if kind is Product:
        return _signed(size, *_signs(operands))
    if kind is Reciprocal:
        return _signed(size, operands[0].positive, operands[0].negative)
    return Range.between(size)


def _signs(operands: list[Range]) -> tuple[Mask, Mask]:
    a, b = operands
    return (
        np.asarray((a.positive & b.positive) | (a.negative & b.negative)),
        np.asarray((a.positive & b.negative) | (a.negative & b.positive)),
    )


def _signed(size: int, positive: Mask, negative: Mask) -> Range:
    low, high = np.where(positive, 0.0, -np.inf), np.where(negative, 0.0, np.inf)
    return Range(low, high, positive, negative) if size else Range.between(size)


def _affine(op: Affine | LinearImageOp, x: Range) -> Range:
    """Rounded outward, and without rounding where all terms have one sign: then their sum has it."""
    ends = [np.nan_to_num(end, posinf=FAR, neginf=-FAR) for end in (x.low, x.high)]
    low, high = interval(op, *ends)
    added = bias(op)
    reaches_low = reads_signed(op, x.low == -np.inf, x.high == np.inf)
    reaches_high = reads_signed(op, x.high == np.inf, x.low == -np.inf)
    low, high = np.where(reaches_low, -np.inf, low), np.where(reaches_high, np.inf, high)
    low, high = (np.where(np.isnan(end), default, end) for end, default in ((low, -np.inf), (high, np.inf)))
    above = ~reads_signed(op, ~(x.low >= 0), ~(x.high <= 0)) & (added >= 0)
    above &= reads_signed(op, x.positive, x.negative) | (added > 0)
    below = ~reads_signed(op, ~(x.high <= 0), ~(x.low >= 0)) & (added <= 0)
    below &= reads_signed(op, x.negative, x.positive) | (added < 0)
    low, high = np.where(above, np.maximum(low, 0.0), low), np.where(below, np.minimum(high, 0.0), high)
    return Range(low, high, above, below)
