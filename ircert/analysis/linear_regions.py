"""The linear regions, the fold set and the preimages of a network with one or two inputs, for people to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.analysis.asked_ball import BallLike, asked_ball, ball_for
from ircert.analysis.smooth.fold_curves import fold_curves
from ircert.analysis.smooth.preimages import Preimages, proved_preimages
from ircert.analysis.solids.fold_facets import fold_facets
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.facets import Facets, determinants, facets, winding_vertices
from ircert.engines.regions.fibres import candidates, fibre_of
from ircert.engines.regions.growth import Surroundings
from ircert.engines.regions.metric import cell_distances
from ircert.engines.regions.tables import Ids
from ircert.engines.regions.violations import Violations
from ircert.errors import QueryError
from ircert.frontends.load import load
from ircert.geometry.ball import Ball
from ircert.geometry.domain import DomainLike
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.evaluate import to_fraction
from ircert.ir.fractions_text import short
from ircert.ir.graph import Graph
from ircert.questions.network import Network, lowered


def enumerate_regions(graph: Any, ball: BallLike | None = None, *, domain: DomainLike | None = None) -> Regions:
    """All linear regions that meet a ball: (center, radius[, norm]), a Ball or a Query; cut with a domain (low, high).

    The network is a graph or whatever `ircert.load` reads. Without a ball, the regions of the domain. Regions are cut
    to the ball; for norm 2, to the square around it.
    """
    graph = _loaded(graph)
    around = asked_ball(graph, ball, domain)
    complex_ = _surroundings(graph, around).complex(Fraction(around.radius))
    cells = np.arange(len(complex_))
    if around.norm == "2" and graph.input_dim == 2:
        cells = np.flatnonzero(cell_distances(complex_, Norm.TWO) <= around.radius)
    return Regions(graph, around, complex_, cells)


def fold_set(
    graph: Any, ball: BallLike | None = None, *, domain: DomainLike | None = None, width: float | None = None
) -> Any:
    """Where the orientation of f turns over inside a ball (as many outputs as inputs), and where f is singular.

    Of a piecewise-linear network this is a `FoldSet`, segments and polygons, or, of three inputs, `FoldFacets`,
    polygons in floats; of a smooth one `FoldCurves`, boxes at most `width` wide (by default, 1/256 of what is asked
    for) that hold all of it, and lines through them.
    """
    graph = _loaded(graph)
    if graph.output_dim != graph.input_dim:
        raise QueryError(
            f"the fold set needs as many outputs as inputs, not {graph.output_dim} of {graph.input_dim}",
            remedy="`select` outputs, or ask `enumerate_regions` for the cells that are singular",
        )
    if Network(graph).has_curves:
        return fold_curves(graph, asked_ball(graph, ball, domain), width)
    if width is not None:
        raise QueryError("the fold set of a piecewise-linear network is exact: it has no width", remedy="leave it out")
    if graph.input_dim == 3:
        return fold_facets(graph, ball_for(graph, ball, domain))
    return FoldSet(enumerate_regions(graph, ball, domain=domain))


def preimages(
    graph: Any, y: Iterable[Any], ball: BallLike | None = None, *, domain: DomainLike | None = None
) -> Preimages:
    """All points of a ball that f maps to y, exactly: y may hold floats, Fractions or "p/q".

    Where f is singular these are segments or polygons, cut to the ball; for norm 2, to the square around it. Those of a
    smooth network (any number of inputs, as many outputs) are points, each proved in a small box; y may hold balls that
    `g.enclosure(x)` gives. What it cannot decide is in `undecided`, and warned of.
    """
    graph = _loaded(graph)
    if isinstance(y, str) or not isinstance(y, Iterable):
        raise QueryError(f"y must be a list of numbers, got {str(y)[:60]!r}", remedy="give one number per output")
    y = list(y)
    if len(y) != graph.output_dim:
        raise QueryError(f"y has {len(y)} entries but the network has {graph.output_dim} outputs")
    if Network(graph).has_curves:
        return proved_preimages(graph, y, ball_for(graph, ball, domain))
    value = [to_fraction(v) for v in y]
    around = asked_ball(graph, ball, domain)
    regions = enumerate_regions(graph, around)
    norm = around.norm.on(graph.input_dim)
    reach = Fraction(around.radius) ** norm.power
    found: dict[tuple[tuple[Fraction, ...], ...], Preimage] = {}
    for cell in candidates(regions.complex, value + [Fraction(0)] * (2 - graph.input_dim)).tolist():
        fibre = fibre_of(regions.complex, cell, value + [Fraction(0)] * (2 - graph.input_dim))
        if fibre is None or fibre.nearest(norm)[0] > reach:
            continue
        corners = tuple(dict.fromkeys(regions.moved(corner) for corner in fibre.corners))
        # a point on the border of several cells is listed once, with one of them
        found.setdefault(tuple(sorted(corners)), Preimage(corners, cell, regions))
    return Preimages(_without_faces(found), np.zeros((0, 2, graph.input_dim)))


def _loaded(given: Any) -> Graph:
    return given if isinstance(given, Graph) else load(given)


def _surroundings(graph: Graph, ball: Ball) -> Surroundings:
    if (ball.low == ball.high).any():
        raise QueryError("the domain has no area", remedy="`fix` the inputs that do not vary")
    norm = ball.norm.on(graph.input_dim)
    return Surroundings(lowered(graph), Place(ball.center, norm, ball.low, ball.high))


@dataclass(frozen=True, eq=False)
class Region:
    """One linear region: on it f(x) = matrix x + offset.

    vertices: (k, n), counter-clockwise, or the two ends of an interval; pattern: which relu entries are active
    """

    vertices: Array
    pattern: NDArray[np.bool_]
    matrix: Array
    offset: Array
    determinant: float | None
    neighbors: tuple[int, ...]
    _regions: Regions = field(repr=False)
    _cell: int = field(repr=False)

    def __repr__(self) -> str:
        corners = f"{len(self.vertices)} vertices around {short(self.vertices.mean(axis=0))}"
        known = "" if self.determinant is None else f", determinant {self.determinant:.6g}"
        return f"<linear region of {corners}{known}, {len(self.neighbors)} neighbours>"

    def exact_vertices(self) -> list[tuple[Fraction, ...]]:
        """The vertices in exact rationals."""
        corners = self._regions.complex.exact_polygon(self._cell)
        if self._regions.graph.input_dim == 2:
            return [self._regions.moved(corner) for corner in corners]
        ends = sorted({corner[0] for corner in corners})
        return [self._regions.moved((end, Fraction(0))) for end in ends]

    def exact_map(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """(matrix, offset) in exact rationals."""
        size = self._regions.graph.input_dim
        numbers, below = self._regions.complex.exact_map(self._cell)
        forms = [[Fraction(int(t), int(below)) for t in row] for row in numbers[: self._regions.graph.output_dim]]
        center = [Fraction(c) for c in self._regions.ball.center.tolist()]
        matrix = [row[:size] for row in forms]
        shift = [sum((a * c for a, c in zip(row, center, strict=True)), Fraction(0)) for row in matrix]
        return matrix, [row[2] - s for row, s in zip(forms, shift, strict=True)]


class Regions(Sequence[Region]):
    """The linear regions inside a ball, as arrays and one by one.

    points: (V, n) vertices; polygons: for each region its vertices (two for an interval); facets: (F, 2) vertices of
    the borders between two regions (one vertex on a line, repeated), sides: (F, 2) the regions on both sides
    """

    def __init__(self, graph: Graph, ball: Ball, complex_: Complex, cells: Ids) -> None:
        self.graph = graph
        self.ball = ball
        self.complex = complex_
        self._cells = cells
        self._number = np.full(len(complex_), -1)
        self._number[cells] = np.arange(len(cells))

    def __len__(self) -> int:
        return len(self._cells)

    def __repr__(self) -> str:
        return f"<{len(self)} linear regions of a network with {self.graph.input_dim} inputs>"

    def moved(self, offset: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """A point given relative to the centre."""
        return tuple(Fraction(c) + t for c, t in zip(self.ball.center.tolist(), offset, strict=False))

    # --- geometry ----------------------------------------------------------------------------------------------------

    @cached_property
    def _flat(self) -> tuple[Array, list[Ids]]:
        if self.graph.input_dim == 2:
            polygons = [self.complex.polygons[c, : self.complex.count[c]] for c in self._cells.tolist()]
            return self.ball.center + self.complex.points, polygons
        u = self.complex.points[:, 0]
        ends = np.array(
            [
                [u[ids].min(), u[ids].max()]
                for ids in (self.complex.polygons[c, : self.complex.count[c]] for c in self._cells)
            ]
        ).reshape(-1, 2)
        points, numbers = np.unique(ends, return_inverse=True)
        return self.ball.center + points[:, None], list(numbers.reshape(-1, 2))

    @property
    def points(self) -> Array:
        """(V, n) vertices."""
        return self._flat[0]

    @property
    def polygons(self) -> list[Ids]:
        """The vertex numbers of each region."""
        return self._flat[1]

    @cached_property
    def _facets(self) -> Facets:
        found = facets(self.complex)
        sides = self._number[found.sides]
        inside = (sides >= 0).all(axis=1)
        return Facets(found.ends[inside], sides[inside])

    @property
    def sides(self) -> Ids:
        """(F, 2): the regions on both sides of each facet."""
        return self._facets.sides

    @property
    def facets(self) -> Ids:
        """(F, 2): the vertices of each facet."""
        if self.graph.input_dim == 2:
            return self._facets.ends
        ends = [np.intersect1d(self.polygons[a], self.polygons[b]) for a, b in self.sides.tolist()]
        return np.array([[e[0], e[-1]] for e in ends], dtype=np.int64).reshape(-1, 2)

    # --- maps --------------------------------------------------------------------------------------------------------

    @cached_property
    def matrices(self) -> Array:
        """(C, m, n): the linear part of f on each region."""
        value = self.complex.maps.value[: self.graph.output_dim, : self.graph.input_dim][:, :, self._cells]
        return np.moveaxis(value, 2, 0)

    @cached_property
    def offsets(self) -> Array:
        """(C, m): the constant part."""
        at_center = self.complex.maps.value[: self.graph.output_dim, 2][:, self._cells].T
        return at_center - self.matrices @ self.ball.center

    @cached_property
    def _determinants(self) -> tuple[Array | None, NDArray[np.int8]]:
        outputs = [*range(self.graph.output_dim), *[self.graph.output_dim] * (self.graph.input_dim == 1)]
        if self.graph.output_dim == self.graph.input_dim:
            value, signs = determinants(self.complex, outputs)
            return value[self._cells], signs[self._cells]
        violations = Violations(self.complex, Norm.INF, outputs, None)
        signs = violations.signs.copy()
        for cell in np.flatnonzero(signs == 0).tolist():
            signs[cell] = 0 if violations.blind(cell) else 1
        return None, np.abs(signs[self._cells])

    @property
    def determinants(self) -> Array | None:
        """(C,) determinants in floats, where there are as many outputs as inputs."""
        return self._determinants[0]

    @property
    def signs(self) -> NDArray[np.int8]:
        """(C,) exact signs of the determinants; for m != n: 1 where f is injective on the region, else 0."""
        return self._determinants[1]

    @cached_property
    def neurons(self) -> list[tuple[str, int]]:
        """The relu entries (node of the canonical graph, entry) in the order of the patterns."""
        return [(name, i) for name, active in self.complex.patterns.items() for i in range(active.shape[1])]

    @cached_property
    def patterns(self) -> NDArray[np.bool_]:
        """(C, neurons): which relu entries are active."""
        parts = [active[self._cells] for active in self.complex.patterns.values()]
        return np.concatenate([np.zeros((len(self), 0), dtype=bool), *parts], axis=1)

    # --- one by one --------------------------------------------------------------------------------------------------

    @cached_property
    def _neighbors(self) -> list[list[int]]:
        lists: list[list[int]] = [[] for _ in range(len(self))]
        for a, b in self.sides.tolist():
            lists[a].append(b)
            lists[b].append(a)
        return lists

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        return Region(
            self.points[self.polygons[number]],
            self.patterns[number],
            self.matrices[number],
            self.offsets[number],
            None if self.determinants is None else float(self.determinants[number]),
            tuple(self._neighbors[number]),
            self,
            int(self._cells[number]),
        )

    def __iter__(self) -> Iterator[Region]:
        return (self[i] for i in range(len(self)))

    def number_of(self, cell: int) -> int:
        """The number of the region that is this cell of the complex, or -1."""
        return int(self._number[cell])


class FoldSet:
    """J0: facets where the orientation turns over, and singular regions.

    segments: (S, 2, n) ends of the facets; determinants: (S, 2) on both sides; singular: vertices of the singular
    regions; points: (K, n) vertices around which f winds more than once, which are no part of J0
    """

    def __init__(self, regions: Regions) -> None:
        self.regions = regions
        signs = regions.signs.astype(np.int64)
        turning = np.flatnonzero(signs[regions.sides[:, 0]] * signs[regions.sides[:, 1]] < 0)
        assert regions.determinants is not None
        self.segments: Array = regions.points[regions.facets[turning]]
        self.determinants: Array = regions.determinants[regions.sides[turning]]
        self.singular: list[Array] = [regions.points[regions.polygons[i]] for i in np.flatnonzero(signs == 0)]

    @cached_property
    def points(self) -> Array:
        """(K, n): vertices inside, without a fold, around which f winds more than once."""
        if self.regions.graph.input_dim == 1:
            return np.empty((0, 1))
        return self.regions.points[winding_vertices(self.regions.complex)]

    def __len__(self) -> int:
        return len(self.segments)

    def __repr__(self) -> str:
        return f"<fold set of {len(self)} facets and {len(self.singular)} singular regions>"


@dataclass(frozen=True, eq=False)
class Preimage:
    """A point that f maps to the value, or, on a singular region, all of them: the hull of `corners`."""

    corners: tuple[tuple[Fraction, ...], ...]
    _cell: int = field(repr=False)
    _regions: Regions = field(repr=False)

    def __repr__(self) -> str:
        many = f", one of the set of {len(self.corners)} corners" if len(self.corners) > 1 else ""
        return f"<preimage {short(self.exact)}{many}>"

    @property
    def exact(self) -> tuple[Fraction, ...]:
        """The point (the middle of the corners, where there are several), exactly."""
        count = len(self.corners)
        return tuple(sum(column, Fraction(0)) / count for column in zip(*self.corners, strict=True))

    @property
    def point(self) -> Array:
        """The point in floats."""
        return np.array([float(t) for t in self.exact])

    @property
    def set(self) -> Array:
        """(k, n): the corners in floats."""
        return np.array([[float(t) for t in corner] for corner in self.corners])

    @property
    def region(self) -> Region | None:
        """The linear region it lies in."""
        number = self._regions.number_of(self._cell)
        return None if number < 0 else self._regions[number]


def _without_faces(found: dict[tuple[tuple[Fraction, ...], ...], Preimage]) -> Iterator[Preimage]:
    """Solution sets that are no part of another one's border: a corner of a segment is listed with the segment."""
    larger = [set(key) for key in found if len(key) > 1]
    for key, preimage in found.items():
        if not any(set(key) < other for other in larger):
            yield preimage
