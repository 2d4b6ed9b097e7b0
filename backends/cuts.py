"""L2 balls for solvers that know no quadratic rows: an outer approximation by tangent planes, tightened until it fits.

For *any* vector u, every v with |v|^2 <= b satisfies 2 u·v <= b + |u|^2, because |v - u|^2 >= 0. With u on the sphere
this is the tangent plane there. So each model on the way holds the whole ball, whatever was rounded in choosing u, and
its dual bound is valid. The final point may lie outside by the tolerance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.backends.base import Limits, Outcome, Status
from ircert.errors import BackendError
from ircert.ir.arrays import Array, Indices
from ircert.programs.program import Block, Program, QuadraticRow

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
    balls = [(row, _members(row)) for row in program.quadratic_rows]
    relaxed = replace(program, quadratic_rows=())
    for row, members in balls:
        relaxed = _with_planes(relaxed, row, members, _first_directions(len(members)))
    nodes = 0
    last = Outcome(Status.TIME_LIMIT, None, None, None, 0, 0.0, backend)
    for _ in range(ROUNDS):
        left = None if limits.time_limit is None else limits.time_limit - (time.monotonic() - started)
        if left is not None and left <= 0:
            break
        outcome = solve(relaxed, replace(limits, time_limit=left))
        nodes += outcome.nodes
        outcome = replace(outcome, nodes=nodes, seconds=time.monotonic() - started)
        violated = [
            (row, m)
            for row, m in balls
            if outcome.point is not None and _excess(outcome.point[m], row) > _tolerance(row)
        ]
        if outcome.point is None or not violated:
            return outcome
        last = outcome
        if outcome.status is not Status.OPTIMAL:
            return _without_point(outcome, "the time ended before the cuts were enough")
        for row, members in violated:
            relaxed = _with_planes(relaxed, row, members, outcome.point[members][None, :])
    return replace(_without_point(last, "the limit was reached before the cuts were enough"), status=Status.UNKNOWN)


def _without_point(outcome: Outcome, message: str) -> Outcome:
    """A point outside the ball is no answer; the bound of a relaxation is one."""
    status = Status.TIME_LIMIT if outcome.status is Status.OPTIMAL else outcome.status
    return replace(outcome, status=status, value=None, point=None, message=message)


def _members(row: QuadraticRow) -> Indices:
    """The variables of a ball; BackendError if the row is anything else."""
    diagonal = row.quadratic.diagonal()
    members = np.flatnonzero(diagonal)
    if row.quadratic.nnz != len(members) or np.any(diagonal[members] != 1.0) or row.linear.any() or row.bound <= 0:
        raise BackendError(
            f"the quadratic row `{row.name}` is not a ball", backend="cuts", remedy="use a backend with quadratic rows"
        )
    return members


def _first_directions(size: int) -> Array:
    """The diagonals of all coordinate planes; the axes are in the bounds already."""
    directions = []
    for i, j in combinations(range(size), 2):
        for sign in (1.0, -1.0):
            direction = np.zeros(size)
            direction[i], direction[j] = 1.0, sign
            directions += [direction, -direction]
    return np.array(directions).reshape(-1, size)


def _with_planes(program: Program, row: QuadraticRow, members: Indices, directions: Array) -> Program:
    """The program with a tangent plane of the ball for each direction."""
    if not len(directions):
        return program
    lengths = np.sqrt((directions * directions).sum(axis=1, keepdims=True))
    u = directions / lengths * math.sqrt(row.bound)
    # |u|^2 + b, rounded up: fsum is exact up to its last rounding.
    rhs = [
        math.nextafter(math.nextafter(math.fsum([row.bound, *(v * v for v in vector)]), math.inf), math.inf)
        for vector in u.tolist()
    ]
    planes = csr_array(
        (2.0 * u.ravel(), (np.repeat(np.arange(len(u)), len(members)), np.tile(members, len(u)))),
        shape=(len(u), program.columns),
    )
    count = sum(block.name.startswith(f"cut.{row.name}.") for block in program.rows)
    block = Block(f"cut.{row.name}.{count}", len(program.rhs), len(u))
    matrix = csr_array(vstack([program.matrix, planes], format="csr"))
    return replace(
        program,
        rows=(*program.rows, block),
        matrix=matrix,
        senses=np.concatenate([program.senses, np.full(len(u), "<=", dtype="<U2")]),
        rhs=np.concatenate([program.rhs, rhs]),
    )


def _excess(point: Array, row: QuadraticRow) -> float:
    return float((point @ point - row.bound) / row.bound)


def _tolerance(row: QuadraticRow) -> float:
    """A violation of a plane by FEASIBILITY is an excess of 2 FEASIBILITY / r: asking for less might never end."""
    return max(TOLERANCE, 8.0 * FEASIBILITY / math.sqrt(row.bound))
