"""The linear relaxation of a program, with bounds that hold in real arithmetic.

HiGHS is asked for multipliers, not for an optimum: whatever they are, `dual_bound` turns them into a bound, in floats
with outward rounding, over the rows and bounds of the program itself. Where it says that there is no point, its ray is
tried as multipliers of the objective 0: a negative bound proves it, and nothing else does.

Integers are relaxed. Of quadratic rows those that say sum e_i^2 <= b are met by cuts u · e <= sqrt(b) with |u| <= 1
at the points that break them (Cauchy and Schwarz), others are left out: every model on the way is a relaxation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.bounds.dual_bound import dual_bound
from ircert.exact.live_program import LiveProgram, Status
from ircert.ir.arrays import Array
from ircert.programs.program import Program

SMALLEST = 1e-12
"""HiGHS takes no smaller coefficients; its multipliers without them are as good as any."""
CUTS = 4
"""Rounds of cuts for one bound …"""
MOST_CUTS = 200
"""… and all of them together."""
ROUND = 1e-6
"""Spheres that are left by less than this share need no cut."""
ATTEMPTS = 2
"""Where multipliers fail, the program is solved once more from nothing."""


@dataclass(frozen=True, eq=False)
class Relaxed:
    """No point of the program has a larger objective than `bound`, which is -inf where there surely is none.

    point: where the relaxation ended, if it has an optimum
    multipliers: of all rows there, cuts last; what they price is branched on
    """

    bound: float
    point: Array | None
    multipliers: Array | None = None

    @property
    def empty(self) -> bool:
        """Whether there is no point, for sure."""
        return self.bound == -math.inf


class SafeRelaxation:
    """A program whose bounds and objective change; it is maximised, whatever its own objective is."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.matrix: csr_array = program.matrix
        self.absolute = abs(program.matrix)
        self.sides = program.sides
        self._live: LiveProgram | None = None
        self._spheres = [
            (np.flatnonzero(row.quadratic.diagonal()), math.nextafter(math.sqrt(row.bound), math.inf))
            for row in program.quadratic_rows
            if _is_sphere(row.quadratic, row.linear) and row.bound > 0
        ]
        self.solved = 0
        """Linear programs so far."""

    def bound(
        self, cost: Array, lower: Array | None = None, upper: Array | None = None, *, seconds: float = math.inf
    ) -> Relaxed:
        """A bound on cost · v over the program with other bounds of its variables, which are finite."""
        columns = (
            self.program.lower if lower is None else lower,
            self.program.upper if upper is None else upper,
        )
        if (columns[0] > columns[1]).any():
            return Relaxed(-math.inf, None)
        best = self._dual(np.zeros(len(self.sides[0])), columns, cost)
        point = multipliers = None
        for _ in range(CUTS + 1):
            status, found = self._maximised(cost, columns, seconds)
            if status == "infeasible" and self._is_empty(columns):
                return Relaxed(-math.inf, None)
            if status != "optimal":
                break
            assert self._live is not None
            multipliers = self._live.multipliers
            point, best = found, min(best, self._dual(multipliers, columns, cost))
            if point is None or not self._cut(point):
                break
        return Relaxed(best, point, multipliers)

    def _maximised(self, cost: Array, columns: tuple[Array, Array], seconds: float) -> tuple[Status, Array | None]:
        status: Status = "failed"
        for _ in range(ATTEMPTS):
            if self._live is None:
                self._live = LiveProgram(self.matrix, self.sides, columns, smallest=SMALLEST, watched=True)
            else:
                self._live.set_columns(columns)
            self.solved += 1
            status = self._live.maximise(cost, seconds=seconds)
            if status != "failed":
                break
            self._live = None
        point = self._live.point if status == "optimal" and self._live is not None else None
        good = point is not None and len(point) == self.program.columns and bool(np.isfinite(point).all())
        return status, point if good else None

    def _dual(self, multipliers: Array, columns: tuple[Array, Array], cost: Array) -> float:
        if len(multipliers) != len(self.sides[0]) or not np.isfinite(multipliers).all():
            return math.inf
        with np.errstate(all="ignore"):
            found = dual_bound(self.matrix, self.sides, columns, cost, multipliers, self.absolute)
        return found if found == found else math.inf

    def _is_empty(self, columns: tuple[Array, Array]) -> bool:
        """Whether the ray, or its opposite, shows that there is no point."""
        ray = None if self._live is None else self._live.ray()
        if ray is None:
            return False
        nothing = np.zeros(self.program.columns)
        return any(self._dual(sign * ray, columns, nothing) < 0 for sign in (1.0, -1.0))

    def _cut(self, point: Array) -> bool:
        """Add a cut for every sphere that a point lies outside of; whether there was one."""
        rows: list[Array] = []
        limits: list[float] = []
        for where, radius in self._spheres:
            length = float(np.linalg.norm(point[where]))
            if length <= radius * (1 + ROUND) or len(self.sides[0]) - len(self.program.rhs) + len(rows) >= MOST_CUTS:
                continue
            row = np.zeros(self.program.columns)
            # the length of a rounded unit vector is at most 1 + (n + 4) u; a thousandth of a millionth is more
            row[where] = point[where] / length * (1 - 1e-12 - 1e-15 * len(where))
            rows.append(row)
            limits.append(radius)
        if not rows:
            return False
        more = csr_array(np.array(rows))
        self.matrix = csr_array(vstack([self.matrix, more]))
        self.absolute = abs(self.matrix)
        self.sides = np.append(self.sides[0], np.full(len(rows), -np.inf)), np.append(self.sides[1], limits)
        if self._live is not None:
            sides = np.full(len(rows), -np.inf), np.array(limits)
            self._live.add_rows(sides, more.indptr[:-1], more.indices, more.data)
        return True


def _is_sphere(quadratic: csr_array, linear: Array) -> bool:
    """Whether a form is the sum of some squares, each once."""
    diagonal = quadratic.diagonal()
    plain = quadratic.nnz == np.count_nonzero(diagonal) and not linear.any()
    return bool(plain and np.isin(diagonal, (0.0, 1.0)).all())
