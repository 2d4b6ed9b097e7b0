"""Collisions of networks that have no exact evaluation: two boxes, proved to hold points x != y with f(x) = f(y)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb, arb_mat, ctx

from ircert.ir.defined import is_defined_on
from ircert.ir.enclosure import enclosed_on_box, independent
from ircert.ir.neck import neck
from ircert.ir.newton import exact_ball, holds_root, near_root
from ircert.ir.stem import agrees

if TYPE_CHECKING:
    from ircert.ir.graph import Graph

BITS = (128, 256, 512)
"""Of interval arithmetic: more where the first do not tell."""
REFINING = 320
"""Bits while a middle is refined, and the radii that are tried then, as powers of two, in parts of its size."""
RADII, GRID = (-64, -80, -96), -128
"""… and the grid that it is rounded to."""


@dataclass(frozen=True)
class BoxedPair:
    """Boxes around x and y: their middles, and how far they reach in each input; 0 where an input is fixed."""

    x: list[Fraction]
    y: list[Fraction]
    x_radii: list[Fraction]
    y_radii: list[Fraction]

    @property
    def sides(self) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
        """Middle and radii of both boxes."""
        yield self.x, self.x_radii
        yield self.y, self.y_radii

    def reaches(self, center: list[Fraction]) -> Iterator[list[Fraction]]:
        """How far each box reaches from a point, input by input."""
        for middle, radii in self.sides:
            yield [abs(v - c) + r for v, c, r in zip(middle, center, radii, strict=True)]

    @property
    def is_disjoint(self) -> bool:
        """Whether the boxes have no common point."""
        sides = zip(self.x, self.y, self.x_radii, self.y_radii, strict=True)
        return any(abs(a - b) > r + s for a, b, r, s in sides)


def fault_of(graph: Graph, pair: BoxedPair, other: Graph | None = None) -> str | None:
    """None if there are x, y in the boxes with f(x) = f(y) and x != y or, with another network, g(x) != g(y); else
    what is not shown.

    The radii of as many inputs as there are equations are positive: these are the unknowns, and the others are fixed
    (Krawczyk's test: `newton`). An output that does not depend on inputs in which x and y can differ is no equation.
    Without unknowns x and y are points at which all that curves read is the same, exactly (`stem`). All of that may be
    shown of the network or of its neck, which the outputs are functions of (`neck`).
    """
    if any(r < 0 for _, radii in pair.sides for r in radii):
        return "a radius is negative"
    if other is None and not pair.is_disjoint:
        return "the boxes of x and y overlap"
    found: str | None = None
    narrow = neck(graph)
    for bits in BITS:
        with ctx.workprec(bits):
            if not all(_is_defined(part, pair) for part in (graph, other) if part is not None):
                found = "a network is not shown to be defined on the boxes"
                continue
            found = _difference_fault(graph, pair, bits)
            if found is not None and narrow is not None and _difference_fault(narrow, pair, bits) is None:
                found = None
            if found is None and other is not None and not is_told_apart(other, pair):
                found = "the other network is not shown to tell the boxes apart"
        if found is None:
            return None
    return found


def _difference_fault(graph: Graph, pair: BoxedPair, bits: int) -> str | None:
    unknowns = [(k, j) for k, (_, radii) in enumerate(pair.sides) for j, r in enumerate(radii) if r]
    if not unknowns and agrees(graph, pair.x, pair.y):
        return None
    rows = list(range(graph.output_dim))
    if len(unknowns) < len(rows):
        rows = depending_outputs(graph, pair)
    if not unknowns or len(unknowns) != len(rows):
        return f"{len(unknowns)} unknown inputs for {len(rows)} equations"
    sides = list(pair.sides)
    middle, radii = ([sides[k][part][j] for k, j in unknowns] for part in (0, 1))
    if holds_root(Difference(graph, pair, unknowns, rows), middle, radii, bits):
        return None
    return "interval arithmetic does not show that the outputs agree somewhere in the boxes"


def _is_defined(graph: Graph, pair: BoxedPair) -> bool:
    """Whether all of a network has values on both boxes: stems, necks and choices leave out what may have none."""
    boxes = ([_ball(v, r) for v, r in zip(*side, strict=True)] for side in pair.sides)
    return all(is_defined_on(graph, box) for box in boxes)


def is_defined_between(graph: Graph, x: list[Fraction], y: list[Fraction]) -> bool:
    """Whether a network has values at all points of the least box that holds two points, for sure."""
    with ctx.workprec(BITS[0]):
        box = [_ball((a + b) / 2, abs(a - b) / 2) for a, b in zip(x, y, strict=True)]
        return is_defined_on(graph, box)


def depending_outputs(graph: Graph, pair: BoxedPair) -> list[int]:
    """The outputs that may depend on inputs in which x and y differ; of the others secants are 0 between both boxes."""
    parts = zip(pair.x, pair.y, pair.x_radii, pair.y_radii, strict=True)
    varying = [j for j, (a, b, r, s) in enumerate(parts) if a != b or r or s]
    first, second = ([_ball(v, r) for v, r in zip(*side, strict=True)] for side in pair.sides)
    _, slopes = enclosed_on_box(graph, [a.union(b) for a, b in zip(first, second, strict=True)], varying)
    return [i for i, row in enumerate(slopes.tolist()) if not all(v == 0 for v in row)]


def is_told_apart(other: Graph, pair: BoxedPair) -> bool:
    """Whether a network has different outputs at any two points of the boxes, for sure."""
    return any(gap > 0 or gap < 0 for gap in gaps(other, pair))


def gaps(graph: Graph, pair: BoxedPair) -> list[arb]:
    """Balls around the differences of the outputs at points of the boxes, in the precision that is set."""
    (p, _), (q, _) = (
        enclosed_on_box(graph, [_ball(v, r) for v, r in zip(*side, strict=True)], []) for side in pair.sides
    )
    return [a - b for a, b in zip(p, q, strict=True)]


def least_gaps(pair: BoxedPair, other: Graph | None) -> list[Fraction]:
    """How far apart any two points of the boxes are at least, input by input; with a network, its outputs there."""
    if other is None:
        sides = zip(pair.x, pair.y, pair.x_radii, pair.y_radii, strict=True)
        return [max(abs(a - b) - r - s, Fraction(0)) for a, b, r, s in sides]
    with ctx.workprec(BITS[0]):
        return [_down(abs(gap)) for gap in gaps(other, pair)]


def _down(size: arb) -> Fraction:
    """A rational that no number of a ball is below, at least 0."""
    least = size.abs_lower()
    if not least.is_finite():
        return Fraction(0)
    number, exponent = least.man_exp()
    return int(number) * Fraction(2) ** int(exponent)


def _ball(middle: Fraction, radius: Fraction) -> arb:
    return exact_ball(middle) + exact_ball(radius) * arb(0, 1)


@dataclass(frozen=True)
class Difference:
    """f(x) - f(y) as equations in some inputs of x (0, j) and y (1, j), the others fixed at the middles of a pair."""

    graph: Graph
    pair: BoxedPair
    unknowns: list[tuple[int, int]]
    rows: list[int]

    def __call__(self, values: list[arb]) -> tuple[list[arb], arb_mat]:
        """Values and secants over a box of the unknowns."""
        parts = []
        for side, point in enumerate((self.pair.x, self.pair.y)):
            here = {j: v for (k, j), v in zip(self.unknowns, values, strict=True) if k == side}
            box = [here[j] if j in here else exact_ball(v) for j, v in enumerate(point)]
            found, slopes = enclosed_on_box(self.graph, box, list(here))
            parts.append((found, slopes.tolist() if here else [[] for _ in found]))
        (p, first), (q, second) = parts
        rows = [first[i] + [-v for v in second[i]] for i in self.rows]
        return [p[i] - q[i] for i in self.rows], arb_mat(len(rows), len(values), [v for row in rows for v in row])


def boxed(
    graph: Graph, x: list[Fraction], y: list[Fraction], unknowns: list[tuple[int, int]], other: Graph | None = None
) -> BoxedPair | None:
    """A proved pair close to two points that nearly collide, moved in as many inputs as there are equations."""
    start = BoxedPair(x, y, *_radii(x, unknowns, Fraction(1)))
    rows = list(range(graph.output_dim))
    if len(unknowns) < len(rows):
        with ctx.workprec(BITS[0]):
            rows = depending_outputs(graph, start)
    if not unknowns or len(rows) != len(unknowns):
        return None
    unknowns = sorted(unknowns)
    points = [x, y]
    middle = near_root(Difference(graph, start, unknowns, rows), [points[k][j] for k, j in unknowns], REFINING)
    if middle is None:
        return None
    x, y = list(x), list(y)
    size = _power_of_two(max(abs(v) for v in x + y))
    grid = size * Fraction(2) ** GRID
    for (k, j), value in zip(unknowns, middle, strict=True):
        (x, y)[k][j] = round(value / grid) * grid
    for power in RADII:
        pair = BoxedPair(x, y, *_radii(x, unknowns, size * Fraction(2) ** power))
        if fault_of(graph, pair, other) is None:
            return pair
    return None


def moved_onto(graph: Graph, pair: BoxedPair, fixed: set[tuple[int, int]]) -> BoxedPair | None:
    """A pair close to this one, which was proved of a part of a network, proved of the network: it has more equations,
    and as many inputs of x (0, j) and y (1, j), none of them fixed, are solved for; None where that fails."""
    free = [(k, j) for k in (0, 1) for j in range(graph.input_dim) if (k, j) not in fixed]
    if len(free) < graph.output_dim:
        return None
    with ctx.workprec(BITS[0]):
        start = Difference(graph, pair, free, list(range(graph.output_dim)))
        _, slopes = start([exact_ball((pair.x, pair.y)[k][j]) for k, j in free])
    return boxed(graph, pair.x, pair.y, [free[i] for i in independent(slopes)])


def _radii(x: list[Fraction], unknowns: list[tuple[int, int]], radius: Fraction) -> tuple[list[Fraction], ...]:
    return tuple([radius if (k, j) in unknowns else Fraction(0) for j in range(len(x))] for k in (0, 1))


def _power_of_two(value: Fraction) -> Fraction:
    """About so large; 1 at 0."""
    return Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length()) if value else Fraction(1)
