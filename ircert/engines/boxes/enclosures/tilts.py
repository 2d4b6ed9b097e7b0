"""How slopes of curves move with the point of a box: all together, so that what they do to J partly cancels.

On a box x = m + h t, |t_j| <= 1, a neuron is z = A (x - m) + b, off by at most e, and the derivative of its curve is
s z + c, off by at most r, for the numbers that z takes there. So its slope is

    λ = (s b + c) + sum over j of G_j t_j,  off by at most r + |s| e,      G_j = s A_j h_j:

linear in the point but for terms of second order. Intervals of slopes alone would let every neuron move by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.bounds.curves import Lines
from ircert.bounds.rounding import TINY, UNIT
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint


@dataclass(frozen=True)
class Tilts:
    """Slopes are within `rests` of `middles` + sum over j of rates_j t_j; the last axis counts boxes.

    middles, rests: (neurons, boxes); rests are infinite where nothing is known
    rates:          G (neurons, inputs, boxes)
    """

    middles: Array
    rates: Array
    rests: Array

    @staticmethod
    def none(neurons: int, inputs: int, boxes: int) -> Tilts:
        """Nothing is known yet."""
        empty = np.zeros((neurons, boxes))
        return Tilts(empty, np.zeros((neurons, inputs, boxes)), np.full((neurons, boxes), np.inf))

    def learn(self, where: slice, slope: Lines, state: Array, errors: Array, half: Array) -> None:
        """From lines around the derivatives of some neurons, and from A and b in the state of a walk.

        Roundings: one for each of s b, its sum with c, s A and the product with h; A and b may be off by what `errors`
        has room for.
        """
        n = len(half)
        value = slope.slope * state[:, n]
        self.middles[where] = value + slope.shift
        self.rates[where] = slope.slope[:, None] * state[:, :n] * half
        size = np.abs(value) + np.abs(slope.shift) + np.abs(self.rates[where]).sum(axis=1)
        rests = slope.error + np.abs(slope.slope) * errors
        self.rests[where] = rests * (1 + 8 * UNIT) + 8 * (n + 4) * UNIT * size + TINY

    def take(self, chosen: Indices | Mask) -> Tilts:
        """Those of some boxes."""
        return Tilts(self.middles[:, chosen], self.rates[..., chosen], self.rests[:, chosen])

    def within(self, least: Array, most: Array) -> tuple[Array, Array, Tilts]:
        """Middles and how far slopes are from them, with bounds on slopes known besides; neurons for which rates say
        less than the bounds have none."""
        reach = np.abs(self.rates).sum(axis=1) * (1 + 8 * len(self.rates[0]) * UNIT)
        middle = (least + most) / 2
        spare = (most - least) / 2 + 8 * UNIT * (np.abs(least) + np.abs(most)) + TINY
        with np.errstate(invalid="ignore"):
            good: Mask = np.asarray((self.middles > least) & (self.middles < most) & (self.rests < spare))
            good &= reach + self.rests < 2 * spare
        ends = np.maximum(most - self.middles, self.middles - least) * (1 + 8 * UNIT) + TINY
        rests = np.where(good, self.rests, spare)
        middle = np.where(good, self.middles, middle)
        spare = np.where(good, np.minimum(ends, (reach + rests) * (1 + 8 * UNIT)), spare)
        return middle, spare, Tilts(middle, np.where(good[:, None], self.rates, 0.0), rests)


def tilted(above: Array, below: Array, rates: Array) -> Array:
    """T_j = sum over neurons of G_j a w (inputs, boxes, rows, columns), from (neurons, …, boxes) of a, w and G."""
    a, w = (np.ascontiguousarray(np.moveaxis(part, 2, 0)) for part in (above, below))
    turned = np.ascontiguousarray(np.moveaxis(rates, (1, 2), (0, 1)))
    columns = a.transpose(0, 2, 1)
    found = np.zeros((len(turned), len(a), columns.shape[1], w.shape[2]))
    for j, rate in enumerate(turned):
        checkpoint()
        np.matmul(columns * rate[:, None], w, out=found[j])
    return found
