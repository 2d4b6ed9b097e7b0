"""Bounds on linear forms over parts of a ball's pairs: the linear program, with multipliers that are checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ircert.engines.optimum.relaxation import Relaxation
from ircert.ir.arrays import Array
from ircert.limits import checkpoint, left
from ircert.relational.safe_relaxation import SafeRelaxation

Limits = Mapping[int, tuple[float, float]]
"""Nearer bounds of some columns."""
LONGEST = 20.0
"""Seconds for one program."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A bound on an objective over a part of the program; -inf where the part is proved empty.

    point: where HiGHS ended, and prices: how much each open neuron's phase matters there; None without an optimum
    """

    bound: float
    point: Array | None = None
    prices: Array | None = None


class LinearBounds:
    """The program of a question, of which parts are looked at."""

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self.safe = SafeRelaxation(relaxation.program)
        program = relaxation.program
        self._touched = abs(csr_array(csr_array(program.matrix)[:, relaxation.neurons.phases])).sign()

    @property
    def solved(self) -> int:
        """Linear programs so far."""
        return self.safe.solved

    def columns(self, limits: Limits) -> tuple[Array, Array]:
        """The bounds of all columns of a part."""
        lower, upper = self.relaxation.program.lower.copy(), self.relaxation.program.upper.copy()
        for column, (low, high) in limits.items():
            lower[column], upper[column] = max(lower[column], low), min(upper[column], high)
        return lower, upper

    def most(self, cost: Mapping[int, float], limits: Limits) -> Solved:
        """A bound on a linear form over a part."""
        checkpoint()
        form = np.zeros(self.relaxation.program.columns)
        for column, value in cost.items():
            form[column] += value
        found = self.safe.bound(form, *self.columns(limits), seconds=min(LONGEST, left()))
        if found.point is None or found.multipliers is None:
            return Solved(found.bound if not math.isnan(found.bound) else math.inf)
        return Solved(found.bound, found.point, np.abs(found.multipliers[: self._touched.shape[0]]) @ self._touched)
