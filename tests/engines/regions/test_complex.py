"""The complex of linear regions, exactly: it covers the region once, and every cell has the map and signs it claims."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert import Graph
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.facets import determinants, facets
from ircert.engines.regions.growth import Surroundings
from ircert.engines.regions.outline import side
from ircert.engines.regions.violations import Violations
from ircert.exact.solutions import rank
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.build import needed_nodes
from ircert.ir.ops import Relu
from ircert.limits import OutOfTime, until
from ircert.questions.network import lowered as canonical
from ircert.testing.strategies import graphs, mlps, points, residual_networks
from tests.oracle.build import plain

Point = tuple[Fraction, Fraction]


@st.composite
def complexes(draw: Any) -> Complex:
    """Complexes of any small network around any centre, cut with a domain at times."""
    kinds = [
        mlps(inputs=2, width=5, depth=3),
        residual_networks(width=2, blocks=2),
        graphs(inputs=2, nodes=6, width=3, rich=False),
        graphs(inputs=2, nodes=5, width=3),
    ]
    graph: Graph = draw(st.one_of(kinds))
    center = draw(points(graph))
    norm: Norm = draw(st.sampled_from([Norm.ONE, Norm.INF] if graph.input_dim == 2 else [Norm.INF]))
    low, high = np.full(len(center), -np.inf), np.full(len(center), np.inf)
    for i in range(len(center)):
        for side_, sign in ((low, -1), (high, 1)):
            if draw(st.integers(0, 2)) == 0:
                side_[i] = center[i] + sign * draw(st.sampled_from([0.0, 0.25, 1.1, 3.0]))
        if low[i] == high[i]:
            high[i] = low[i] + 0.5
    radius = draw(st.sampled_from([2.0**-30, 0.3, 1.0, 3.7, 50.0]))
    return Surroundings(canonical(graph), Place(center, norm, low, high)).complex(Fraction(radius))


def area(polygon: list[Point]) -> Fraction:
    """Twice the area of a polygon, positive if it runs counter-clockwise."""
    pairs = zip(polygon, [*polygon[1:], polygon[0]], strict=True)
    return sum((p[0] * q[1] - p[1] * q[0] for p, q in pairs), Fraction(0))


def barycentre(polygon: list[Point]) -> Point:
    u, v = (sum(column, Fraction(0)) / len(polygon) for column in zip(*polygon, strict=True))
    return u, v


def in_own_coordinates(found: Complex, point: Point) -> list[Fraction]:
    return [Fraction(c) + t for c, t in zip(found.center.tolist(), point, strict=False)]


def exact_values(found: Complex, cell: int, point: Point) -> list[Fraction]:
    """The cell's exact map at a point relative to the centre."""
    numbers, below = found.exact_map(cell)
    rows = ([Fraction(int(t), int(below)) for t in row] for row in numbers)
    return [a * point[0] + b * point[1] + c for a, b, c in rows]


def forward_signs(graph: Graph, x: list[Fraction]) -> dict[str, list[int]]:
    """The exact signs of the operand of every relu."""
    names = [node for node in graph.nodes if isinstance(node.op, Relu)]
    by_name = {node.name: node for node in graph.nodes}
    signs = {}
    for node in names:
        operand = node.operands[0]
        values = Graph(needed_nodes(by_name, operand), operand).exact(x)
        signs[node.name] = [(v > 0) - (v < 0) for v in values]
    return signs


@pytest.mark.rule("G-1")
@given(complexes())
def test_cells_cover_the_region_once(found: Complex) -> None:
    corners = [(Fraction(int(u), int(w)), Fraction(int(v), int(w))) for u, v, w in found.region.corners]
    areas = [area(found.exact_polygon(cell)) for cell in range(len(found))]
    assert all(a > 0 for a in areas)
    assert sum(areas, Fraction(0)) == area(corners) > 0
    for cell in range(len(found)):  # strictly convex: no vertex lies between its neighbours
        polygon = found.exact_polygon(cell)
        for i, p in enumerate(polygon):
            assert area([polygon[i - 1], p, polygon[(i + 1) % len(polygon)]]) > 0


@pytest.mark.rule("G-1")
@given(complexes())
def test_maps_and_patterns_are_those_of_the_network(found: Complex) -> None:
    seen = set()
    for cell in range(len(found)):
        middle = barycentre(found.exact_polygon(cell))
        x = in_own_coordinates(found, middle)
        outputs = found.graph.output_dim
        assert exact_values(found, cell, middle)[:outputs] == list(found.graph.exact(x))
        signs = forward_signs(found.graph, x)
        pattern = {name: active[cell].tolist() for name, active in found.patterns.items()}
        assert pattern == {name: [s > 0 for s in values] for name, values in signs.items()}
        seen.add(tuple(tuple(active) for active in pattern.values()))
        if len(found.center) == 1:
            assert exact_values(found, cell, middle)[outputs] == middle[1]
    assert len(seen) == len(found)


@pytest.mark.rule("G-2")
@given(complexes())
def test_floats_keep_within_their_bounds(found: Complex) -> None:
    for v in range(len(found.points)):
        exact = found.exact.coordinates(v)
        for k in range(2):
            assert abs(Fraction(float(found.points[v, k])) - exact[k]) <= Fraction(float(found.blur[v]))
    for cell in range(len(found)):
        numbers, below = found.exact_map(cell)
        for i, row in enumerate(numbers):
            for k, t in enumerate(row):
                gap = abs(Fraction(float(found.maps.value[i, k, cell])) - Fraction(int(t), int(below)))
                assert gap <= Fraction(float(found.maps.error[i, k, cell]))


@pytest.mark.rule("G-3")
@given(complexes())
def test_facets_and_borders(found: Complex) -> None:
    """Maps agree at both ends of a facet, cells lie on both sides of it; every other edge lies on the outline."""
    shared = facets(found)
    ends = {}
    for (p, q), (left, right) in zip(shared.ends.tolist(), shared.sides.tolist(), strict=True):
        assert left != right
        ends[frozenset((p, q))] = (left, right)
        a, b = found.exact.coordinates(p), found.exact.coordinates(q)
        for end in (a, b):
            assert exact_values(found, left, end) == exact_values(found, right, end)
        middle_left, middle_right = (barycentre(found.exact_polygon(c)) for c in (left, right))
        assert area([a, b, middle_left]) > 0 > area([a, b, middle_right])
    assert len(ends) == len(shared.ends)
    edges = 0
    for cell in range(len(found)):
        ids = found.polygons[cell, : found.count[cell]].tolist()
        for p, q in zip(ids, [*ids[1:], ids[0]], strict=True):
            if frozenset((p, q)) in ends:
                assert cell in ends[frozenset((p, q))]
                edges += 1
                continue
            both = [found.exact.point(v) for v in (p, q)]
            assert any(all(side(border, point) == 0 for point in both) for border in found.region.lines)
    assert edges == 2 * len(ends)


@pytest.mark.rule("G-2")
@given(complexes())
def test_edges_lie_on_their_lines(found: Complex) -> None:
    for cell in range(len(found)):
        ids = found.polygons[cell, : found.count[cell]].tolist()
        for i, number in enumerate(found.edges[cell, : len(ids)].tolist()):
            for v in (ids[i], ids[(i + 1) % len(ids)]):
                assert side(found.exact.line(number), found.exact.point(v)) == 0


@given(complexes())
def test_determinants_have_exact_signs(found: Complex) -> None:
    outputs = [0, len(found.maps.value) - 1]
    if outputs[0] == outputs[1]:
        outputs = [0, 0]
    value, signs = determinants(found, outputs)
    for cell in range(len(found)):
        numbers, below = found.exact_map(cell)
        (a, b, _), (c, d, _) = ([int(t) for t in numbers[i]] for i in outputs)
        exact = Fraction(a * d - b * c, int(below) ** 2)
        assert signs[cell] == (exact > 0) - (exact < 0)
        size = abs(Fraction(a * d, int(below) ** 2)) + abs(Fraction(b * c, int(below) ** 2))
        assert abs(Fraction(float(value[cell])) - exact) <= size * Fraction(1, 2**20) + Fraction(1, 2**900)
        assert (rank([[a, b], [c, d]]) == 2) == (exact != 0)


@pytest.mark.parametrize("norm", Norm)
def test_a_larger_complex_refines_a_smaller_one(norm: Norm) -> None:
    """Every cell of a ball is part of the cell of the larger ball with the same pattern, with the same map."""
    graph = ircert.load(plain(np.random.default_rng(0), [2, 7, 5, 2], True))
    unbounded = np.full(2, np.inf)
    around = Surroundings(canonical(graph), Place(np.array([0.1, -0.2]), norm, -unbounded, unbounded))
    small, large = (around.complex(Fraction(r)) for r in (1, 4))
    assert len(large) > len(small) > 5

    def key(found: Complex, cell: int) -> Any:
        return tuple(tuple(active[cell].tolist()) for active in found.patterns.values())

    cells = {key(large, cell): cell for cell in range(len(large))}
    for cell in range(len(small)):
        twin = cells[key(small, cell)]
        middle = barycentre(small.exact_polygon(cell))
        assert exact_values(small, cell, middle) == exact_values(large, twin, middle)
        polygon = large.exact_polygon(twin)
        for p in small.exact_polygon(cell):
            assert all(area([polygon[i - 1], q, p]) >= 0 for i, q in enumerate(polygon))


@given(complexes(), st.integers(3, 6))
def test_signs_of_many_outputs_are_sure(cells: Complex, count: int) -> None:
    """Where the sign is 1 the gradients of the outputs span the plane; any outputs will do, repeated ones too."""
    outputs = [k % len(cells.maps.value) for k in range(count)]
    found = Violations(cells, Norm.INF, outputs, None)
    for cell in np.flatnonzero(found.signs).tolist():
        assert not found.blind(cell)


def test_signs_of_many_outputs_cost_one_step_each() -> None:
    asked = 0

    def between() -> None:
        nonlocal asked
        asked += 1

    graph = canonical(ircert.load([([[1.0, 0.0]] * 300, None)]))
    free = np.full(2, np.inf)
    cells = Surroundings(graph, Place(np.zeros(2), Norm.INF, -free, free)).complex(Fraction(1))
    assert not Violations(cells, Norm.INF, list(range(300)), None, between).signs.any()
    assert asked == 300


@pytest.mark.rule("E-7")
def test_forms_and_signs_ask_the_deadline() -> None:
    """Floats for all cells of a layer, integers for one cell, and signs one by one."""
    graph = canonical(ircert.load(plain(np.random.default_rng(0), [2, 6, 6, 2], False)))
    made = Surroundings(graph, Place(np.zeros(2), Norm.INF, np.full(2, -np.inf), np.full(2, np.inf)))
    found = made.complex(Fraction(1), lambda: None)
    with until(lambda: True):
        for work in (
            lambda: made.complex(Fraction(1), lambda: None),
            lambda: found.exact_map(len(found) - 1),
            lambda: found.exact.signs(0, *(np.zeros(1, dtype=np.int64) for _ in range(3))),
        ):
            with pytest.raises(OutOfTime):
                work()
