"""Bounded polytopes by their vertices, each with the set of rows that hold there with equality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from operator import mul
from typing import NamedTuple

from tests.oracle.rational import ONE, ZERO, Number, Rational, Vector, add, identity, rank, shortened, whole


class _Row(NamedTuple):
    a: Vector
    b: Number


class Row(_Row):
    """The condition a·x <= b (or a·x = b)."""

    @cached_property
    def whole(self) -> Vector:
        """(a, -b) in integers."""
        return whole((*self.a, -self.b))


@dataclass(frozen=True)
class Polytope:
    """A bounded {x: a·x <= b for all rows}; bit k of a vertex's mask says that row k is tight there.

    A vertex p / d is kept as the integers (p, d), d > 0. Rows may be redundant and the polytope flat. The rows tight at
    two vertices describe the smallest face that holds both, so the two span an edge if no third vertex has these rows
    tight.
    """

    points: tuple[Vector, ...]
    masks: tuple[int, ...]
    rows: tuple[Row, ...]

    @cached_property
    def vertices(self) -> tuple[Vector, ...]:
        """The vertices as rationals."""
        return tuple(tuple(Rational(x, d) for x in p) for *p, d in self.points)

    def values(self, row: Row) -> list[int]:
        """The signs of a·x - b at the vertices, times something positive."""
        return [sum(map(mul, row.whole, point)) for point in self.points]

    @cached_property
    def facets(self) -> list[Row]:
        """Rows that describe a polytope of full dimension: those tight at enough vertices for a facet."""
        n = len(self.points[0]) - 1
        return [row for k, row in enumerate(self.rows) if sum(mask >> k & 1 for mask in self.masks) >= n]

    def cut(self, row: Row, equal: bool = False) -> Polytope | None:
        """The part where a·x <= b (or = b), None if it is empty."""
        values = self.values(row)
        bit = 1 << len(self.rows)
        points, masks = list[Vector](), list[int]()
        for point, mask, value in zip(self.points, self.masks, values, strict=True):
            if value == 0 or (value < 0 and not equal):
                points.append(point)
                masks.append(mask | bit if value == 0 else mask)
        below = [i for i, value in enumerate(values) if value < 0]
        above = [i for i, value in enumerate(values) if value > 0]
        for i, j in product(below, above):
            common = self.masks[i] & self.masks[j]
            if sum(mask & common == common for mask in self.masks) == 2:
                ends = zip(self.points[i], self.points[j], strict=True)
                points.append(shortened([values[j] * p - values[i] * q for p, q in ends]))
                masks.append(common | bit)
        return Polytope(tuple(points), tuple(masks), (*self.rows, row)) if points else None

    def cut_all(self, rows: Sequence[Row], equal: bool = False) -> Polytope | None:
        """The part where every row holds."""
        part: Polytope | None = self
        for row in rows:
            if part is None:
                return None
            part = part.cut(row, equal)
        return part

    @cached_property
    def dimension(self) -> int:
        """The dimension of the affine hull."""
        return rank([add(v, self.vertices[0], -1) for v in self.vertices[1:]])


def box(low: Vector, high: Vector) -> Polytope:
    """The box low <= x <= high, low < high."""
    n = len(low)
    units = identity(n)
    rows = [Row(units[i], high[i]) for i in range(n)]
    rows += [Row(tuple(-u for u in units[i]), -low[i]) for i in range(n)]
    corners = list(product((0, 1), repeat=n))
    vertices = [tuple(high[i] if up else low[i] for i, up in enumerate(corner)) for corner in corners]
    masks = [sum(1 << (i if up else n + i) for i, up in enumerate(corner)) for corner in corners]
    return Polytope(tuple(homogeneous(v) for v in vertices), tuple(masks), tuple(rows))


def homogeneous(v: Vector) -> Vector:
    """A point as integers and their common denominator."""
    return whole((*v, ONE))


def pairs(p: Polytope, q: Polytope) -> Polytope:
    """The product {(x, y): x in p, y in q}."""
    nothing_p, nothing_q = ((ZERO,) * len(r.vertices[0]) for r in (p, q))
    rows = [Row((*a, *nothing_q), b) for a, b in p.rows] + [Row((*nothing_p, *a), b) for a, b in q.rows]
    corners = list(product(range(len(p.points)), range(len(q.points))))
    return Polytope(
        tuple(homogeneous((*p.vertices[i], *q.vertices[j])) for i, j in corners),
        tuple(p.masks[i] | q.masks[j] << len(p.rows) for i, j in corners),
        tuple(rows),
    )
