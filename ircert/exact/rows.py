"""Rows of integers with their zeros left out, and what floats see of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.rational import Integers, integer_type
from ircert.limits import checkpoint

AT_ONCE = 1 << 22
"""Bits of the numbers that are multiplied between two looks at the clock."""
LONG = 900
"""Bits of an integer that is surely a float; longer ones are cut off."""
NOTHING = -(1 << 40)
"""The exponent of 0."""
_bits = np.frompyfunc(lambda v: v.bit_length(), 1, 1)


@dataclass(frozen=True)
class Solution:
    """The vector numbers / below, below > 0."""

    numbers: Integers
    below: Any

    @staticmethod
    def of(numbers: Integers, below: Any) -> Solution:
        """With a denominator of either sign."""
        return Solution(numbers, below) if below > 0 else Solution(-numbers, -below)


@dataclass(frozen=True)
class Rows:
    """row · x <= limit, or row · x = limit where `equal`; row i is numbers[starts[i] : starts[i + 1]], at `columns`."""

    width: int
    starts: Indices
    columns: Indices
    numbers: Integers
    limits: Integers
    equal: Mask

    @staticmethod
    def of(table: Integers, limits: Integers, *, width: int | None = None, at: int = 0, equal: bool = False) -> Rows:
        """Those of a table, whose first column belongs to variable `at` of `width` variables."""
        kept = np.asarray(table != 0, dtype=bool)
        places, columns = kept.nonzero()
        starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
        wide = at + table.shape[1] if width is None else width
        return Rows(wide, starts, columns + at, table[places, columns], limits, np.full(len(limits), equal))

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """One after the other."""
        lengths = np.concatenate([part.lengths for part in parts])
        return Rows(
            max(part.width for part in parts),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.limits for part in parts]),
            np.concatenate([part.equal for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.limits)

    @cached_property
    def lengths(self) -> Indices:
        """The nonzeros of each row."""
        return self.starts[1:] - self.starts[:-1]

    def take(self, chosen: Sequence[int] | Indices) -> Rows:
        """Some of the rows."""
        chosen = np.asarray(chosen, dtype=np.int64)
        lengths = self.lengths[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Rows(
            self.width, starts, self.columns[places], self.numbers[places], self.limits[chosen], self.equal[chosen]
        )

    def wider(self, width: int) -> Rows:
        """The same rows over more variables."""
        return Rows(width, self.starts, self.columns, self.numbers, self.limits, self.equal)

    @cached_property
    def owners(self) -> Indices:
        """The row of each number."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def dense(self) -> Integers:
        """As a table."""
        table = np.full((len(self), self.width), integer_type()(0), dtype=object)
        table[self.owners, self.columns] = self.numbers
        return table

    def times(self, point: Integers) -> Integers:
        """row · x for every row."""
        result = np.full(len(self), integer_type()(0), dtype=object)
        size = max((int(v).bit_length() for v in point), default=0) + 64
        for first, last in self._pieces(max(1, AT_ONCE // size)):
            checkpoint()
            start, end = int(self.starts[first]), int(self.starts[last])
            products = self.numbers[start:end] * point[self.columns[start:end]]
            filled = np.flatnonzero(self.lengths[first:last]) + first
            if len(filled):
                result[filled] = np.add.reduceat(products, self.starts[filled] - start)
        return result

    def hold(self, point: Solution) -> bool:
        """Whether a point satisfies all of them."""
        slacks = self.limits * point.below - self.times(point.numbers)
        return not any(s < 0 or (equal and s) for s, equal in zip(slacks, self.equal, strict=True))

    def floats(self) -> tuple[Array, Array]:
        """A table and limits, each row over a power of two next to its largest number."""
        mantissas, exponents = split(self.numbers)
        scales = np.full(len(self), NOTHING, dtype=np.int64)
        np.maximum.at(scales, self.owners, exponents)
        scales[scales == NOTHING] = 0
        table = np.zeros((len(self), self.width))
        table[self.owners, self.columns] = joined_floats(mantissas, exponents - scales[self.owners])
        mantissas, exponents = split(self.limits)
        return table, joined_floats(mantissas, exponents - scales)

    def _pieces(self, entries: int) -> Iterator[tuple[int, int]]:
        """Rows one after the other, about so many numbers at once."""
        first = 0
        while first < len(self):
            last = int(np.searchsorted(self.starts, self.starts[first] + entries, side="right")) - 1
            last = min(max(last, first + 1), len(self))
            yield first, last
            first = last


def split(numbers: Integers) -> tuple[Array, Indices]:
    """(m, e) with numbers about m 2^e, 1/2 <= |m| < 1; m = 0 and e = NOTHING for 0."""
    shifts = np.zeros(numbers.shape, dtype=np.int64)
    try:
        values = numbers.astype(np.float64)
    except OverflowError:
        values = np.full(numbers.shape, np.inf)
    if not np.isfinite(values).all():
        shifts = np.maximum(_bits(numbers).astype(np.int64) - LONG, 0)
        values = (numbers >> shifts.astype(object)).astype(np.float64)
    mantissas, exponents = np.frexp(values)
    return mantissas, np.where(mantissas == 0, NOTHING, exponents.astype(np.int64) + shifts)


def joined_floats(mantissas: Array, exponents: Indices) -> Array:
    """m 2^e, infinite or 0 where that is beyond floats."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(mantissas, np.clip(exponents, -4000, 4000).astype(np.int64))
