"""Bounded polytopes by their vertices, each with the set of rows that hold there with equality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tests.oracle.rational import Number, Vector, add, dot, identity, rank

Row = tuple[Vector, Number]  # (a, b): a·x <= b


@dataclass(frozen=True)
class Polytope:
    """A bounded {x: a·x <= b for all rows}; bit k of a vertex's mask says that row k is tight there.

    Rows may be redundant and the polytope flat. The rows tight at two vertices describe the smallest face that holds
    both, so the two span an edge if no third vertex has these rows tight.
    """

    vertices: tuple[Vector, ...]
    masks: tuple[int, ...]
    rows: tuple[Row, ...]

    @cached_property
    def facets(self) -> list[Row]:
        """Rows that describe a polytope of full dimension: those tight at enough vertices for a facet."""
        n = len(self.vertices[0])
        return [row for k, row in enumerate(self.rows) if sum(mask >> k & 1 for mask in self.masks) >= n]

    def cut(self, row: Row, equal: bool = False) -> Polytope | None:
        """The part where a·x <= b (or = b), None if it is empty."""
        values = [dot(row[0], v) - row[1] for v in self.vertices]
        bit = 1 << len(self.rows)
        vertices, masks = list[Vector](), list[int]()
        for v, mask, value in zip(self.vertices, self.masks, values, strict=True):
            if value == 0 or (value < 0 and not equal):
                vertices.append(v)
                masks.append(mask | bit if value == 0 else mask)
        below = [i for i, value in enumerate(values) if value < 0]
        above = [i for i, value in enumerate(values) if value > 0]
        for i, j in product(below, above):
            common = self.masks[i] & self.masks[j]
            if sum(mask & common == common for mask in self.masks) == 2:
                share = values[i] / (values[i] - values[j])
                vertices.append(add(self.vertices[i], add(self.vertices[j], self.vertices[i], -1), share))
                masks.append(common | bit)
        return Polytope(tuple(vertices), tuple(masks), (*self.rows, row)) if vertices else None

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
    rows = [(units[i], high[i]) for i in range(n)]
    rows += [(tuple(-u for u in units[i]), -low[i]) for i in range(n)]
    corners = list(product((0, 1), repeat=n))
    vertices = [tuple(high[i] if up else low[i] for i, up in enumerate(corner)) for corner in corners]
    masks = [sum(1 << (i if up else n + i) for i, up in enumerate(corner)) for corner in corners]
    return Polytope(tuple(vertices), tuple(masks), tuple(rows))


def pairs(p: Polytope, q: Polytope) -> Polytope:
    """The product {(x, y): x in p, y in q}."""
    nothing_p, nothing_q = ((0,) * len(r.vertices[0]) for r in (p, q))
    rows = [((*a, *nothing_q), b) for a, b in p.rows] + [((*nothing_p, *a), b) for a, b in q.rows]
    corners = list(product(range(len(p.vertices)), range(len(q.vertices))))
    return Polytope(
        tuple((*p.vertices[i], *q.vertices[j]) for i, j in corners),
        tuple(p.masks[i] | q.masks[j] << len(p.rows) for i, j in corners),
        tuple(rows),
    )
