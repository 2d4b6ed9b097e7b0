"""Exact vectors of rationals: integers over one common denominator.

Weights are floats, hence integers over a power of two, so an affine map of such a vector is integer arithmetic. The
integers are gmpy2's or python-flint's where installed (faster on long numbers), else Python's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ircert.ir.arrays import Array
from ircert.ir.dyadic import integers
from ircert.ir.long_integers import common_multiple

Integers: TypeAlias = NDArray[np.object_]


@cache
def integer_type() -> Callable[[int], Any]:
    """The fastest installed integer type: gmpy2.mpz, flint.fmpz or int."""
    if find_spec("gmpy2"):
        from gmpy2 import mpz

        return mpz
    if find_spec("flint"):
        from flint import fmpz

        return fmpz
    return int


def integer_array(values: list[int]) -> Integers:
    """Python integers as an object array of the fastest integer type."""
    # assigning a list asks each number whether it is an array, which takes a hundred times longer
    return np.fromiter(map(integer_type(), values), dtype=object, count=len(values))


@dataclass(frozen=True)
class Rationals:
    """The vector numerators / denominator, with denominator > 0."""

    numerators: Integers
    denominator: Any

    @staticmethod
    def of_floats(values: Array) -> Rationals:
        """Floats, exactly."""
        numerators, scale = integers(values)
        return Rationals(integer_array(numerators), integer_type()(1 << scale))

    @staticmethod
    def of_fractions(values: list[Fraction]) -> Rationals:
        """Fractions, over their least common denominator."""
        common = math.lcm(*(v.denominator for v in values))
        numerators = [v.numerator * (common // v.denominator) for v in values]
        return Rationals(integer_array(numerators), integer_type()(common))

    def fractions(self) -> list[Fraction]:
        """The same numbers as `fractions.Fraction`."""
        bottom = int(self.denominator)
        return [Fraction(int(v), bottom) for v in self.numerators]

    def __len__(self) -> int:
        return len(self.numerators)

    def __getitem__(self, index: Any) -> Rationals:
        return Rationals(self.numerators[index], self.denominator)

    def scaled_to(self, denominator: Any) -> Integers:
        """The numerators over a multiple of this vector's denominator."""
        return self.numerators * (denominator // self.denominator)


def common_denominator(denominators: Iterable[int], longest: float = math.inf) -> int:
    """The least common multiple; ValueError as soon as it has more than `longest` bits."""
    level = list(denominators)
    while len(level) > 1:  # of neighbours first: long numbers meet only numbers of their own length
        pairs = [a if a == b else common_multiple(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(level) // 2 * 2 :]
        if max(common.bit_length() for common in level) > longest:
            raise ValueError(f"its numbers have a common denominator of more than {longest} bits")
    return level[0] if level else 1


def over_common_denominator(*vectors: Rationals) -> tuple[list[Integers], Any]:
    """The numerators of all vectors over one denominator, and that denominator."""
    denominators = [v.denominator for v in vectors]
    if all(d == denominators[0] for d in denominators):
        return [v.numerators for v in vectors], denominators[0]
    common = integer_type()(common_denominator({int(d) for d in denominators}))
    return [v.scaled_to(common) for v in vectors], common
