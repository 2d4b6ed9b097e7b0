"""What is maximised over gaps d_j between bounds: a linear form that lies above a norm's measure there.

A convex function of one number lies below any line that is not below it at both ends of an interval. So with slopes s
and constants k that are rounded up,

    norm inf: d_j itself for one j (every j, and both signs unless x and y may be swapped, in parts of their own)
    norm 1:   |d_j| <= s_j d_j + k_j,       norm 2: d_j^2 <= s_j d_j + k_j        between the bounds of each d_j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.exact.rounding import rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class Chords:
    """The form slopes · d + constant, above the measure of d between bounds."""

    slopes: Array
    constant: float

    @staticmethod
    def of(norm: Norm, low: Array, high: Array) -> Chords:
        """The chords of a norm's measure (norms 1 and 2)."""
        steep = np.where(low >= 0, 1.0, np.where(high <= 0, -1.0, _slopes(low, high)))
        slopes = steep if norm == "1" else low + high
        total = Fraction(0)
        for s, a, b in zip(slopes.tolist(), low.tolist(), high.tolist(), strict=True):
            total += max(_measure(norm, end) - Fraction(s) * Fraction(end) for end in (a, b))
        return Chords(slopes, rounded_up(total))

    def excess(self, norm: Norm, low: Array, high: Array, gaps: Array) -> Array:
        """How far each chord lies above the measure at a point, about."""
        if norm == "1":
            wide = np.where(high > low, high - low, 1.0)
            chord = np.abs(low) + (np.abs(high) - np.abs(low)) * (gaps - low) / wide
            return np.asarray(np.maximum(chord - np.abs(gaps), 0.0))
        return np.asarray(np.maximum((high - gaps) * (gaps - low), 0.0))


def _slopes(low: Array, high: Array) -> Array:
    wide = np.where(high > low, high - low, 1.0)
    return np.asarray((np.abs(high) - np.abs(low)) / wide)


def _measure(norm: Norm, value: float) -> Fraction:
    exact = abs(Fraction(value))
    return exact * exact if norm == "2" else exact


def length_up(norm: Norm, measure: float) -> float:
    """The length of a measure, rounded up; 0 for what is below 0."""
    if not measure > 0 or math.isinf(measure):
        return max(measure, 0.0)
    return norm.length_up(Fraction(measure))


def box_length(norm: Norm, low: Array, high: Array) -> float:
    """A bound on the length of a gap between bounds."""
    sizes = np.maximum(np.abs(low), np.abs(high))
    if not np.isfinite(sizes).all():
        return math.inf
    return norm.length_up(norm.measure([Fraction(v) for v in sizes.tolist()]))


def places(gaps: Indices) -> dict[int, int]:
    """Which gap each of these columns is."""
    return {int(column): j for j, column in enumerate(gaps.tolist())}
