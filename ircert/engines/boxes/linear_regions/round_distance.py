"""The pair of K(P, Q) nearest to the centre in norm 2: an exact pair, and an exact bound from planes.

The square of the length of u is at least 2 g·u - |g|² for every g, with equality at u = g. So the least t above such
planes is a lower bound, whatever g were chosen; floats choose them, and rough weights of that program give an exact
bound on it (`safe_bound`). The least t itself would be hard to find: around the nearest pair all is nearly flat.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ircert.engines.boxes.linear_regions.coincidence_rows import PairRows, Plane
from ircert.engines.boxes.linear_regions.least_distance import nearest_in_floats
from ircert.exact.elimination import meeting
from ircert.exact.float_program import Guess
from ircert.exact.linear_program import Program
from ircert.exact.rows import Rows, Solution
from ircert.ir.arrays import Array
from ircert.ir.rational import Integers, integer_type
from ircert.limits import OutOfTime, Undecided

ROUNDS = 60
CLOSE = Fraction(1, 2**36)
"""How close the bound comes to the pair, which is doubled from round to round."""
EVEN = 2.0**-40
"""The same in floats."""
ACTIVE = (1e-5, 1e-7, 1e-9, 1e-11)
"""Rows of at most that size, relative to their terms, may be 0."""
TINY = 2.0**-18
"""Floats cannot tell such squares apart: a smaller unit has to be taken, and no close bound is worth its time."""
FINE = 64
"""Bits behind the point of a height."""
HIGH = 1.001
"""Another pair is looked for where the one that is known is so much higher than floats see."""
RANK = 1e-12
LARGEST = 100_000
"""Numbers of the rows that are handed to nonnegative least squares, which cannot be interrupted."""

Vector = list[Fraction]


def nearest_round(rows: PairRows, patient: bool, goes_on: Callable[[], bool]) -> tuple[Fraction, Vector] | None:
    """A lower bound on the least square, and z with about that; None if there is no pair. All in units."""
    program = Program(Rows.joined([rows.all, rows.above(_first_planes(rows))]))
    best: tuple[Fraction, Vector] | None = None
    near = None if program.guess(downward(program)).status == "infeasible" else _near_point(rows)
    if near is not None:
        program.add(rows.above(_tangents(rows, near[0])))
        if near[1] is not None:
            best = _height(rows, near[1]), near[1]
    bound = Fraction(0)
    for turn in range(ROUNDS):
        if not goes_on():
            raise Undecided
        guess = _cut_in_floats(rows, program, math.inf if best is None else float(best[0]))
        if best is None or guess.status != "optimal" or float(best[0]) > HIGH * guess.point[-1]:
            z = _point(rows, program, guess, patient)
            if z is None:
                return None
            best = min((_height(rows, z), z), best or (_height(rows, z), z))
        bound = max(bound, _below(program, best[0]))
        if best[0] < TINY or best[0] - bound <= CLOSE * 2**turn * best[0]:
            break
        program.add(rows.above(_tangents(rows, np.array([float(v) for v in best[1]]))))
    assert best is not None
    return bound, best[1]


def _point(rows: PairRows, program: Program, guess: Guess, patient: bool) -> Vector | None:
    """A pair next to the lowest one that floats see; None if there is none at all."""
    objective, height = downward(program), guess.point[-1]
    found = None
    if guess.status == "optimal" and math.isfinite(height):
        # any pair that is not much higher, which is easier to find than the lowest
        found = program.above(objective << FINE, -math.ceil(Fraction(height) * 2**FINE * (1 + CLOSE)) - 1)
    if found is None:
        lowest = program.maximise(objective, patient=patient)
        found = None if lowest is None else lowest.point
    return None if found is None else found[: rows.width]


def _below(program: Program, best: Fraction) -> Fraction:
    """No pair has a smaller square, unless `best` is smaller.

    A pair of a smaller square has coordinates of at most max(1, best), and so is t.
    """
    most = program.bound(downward(program), max(Fraction(1), best))
    return Fraction(0) if most is None else min(best, -most)


def downward(program: Program) -> Integers:
    """The objective -t, where t is the last variable."""
    objective = np.full(program.width, integer_type()(0), dtype=object)
    objective[-1] = integer_type()(-1)
    return objective


def _height(rows: PairRows, z: Vector) -> Fraction:
    return max(sum((a * a for a in z[start : start + rows.size]), Fraction(0)) for start in rows.starts)


def _first_planes(rows: PairRows) -> list[Plane]:
    """0, and the planes at distance 1 on every axis."""
    one = [
        Plane(start, ((j, Fraction(2 * sign)),), Fraction(-1))
        for start in rows.starts
        for j in range(rows.size)
        for sign in (1, -1)
    ]
    return [Plane(0, (), Fraction(0)), *one]


def _tangents(rows: PairRows, z: Array) -> list[Plane]:
    """The planes that touch the squares at a point."""
    found = []
    for start in rows.starts:
        g = [Fraction(v) for v in z[start : start + rows.size].tolist()]
        terms = tuple((j, 2 * a) for j, a in enumerate(g))
        found.append(Plane(start, terms, -sum((a * a for a in g), Fraction(0))))
    return found


def _cut_in_floats(rows: PairRows, program: Program, known: float) -> Guess:
    """Add planes until floats see no gap between them and the square, or that of a known pair, or no new plane."""
    guess, last = program.guess(downward(program)), None
    for _ in range(ROUNDS):
        z, height = guess.point[:-1], guess.point[-1]
        if last is not None and (guess.point == last).all():
            break
        last = guess.point
        if guess.status != "optimal" or not np.isfinite(guess.point).all():
            break
        squares = max(float((z[start : start + rows.size] ** 2).sum()) for start in rows.starts)
        known = min(known, squares)
        if known < TINY or known - height <= EVEN * known:
            break
        program.add(rows.above(_tangents(rows, z)))
        guess = program.guess(downward(program))
    return guess


# --- a start ---------------------------------------------------------------------------------------------------------


def _near_point(rows: PairRows) -> tuple[Array, Vector | None] | None:
    """A point close to the nearest one in floats, and one of the polytope next to it for sure, if one is found.

    Rows that are about 0 in floats are made 0 exactly; how many there are is not known.
    """
    z = _in_floats(rows)
    if z is None:
        return None
    table, limits = rows.all.floats()
    with np.errstate(all="ignore"):
        values, size = np.abs(table @ z - limits), np.abs(table) @ np.abs(z) + np.abs(limits)
    tried = -1
    for limit in ACTIVE:
        active = rows.all.equal | (values <= limit * size)
        if active.sum() == tried:
            continue
        tried = int(active.sum())
        found = _on(rows.all.take(np.flatnonzero(active)), z)
        if found is not None and rows.all.hold(found):
            return z, [Fraction(int(v), int(found.below)) for v in found.numbers]
    return z, None


def _on(rows: Rows, z: Array) -> Solution | None:
    """A point close to z where rows are 0."""
    try:
        return meeting(rows, z)
    except OutOfTime:
        raise
    except Undecided:
        return None


def _in_floats(rows: PairRows) -> Array | None:
    filled = rows.all.take(np.flatnonzero(rows.all.lengths))
    (table, limits), equal = filled.floats(), filled.equal
    # LAPACK might never end on numbers that are not finite
    if not (np.isfinite(table).all() and np.isfinite(limits).all()) or table.size > LARGEST:
        return None
    try:
        _, sizes, turned = np.linalg.svd(table[equal])
        rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
        start = np.linalg.lstsq(table[equal], limits[equal], rcond=RANK)[0]
    except np.linalg.LinAlgError:
        return None
    basis = turned[rank:].T
    if not basis.shape[1]:
        return None
    forms = np.c_[-table[~equal] @ basis, limits[~equal] - table[~equal] @ start]
    forms = forms[np.abs(forms[:, :-1]).max(axis=1, initial=0.0) > RANK]  # the others are constant
    maps = [np.c_[basis[a : a + rows.size], start[a : a + rows.size]] for a in rows.starts]
    found = nearest_in_floats(maps, forms)
    z = None if found is None else start + basis @ found
    return z if z is not None and np.isfinite(z).all() else None
