"""Branch and bound on the binaries of a program, best first, with bounds that hold in real arithmetic.

Every node fixes some binaries; the largest bound of all open nodes and closed leaves is a bound of the whole program,
at any time. Values come from outside: what a point of a relaxation attains is decided exactly by whoever asks.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from ircert.ir.arrays import Array, Indices
from ircert.limits import OutOfTime, is_over
from ircert.relational.safe_relaxation import SafeRelaxation

Sides = tuple[Array, Array]
Attained = Callable[[Array], float]
"""What a point of the relaxation leads to: a value that is surely attained, or -inf."""
Cuts = tuple[tuple[int, float, float], ...]
"""Variables with their least and largest values, the last cut last."""
Tighten = Callable[[Array, Array], Sides | None]
"""Closer bounds of all variables, given some; None where there surely is no point."""

WHOLE = 1e-9
"""Binaries this close to 0 or 1 are not branched on while there are others."""


@dataclass(order=True)
class _Node:
    key: float
    number: int
    bound: float = field(compare=False)
    fixed: Cuts = field(compare=False)
    sides: Sides | None = field(compare=False, default=None)


class Branching:
    """max cost · v + constant over a program with binaries: `value` <= max <= `bound` after any number of steps.

    cost:     the objective, which is maximised
    binaries: the variables to branch on, by default all integers of the program
    attained: see `Attained`; without it there are bounds alone
    tighten:  see `Tighten`; called before each relaxation
    value:    what is known to be attained; most: a bound that is known
    tol:      nodes whose bound exceeds the value by no more than tol times the value's size are closed
    """

    def __init__(
        self,
        relaxation: SafeRelaxation,
        cost: Array,
        *,
        binaries: Indices | None = None,
        attained: Attained | None = None,
        tighten: Tighten | None = None,
        value: float = -math.inf,
        most: float = math.inf,
        tol: float = 0.0,
    ) -> None:
        self.relaxation, self.cost = relaxation, cost
        self.binaries = np.flatnonzero(relaxation.program.integer) if binaries is None else binaries
        self.attained, self.tighten = attained, tighten
        self.value, self.tol = value, tol
        self.nodes = 0
        self._closed = -math.inf
        self._numbers = count()
        self._open: list[_Node] = []
        self._prices: Array | None = None
        self._push(most, (), None)

    @property
    def bound(self) -> float:
        """No point of the program has a larger objective; at least the value."""
        return max(self._closed, -self._open[0].key if self._open else -math.inf, self.value)

    @property
    def done(self) -> bool:
        """Whether the bracket is closed, up to the tolerance, or nothing is left to branch on."""
        return not self._open or self._good_enough(-self._open[0].key)

    @property
    def waiting(self) -> int:
        """Open nodes."""
        return len(self._open)

    def run(self, steps: float = math.inf) -> None:
        """Branch until done, for so many relaxations or until the time is over; bounds stay valid."""
        end = self.nodes + steps
        while not self.done and self.nodes < end and not is_over():
            self.step()

    def step(self) -> None:
        """Relax the open node with the largest bound, and branch."""
        node = heapq.heappop(self._open)
        try:
            self._relax(node)
        except BaseException as error:
            heapq.heappush(self._open, node)  # it stays open
            if not isinstance(error, OutOfTime):
                raise

    def _relax(self, node: _Node) -> None:
        self.nodes += 1
        sides = self._sides(node)
        if sides is None:
            return
        cost, constant = self.objective(sides)
        found = self.relaxation.bound(cost, *sides)
        bound = min(_sum_up(found.bound, constant), node.bound)
        self._prices = found.multipliers
        if found.point is not None and self.attained is not None:
            self.value = max(self.value, self.attained(found.point))
        if bound == -math.inf or self._good_enough(bound):
            self._closed = max(self._closed, bound)
            return
        parts = self.parts(sides, found.point)
        if not parts:
            self._closed = max(self._closed, bound)
        for part in parts:
            self._push(bound, (*node.fixed, part), sides)

    def objective(self, sides: Sides) -> tuple[Array, float]:
        """What is maximised where the variables have these bounds: costs, and a number to be added."""
        return self.cost, 0.0

    def parts(self, sides: Sides, point: Array | None) -> Cuts:
        """Cuts that together leave nothing out, by default of one binary; none where a node is not worth any."""
        column = self._chosen(sides, point)
        return () if column is None else ((column, 0.0, 0.0), (column, 1.0, 1.0))

    def _sides(self, node: _Node) -> Sides | None:
        program = self.relaxation.program
        given = (program.lower, program.upper) if node.sides is None else node.sides
        lower, upper = given[0].copy(), given[1].copy()
        for column, low, high in node.fixed[-1:]:  # the sides have those before it
            lower[column], upper[column] = max(lower[column], low), min(upper[column], high)
        return (lower, upper) if self.tighten is None else self.tighten(lower, upper)

    def _good_enough(self, bound: float) -> bool:
        return bound <= self.value + self.tol * abs(self.value)

    def _push(self, bound: float, fixed: Cuts, sides: Sides | None) -> None:
        heapq.heappush(self._open, _Node(-bound, next(self._numbers), bound, fixed, sides))

    # --- which binary ------------------------------------------------------------------------------------------------

    def _chosen(self, sides: Sides, point: Array | None) -> int | None:
        """The open binary whose branches promise most: how far it is from 0 and 1, times what that is worth.

        Where a relaxation is optimal the rows of a fractional binary pull it both ways, with multiplier times
        coefficient each; moving it to either side costs about as much as the rows on one side pull.
        """
        free = self.binaries[sides[0][self.binaries] < sides[1][self.binaries]]
        if not len(free):
            return None
        if point is None:
            return int(free[0])
        part = np.clip(point[free], 0.0, 1.0)
        apart = np.minimum(part, 1 - part)
        scores = np.where(apart > WHOLE, apart, WHOLE * apart)
        prices = self._prices
        if prices is not None and len(prices) == self.relaxation.absolute.shape[0] and np.isfinite(prices).all():
            worth = (np.abs(prices) @ self.relaxation.absolute)[free]
            if (scores * worth).any():
                scores = scores * worth
        return int(free[np.argmax(scores)])


def _sum_up(bound: float, constant: float) -> float:
    """bound + constant, rounded up."""
    return math.nextafter(bound + constant, math.inf) if constant else bound
