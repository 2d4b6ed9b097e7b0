"""Linear programs max c x subject to rows of integers, decided exactly: floats propose a basis, integers confirm it.

HiGHS ends at a basis, which python-flint solves exactly (`vertex`). Where it is not the best one, or not feasible, the
program is looked at from that vertex in a finer scale; then a few exact steps of the simplex method follow; the
criss-cross method decides what is small. All else is Undecided: nothing is claimed that was not proved in integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ircert.exact import criss_cross
from ircert.exact.float_program import FloatProgram, Guess
from ircert.exact.rows import NOTHING, Rows
from ircert.exact.safe_bound import Box, bound, contradiction
from ircert.exact.vertex import Constraints, Vertex
from ircert.ir.rational import Integers, integer_type
from ircert.limits import OutOfTime, Undecided, checkpoint

LARGEST, SMALL = 40_000, 2_000
"""Rows times variables squared: larger programs are not handed to the criss-cross method; without patience, far
smaller ones are not."""
CLOSER = 4
"""How often a program is looked at in a finer scale, …"""
FINER = 8
"""… and how many bits that has to gain."""
STEPS = 10.0
FEWEST, MOST = 2, 200
"""Exact steps of the simplex method: about so many seconds, and how many at least and at most."""


@dataclass(frozen=True)
class LinearOptimum:
    """The largest value, a point that has it, and the basis that proves it, if one did."""

    value: Fraction
    point: list[Fraction]
    vertex: Vertex | None = None

    @property
    def basis(self) -> list[int] | None:
        """The rows of the basis."""
        return None if self.vertex is None else self.vertex.basis

    @property
    def weights(self) -> list[float] | None:
        """How fast the value grows with the limits of these rows, rounded; None where floats do not hold that."""
        if self.vertex is None:
            return None
        weights = self.vertex.weights
        try:
            return [int(y) / int(weights.below) for y in weights.numbers]
        except OverflowError:
            return None


class _Empty(Exception):
    """No point satisfies all rows: proved."""


@dataclass(frozen=True)
class _Goal:
    """What to maximise; with a threshold, any larger value, or a proof that there is none."""

    objective: Integers
    threshold: Any = None

    def settled(self, vertex: Vertex, hopeful: bool) -> bool | None:
        """True at the best point, or a feasible one above the threshold; False where weights exclude any; else None."""
        if self.threshold is None:
            return None if vertex.violated or vertex.wrong else True
        if self._excess(vertex, hopeful) > 0:
            return None if vertex.violated else True
        return None if vertex.wrong else False

    def _excess(self, vertex: Vertex, hopeful: bool) -> Any:
        """The sign of value - threshold, from what is needed anyway."""
        if hopeful:
            return self.objective.dot(vertex.point.numbers) - self.threshold * vertex.point.below
        return vertex.weights.numbers.dot(vertex.rows.limits) - self.threshold * vertex.weights.below


class Program:
    """Rows that are bounded together; Undecided is raised where a question about them is too large.

    reach: no variable is larger (in absolute value) at any point that satisfies them, if that is known
    empty: no point satisfies them, which was proved
    """

    def __init__(self, rows: Rows, reach: Fraction | None = None) -> None:
        self.reach = reach
        self.width = rows.width
        self.empty = False
        self._in_phase_one = False
        self._constraints = Constraints(self._without_zeros(rows))

    def _without_zeros(self, rows: Rows) -> Rows:
        still = rows.lengths == 0
        for limit, equal in zip(rows.limits[still], rows.equal[still], strict=True):
            self.empty = self.empty or limit < 0 or bool(equal and limit)
        return rows.take(np.flatnonzero(~still))

    @property
    def rows(self) -> Rows:
        """Those that matter."""
        return self._constraints.rows

    def add(self, rows: Rows) -> None:
        """More inequalities."""
        rows = self._without_zeros(rows)
        if "_floats" in self.__dict__:
            self._floats.add(rows)
        self._constraints = Constraints(Rows.joined([self.rows, rows]))
        self.__dict__.pop("_box", None)

    @cached_property
    def _floats(self) -> FloatProgram:
        return FloatProgram(self.rows)

    def guess(self, objective: Integers) -> Guess:
        """What floats say."""
        return self._floats.maximise(objective)

    # --- answers -----------------------------------------------------------------------------------------------------

    def maximise(
        self, objective: Integers, *, patient: bool = True, start: list[int] | None = None
    ) -> LinearOptimum | None:
        """The largest value of objective · x; None if no point satisfies the rows.

        start: a basis that may be the best one, as that of a program with other limits; then floats are not asked
        """
        goal = _Goal(objective)
        found = None if start is None or self.empty else self._confirmed(start, goal)
        return self._pursued(goal, patient) if found is None else found

    def _confirmed(self, basis: list[int], goal: _Goal) -> LinearOptimum | None:
        """The optimum, if it is that of a basis."""
        if len(basis) != self.width or max(basis, default=0) >= len(self._constraints.all):
            return None
        vertex = Vertex(self._constraints, basis, goal.objective)
        return self._optimum(vertex) if vertex.regular and goal.settled(vertex, hopeful=True) else None

    def above(self, objective: Integers, threshold: Any = 0, *, patient: bool = True) -> list[Fraction] | None:
        """A point where objective · x exceeds the threshold; None if there is none."""
        found = self._pursued(_Goal(objective, integer_type()(threshold)), patient)
        return None if found is None else found.point

    def _pursued(self, goal: _Goal, patient: bool) -> LinearOptimum | None:
        if self.empty:
            return None
        if not self.width:
            return LinearOptimum(Fraction(0), []) if goal.threshold is None or goal.threshold < 0 else None
        try:
            guess = self._floats.maximise(goal.objective)
            if self._excluded(guess, goal):
                return None
            for vertex, hopeful in self._vertices(guess, goal):
                settled = goal.settled(vertex, hopeful)
                if settled is not None:
                    return self._optimum(vertex) if settled else None
            self._look_for_contradiction(patient)
        except _Empty:
            self.empty = True
            return None
        return self._by_criss_cross(goal, patient)

    @cached_property
    def _box(self) -> Box:
        return Box.of(self.rows, self.reach)

    def _excluded(self, guess: Guess, goal: _Goal) -> bool:
        """Whether rough weights show that nothing exceeds the threshold; raises _Empty where they show more."""
        if guess.weights is None:
            return False
        if guess.status == "infeasible":
            if contradiction(self.rows, self._box, guess.weights, self._floats.row_exponents):
                raise _Empty
            return False
        if goal.threshold is None or guess.exceeds(goal.threshold):
            return False
        most = self._bound(guess, goal.objective, self._box)
        return most is not None and most <= int(goal.threshold)

    def _bound(self, guess: Guess, objective: Integers, box: Box) -> Fraction | None:
        if guess.weights is None or guess.status != "optimal":
            return None
        return bound(self.rows, box, objective, guess.weights, self._floats.row_exponents, guess.scale)

    def bound(self, objective: Integers, reach: Fraction) -> Fraction | None:
        """What objective · x does not exceed at points that satisfy the rows, no |x_j| above reach; None if unknown."""
        return self._bound(self.guess(objective), objective, Box.of(self.rows, reach))

    def _optimum(self, vertex: Vertex) -> LinearOptimum:
        point = vertex.point
        value = Fraction(int(vertex.objective.dot(point.numbers)), int(point.below))
        return LinearOptimum(value, [Fraction(int(v), int(point.below)) for v in point.numbers], vertex)

    # --- vertices that may settle it ---------------------------------------------------------------------------------

    def _vertices(self, guess: Guess, goal: _Goal) -> Iterator[tuple[Vertex, bool]]:
        """Those that floats propose, then neighbours of the last one, each with the hope that it exceeds the goal."""
        vertex: Vertex | None = None
        hopeful = True
        for vertex, hopeful in self._proposed(guess, goal):
            yield vertex, hopeful
        if vertex is None:
            return
        for _ in range(int(min(max(FEWEST, STEPS / (3 * vertex.square.seconds + 1e-6)), MOST))):
            checkpoint()
            vertex = _next(vertex)
            if not vertex.regular:
                return
            yield vertex, hopeful

    def _proposed(self, guess: Guess, goal: _Goal) -> Iterator[tuple[Vertex, bool]]:
        hopeful, shift = goal.threshold is None or guess.exceeds(goal.threshold), 0
        for _ in range(CLOSER):
            vertex = self._vertex(guess, goal)
            if vertex is None:
                return
            yield vertex, hopeful
            finer = -int(self._floats.violations(vertex.slacks, vertex.point.below).max(initial=NOTHING))
            if finer < shift + FINER or finer >= -NOTHING // 2:
                return
            shift = finer
            guess = self._floats.closer(goal.objective, vertex.slacks, vertex.point.below, shift)

    def _vertex(self, guess: Guess, goal: _Goal) -> Vertex | None:
        if guess.status == "failed":
            return None
        basis = [*guess.rows, *(len(self.rows) + j for j in guess.free)]
        vertex = None if len(basis) != self.width else Vertex(self._constraints, basis, goal.objective)
        if vertex is None or not vertex.regular:
            vertex = Vertex(self._constraints, self._constraints.completed(guess.rows, guess.free), goal.objective)
        if guess.against is not None:
            against = self.rows.take([guess.against])
            row, limit = against.dense()[0], against.limits[0]
            if vertex.contradicts(row, limit) or (against.equal[0] and vertex.contradicts(-row, -limit)):
                raise _Empty
        return vertex

    # --- where floats fail -------------------------------------------------------------------------------------------

    def _look_for_contradiction(self, patient: bool) -> None:
        """Raise _Empty if max -t, row · x - scale t <= limit, t >= -1, has a negative value for sure."""
        if self._in_phase_one:
            return
        phase = Program(_relaxed(self.rows))
        phase._in_phase_one = True
        objective = np.full(self.width + 1, integer_type()(0), dtype=object)
        objective[-1] = integer_type()(-1)
        try:
            found = phase.maximise(objective, patient=False)
        except OutOfTime:
            raise
        except Undecided:
            return
        if found is None or found.value < 0:
            raise _Empty

    def _by_criss_cross(self, goal: _Goal, patient: bool) -> LinearOptimum | None:
        rows, equal = self.rows, self.rows.equal
        table = np.concatenate([rows.dense(), -rows.dense()[equal]])
        limits = np.concatenate([rows.limits, -rows.limits[equal]])
        if len(limits) * self.width**2 > (LARGEST if patient else SMALL):
            raise Undecided
        best = criss_cross.maximise(_plain(goal.objective), [_plain(row) for row in table], _plain(limits))
        if best is None:
            self.empty = True
            return None
        if goal.threshold is not None and best.value <= int(goal.threshold):
            return None
        return LinearOptimum(best.value, list(best.point))


def maximise(objective: Integers, rows: Integers, limits: Integers, *, patient: bool = True) -> LinearOptimum | None:
    """max objective · x subject to rows x <= limits, a bounded set; None if it is empty."""
    return Program(Rows.of(rows, limits)).maximise(objective, patient=patient)


def _next(vertex: Vertex) -> Vertex:
    """An exact step of the dual or of the primal simplex method."""
    found = vertex.repaired() if vertex.violated else vertex.improved()
    if found is None and vertex.violated:
        raise _Empty
    if found is None:
        raise ValueError("the feasible set is not bounded")
    return found


def _relaxed(rows: Rows) -> Rows:
    """Inequalities that give way to a new variable t >= -1, each by about the size of its numbers."""
    kind, width = integer_type(), rows.width + 1
    sizes = [max(v.bit_length() for v in rows.numbers[a:b]) for a, b in pairwise(rows.starts.tolist())]
    gives = np.array([kind(0) if e else -(kind(1) << k) for k, e in zip(sizes, rows.equal, strict=True)], dtype=object)
    starts = rows.starts + np.arange(len(rows.starts))
    columns = np.insert(rows.columns, rows.starts[1:], width - 1)
    wide = Rows(width, starts, columns, np.insert(rows.numbers, rows.starts[1:], gives), rows.limits, rows.equal)
    one = np.array([kind(1)], dtype=object)
    return Rows.joined([wide, Rows.of(-one[None], one, width=width, at=width - 1)])


def _plain(numbers: Integers) -> list[int]:
    return [int(v) for v in numbers]
