"""From a float pair to exact ones: moved by as little as it takes, on the linear regions of its points.

A solver's pair (x, y) collides only up to its tolerance. On the regions of x and y the network is affine, and f(x) =
f(y) is a linear system for an exact pair close by. A solver's points lie on the rim of the ball and of the domain, and
on kinks, so that not every way is open: coordinates at a bound stay exactly there and the others are moved; or a small
linear program keeps the pair off kinks, and off bounds, by a margin; or kinks are kept exactly as well. What comes out
are proposals: each is to be evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ircert.exact import lifting
from ircert.exact.linear_regions import ExactRows, exact_rows, float_maps, pattern_at
from ircert.exact.solutions import solutions
from ircert.ir.arrays import Array, Indices
from ircert.ir.compose import stack
from ircert.ir.graph import Graph
from ircert.ir.rational import Integers, integer_type
from ircert.questions.network import lowered
from ircert.questions.query import Query
from ircert.witnesses.near_program import AT, NearProgram, Side

Vector: TypeAlias = list[Fraction]
Pair: TypeAlias = tuple[Vector, Vector]

MARGIN = 1e-8
"""How far from kinks and bounds a pair is kept, in parts of the radius."""
RANK = 1e-12
"""A column adds nothing to others if what is left of it is smaller than this, relative to the largest one."""
BITS = 60
FEW = 24
"""So many equations are reduced; more are solved by lifting, which looks at the clock."""


def repaired(graph: Graph, query: Query, x: Vector, y: Vector) -> Iterator[Pair]:
    """Exact proposals near a pair, for a canonical graph; those that leave the pair where it is come first."""
    box = Box.of(query)
    points = [box.clipped(x)] if query.problem == "pseudo" else [box.clipped(x), box.clipped(y)]
    with np.errstate(all="ignore"):
        regions = Regions(graph, query, box, points)
        yield from regions.moved([box.held(point, AT) for point in points])
        for margin, rim in ((MARGIN, 0.0), (MARGIN, MARGIN), (0.0, 0.0)):
            found = regions.program.best(margin, rim)
            if found is not None:
                held = [box.held(box.point(offsets), 0.0 if rim else AT) for offsets in found]
                yield from regions.moved(held, keep_kinks=not margin)


@dataclass(frozen=True)
class Held:
    """A point, and which of its coordinates may be moved."""

    point: Vector
    free: Indices


@dataclass(frozen=True)
class Box:
    """The box around the ball, cut with the domain, in rationals; offsets are in parts of the radius."""

    center: Vector
    radius: Fraction
    low: Vector
    high: Vector

    @staticmethod
    def of(query: Query) -> Box:
        radius, low, high = Fraction(query.radius), [], []
        center = [Fraction(c) for c in query.center.tolist()]
        for c, a, b in zip(center, query.ball.low.tolist(), query.ball.high.tolist(), strict=True):
            low.append(c - radius if a == -np.inf else max(c - radius, Fraction(a)))
            high.append(c + radius if b == np.inf else min(c + radius, Fraction(b)))
        return Box(center, radius, low, high)

    def clipped(self, point: Vector) -> Vector:
        """The nearest point of the box."""
        return [min(max(v, a), b) for v, a, b in zip(point, self.low, self.high, strict=True)]

    def point(self, offsets: Array) -> Vector:
        """The point of the box with these offsets."""
        moved = [c + self.radius * Fraction(s) for c, s in zip(self.center, offsets.tolist(), strict=True)]
        return self.clipped(moved)

    def offsets(self, point: Vector) -> Array:
        """A point relative to the centre."""
        return np.array([float(v - c) for v, c in zip(point, self.center, strict=True)]) / float(self.radius)

    def held(self, point: Vector, near: float) -> Held:
        """A point whose coordinates near a bound are exactly at it, and stay there."""
        reach, found, free = self.radius * Fraction(near), [], []
        for v, a, b in zip(point, self.low, self.high, strict=True):
            end = a if v - a <= reach else b if b - v <= reach else v
            free.append(end not in (a, b))
            found.append(end)
        return Held(found, np.flatnonzero(free))

    def room(self, held: Held) -> Array:
        """How far each free coordinate can be moved both ways."""
        gaps = (min(held.point[j] - self.low[j], self.high[j] - held.point[j]) for j in held.free.tolist())
        return np.array([float(gap / self.radius) for gap in gaps])


class Regions:
    """The linear regions of the points of a pair (`pseudo`: of one; the other is the centre)."""

    def __init__(self, graph: Graph, query: Query, box: Box, points: list[Vector]) -> None:
        self.graph = graph if query.other is None else lowered(stack(graph, lowered(query.other)))
        self.constrained, self.query, self.box = graph.output_dim, query, box
        self.patterns = [pattern_at(self.graph, point) for point in points]
        self.sides = [
            Side(box.offsets(point), float_maps(self.graph, pattern, query.center), pattern, query.radius)
            for point, pattern in zip(points, self.patterns, strict=True)
        ]

    @cached_property
    def program(self) -> NearProgram:
        """The pairs around this one."""
        low, high = (self.box.offsets(end) for end in (self.box.low, self.box.high))
        forms, m = [side.output for side in self.sides], self.constrained
        there = forms[1][:, -1] if len(forms) > 1 else np.array([float(v) for v in self._at_center])
        linear = np.column_stack([sign * form[:, :-1] for sign, form in zip((1.0, -1.0), forms, strict=False)])
        rest = there - forms[0][:, -1]
        apart, shift = linear[m:], rest[m:]
        if self.query.other is None:
            apart = np.column_stack([sign * np.eye(len(low)) for sign in (1.0, -1.0)[: len(forms)]])
            shift = np.zeros(len(low))
        norms = self.query.norm, self.query.objective_norm
        return NearProgram(self.sides, norms[0], low, high, linear[:m], rest[:m], apart, shift, norms[1])

    @cached_property
    def _at_center(self) -> Vector:
        return list(self.graph.exact(self.box.center))

    @cached_property
    def _constrained_rows(self) -> list[ExactRows]:
        wanted = np.arange(self.constrained)
        return [exact_rows(self.graph, pattern, self.graph.output, wanted) for pattern in self.patterns]

    def moved(self, held: list[Held], *, keep_kinks: bool = False) -> Iterator[Pair]:
        """The pair with free coordinates moved so that the constrained outputs agree exactly, and kinks stay kinks if
        need be."""
        blocks = [self._agreeing(held), *(self._kinks(held) if keep_kinks else ())]
        rows = np.concatenate([block[0] for block in blocks])
        rest = [value for block in blocks for value in block[1]]
        room = np.concatenate([self.box.room(part) for part in held])
        floats = _as_floats(rows) * room
        chosen = _independent(floats)
        if len(rows) > FEW:  # equations that floats take for consequences are left to the judge
            lines = _independent(floats[:, chosen].T)
            rows, rest = rows[lines], [rest[i] for i in lines.tolist()]
        step = solve(rows[:, chosen], rest)
        if step is not None:
            yield self._stepped(held, dict(zip(chosen.tolist(), step, strict=True)))

    def _stepped(self, held: list[Held], step: dict[int, Fraction]) -> Pair:
        found, start = [], 0
        for part in held:
            point = list(part.point)
            for k, j in enumerate(part.free.tolist(), start):
                point[j] += step.get(k, Fraction(0))
            start += len(part.free)
            found.append(point)
        return found[0], found[1] if len(found) > 1 else self.box.center

    def _agreeing(self, held: list[Held]) -> tuple[Integers, Vector]:
        """The equations of the constrained outputs, over the free coordinates."""
        values = [rows.at(part.point) for rows, part in zip(self._constrained_rows, held, strict=True)]
        there = values[1] if len(values) > 1 else self._at_center[: self.constrained]
        below = max(rows.below for rows in self._constrained_rows)
        parts = [
            sign * (below // rows.below) * rows.coefficients[:, part.free]
            for sign, rows, part in zip((1, -1), self._constrained_rows, held, strict=False)
        ]
        rest = [(b - a) * int(below) for a, b in zip(values[0], there, strict=True)]
        return np.concatenate(parts, axis=1), rest

    def _kinks(self, held: list[Held]) -> Iterator[tuple[Integers, Vector]]:
        """Equations that keep what relus read at about 0 at exactly that."""
        for k, (side, part) in enumerate(zip(self.sides, held, strict=True)):
            for name, entries in side.kinks(self.box.offsets(part.point)).items():
                if len(entries):
                    rows = exact_rows(self.graph, self.patterns[k], self.graph[name].operands[0], entries)
                    nothing = [np.full((len(entries), len(p.free)), integer_type()(0), dtype=object) for p in held]
                    nothing[k] = rows.coefficients[:, part.free]
                    yield np.concatenate(nothing, axis=1), [-v * int(rows.below) for v in rows.at(part.point)]


def _as_floats(rows: Integers) -> Array:
    """Each row over a power of two next to its largest entry."""
    found = np.zeros(rows.shape)
    for i, row in enumerate(rows):
        numbers = [int(v) for v in row]
        shift = max(0, max((abs(v).bit_length() for v in numbers), default=0) - BITS)
        found[i] = [float(v >> shift) for v in numbers]
    return found / np.maximum(np.abs(found).max(axis=1, initial=0.0), 1.0)[:, None]


def _independent(rows: Array) -> Indices:
    """Columns that are independent as far as floats tell, the largest first; all that are not 0 to begin with."""
    from scipy.linalg import qr

    if 0 in rows.shape:
        return np.zeros(0, dtype=np.int64)
    _, upper, order = qr(rows, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(upper))
    return np.asarray(order[: int((sizes > RANK * sizes[0]).sum())], dtype=np.int64)


def solve(rows: Integers, rest: Vector) -> Vector | None:
    """Some d with rows @ d = rest, 0 where it may be; None if there is none, or it is hard to find."""
    if len(rows) <= FEW:
        found = solutions(([*row, -right] for row, right in zip(rows, rest, strict=True)), rows.shape[1])
        return None if found is None else found.origin
    if rows.shape[0] != rows.shape[1]:
        return None
    left = [[int(v) * right.denominator for v in row] for row, right in zip(rows, rest, strict=True)]
    right = [[right.numerator] for right in rest]
    lifted = lifting.solve(np.array(left, dtype=object), np.array(right, dtype=object))
    if lifted is None:
        return None
    return [Fraction(int(v), int(lifted.denominator)) for v in lifted.numerators[:, 0]]
