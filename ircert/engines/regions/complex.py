"""The complex of linear regions of a canonical graph inside a polygon: cells, their affine maps, exact on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.engines.regions.cutting import Cutter
from ircert.engines.regions.forms import (
    ExactForms,
    Forms,
    Masked,
    applied,
    exact_input_forms,
    exactly_applied,
    exactly_masked,
    input_forms,
    slope_errors,
    triples,
)
from ircert.engines.regions.outline import Outline, Triple, meeting, side
from ircert.engines.regions.tables import Cells, Ids, Lines, Vertices
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Relu
from ircert.limits import checkpoint

MOST_CELLS = 2_000_000
"""A complex has at most this many cells, because it is held in memory."""


@dataclass(frozen=True)
class Stage:
    """One relu node: for each cell after it, the cell before it that it is a part of, and the phases of the entries."""

    node: Node
    before: tuple[Node, ...]
    parent: Ids
    active: NDArray[np.bool_]


class Exact:
    """Exact forms, lines and vertices of a complex, computed when asked for and remembered."""

    def __init__(self, graph: Graph, center: Array, region: Outline) -> None:
        self.graph = graph
        self.region = region
        self.stages: list[Stage] = []
        self.lines: Lines | None = None
        self.vertices: Vertices | None = None
        self.asked = 0
        self._values: dict[tuple[int, int], dict[str, ExactForms]] = {(-1, 0): {graph.input: exact_input_forms(center)}}
        self._triples: dict[tuple[int, int, str], tuple[Any, Any]] = {}
        self._points: dict[int, Triple] = {}

    def triples(self, stage: int, cell: int, node: Node, before: tuple[Node, ...]) -> tuple[Any, Any]:
        """(integers (entries, 3), denominator): the forms of a node on a cell of the stage's beginning."""
        key = (stage, cell, node.name)
        if key not in self._triples:
            self._triples[key] = triples(self._forms(stage, cell, before)[node.name])
        return self._triples[key]

    def _forms(self, stage: int, cell: int, before: tuple[Node, ...]) -> dict[str, ExactForms]:
        """All nodes up to those `before` the stage's relu, on a cell of the stage's beginning."""
        if (stage, cell) not in self._values:
            if stage == 0:
                values = dict(self._values[-1, 0])
            else:
                last = self.stages[stage - 1]
                values = dict(self._forms(stage - 1, int(last.parent[cell]), last.before))
                values[last.node.name] = exactly_masked(values[last.node.operands[0]], last.active[cell])
            for node in before:
                checkpoint()
                values[node.name] = exactly_applied(node, [values[name] for name in node.operands])
            self._values[stage, cell] = values
        return self._values[stage, cell]

    def line(self, number: int) -> Triple:
        """A line of the complex, as integers."""
        assert self.lines is not None
        stage, cell, entry = self.lines.source.rows[number].tolist()
        if stage < 0:
            return self.region.lines[entry]
        a, b, c = self._neuron(stage, cell, entry)
        return a, b, c

    def _neuron(self, stage: int, cell: int, entry: int) -> Any:
        node, before = self.relus[stage]
        return self.triples(stage, cell, self.graph[node.operands[0]], before)[0][entry]

    @cached_property
    def relus(self) -> list[tuple[Node, tuple[Node, ...]]]:
        """Every relu node and the nodes between it and the relu before."""
        return segments(self.graph)[0]

    def point(self, vertex: int) -> Triple:
        """A vertex of the complex, as integers (u w, v w, w) with w > 0."""
        if vertex not in self._points:
            assert self.vertices is not None
            first, second = self.vertices.lines.rows[vertex].tolist()
            self._points[vertex] = meeting(self.line(first), self.line(second))
        return self._points[vertex]

    def coordinates(self, vertex: int) -> tuple[Fraction, Fraction]:
        """A vertex relative to the centre."""
        u, v, w = (int(t) for t in self.point(vertex))
        return Fraction(u, w), Fraction(v, w)

    def forget_points(self, first: int) -> None:
        """Vertices from this number on are numbered anew."""
        self._points = {number: point for number, point in self._points.items() if number < first}

    def signs(self, stage: int, vertices: Ids, cells: Ids, entries: Ids) -> NDArray[np.int8]:
        """Exact signs of neurons at vertices."""
        self.asked += len(vertices)
        values = []
        for vertex, cell, entry in zip(vertices.tolist(), cells.tolist(), entries.tolist(), strict=True):
            checkpoint()
            values.append(side(self._neuron(stage, cell, entry), self.point(vertex)))
        return np.array([(v > 0) - (v < 0) for v in values], dtype=np.int8)

    def rounded(self, vertices: Ids) -> Array:
        """Coordinates of vertices, correctly rounded."""
        return np.array([[float(t) for t in self.coordinates(v)] for v in vertices.tolist()]).reshape(-1, 2)


def segments(graph: Graph) -> tuple[list[tuple[Node, tuple[Node, ...]]], tuple[Node, ...]]:
    """The relu nodes in order, each with the nodes between it and the one before; and the nodes after the last."""
    relus: list[tuple[Node, tuple[Node, ...]]] = []
    pending: list[Node] = []
    for node in graph.nodes:
        if isinstance(node.op, Relu):
            relus.append((node, tuple(pending)))
            pending = []
        elif node.name != graph.input:
            pending.append(node)
    return relus, tuple(pending)


@dataclass(frozen=True)
class Maps:
    """value, error (outputs, 3, cells): coefficients a, b, c of a u + b v + c and bounds of their errors."""

    value: Array
    error: Array


@dataclass(frozen=True, eq=False)
class Complex:
    """Cells 0..C-1 inside the region; coordinates are relative to the centre.

    A network with one input becomes planar by a second coordinate that it hands through as its last output: cells are
    strips, and pairs collide as they do on the line.

    points, blur:  vertices and a bound of the error of their coordinates
    polygons, edges, count: vertex and line numbers of each cell, counter-clockwise, `count` of them in use
    maps:          the outputs on the cells
    """

    graph: Graph
    center: Array
    region: Outline
    points: Array
    blur: Array
    polygons: Ids
    edges: Ids
    count: Ids
    maps: Maps
    exact: Exact
    rest: tuple[Node, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.count)

    @cached_property
    def reach(self) -> Fraction:
        """A bound of all coordinates."""
        return max(max(abs(Fraction(int(c[k]), int(c[2]))) for k in range(2)) for c in self.region.corners)

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """(cells, width): which entries of `polygons` are vertices."""
        return np.arange(self.polygons.shape[1]) < self.count[:, None]

    @cached_property
    def patterns(self) -> dict[str, NDArray[np.bool_]]:
        """For each relu node (cells, entries): which entries are active."""
        found: dict[str, NDArray[np.bool_]] = {}
        cell = np.arange(len(self))
        for stage in reversed(self.exact.stages):
            found[stage.node.name] = stage.active[cell]
            cell = stage.parent[cell]
        return dict(reversed(found.items()))

    def exact_map(self, cell: int) -> tuple[Any, Any]:
        """(integers (outputs, 3), denominator > 0) of f on a cell."""
        numbers, below = self.exact.triples(len(self.exact.stages), cell, self.graph[self.graph.output], self.rest)
        if len(self.center) == 2:
            return numbers, below
        return np.concatenate([numbers, np.array([[0, below, 0]], dtype=object)]), below

    def exact_polygon(self, cell: int) -> list[tuple[Fraction, Fraction]]:
        """The vertices of a cell."""
        return [self.exact.coordinates(v) for v in self.polygons[cell, : self.count[cell]].tolist()]


class TooManyCells(Exception):
    """The complex has more cells than were allowed."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is not finite is uncertain, and decided exactly
def build(
    graph: Graph,
    center: Array,
    region: Outline,
    *,
    most: int = MOST_CELLS,
    between: Callable[[], None] = lambda: None,
) -> Complex:
    """The complex of a canonical graph with one or two inputs, around a centre; `between` is called now and then."""
    exact = Exact(graph, center, region)
    lines, vertices, cells = _first_cell(region)
    exact.lines, exact.vertices = lines, vertices
    relus, rest = segments(graph)
    last_use = {operand: i for i, node in enumerate(graph.nodes) for operand in node.operands}
    last_use[graph.output] = len(graph.nodes)
    position = {node.name: i for i, node in enumerate(graph.nodes)}
    reach = float(np.abs(vertices.point.rows).max()) * (1 + 2.0**-40) + 5e-324
    live: dict[str, Forms | Masked] = {graph.input: input_forms(center, reach)}

    def evaluate(nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            live[node.name] = applied(node, [live[name] for name in node.operands])
            for name in [name for name in live if last_use.get(name, -1) <= position[node.name]]:
                if name != node.name:
                    del live[name]

    for number, (node, before) in enumerate(relus):
        evaluate(before)
        z = live[node.operands[0]].dense()
        cells = _cells_of_stage(cells, z.value.shape[2])
        _cut_stage(number, z, lines, vertices, cells, exact, most, between)
        stage = Stage(node, before, cells.parent.rows.copy(), cells.active.rows.copy())
        exact.stages.append(stage)
        later = [name for name in live if last_use.get(name, -1) > position[node.name]]
        live = {name: live[name].dense().on(stage.parent) for name in later}
        live[node.name] = Masked(z, stage.parent, stage.active)
    evaluate(rest)
    return Complex(
        graph,
        center,
        region,
        vertices.point.rows.copy(),
        vertices.error.rows.copy(),
        cells.vertices.rows.copy(),
        cells.edges.rows.copy(),
        cells.count.rows.copy(),
        _maps(live[graph.output].dense(), handed_through=len(center) == 1),
        exact,
        rest,
    )


def _maps(forms: Forms, *, handed_through: bool) -> Maps:
    """The outputs, with the second coordinate as one more of them if it is handed through."""
    value = np.moveaxis(forms.value, 0, 2).swapaxes(0, 1)
    slopes = slope_errors(forms.error.T, forms.reach)
    error = np.stack([slopes, slopes, forms.error.T], axis=1)
    if handed_through:
        extra = np.zeros((1, *value.shape[1:]))
        extra[:, 1] = 1.0
        value, error = np.concatenate([value, extra]), np.concatenate([error, np.zeros_like(extra)])
    return Maps(np.ascontiguousarray(value), error)


def _first_cell(region: Outline) -> tuple[Lines, Vertices, Cells]:
    sizes = [max(abs(int(t)) for t in line) for line in region.lines]  # integers may be too large for floats
    scaled = [[float(Fraction(int(t), s)) for t in line] for line, s in zip(region.lines, sizes, strict=True)]
    value = np.array(scaled)
    lines = Lines(value, np.abs(value) * 2.0**-52 + 5e-324)
    corners = [[Fraction(int(c[0]), int(c[2])), Fraction(int(c[1]), int(c[2]))] for c in region.corners]
    points = np.array([[float(t) for t in corner] for corner in corners])
    size = len(points)
    ids = np.arange(size)
    blur = np.abs(points).max(axis=1) * 2.0**-52 + 5e-324
    vertices = Vertices(points, blur, np.stack([(ids - 1) % size, ids], axis=1))
    row, count = ids[None, :], np.array([size])
    cells = Cells(np.pad(row, ((0, 0), (0, 4))), np.pad(row, ((0, 0), (0, 4))), count, 0)
    return lines, vertices, cells


def _cells_of_stage(cells: Cells, neurons: int) -> Cells:
    return Cells(cells.vertices.rows, cells.edges.rows, cells.count.rows, neurons)


def _cut_stage(
    number: int,
    z: Forms,
    lines: Lines,
    vertices: Vertices,
    cells: Cells,
    exact: Exact,
    most: int,
    between: Callable[[], None],
) -> None:
    def signs(which: Ids, parents: Ids, neurons: Ids) -> NDArray[np.int8]:
        return exact.signs(number, which, parents, neurons)

    first = len(vertices.point)

    def check() -> None:
        between()
        if len(cells) > most:
            raise TooManyCells(f"more than {most} linear regions")

    Cutter(number, z, lines, vertices, cells, signs, exact.rounded).cut(check)
    exact.forget_points(first)
