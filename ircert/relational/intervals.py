"""Intervals of many boxes at once, (boxes, entries), rounded outward.

Every form has one beside it: lines around a curve that is flat far out leave the range of its values, and an interval
does not. What is no number (infinity minus itself) says nothing.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.interval import Interval
from ircert.bounds.rounding import magnitude, midpoint, slack
from ircert.ir.arrays import Array, Matrix


def mapped(parts: list[tuple[Matrix, Interval]], bias: Array) -> Interval:
    """The sum of matrices times numbers, plus others; the matrices may be off by a unit in their last place."""
    center, reach, size, terms = bias[None], np.zeros((1, len(bias))), np.abs(bias)[None], 4
    for weight, given in parts:
        middle, half = midpoint(*given)
        absolute = abs(weight)
        center = center + middle @ weight.T
        reach = reach + half @ absolute.T
        size = size + np.abs(middle) @ absolute.T
        terms += weight.shape[1] + 2
    error = slack(terms, size + reach)
    return known(center - reach - error, center + reach + error)


def added(parts: list[Interval], signs: tuple[float, ...]) -> Interval:
    """Their sum, with signs that are ± 1."""
    ends = [part if sign > 0 else (-part[1], -part[0]) for sign, part in zip(signs, parts, strict=True)]
    low, high = (np.sum(side, axis=0) for side in zip(*ends, strict=True))
    error = slack(len(parts), np.sum([magnitude(*part) for part in parts], axis=0))
    return known(low - error, high + error)


def weighed(weights: Array, given: Interval) -> Interval:
    """Weights of each box (boxes, rows, entries) times its numbers."""
    middle, half = (side[:, :, None] for side in midpoint(*given))
    absolute = np.abs(weights)
    center, reach = weights @ middle, absolute @ half
    error = slack(weights.shape[2] + 4, absolute @ np.abs(middle) + reach)
    low, high = known(center - reach - error, center + reach + error)
    return low[:, :, 0], high[:, :, 0]


def product(one: Interval, other: Interval) -> Interval:
    """The products of numbers of two intervals: between those of their ends."""
    ends = [a * b for a in one for b in other]
    low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)  # no number where one is none
    return known(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))


def cut(found: Interval, other: Interval | None) -> Interval:
    """The common part of two intervals."""
    return found if other is None else (np.fmax(found[0], other[0]), np.fmin(found[1], other[1]))


def known(low: Array, high: Array) -> Interval:
    """An interval whose ends are numbers."""
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
