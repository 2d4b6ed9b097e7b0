"""L2 balls and cones for solvers that know no quadratic rows: tangent planes, added until they fit.

For *any* vector u, every v with |v|^2 <= b satisfies 2 u·v <= b + |u|^2, because |v - u|^2 >= 0, and every v with
|v| <= h satisfies u·v <= |u| h. With u on the sphere, or anywhere for a cone, these are tangent planes. So each model
on the way holds the whole set, whatever was rounded in choosing u, and its dual bound is valid. The final point may
lie outside by the tolerance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.backends.base import Limits, Outcome, Progress, Status
from ircert.errors import BackendError
from ircert.ir.arrays import Array, Indices, Sparse
from ircert.programs.program import Block, Program, QuadraticRow
from ircert.programs.verify import cone_height

TOLERANCE = 1e-6
"""How far, relative to b, the square sum of the final point may exceed b: at least this, and what solvers allow."""
FEASIBILITY = 1e-6
"""By how much a solver may violate a plane or a bound."""
ROUNDS = 200


def solve_with_cuts(
    solve: Callable[[Program, Limits], Outcome], program: Program, limits: Limits, backend: str
) -> Outcome:
    """Answer a program whose quadratic rows are balls, with a solver that knows linear rows only."""
    started = time.monotonic()
    curved = [_curved(row, program) for row in program.quadratic_rows]
    relaxed = replace(program, quadratic_rows=())
    for part in curved:
        relaxed = _with_planes(relaxed, part, part.first_directions())
    nodes = 0
    progress = None if limits.progress is None else partial(_bound_alone, limits.progress)
    last = Outcome(Status.TIME_LIMIT, None, None, None, 0, 0.0, backend)
    for _ in range(ROUNDS):
        left = None if limits.time_limit is None else limits.time_limit - (time.monotonic() - started)
        if left is not None and left <= 0:
            break
        outcome = solve(relaxed, replace(limits, time_limit=left, progress=progress))
        nodes += outcome.nodes
        outcome = replace(outcome, nodes=nodes, seconds=time.monotonic() - started)
        violated = [part for part in curved if outcome.point is not None and part.is_violated(outcome.point)]
        if outcome.point is None or not violated:
            return outcome
        last = outcome
        if outcome.status is not Status.OPTIMAL:
            return _without_point(outcome, "the time ended before the cuts were enough")
        for part in violated:
            relaxed = _with_planes(relaxed, part, outcome.point[part.members][None, :])
    return replace(_without_point(last, "the limit was reached before the cuts were enough"), status=Status.UNKNOWN)


def _bound_alone(tell: Callable[[Progress], bool | None], progress: Progress) -> bool | None:
    """Points on the way may lie outside the ball."""
    return tell(replace(progress, point=None))


def _without_point(outcome: Outcome, message: str) -> Outcome:
    """A point outside the ball is no answer; the bound of a relaxation is one."""
    status = Status.TIME_LIMIT if outcome.status is Status.OPTIMAL else outcome.status
    message = "; ".join(note for note in (outcome.message, message) if note)
    return replace(outcome, status=status, value=None, point=None, message=message)


@dataclass(frozen=True)
class _Ball:
    """The row |v|^2 <= b; `members` are the variables v."""

    name: str
    members: Indices
    bound: float

    def first_directions(self) -> Array:
        """The diagonals of all coordinate planes; the axes are in the bounds already."""
        return _diagonals(len(self.members))

    def is_violated(self, point: Array) -> bool:
        """A violation of a plane by FEASIBILITY is an excess of 2 FEASIBILITY / r: asking for less might never end."""
        v = point[self.members]
        allowed = max(TOLERANCE, 8.0 * FEASIBILITY / math.sqrt(self.bound))
        return float((v @ v - self.bound) / self.bound) > allowed

    def planes(self, directions: Array, columns: int) -> tuple[Sparse, list[float]]:
        """The tangent planes, one for each direction."""
        u = _units(directions) * math.sqrt(self.bound)
        # |u|^2 + b, rounded up: fsum is exact up to its last rounding.
        rhs = [
            math.nextafter(math.nextafter(math.fsum([self.bound, *(v * v for v in vector)]), math.inf), math.inf)
            for vector in u.tolist()
        ]
        return _scattered(2.0 * u, self.members, columns), rhs


@dataclass(frozen=True)
class _Cone:
    """The row |v| <= h, h >= 0."""

    name: str
    members: Indices
    height: int

    def first_directions(self) -> Array:
        """Axes, diagonals and, in a plane, all multiples of a sixteenth of a turn."""
        size = len(self.members)
        if size == 2:
            angles = np.arange(16) * (math.pi / 8)
            return np.column_stack([np.cos(angles), np.sin(angles)])
        return np.concatenate([np.eye(size), -np.eye(size), _diagonals(size)])

    def is_violated(self, point: Array) -> bool:
        """Solvers may violate a plane by FEASIBILITY."""
        length, height = float(np.linalg.norm(point[self.members])), float(point[self.height])
        return length - height > max(TOLERANCE * length, 8.0 * FEASIBILITY)

    def planes(self, directions: Array, columns: int) -> tuple[Sparse, list[float]]:
        """u·v <= |u| h, with |u| rounded up."""
        u = _units(directions)
        lengths = np.array(
            [math.nextafter(math.sqrt(math.fsum(v * v for v in vector)) * (1 + 1e-15), 2.0) for vector in u.tolist()]
        )
        everyone = np.append(self.members, self.height)
        return _scattered(np.column_stack([u, -lengths]), everyone, columns), [0.0] * len(u)


def _curved(row: QuadraticRow, program: Program) -> _Ball | _Cone:
    """A quadratic row as what it is; BackendError if it is neither ball nor cone."""
    diagonal = row.quadratic.diagonal()
    used = np.flatnonzero(diagonal)
    plain = row.quadratic.nnz == len(used) and bool((np.abs(diagonal[used]) == 1.0).all()) and not row.linear.any()
    if plain and (diagonal[used] > 0).all() and row.bound > 0:
        return _Ball(row.name, used, row.bound)
    height = cone_height(row, program.lower)
    if plain and height is not None:
        return _Cone(row.name, used[used != height], height)
    raise BackendError(
        f"the quadratic row `{row.name}` is not a ball or cone",
        backend="cuts",
        remedy="use a backend with quadratic rows",
    )


def _diagonals(size: int) -> Array:
    directions = []
    for i, j in combinations(range(size), 2):
        for sign in (1.0, -1.0):
            direction = np.zeros(size)
            direction[i], direction[j] = 1.0, sign
            directions += [direction, -direction]
    return np.array(directions).reshape(-1, size)


def _units(directions: Array) -> Array:
    """Directions of about length 1, without entries so small that solvers drop them: any direction will do."""
    u = directions / np.sqrt((directions * directions).sum(axis=1, keepdims=True))
    return np.where(np.abs(u) < 1e-9, 0.0, u)


def _scattered(rows: Array, members: Indices, columns: int) -> Sparse:
    """Dense rows over some variables as sparse rows over all."""
    places = np.repeat(np.arange(len(rows)), len(members)), np.tile(members, len(rows))
    return csr_array((rows.ravel(), places), shape=(len(rows), columns))


def _with_planes(program: Program, part: _Ball | _Cone, directions: Array) -> Program:
    """The program with a tangent plane for each direction."""
    if not len(directions):
        return program
    planes, rhs = part.planes(directions, program.columns)
    count = sum(block.name.startswith(f"cut.{part.name}.") for block in program.rows)
    block = Block(f"cut.{part.name}.{count}", len(program.rhs), len(rhs))
    return replace(
        program,
        rows=(*program.rows, block),
        matrix=csr_array(vstack([program.matrix, planes], format="csr")),
        senses=np.concatenate([program.senses, np.full(len(rhs), "<=", dtype="<U2")]),
        rhs=np.concatenate([program.rhs, rhs]),
    )
