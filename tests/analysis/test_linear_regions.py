"""Linear regions, fold sets and preimages as people ask for them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ircert
from ircert import Graph
from ircert.errors import IrcertError, QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.questions.query import Query
from ircert.testing.strategies import mlps, points
from tests.engines.regions.asking import NORMS, ask, graph_of
from tests.oracle.build import beside, changed, curve, line, plain, square, then

FOLD = graph_of(beside(curve([0.5], [[-1.0], [1.0]]), line(1)))
TAXI = graph_of([(np.vstack([np.eye(2), -np.eye(2)]), np.zeros(4)), (np.ones((1, 4)), np.zeros(1))])
PLATEAU = graph_of(curve([-1.0, 0.0, 1.0], [[0.0], [-1.0], [1.0], [0.0]]))  # min(|x|, 1) - 1
SQUARE = graph_of(square())


def values(matrix: Any, offset: Any, x: Any) -> list[Fraction]:
    return [
        sum((a * t for a, t in zip(row, x, strict=True)), Fraction(0)) + c
        for row, c in zip(matrix, offset, strict=True)
    ]


# --- regions ---------------------------------------------------------------------------------------------------------


@given(st.data())
def test_regions_of_any_network(data: Any) -> None:
    """Exact maps, vertices, patterns and neighbours of every region; floats next to them."""
    graph: Graph = data.draw(mlps(inputs=2, width=4, depth=2))
    center = data.draw(points(graph))
    norm = data.draw(st.sampled_from(NORMS))
    regions = ircert.enumerate_regions(graph, (center, 2.0, norm))
    assert len(regions) == len(list(regions)) == len(regions.polygons) == len(regions.patterns) > 0
    assert regions.patterns.shape[1] == len(regions.neurons)
    assert len({tuple(p) for p in regions.patterns.tolist()}) == len(regions)
    for number, region in enumerate(regions):
        exact = region.exact_vertices()
        assert len(exact) == len(region.vertices) == len(regions.polygons[number])
        np.testing.assert_allclose(np.array(exact, dtype=float), region.vertices, rtol=1e-9, atol=1e-9)
        matrix, offset = region.exact_map()
        middle = [sum(column, Fraction(0)) / len(exact) for column in zip(*exact, strict=True)]
        for x in (middle, *exact):
            assert values(matrix, offset, x) == list(graph.exact(x))
        scale = 1 + float(np.abs(region.matrix).max(initial=0.0))
        np.testing.assert_allclose(np.array(matrix, dtype=float), region.matrix, atol=1e-9 * scale)
        np.testing.assert_allclose(np.array(offset, dtype=float), region.offset, atol=1e-7 * scale)
        for other in region.neighbors:
            assert number in regions[other].neighbors
            shared = set(exact) & set(regions[other].exact_vertices())
            assert len(shared) == graph.input_dim
        rank = np.linalg.matrix_rank(np.array([[float(t) for t in row] for row in matrix]) * 1.0)
        if graph.output_dim == graph.input_dim:
            assert region.determinant is not None
            assert np.sign(region.determinant) == regions.signs[number]
        else:
            assert region.determinant is None
            assert regions.signs[number] == (_exact_rank(matrix) == graph.input_dim)
            assert rank <= _exact_rank(matrix)
    assert len(regions.facets) == len(regions.sides)
    for (p, q), (a, b) in zip(regions.facets.tolist(), regions.sides.tolist(), strict=True):
        for side in (a, b):
            assert p in regions.polygons[side]
            assert q in regions.polygons[side]
        assert (p == q) == (graph.input_dim == 1)


def _exact_rank(matrix: list[list[Fraction]]) -> int:
    columns = [list(column) for column in zip(*matrix, strict=True)]
    if len(columns) == 1:
        return int(any(columns[0]))
    minors = [a * d - b * c for i, (a, b) in enumerate(matrix) for c, d in matrix[:i]]
    return 2 if any(minors) else int(any(any(row) for row in matrix))


@pytest.mark.rule("G-9")
def test_a_ball_in_all_its_forms() -> None:
    low, high = np.full(2, -np.inf), np.full(2, np.inf)
    forms: list[Any] = [
        ([0.25, 0.5], 1.0),
        [(0.25, 0.5), 1],
        (np.array([0.25, 0.5]), 1.0, "inf"),
        ([0.25, 0.5], 1.0, np.inf),
        Ball(np.array([0.25, 0.5]), 1.0, Norm.INF, low, high),
        Query("local", [0.25, 0.5], 1.0),
    ]
    for ball in forms:
        regions = ircert.enumerate_regions(FOLD, ball)
        assert sorted(map(len, regions.polygons)) == [4, 4, 4, 4, 4, 4]
        assert len(ircert.fold_set(FOLD, ball)) == 2
        assert len(ircert.preimages(FOLD, FOLD.exact([0.25, 0.5]), ball)) == 2
    box = ircert.enumerate_regions(FOLD, domain={"low": [-0.75, -0.5], "high": [1.25, 1.5]})
    np.testing.assert_allclose(
        sorted(box.points.tolist()), sorted(ircert.enumerate_regions(FOLD, forms[0]).points.tolist())
    )
    assert (
        len(ircert.enumerate_regions(PLATEAU, (0.25, 3.0)))
        == len(ircert.enumerate_regions(PLATEAU, ([0.25], 3.0)))
        == 4
    )
    assert len(ircert.enumerate_regions(PLATEAU, domain=(-2, 0.5))) == 3


def test_domains_cut() -> None:
    ball = Query("local", [0.25, 0.5], 1.0, domain=([0.125, -9.0], [9.0, 9.0]))
    assert ircert.enumerate_regions(FOLD, ball).points[:, 0].min() == 0.125
    both = ircert.enumerate_regions(FOLD, ball, domain=(0.0, 1.0))
    assert both.points.min(axis=0).tolist() == [0.125, 0.0]
    assert both.points.max(axis=0).tolist() == [1.0, 1.0]
    corner = ircert.enumerate_regions(FOLD, ([0.0, 0.0], 1.0, 1), domain=(0.0, 5.0))
    assert sorted(corner.points.tolist()) == [[0.0, 0.0], [0.0, 1.0], [0.5, 0.0], [0.5, 0.5], [1.0, 0.0]]


def test_norms_cut() -> None:
    """Norm 1 cuts to a diamond; norm 2 drops cells that only meet the square around the disc."""
    split = [(np.array([[1.0, 1.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.array([-1.8, 0, 0, 0, 0]))]
    graph = graph_of([*split, (np.array([[1.0, 1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, -1.0]]), np.zeros(2))])
    counts = {norm: len(ircert.enumerate_regions(graph, ([0.0, 0.0], 1.0, norm))) for norm in NORMS}
    assert counts == {"inf": 5, "1": 4, "2": 4}
    square_ = ircert.enumerate_regions(graph, ([0.0, 0.0], 1.0, 2))
    assert len(square_.sides) == 4
    assert (square_.sides >= 0).all()


@pytest.mark.parametrize(
    "ball",
    [
        *(5, 3.5, "abc", object(), {"a": 1}, ([0, 0],), ([0, 0], 1, "inf", 2), ([0, 0], 1, 3), ([0, 0], -1)),
        *(([0, 0], 0), ([0, 0], np.nan), ([0, 0], "x"), ([0, 0, 0], 1), ([0], 1), (None, 1), ([0, np.inf], 1), None),
    ],
)
def test_bad_balls(ball: Any) -> None:
    for ask_for in (ircert.enumerate_regions, ircert.fold_set, lambda g, b: ircert.preimages(g, [0, 0], b)):
        with pytest.raises(QueryError):
            ask_for(FOLD, ball)


@pytest.mark.parametrize(
    "domain", [5, (0,), (1, 0), (0, np.inf), ([0, 0, 0], [1, 1, 1]), ("a", "b"), (0, 0), (np.nan, 1), ([0, 0], [0, 1])]
)
def test_bad_domains(domain: Any) -> None:
    with pytest.raises(QueryError):
        ircert.enumerate_regions(FOLD, domain=domain)


@pytest.mark.parametrize("domain", [([0.0, 0.0], [0.0, 1.0]), (2.0, 3.0), (1.0, -1.0)])
def test_domains_that_do_not_fit_the_ball(domain: Any) -> None:
    with pytest.raises(QueryError):
        ircert.enumerate_regions(FOLD, ([0.0, 0.0], 1.0), domain=domain)


@pytest.mark.parametrize(
    "y", [5.0, None, "12", [1], [1, 2, 3], ["x", 0], [np.nan, 0], [np.inf, 0], [None, 0], [True, 0]]
)
def test_bad_values(y: Any) -> None:
    with pytest.raises(IrcertError):
        ircert.preimages(FOLD, y, ([0, 0], 1))


def test_networks_that_do_not_fit() -> None:
    three = graph_of(line(3))
    with pytest.raises(QueryError, match="one or two inputs"):
        ircert.enumerate_regions(three, ([0, 0, 0], 1))
    with pytest.raises(QueryError, match="as many outputs as inputs"):
        ircert.fold_set(TAXI, ([0, 0], 1))


def test_affine_networks_have_one_region() -> None:
    regions = ircert.enumerate_regions(graph_of([(np.array([[2.0, 0.0], [1.0, 4.0]]), np.ones(2))]), ([0, 0], 1.0))
    assert len(regions) == 1
    assert regions[0].determinant == 8.0
    assert regions[-1].exact_map() == ([[2, 0], [1, 4]], [1, 1])
    assert regions[0].pattern.shape == (0,)
    assert [region.determinant for region in regions[:5]] == [8.0]
    with pytest.raises(IndexError):
        regions[1]


# --- folds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_folds_decide_the_local_radius(seed: int) -> None:
    """Determinants change their sign across every segment, and the nearest one is the radius if a fold decides it."""
    rng = np.random.default_rng(seed)
    graph, center = graph_of(plain(rng, [2, 8, 2], seed % 2 == 1)), rng.normal(size=2)
    found = ircert.fold_set(graph, (center, 3.0))
    assert len(found) == len(found.segments) == len(found.determinants)
    assert (found.determinants[:, 0] * found.determinants[:, 1] < 0).all()
    distances = [distance(center, p, q) for p, q in found.segments]
    distances += [
        distance(center, p, q) for cell in found.singular for p, q in zip(cell, np.roll(cell, 1, axis=0), strict=True)
    ]
    inside = [i for i, region in enumerate(found.regions) if found.regions.signs[i] == 0 and holds(region, center)]
    nearest = 0.0 if inside else min(distances, default=np.inf)
    answer = ask(graph, center, "inf", max_radius=3.0)
    assert answer.certified <= nearest * (1 + 1e-12)
    if answer.refuted is not None and (
        "fold" in answer.refuted.evidence or "not injective on" in answer.refuted.evidence
    ):
        assert float(answer.certified) == pytest.approx(nearest, rel=1e-9)


def holds(region: Any, point: Any) -> bool:
    p, q = region.vertices, np.roll(region.vertices, -1, axis=0)
    cross = (q - p)[:, 0] * (point - p)[:, 1] - (q - p)[:, 1] * (point - p)[:, 0]
    return bool((cross >= 0).all())


def distance(center: Any, p: Any, q: Any) -> float:
    """The L-infinity distance to a segment, by ternary search: it is convex along the segment."""
    low, high = 0.0, 1.0

    def at(t: float) -> float:
        return float(np.abs(p + t * (q - p) - center).max())

    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if at(a) <= at(b) else (a, high)
    return min(at(low), at(0.0), at(1.0))


def test_a_fold_on_a_line() -> None:
    found = ircert.fold_set(graph_of(curve([0.0, 1.0], [[-1.0], [1.0], [0.0]])), (0.25, 2.0))
    assert found.segments.tolist() == [[[0.0], [0.0]]]
    assert found.determinants.tolist() in ([[-1.0, 1.0]], [[1.0, -1.0]])
    assert [cell.tolist() for cell in found.singular] == [[[1.0], [2.25]]]
    assert found.points.shape == (0, 1)


def test_winding_points() -> None:
    """s winds twice around 0; it is no fold, and no other vertex winds."""
    found = ircert.fold_set(SQUARE, ([0.25, 0.125], 2.0))
    assert len(found) == len(found.singular) == 0
    np.testing.assert_allclose(found.points, [[0.0, 0.0]], atol=1e-15)
    assert len(ircert.fold_set(SQUARE, ([3.0, 0.5], 1.0)).points) == 0
    twice = ircert.fold_set(graph_of(then(square(), square())), ([0.25, 0.125], 2.0))
    np.testing.assert_allclose(twice.points, [[0.0, 0.0]], atol=1e-15)
    tiny = ircert.fold_set(SQUARE, ([0.25e-170, 0.125e-170], 2e-170))
    assert len(tiny.points) == 1
    assert len(ircert.fold_set(FOLD, ([0.0, 0.0], 2.0)).points) == 0


# --- preimages -------------------------------------------------------------------------------------------------------


@given(st.data())
def test_preimages_of_any_network(data: Any) -> None:
    """They contain the centre, have its output, lie in the ball, and are listed once."""
    graph: Graph = data.draw(mlps(inputs=2, width=4, depth=2))
    center = data.draw(points(graph))
    norm = data.draw(st.sampled_from(NORMS))
    y = graph.exact(center)
    found = ircert.preimages(graph, y, (center, 2.0, norm))
    exact = [Fraction(c) for c in center.tolist()]
    assert any(holds_exactly(p.corners, exact) for p in found)
    ball = Query("pseudo", center, 2.0, norm).ball
    around = Query("pseudo", center, 2.0, "inf").ball
    for p in found:
        for x in (p.exact, *p.corners):
            assert list(graph.exact(x)) == list(y)
            assert (around if norm == "2" else ball).contains(x)
        if len(p.corners) == 1:
            assert ball.contains(p.exact)
            np.testing.assert_allclose(p.point, [float(t) for t in p.exact])
        assert p.region is not None
        assert p.set.shape == (len(p.corners), graph.input_dim)
    assert len({tuple(sorted(p.corners)) for p in found}) == len(found)


def holds_exactly(corners: Any, point: list[Fraction]) -> bool:
    """Whether a point lies in the hull of one, two, or counter-clockwise many corners."""
    if len(corners) == 1:
        return list(corners[0]) == point
    if len(point) == 1:
        return bool(min(corners)[0] <= point[0] <= max(corners)[0])
    cross = [
        (q[0] - p[0]) * (point[1] - p[1]) - (q[1] - p[1]) * (point[0] - p[0])
        for p, q in zip(corners, [*corners[1:], corners[0]], strict=True)
    ]
    box = all(min(c[k] for c in corners) <= point[k] <= max(c[k] for c in corners) for k in range(2))
    return box and all(c >= 0 for c in cross)


@given(st.integers(0, 2**32 - 1))
def test_preimages_of_known_points(seed: int) -> None:
    """s(x) = s(-x), in other coordinates: two preimages, or one at the winding point."""
    rng = np.random.default_rng(seed)
    network, origin = changed(rng, square(), np.zeros(2), False)
    graph = graph_of(network)
    step = rng.integers(-16, 17, 2) / 16
    assume(step.any())
    found = ircert.preimages(graph, graph.exact(origin + step), (origin, 2.0))
    assert sorted(p.point.tolist() for p in found) == sorted([(origin + step).tolist(), (origin - step).tolist()])
    (only,) = ircert.preimages(graph, graph.exact(origin), (origin, 2.0))
    assert only.point.tolist() == origin.tolist()


@pytest.mark.rule("G-9")
def test_a_value_on_a_border_is_listed_once() -> None:
    (found,) = ircert.preimages(FOLD, FOLD.exact([0.5, 0.0]), ([0.5, 0.0], 2.0))
    assert found.exact == (Fraction(1, 2), Fraction(0))
    (zero,) = ircert.preimages(TAXI, [0], ([0.0, 0.0], 2.0))  # a vertex of four singular cells
    assert zero.exact == (Fraction(0), Fraction(0))
    ends = ircert.preimages(PLATEAU, PLATEAU.exact([1.0]), (0.0, 3.0))
    assert sorted(p.set.ravel().tolist() for p in ends) == [[-3.0, -1.0], [1.0, 3.0]]


def test_preimages_that_are_not_points() -> None:
    sides = ircert.preimages(TAXI, ["1/2"], ([0.0, 0.0], 1.0))
    assert sorted(sorted(p.set.tolist()) for p in sides) == [
        [[-0.5, 0.0], [0.0, -0.5]],
        [[-0.5, 0.0], [0.0, 0.5]],
        [[0.0, -0.5], [0.5, 0.0]],
        [[0.0, 0.5], [0.5, 0.0]],
    ]
    dead = graph_of([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])  # relu, relu
    (quarter,) = ircert.preimages(dead, [0.0, 0.0], ([0.0, 0.0], 1.0))
    assert sorted(quarter.set.tolist()) == [[-1.0, -1.0], [-1.0, 0.0], [0.0, -1.0], [0.0, 0.0]]
    assert quarter.exact == (Fraction(-1, 2), Fraction(-1, 2))
    (ray,) = ircert.preimages(dead, [0.5, 0.0], ([0.0, 0.0], 1.0))
    assert sorted(ray.set.tolist()) == [[0.5, -1.0], [0.5, 0.0]]


def test_round_balls_leave_out_what_lies_in_the_corners_of_the_square() -> None:
    """|x| + |y| = 1.9 passes the square of radius 1 but not the disc."""
    assert len(ircert.preimages(TAXI, [1.9], ([0.0, 0.0], 1.0, "inf"))) == 4
    assert ircert.preimages(TAXI, [1.9], ([0.0, 0.0], 1.0, 2)) == []
    assert len(ircert.preimages(TAXI, [1.4], ([0.0, 0.0], 1.0, 2))) == 4
    assert ircert.preimages(TAXI, [1.4], ([0.0, 0.0], 1.0, 1)) == []
    assert ircert.preimages(SQUARE, SQUARE.exact([0.9, 0.9]), ([0.0, 0.0], 1.0, 2)) == []


def test_values_beyond_the_floats() -> None:
    huge = graph_of([(np.array([[1e200]]), np.zeros(1)), (np.array([[1e200]]), np.zeros(1))])
    (found,) = ircert.preimages(huge, huge.exact([0.5]), (0.25, 1.0))
    assert found.exact == (Fraction(1, 2),)
    tiny = graph_of([(np.array([[1e-200]]), np.zeros(1)), (np.array([[1e-200]]), np.zeros(1))])
    (found,) = ircert.preimages(tiny, tiny.exact([0.5]), (0.25, 1.0))
    assert found.exact == (Fraction(1, 2),)


@pytest.mark.parametrize("norm", NORMS)
def test_the_nearest_other_preimage_is_the_pseudo_radius(norm: str) -> None:
    rng = np.random.default_rng(3)
    decided = 0
    for _ in range(12):
        graph, center = graph_of(plain(rng, [2, 8, 2], True)), rng.normal(size=2)
        found = ircert.preimages(graph, graph.exact(center), (center, 4.0, norm))
        others = [p for p in found if p.point.tolist() != center.tolist()]
        answer = ask(graph, center, norm, problem="pseudo", max_radius=4.0)
        if any(len(p.corners) > 1 for p in found):
            continue
        sizes = [np.linalg.norm(p.point - center, {"inf": np.inf, "1": 1, "2": 2}[norm]) for p in others]
        assert (answer.refuted is None) == (not others)
        if others:
            decided += 1
            assert float(answer.certified) == pytest.approx(min(sizes), rel=1e-9)
    assert decided >= 3
