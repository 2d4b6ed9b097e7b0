"""The square: what products of two computed numbers become in a lowered graph.

    a b = u² - v²,   u = (s a + b / s) / 2,   v = (s a - b / s) / 2,   for any s,

exactly where s is a power of two. So a product needs nothing that a curve does not have: one slope for each neuron.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ircert.ir.arrays import Array
from ircert.ir.ops.curves import Curve
from ircert.ir.rational import Rationals

if TYPE_CHECKING:
    from flint import arb_series


@dataclass(frozen=True, eq=False)
class Square(Curve):
    """y_i = x_i²; it evaluates exactly."""

    kind = "square"
    steep = True

    def evaluate(self, *operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return operands[0] * operands[0]

    def exact(self, *operands: Rationals) -> Rationals:
        (x,) = operands
        return Rationals(x.numerators * x.numerators, x.denominator * x.denominator)

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x * x
