"""A basis of a linear program in integers: its point, its weights, what they prove, and the basis next to it.

max c x subject to rows g x <= h (or = h). A basis is a set of rows G_B with an inverse; its point solves G_B x = h_B,
its weights solve y G_B = c, and c x = y h_B is its value. If the point satisfies all rows it is feasible; if no weight
of an inequality is negative, the value bounds c from above on all feasible points. Both together: optimal.

Rows beyond the constraints' own pin a variable at 0; they are no constraints, and a weight there spoils the bound.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ircert.exact.elimination import Square, independent
from ircert.exact.rows import Rows, Solution
from ircert.ir.arrays import Mask
from ircert.ir.rational import Integers, integer_type


class Constraints:
    """Rows, and one that pins each variable."""

    def __init__(self, rows: Rows) -> None:
        kind, size = integer_type(), rows.width
        ones, zeros = (np.full(size, kind(v), dtype=object) for v in (1, 0))
        pins = Rows(size, np.arange(size + 1), np.arange(size), ones, zeros, np.ones(size, dtype=bool))
        self.rows = rows
        self.all = Rows.joined([rows, pins])

    def completed(self, basis: list[int], free: list[int]) -> list[int]:
        """A basis of as many of the given rows as can be, then equations and pins, those of `free` variables first."""
        pins = [len(self.rows) + j for j in (*free, *range(self.rows.width))]
        order = list(dict.fromkeys([*basis, *np.flatnonzero(self.rows.equal).tolist(), *pins]))
        return [order[k] for k in independent(self.all.take(order))]


class Vertex:
    """A basis, for an objective; what follows is to be asked only where it is `regular`."""

    def __init__(self, constraints: Constraints, basis: list[int], objective: Integers) -> None:
        self.constraints, self.basis, self.objective = constraints, basis, objective
        self.rows = constraints.all.take(basis)
        self.square = Square(self.rows)
        self.pinned: Mask = np.array(basis) >= len(constraints.rows)

    @property
    def regular(self) -> bool:
        """Whether it has an inverse, for sure."""
        return self.square.regular

    @cached_property
    def point(self) -> Solution:
        """Where all rows of the basis hold with equality."""
        return self.square.solve(self.rows.limits)

    @cached_property
    def slacks(self) -> Integers:
        """What is left up to the limit of each row, times point.below."""
        rows = self.constraints.rows
        return rows.limits * self.point.below - rows.times(self.point.numbers)

    @cached_property
    def violated(self) -> list[int]:
        """Rows that the point does not satisfy."""
        equal = self.constraints.rows.equal
        return [i for i, s in enumerate(self.slacks) if s < 0 or (equal[i] and s)]

    @cached_property
    def weights(self) -> Solution:
        """y with y G_B = c."""
        return self.square.solve_left(self.objective)

    @cached_property
    def wrong(self) -> list[int]:
        """Places in the basis whose weights spoil the bound."""
        return self._spoiling(self.weights.numbers)

    def _spoiling(self, weights: Integers) -> list[int]:
        fixed, pinned = self.rows.equal, self.pinned
        return [k for k, y in enumerate(weights) if (pinned[k] and y) or (y < 0 and not fixed[k])]

    def contradicts(self, row: Integers, limit: Any) -> bool:
        """Whether no point satisfies row · x <= limit together with the basis, for sure.

        row = y G_B with y <= 0 at inequalities: row · x >= y h_B where they hold, and that is more than the limit.
        """
        found = self.square.solve_left(row)
        return not self._spoiling(-found.numbers) and found.numbers.dot(self.rows.limits) > limit * found.below

    # --- the basis next to it ----------------------------------------------------------------------------------------

    def repaired(self) -> Vertex | None:
        """A dual step: a violated row comes in; None if the rows of the basis contradict it, so that no point is left.

        Where weights are right they stay so (the dual simplex method); else the first row that may go does.
        """
        row = min(self.violated, key=self._gap)
        single = self.constraints.rows.take([row])
        sign = -1 if self.slacks[row] > 0 else 1
        ways = self.square.solve_left(sign * single.dense()[0]).numbers
        loose = [k for k, w in enumerate(ways) if w and self.pinned[k]]
        going = loose or [k for k, w in enumerate(ways) if w > 0 and not self.rows.equal[k]]
        if not going:
            return None
        if loose or self.wrong:
            return self._exchanged(min(going, key=self.basis.__getitem__), row)
        return self._exchanged(_least(going, self.weights.numbers, ways, self.basis), row)

    def _gap(self, row: int) -> tuple[int, int]:
        """Large gaps first, compared roughly, then the order of the rows."""
        rows = self.constraints.rows
        numbers = rows.numbers[rows.starts[row] : rows.starts[row + 1]]
        return max(v.bit_length() for v in numbers) - self.slacks[row].bit_length(), row

    def improved(self) -> Vertex | None:
        """A step of the simplex method: a row with a wrong weight goes, the point stays feasible.

        None if nothing stops it on its way, which a bounded program does.
        """
        place = min(self.wrong, key=self.basis.__getitem__)
        kind = integer_type()
        way = np.full(len(self.basis), kind(0), dtype=object)
        way[place] = kind(1 if self.weights.numbers[place] > 0 else -1)
        speeds = self.constraints.rows.times(self.square.solve(way).numbers)
        inside, equal = set(self.basis), self.constraints.rows.equal
        ahead = [i for i, speed in enumerate(speeds) if speed > 0 and not equal[i] and i not in inside]
        if not ahead:
            return None
        return self._exchanged(place, _least(ahead, self.slacks, speeds, list(range(len(speeds)))))

    def _exchanged(self, place: int, row: int) -> Vertex:
        basis = list(self.basis)
        basis[place] = row
        return Vertex(self.constraints, basis, self.objective)


def _least(places: list[int], above: Integers, below: Integers, order: list[int]) -> int:
    """The place with the least above / below, below > 0; the first in order among several."""
    best = places[0]
    for k in places[1:]:
        here, there = above[k] * below[best], above[best] * below[k]
        if here < there or (here == there and order[k] < order[best]):
            best = k
    return best
