"""K(P, Q): the pairs x in P, y in Q with f(x) = f(y), an exact polytope, and what it says about the centre."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from ircert.engines.regions.complex import Complex
from ircert.engines.regions.outline import side
from ircert.exact.criss_cross import LinearOptimum, Rational, maximise
from ircert.exact.solutions import solutions
from ircert.geometry.norm import Norm

Vector = list[Fraction]
Row = Sequence[Rational]
"""Coefficients of the unknowns, then the constant: row · (z, 1)."""


class Polytope:
    """{z : equations z = 0, inequalities z >= 0}, given by rows over (z, 1); parametrised by z = origin + basis s.

    The parameters are some of the coordinates of z; reach bounds all coordinates.
    """

    # The polytope in any dimension (`boxes/linear_regions/coincidence.py`) is guided by a program in floats. With four
    # coordinates, elimination and few exact steps are quicker: 0.8 ms against 3.7 ms for a pair of cells (2-16-16-2).

    def __init__(self, size: int, equations: Sequence[Row], inequalities: Sequence[Row], reach: Fraction) -> None:
        self.size = size
        self.reach = reach
        solved = solutions(equations, size)
        self.consistent = solved is not None
        self.origin, self.basis = (solved.origin, solved.basis) if solved is not None else ([Fraction(0)] * size, [])
        self._rows = [self._restricted(row) for row in inequalities] if self.consistent else []

    def _restricted(self, row: Row) -> Vector:
        """A form over (z, 1) as a form over (s, 1)."""
        linear = [_dot(row, direction) for direction in self.basis]
        return [*linear, _dot(row, self.origin) + row[self.size]]

    def at(self, s: Sequence[Fraction]) -> Vector:
        """The point z of parameters s."""
        return [
            base + sum((t * direction[i] for t, direction in zip(s, self.basis, strict=True)), Fraction(0))
            for i, base in enumerate(self.origin)
        ]

    @cached_property
    def corners(self) -> list[Vector] | None:
        """The corners of a polytope of dimension 0, 1 or 2 as parameters s, in order; None for more dimensions."""
        rows = self._rows
        if not self.consistent or len(self.basis) > 2:
            return None if self.consistent else []
        if not self.basis:
            return [[]] if all(row[0] >= 0 for row in rows) else []
        return _interval(rows) if len(self.basis) == 1 else _polygon(rows, self.reach)

    def maximise(self, form: Row) -> tuple[Fraction, Vector] | None:
        """The largest value of a form over (z, 1), and where; None if the polytope is empty."""
        if self.corners is not None:
            *linear, constant = self._restricted(form)
            values = [(_dot(linear, corner) + constant, corner) for corner in self.corners]
            if not values:
                return None
            value, corner = max(values, key=lambda pair: pair[0])
            return value, self.at(corner)
        best = self._program([*self._restricted(form)], self._rows)
        return None if best is None else (best.value, self.at(best.point))

    def nearest(self, forms: Sequence[Row]) -> tuple[Fraction, Vector] | None:
        """min over the polytope of max over the forms, and where; None if it is empty."""
        if self.corners == []:
            return None
        # t - form >= 0 for all forms, maximise -t; t is the last parameter
        zero: list[Rational] = [0]
        rows = [[*row[:-1], *zero, row[-1]] for row in self._rows]
        for form in forms:
            restricted = self._restricted(form)
            rows.append([*(-v for v in restricted[:-1]), Fraction(1), -restricted[-1]])
        best = self._program([*([Fraction(0)] * len(self.basis)), Fraction(-1), Fraction(0)], rows)
        return None if best is None else (-best.value, self.at(best.point[:-1]))

    def _program(self, objective: Vector, rows: Sequence[Sequence[Rational]]) -> LinearOptimum | None:
        """max of a form over (s, 1) where the rows over (s, 1) are >= 0."""
        *linear, constant = objective
        if not self.consistent:
            return None
        if not linear:
            return LinearOptimum(constant, ()) if all(row[-1] >= 0 for row in rows) else None
        best = maximise(linear, [[-v for v in row[:-1]] for row in rows], [row[-1] for row in rows])
        return None if best is None else LinearOptimum(best.value + constant, best.point)


def _interval(rows: Sequence[Vector]) -> list[Vector]:
    """The ends of {s : a s + b >= 0 for all rows}, which is bounded; one if they are equal, none if it is empty."""
    if any(a == 0 and b < 0 for a, b in rows):
        return []
    low = max(-b / a for a, b in rows if a > 0)
    high = min(-b / a for a, b in rows if a < 0)
    return [] if low > high else [[low]] if low == high else [[low], [high]]


def _polygon(rows: Sequence[Vector], reach: Fraction) -> list[Vector]:
    """The corners of {s : a s1 + b s2 + c >= 0 for all rows}, counter-clockwise: a large square, clipped row by row."""
    corners: list[Vector] = [[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]]
    for row in rows:
        corners = _clipped(corners, [row[0] * u + row[1] * v + row[2] for u, v in corners])
    return _convex(corners)


def _convex(corners: list[Vector]) -> list[Vector]:
    """Without repeated corners and without those on the way between their neighbours."""
    distinct = [corner for i, corner in enumerate(corners) if i == 0 or corner != corners[i - 1]]
    if len(distinct) > 1 and distinct[0] == distinct[-1]:
        distinct.pop()
    proper = [
        corner
        for i, corner in enumerate(distinct)
        if _turn(distinct[i - 1], corner, distinct[(i + 1) % len(distinct)]) > 0
    ]
    return proper if proper else [min(distinct), max(distinct)][: len(distinct)] if distinct else []


def _turn(p: Vector, q: Vector, r: Vector) -> Fraction:
    return (q[0] - p[0]) * (r[1] - q[1]) - (q[1] - p[1]) * (r[0] - q[0])


def _clipped(corners: list[Vector], sides: list[Fraction]) -> list[Vector]:
    part: list[Vector] = []
    for i, (corner, side_here) in enumerate(zip(corners, sides, strict=True)):
        before, side_before = corners[i - 1], sides[i - 1]
        if (side_here > 0 > side_before) or (side_here < 0 < side_before):
            share = side_before / (side_before - side_here)
            part.append([a + share * (b - a) for a, b in zip(before, corner, strict=True)])
        if side_here >= 0:
            part.append(corner)
    return part


def _dot(row: Row, z: Vector) -> Fraction:
    return sum((Fraction(a) * b for a, b in zip(row, z, strict=False) if a), Fraction(0))


def polygon_rows(complex_: Complex, cell: int) -> list[Row]:
    """The edges of a cell as forms over (u, v, 1) that are >= 0 inside."""
    ids = complex_.polygons[cell, : complex_.count[cell]].tolist()
    rows: list[Row] = []
    for i, number in enumerate(complex_.edges[cell, : len(ids)].tolist()):
        line = complex_.exact.line(number)
        others = (side(line, complex_.exact.point(ids[(i + k) % len(ids)])) for k in range(2, len(ids)))
        inside = next(value for value in others if value)
        rows.append([int(t) if inside > 0 else -int(t) for t in line])
    return rows


def map_rows(complex_: Complex, cell: int) -> list[Vector]:
    """f on a cell: one form over (u, v, 1) for each output."""
    numbers, below = complex_.exact_map(cell)
    return [[Fraction(int(t), int(below)) for t in row] for row in numbers]


def difference(f: Sequence[Row], g: Sequence[Row]) -> list[Row]:
    """f(x) - g(y) as forms over (x, y, 1), from forms over (x, 1) and (y, 1)."""
    return [[*a[:-1], *(-t for t in b[:-1]), a[-1] - b[-1]] for a, b in zip(f, g, strict=True)]


def length_forms(norm: Norm, at: Sequence[int], size: int) -> list[Row]:
    """Forms over (z, 1) whose maximum is the length of the two coordinates `at`, for norms 1 and inf."""
    rows: list[Row] = []
    for s in (1, -1):
        for t in (1, -1):
            row: list[Rational] = [0] * (size + 1)
            if norm == "1":
                row[at[0]], row[at[1]] = s, t
            else:
                row[at[(t + 1) // 2]] = s
            rows.append(row)
    return rows


def coincidence(complex_: Complex, first: int, second: int, outputs: list[int]) -> Polytope:
    """K(P, Q) for some of the outputs, over (x, y)."""
    zero: Row = [0, 0]
    upper = [[*row[:2], *zero, row[2]] for row in polygon_rows(complex_, first)]
    lower = [[*zero, *row] for row in polygon_rows(complex_, second)]
    f, g = map_rows(complex_, first), map_rows(complex_, second)
    equations = difference([f[i] for i in outputs], [g[i] for i in outputs])
    return Polytope(4, equations, [*upper, *lower], complex_.reach)


def fibre(complex_: Complex, cell: int, value: Sequence[Any], outputs: Sequence[int] | None = None) -> Polytope:
    """The points of a cell that f, or some of its outputs, maps to a value."""
    rows = map_rows(complex_, cell)
    chosen = rows if outputs is None else [rows[i] for i in outputs]
    equations: list[Row] = [[*row[:2], row[2] - Fraction(v)] for row, v in zip(chosen, value, strict=True)]
    return Polytope(2, equations, polygon_rows(complex_, cell), complex_.reach)
