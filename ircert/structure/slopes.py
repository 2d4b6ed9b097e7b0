"""How steep operations on single numbers are between two numbers: at least, and at most, in absolute values.

Between two points of a range the operation changes by a mean of its slopes there times their distance, so that the
least and the greatest |slope| bound the quotient; the least one is 0 where slopes have both signs.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ircert.bounds.curves import bounds_of
from ircert.bounds.directed import exp_down, exp_up, product_down, quotient_down
from ircert.bounds.operator_norms import Unbounded
from ircert.exact.rounding import rounded_up
from ircert.ir.arrays import Array
from ircert.ir.ops import Relu
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Curve
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu
from ircert.ir.ops.smooth import Reciprocal
from ircert.ir.ops.square import Square
from ircert.structure.contraction import slope_bound
from ircert.structure.range import Range

Slopes = tuple[Array, Array]


def slopes_on(op: Op, x: Range) -> Slopes:
    """Rounded down and up; 0 and infinity where nothing is known."""
    least, most = _slopes(op, x)
    with suppress(Unbounded):
        most = np.minimum(most, rounded_up(slope_bound(op)))
    return np.where(least > 0, least, 0.0), np.where(np.isnan(most), np.inf, most)


def _slopes(op: Op, x: Range) -> Slopes:
    if type(op) is Exp:
        return exp_down(x.low), exp_up(x.high)
    if type(op) is Reciprocal:
        large, small = -product_down(-x.greatest, x.greatest), product_down(x.least, x.least)
        return quotient_down(np.ones(len(large)), large), -quotient_down(-np.ones(len(large)), np.maximum(small, 0.0))
    if isinstance(op, Square):
        return 2 * x.least, 2 * x.greatest
    if type(op) in (Relu, Abs, LeakyRelu):
        return _bent(x, op.slope if type(op) is LeakyRelu else np.array([0.0 if type(op) is Relu else -1.0]))
    if isinstance(op, Clip):
        inside = (op.low is None or x.low >= op.low) & (op.high is None or x.high <= op.high)
        return np.where(inside, 1.0, 0.0), np.ones(len(x.low))
    if isinstance(op, Curve):
        low, high = bounds_of(op).slopes(x.low, x.high)
        return np.maximum(low, -high), np.maximum(np.abs(low), np.abs(high))
    return np.zeros(len(x.low)), np.full(len(x.low), np.inf)


def _bent(x: Range, slope: Array) -> Slopes:
    """1 from 0 on, `slope` below."""
    left = np.where(x.low >= 0, 1.0, slope)
    right = np.where(x.high <= 0, slope, 1.0)
    least = np.where(left * right > 0, np.minimum(np.abs(left), np.abs(right)), 0.0)
    return least, np.maximum(np.abs(left), np.abs(right))
