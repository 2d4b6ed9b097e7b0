"""Sides that two neurons never take together on a box: their planes are nearly parallel, or cross outside of it.

With z_i = A_i (x - m) + b_i, off by at most e_i, no point of the box has s_i z_i >= 0 and s_j z_j >= 0 if for a κ > 0
s_i z_i + κ s_j z_j < 0 on the whole box. The largest value of that sum over the box is convex and piecewise linear in
κ, with kinks where a coefficient changes its sign; it is computed there, rounded upward.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.bounds.rounding import UNIT
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask

MOST = 8
"""Neurons of a box that are compared, the heaviest ones …"""
MOST_INPUTS = 16
"""… and inputs: with more of them planes are hardly ever parallel, and the work grows with their square."""
LARGEST = 1e9
"""Multipliers κ and 1 / κ."""
AT_ONCE = 400_000
"""Numbers in one array."""
ON, OFF = 0, 1


@dataclass(frozen=True)
class Exclusions:
    """For some neurons of each box (`neurons`: ranks, boxes) which sides exclude each other (rank, side, rank, side,
    boxes)."""

    neurons: Indices
    sides: Mask

    @staticmethod
    def none(boxes: int) -> Exclusions:
        """Nothing is excluded."""
        return Exclusions(np.zeros((0, boxes), dtype=np.int64), np.zeros((0, 2, 0, 2, boxes), dtype=bool))

    @staticmethod
    def of(known: Enclosures, weights: Array) -> Exclusions:
        """Of the heaviest relus of boxes that are open: slopes of curves have no sides."""
        free = known.open
        count = min(MOST, len(free)) if known.half.shape[0] <= MOST_INPUTS else 0
        order = np.argsort(np.where(free, -weights, np.inf), axis=0, kind="stable")[:count]
        boxes = np.arange(free.shape[1])
        sides = np.zeros((count, 2, count, 2, len(boxes)), dtype=bool)
        lines, values, errors = (part[order, ..., boxes] for part in (known.lines, known.values, known.errors))
        is_free = free[order, boxes]
        i, j = np.tril_indices(count, -1)
        step = max(1, AT_ONCE // max(1, len(i) * lines.shape[2] ** 2)) if count else 1
        for start in range(0, len(boxes), step):
            here = boxes[start : start + step]
            first, second = (tuple(part[k][:, here] for part in (lines, values, errors)) for k in (i, j))
            both = is_free[i][:, here] & is_free[j][:, here]
            by_box = _excluded(first, second, known.half[:, here].T)
            for a, b, found in by_box + _excluded_in_ball(first, second, known, here):
                sides[i, a, j, b, start : start + step] |= found & both
        sides |= sides.transpose(2, 3, 0, 1, 4)
        return Exclusions(order, sides)

    def take(self, chosen: Indices) -> Exclusions:
        """Those of some boxes, perhaps several times."""
        return Exclusions(self.neurons[:, chosen], self.sides[..., chosen])

    def follow(self, slopes: Slopes, neurons: Indices, side: int) -> tuple[Slopes, Mask]:
        """What follows when one neuron of every cube takes a side: slopes of others, and which cubes have no point."""
        empty = np.zeros(len(neurons), dtype=bool)
        ranks, cubes = np.nonzero(self.neurons == neurons)
        if not len(cubes):
            return slopes, empty
        middle, spare = slopes.middle.copy(), slopes.spare.copy()
        impossible = self.sides[ranks, side, :, :, cubes]  # (those cubes, ranks, sides)
        others = self.neurons[:, cubes].T
        where = others, cubes[:, None]
        is_free = spare[where] > 0
        on, off = impossible[:, :, ON], impossible[:, :, OFF]
        against = (on & off) | (~is_free & np.where(middle[where] > 0.5, on, off))
        empty[cubes] = against.any(axis=1)
        forced = is_free & (on | off)
        middle[where] = np.where(forced, np.where(off, 1.0, 0.0), middle[where])
        spare[where] = np.where(forced, 0.0, spare[where])
        return Slopes(middle, spare, slopes.still), empty


def _excluded(first: tuple[Array, ...], second: tuple[Array, ...], half: Array) -> list[tuple[int, int, Mask]]:
    """For the sides of pairs of neurons, given by A (pairs, boxes, inputs), b and e: where they exclude each other.

    s z_i + κ t z_j is s (z_i + κ s t z_j): its largest value differs in the sign of its middle alone.
    """
    found = []
    for same, sides in ((1.0, ((ON, ON), (OFF, OFF))), (-1.0, ((ON, OFF), (OFF, ON)))):
        with np.errstate(all="ignore"):
            kappa = _positive(-same * first[0] / second[0])
            # (pairs, boxes, kinks, inputs)
            line = first[0][..., None, :] + (same * kappa)[..., None] * second[0][..., None, :]
            reach = np.matmul(np.abs(line), half[:, :, None])[..., 0]
            sizes = np.abs(first[0]) * half, np.abs(second[0]) * half
            value = first[1][..., None] + kappa * (same * second[1])[..., None]
            size = (sizes[0].sum(axis=-1) + np.abs(first[1]))[..., None]
            size = size + kappa * (sizes[1].sum(axis=-1) + np.abs(second[1]))[..., None]
            error = first[2][..., None] + kappa * second[2][..., None]
            room = 16.0 * (half.shape[1] + 8) * UNIT * (size + error) + 1e-290
            for (a, b), sign in zip(sides, (1.0, -1.0), strict=True):
                found.append((a, b, np.asarray((sign * value + reach + error < -room).any(axis=-1))))
    return found


def _excluded_in_ball(
    first: tuple[Array, ...], second: tuple[Array, ...], known: Enclosures, here: Indices
) -> list[tuple[int, int, Mask]]:
    """The same by a ball of norm 1 or 2 alone: s z_i + κ t z_j is at most its value at the centre and radius times
    length."""
    setting, radius = known.place, known.radius
    if setting.norm == Norm.INF or not 0 < radius < np.inf:
        return []
    found = []
    with np.errstate(all="ignore"):
        offset = setting.center - known.middle[:, here].T
        values = [b + (a * offset).sum(axis=-1) for a, b, _ in (first, second)]
        sizes = [np.abs(b) + (np.abs(a) * np.abs(offset)).sum(axis=-1) for a, b, _ in (first, second)]
        for a, s in ((ON, 1.0), (OFF, -1.0)):
            for b, t in ((ON, 1.0), (OFF, -1.0)):
                lines, at = (s * first[0], t * second[0]), (s * values[0], t * values[1])
                kappa = _multiplier(setting.norm, lines, at, radius)
                wide = radius * setting.norm.dual.lengths(lines[0] + kappa[..., None] * lines[1])
                error = first[2] + kappa * second[2]
                longest = radius * setting.norm.dual.lengths(np.abs(lines[0]) + kappa[..., None] * np.abs(lines[1]))
                size = sizes[0] + kappa * sizes[1] + longest + error
                room = 16.0 * (len(setting.center) + 16) * UNIT * size + 1e-290 * (1 + radius)
                found.append((a, b, np.asarray(at[0] + kappa * at[1] + wide + error < -room)))
    return found


def _multiplier(norm: Norm, lines: tuple[Array, Array], values: tuple[Array, Array], radius: float) -> Array:
    """κ > 0 for which value_i + κ value_j + radius |A_i + κ A_j| is about least; 1 where floats find none."""
    first, second = lines
    if norm == Norm.TWO:
        p, q, s = (first * second).sum(axis=-1), (second**2).sum(axis=-1), (first**2).sum(axis=-1)
        kappa = (-p - values[1] * np.sqrt((s * q - p * p) / (q * radius * radius - values[1] ** 2))) / q
    else:
        # piecewise linear, with kinks where two entries have the same size
        k, m = np.triu_indices(first.shape[-1], 1)
        kinks = [-(first[..., k] + r * first[..., m]) / (second[..., k] + r * second[..., m]) for r in (1.0, -1.0)]
        tried = _positive(np.concatenate([*kinks, np.ones((*values[0].shape, 1))], axis=-1))
        lengths = np.abs(first[..., None, :] + tried[..., None] * second[..., None, :]).max(axis=-1)
        tops = tried * values[1][..., None] + radius * lengths
        kappa = np.take_along_axis(tried, np.argmin(tops, axis=-1)[..., None], axis=-1)[..., 0]
    return _positive(kappa)


def _positive(kappa: Array) -> Array:
    return np.where((kappa > 1 / LARGEST) & (kappa < LARGEST), kappa, 1.0)
