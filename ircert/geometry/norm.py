"""The norms of balls and distances."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction
from functools import reduce
from typing import Literal, TypeAlias

import numpy as np

from ircert.errors import QueryError
from ircert.exact.rounding import root_down, root_up, rounded_down, rounded_up
from ircert.ir.arrays import Array

FEW = 4
"""Vectors of that few entries are joined entry by entry: numpy is slow along short axes."""


class Norm(StrEnum):
    """A norm of vectors; it is the string "inf", "1" or "2" that people and files write.

    Exact lengths are `measures`: the length itself, and its square in norm 2, so that they are rational.
    """

    INF = "inf"
    ONE = "1"
    TWO = "2"

    __repr__ = str.__repr__

    @property
    def order(self) -> float:
        """What numpy calls it."""
        return float(self)

    @property
    def dual(self) -> Norm:
        """The norm of linear forms: the largest value on vectors of length 1."""
        return _DUALS[self]

    @property
    def power(self) -> int:
        """Which power of the length the measure is."""
        return 2 if self is Norm.TWO else 1

    def on(self, size: int) -> Norm:
        """This norm for vectors of that size: on a line all norms are one, and norm inf is the simplest."""
        return self if size > 1 else Norm.INF

    def measure(self, vector: Iterable[Fraction]) -> Fraction:
        """The exact measure of a vector."""
        if self is Norm.INF:
            return max(map(abs, vector))
        # over one denominator: a sum of fractions would take a gcd for each term
        numbers = list(vector)
        below = math.lcm(*(v.denominator for v in numbers))
        sizes = (abs(v.numerator) * (below // v.denominator) for v in numbers)
        return Fraction(sum(size**self.power for size in sizes), below**self.power)

    def distance(self, x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
        """The exact measure of x - y."""
        return self.measure(a - b for a, b in zip(x, y, strict=True))

    def length_up(self, measure: Fraction) -> float:
        """The length of a measure, rounded up."""
        return root_up(measure) if self is Norm.TWO else rounded_up(measure)

    def length_down(self, measure: Fraction) -> float:
        """The length of a measure, rounded down."""
        return root_down(measure) if self is Norm.TWO else rounded_down(measure)

    def length(self, measure: Fraction | float) -> float:
        """The length of a measure, about."""
        return math.sqrt(measure) if self is Norm.TWO else float(measure)

    def lengths(self, vectors: Array, axis: int = -1) -> Array:
        """Lengths of many vectors in floats, close to the last digit: squares neither overflow nor vanish."""
        sizes = np.abs(vectors)
        if axis == -1 and self is not Norm.TWO and 0 < sizes.shape[-1] <= FEW:
            join = np.add if self is Norm.ONE else np.maximum
            return np.asarray(reduce(join, (sizes[..., k] for k in range(sizes.shape[-1]))))
        if self is Norm.ONE:
            return np.asarray(sizes.sum(axis=axis))
        if self is Norm.INF:
            return np.asarray(sizes.max(axis=axis, initial=0.0))
        if axis == -1 and sizes.shape[-1] == 2:
            return np.hypot(sizes[..., 0], sizes[..., 1])
        unit = np.maximum(sizes.max(axis=axis, initial=0.0, keepdims=True), 1e-300)
        sizes /= unit
        sizes *= sizes
        return np.asarray(unit.squeeze(axis) * np.sqrt(sizes.sum(axis=axis)))

    def slopes(self, vectors: Array) -> Array:
        """Derivatives of the lengths of vectors (last axis) in floats; one of them where there are several."""
        if self is Norm.ONE:
            return np.sign(vectors)
        if self is Norm.TWO:
            return np.asarray(vectors / np.maximum(self.lengths(vectors), 1e-300)[..., None])
        largest = np.abs(vectors).argmax(axis=-1)[..., None]
        return np.where(np.arange(vectors.shape[-1]) == largest, np.sign(vectors), 0.0)


_DUALS = {Norm.INF: Norm.ONE, Norm.ONE: Norm.INF, Norm.TWO: Norm.TWO}
_NORMS: dict[object, Norm] = {math.inf: Norm.INF, 1: Norm.ONE, 2: Norm.TWO, **{str(norm): norm for norm in Norm}}


NormLike: TypeAlias = Norm | Literal["inf", "1", "2", 1, 2] | float | str
"""A norm as people write it."""


def norm_of(given: object) -> Norm:
    """A norm as people write it: "inf", 1, 2, "1", "2" or numpy.inf."""
    try:
        if isinstance(given, bool | np.bool_ | complex):  # True == 1 == 1 + 0j
            raise KeyError(given)
        return _NORMS[given.lower() if isinstance(given, str) else given]
    except (KeyError, TypeError):
        raise QueryError(f"there is no norm {given!r}", remedy='the norms are 1, 2 and "inf"') from None
