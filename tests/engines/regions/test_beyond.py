"""The whole space: what lies beyond every vertex, exactly, and in no more time than the vertices take."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert import Graph
from ircert.engines.base import Cause
from ircert.engines.regions import engine, growth
from ircert.engines.regions.beyond import open_cells
from ircert.engines.regions.complex import build
from ircert.engines.regions.growth import Surroundings
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.questions.network import lowered as canonical
from tests.engines.regions.asking import NORMS, ask, check_witness, closed, graph_of
from tests.oracle.build import beside, curve, line, plain, square, summed, then

FAR = 1e300
WITH_A_KINK = curve([0.0], [[1.0], [2.0]])
"""x for x < 0, 2 x for x > 0."""


def everywhere(network: Any, center: Any, norm: Any = "inf", **more: Any) -> bool:
    found = ask(network, center, norm, max_radius=math.inf, **more)
    assert found.stop is None
    return found.refuted is None and found.certified == math.inf


def widened(layers: Any, rows: Any) -> Graph:
    """A network and further, linear outputs."""
    build_ = ircert.Builder(2)
    first = build_.insert(graph_of(layers), build_.input)
    return build_.graph(build_.concat(first, build_.affine(build_.input, rows)))


# --- known answers ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("G-10")
@pytest.mark.parametrize("norm", NORMS)
def test_maps_that_are_injective_everywhere(norm: Norm) -> None:
    assert everywhere(WITH_A_KINK, [0.25], norm)
    assert everywhere(curve([0.0, 5.0], [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), [0.25], norm), "two outputs"
    assert everywhere(beside(WITH_A_KINK, WITH_A_KINK), [0.25, 3.0], norm)
    assert everywhere(beside(WITH_A_KINK, line(1)), [0.25, 3.0], norm), "two half-planes"
    strips = beside(curve([-2.0, 1.0, 7.0], [[1.0], [3.0], [0.5], [2.0]]), line(1))
    assert everywhere(strips, [0.0, 3.0], norm)
    assert everywhere(summed(line(2), plain(np.random.default_rng(3), [2, 5, 2], full=True), 0.125), [0.5, 0.25], norm)


@pytest.mark.rule("G-10")
@pytest.mark.parametrize("norm", NORMS)
def test_the_square_of_a_plane_covers_it_twice(norm: Norm) -> None:
    """Every determinant is positive, and s(x) = s(-x): seen from any distance the radius is finite."""
    for center in ([1.0, 0.0], [3000.0, 0.0], [1e200, 0.0]):
        found = ask(square(), center, norm, max_radius=math.inf)
        assert found.certified == center[0]
        check_witness(found, square(), center, norm)
    assert everywhere(widened(square(), np.eye(2)), [1.0, 0.0], norm)
    twice = ask(then(square(), square()), [1.0, 0.0], norm, max_radius=math.inf)
    assert closed(twice)
    assert twice.certified == ask(then(square(), square()), [1.0, 0.0], norm).certified


@pytest.mark.rule("G-10")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("far", [1e3, 1e7, 1e40])
def test_far_violations_are_found(norm: Norm, far: float) -> None:
    """A curve that turns back late and meets itself later; and kinks that only come later."""
    back = curve([0.0, far], [[1.0], [1.0], [-1.0]])
    for problem, radius in (("local", Fraction(far)), ("pseudo", 2 * Fraction(far))):
        found = ask(back, [0.0], norm, problem=problem, max_radius=math.inf)
        assert found.certified.exact == radius
        check_witness(found, back, [0.0], norm, problem=problem)
    wedge = curve([-1.0, 1.0], [[-1.0, 1 / far], [0.0, -1.0], [1.0, 1 / far]])  # its ends meet where nothing bends
    found = ask(wedge, [0.0], norm, max_radius=math.inf)
    assert found.certified == pytest.approx(far, rel=0.01)
    check_witness(found, wedge, [0.0], norm)
    apart = curve([-1.0, 1.0], [[-1.0, -1 / far], [0.0, -1.0], [1.0, -1 / far]])
    assert everywhere(apart, [0.0], norm)


@pytest.mark.rule("G-10")
@pytest.mark.parametrize("norm", NORMS)
def test_other_problems(norm: Norm) -> None:
    assert everywhere(WITH_A_KINK, [0.25], norm, problem="pseudo")
    assert everywhere(beside(curve([0.0], [[-1.0], [1.0]]), line(1)), [0.0, 0.5], norm, problem="pseudo")
    fold = beside(curve([0.0], [[-1.0], [1.0]]), line(1))
    assert everywhere(fold, [1.0, 0.0], norm, other=fold)
    assert everywhere(fold, [1.0, 0.0], norm, other=[(np.array([[0.0, 1.0]]), np.zeros(1))])
    found = ask(fold, [1.0, 0.0], norm, other=line(2), max_radius=math.inf)
    assert found.certified == 1.0


@pytest.mark.rule("G-10")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("low", [0.5, 4096.0])
def test_domains_that_end_on_some_sides(norm: Norm, low: float) -> None:
    """|x| is injective on x >= 1/2; the domain's side is no side of a ball, wherever it lies."""
    fold = beside(curve([0.0], [[-1.0], [1.0]]), line(1))
    center = [low + 0.5, 0.0]
    assert everywhere(fold, center, norm, domain=([low, -np.inf], np.inf))
    assert everywhere(fold, center, norm, domain=([low, -np.inf], [np.inf, 8.0]), problem="pseudo")
    half = ask(fold, center, norm, domain=([-low, -np.inf], np.inf), max_radius=math.inf)
    assert half.certified == center[0]


# --- cells that go on ------------------------------------------------------------------------------------------------


def complex_of(layers: Any, radius: float) -> tuple[Surroundings, Any]:
    graph = canonical(graph_of(layers))
    unbounded = np.full(2, np.inf)
    around = Surroundings(graph, Place(np.zeros(2), Norm.INF, -unbounded, unbounded))
    return around, around.complex(Fraction(radius))


@pytest.mark.rule("G-10")
def test_cells_go_on_only_where_nothing_bends_beyond_the_ball() -> None:
    kink = beside(curve([4.0], [[1.0], [2.0]]), line(1))
    for radius, goes_on in ((2.0, False), (4.0, False), (4.5, True)):  # outside the ball, on its side, inside
        around, complex_ = complex_of(kink, radius)
        assert (around.open_cells(Fraction(radius), complex_) is not None) == goes_on


@pytest.mark.rule("G-10")
def test_rays_that_meet_outside_do_not_go_on() -> None:
    """Lines through (0, 8) that cut the ball: the cell between them ends outside; at the vertex itself it is open."""
    w = np.array([[1.0, 0.25], [-1.0, 0.25], [0.0, 1.0]])
    wedge = [(w, np.array([-2.0, -2.0, 0.0])), (np.ones((2, 3)), np.zeros(2))]
    for radius, goes_on in ((4.0, False), (8.0, False), (9.0, True)):
        around, complex_ = complex_of(wedge, radius)
        assert (around.open_cells(Fraction(radius), complex_) is not None) == goes_on
    around, complex_ = complex_of(wedge, 9.0)
    assert open_cells(complex_, []) == [], "without a rim every cell is bounded"


# --- agreement -------------------------------------------------------------------------------------------------------


def small(rng: np.random.Generator, n: int, m: int) -> Graph:
    graph = graph_of(plain(rng, [n, int(rng.integers(2, 6)), m], full=bool(rng.integers(2))))
    if m < n or rng.integers(2):
        return graph
    build_ = ircert.Builder(n)
    rows = np.vstack([np.eye(n), rng.integers(-1, 2, (m - n, n))]) * float(rng.choice([1.0, 2.0, 4.0]))
    return build_.graph(build_.add(build_.affine(build_.input, rows), build_.insert(graph, build_.input)))


@pytest.mark.rule("G-10")
@pytest.mark.parametrize("seed", range(40))
def test_growing_to_a_large_radius_says_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    n, m = 1 + seed % 2, 1 + seed // 2 % 3
    norm, problem = NORMS[seed % 3], ("local", "pseudo", "transform")[seed // 3 % 3]
    network, other = small(rng, n, m), small(rng, n, 1) if problem == "transform" else None
    center = rng.integers(-8, 9, n) / 4
    options: dict[str, Any] = {"problem": problem, "other": other}
    if seed % 5 == 0:
        options["domain"] = (np.where(rng.integers(2, size=n), -np.inf, center - 1.0), np.inf)
    found = ask(network, center, norm, max_radius=math.inf, **options)
    monkeypatch.setattr(engine, "FAR", math.inf)
    grown = ask(network, center, norm, max_radius=2.0**20, **options)
    assert found.stop is None
    if grown.refuted is None:
        assert found.certified >= 2.0**20
    else:
        assert (found.certified, found.refuted) == (grown.certified, grown.refuted)


# --- work ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("G-10")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("outputs", [2, 3])
def test_a_larger_limit_is_no_more_work(problem: str, outputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The complexes that are built up to 1e6, 1e300 and infinity are the same."""
    network = summed(line(2), plain(np.random.default_rng(3), [2, 5, 2], full=True), 0.125)
    asked = graph_of(network) if outputs == 2 else widened(network, np.ones((1, 2)))
    built: list[int] = []

    def counted(*given: Any, **more: Any) -> Any:
        built[-1] += 1
        return build(*given, **more)

    monkeypatch.setattr(growth, "build", counted)
    for limit in (1e6, FAR, math.inf):
        built.append(0)
        assert ask(asked, [0.5, 0.25], problem=problem, max_radius=limit).certified == math.inf
    assert built[0] == built[1] == built[2] <= 8


@pytest.mark.rule("G-10")
def test_where_not_everything_is_asked_about_steps_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the argument about unbounded cells, 1e300 takes a few complexes more than 1e6, not hundreds."""
    monkeypatch.setattr(engine, "FAR", math.inf)
    built: list[float] = []
    for limit in (1e6, FAR):
        radii: list[float] = []
        found = ask(WITH_A_KINK, [0.25], max_radius=limit, report=lambda step, r=radii: r.append(step.certified))  # type: ignore[misc]
        assert found.certified == limit
        built.append(len(radii))
    assert built[1] <= built[0] + 24


@pytest.mark.rule("G-10")
def test_kinks_beyond_the_floats_leave_the_question_open() -> None:
    """x + relu(2^-52 x - 2^975) bends at 2^1027."""
    first = np.array([[2.0**-52], [1.0], [-1.0]]), np.array([-(2.0**975), 0.0, 0.0])
    found = ask([first, (np.array([[1.0, 1.0, -1.0]]), np.zeros(1))], [0.25], max_radius=math.inf)
    assert found.stop is not None
    assert found.stop.cause is Cause.RANGE
    assert 1e200 < found.certified < math.inf
    assert found.refuted is None
