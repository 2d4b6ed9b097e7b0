from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import ircert
from ircert.analysis.lipschitz.stretch import least, most
from ircert.data import networks
from ircert.errors import QueryError, UnsupportedModel
from ircert.geometry.norm import Norm
from tests.analysis.pairs import least_quotient
from tests.oracle.build import beside, curve, line, plain, square, stacked, then
from tests.oracle.build import straight as shifted

NORMS = tuple(Norm)
ABSOLUTE = curve([0.0], [[-1.0], [1.0]])
ORDER = {"inf": np.inf, "1": 1, "2": 2}


def quotients(graph: ircert.Graph, ball: Any, norm: str, count: int = 20_000, seed: int = 0) -> NDArray[np.float64]:
    """Those of random pairs of a ball, half of them near each other."""
    rng = np.random.default_rng(seed)
    center, radius, kind = [*ball, "inf"][:3]
    steps = rng.standard_normal((2, count, graph.input_dim))
    lengths = np.linalg.norm(steps, ord=ORDER[str(kind)], axis=2, keepdims=True)
    x, y = np.array(center) + radius * np.sqrt(rng.random((2, count, 1))) * steps / lengths
    y[: count // 2] = x[: count // 2] + 1e-3 * (y[: count // 2] - x[: count // 2])
    order = ORDER[norm]
    return np.linalg.norm(graph(x) - graph(y), ord=order, axis=1) / np.linalg.norm(x - y, ord=order, axis=1)


def check(graph: ircert.Graph, ball: Any, norm: str) -> Any:
    """Random pairs lie within the brackets."""
    found = ircert.bilipschitz(graph, ball, norm)
    seen = quotients(graph, ball, norm)
    assert seen.max() <= found.upper.high * (1 + 1e-6)
    assert seen.min() >= found.lower.low * (1 - 1e-6)
    assert found.lower.high <= seen.min() * (1 + 1e-6) + 1e-9 or found.lower.high <= found.upper.low
    return found


@pytest.mark.rule("L-2")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (2, 2), (3, 2)])
def test_one_matrix(norm: Any, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        weight = rng.integers(-12, 13, shape) / 8
        rows = [[Fraction(t) for t in row] for row in weight.tolist()]
        above, below = most(rows, norm), least(rows, norm)
        assert above.low <= above.high
        assert float(above.high) == pytest.approx(np.linalg.norm(weight, ORDER[norm]), abs=1e-12)
        angles = np.linspace(0, np.pi, 20_001)
        v = np.stack([np.cos(angles), np.sin(angles)]) if shape[1] == 2 else np.ones((1, 1))
        seen = np.linalg.norm(weight @ v, ORDER[norm], axis=0) / np.linalg.norm(v, ORDER[norm], axis=0)
        assert float(below.low) <= seen.min() + 1e-12
        assert float(below.high) == pytest.approx(seen.min(), abs=2e-3)


@pytest.mark.rule("L-1", "L-2", "L-4")
@pytest.mark.parametrize("norm", NORMS)
def test_an_affine_network_has_the_numbers_of_its_matrix(norm: Any) -> None:
    graph = ircert.load([(np.array([[3.0, 1.0], [0.5, -2.0]]), np.array([5.0, 7.0]))])
    found = ircert.bilipschitz(graph, ([1, 1], 0.5), norm)
    largest, smallest = {
        "inf": (Fraction(4), Fraction(13, 7)),
        "1": (Fraction(7, 2), Fraction(13, 8)),
        "2": (None, None),
    }[norm]
    assert (found.upper.exact, found.lower.exact) == (largest, smallest)
    sizes = np.linalg.svd([[3.0, 1.0], [0.5, -2.0]])[1]
    if norm == "2":
        assert found.upper.high == pytest.approx(sizes[0], rel=1e-14)
        assert found.lower.low == pytest.approx(sizes[1], rel=1e-14)
    assert found.upper.high - found.upper.low <= 1e-14
    assert found.constant.exact == largest
    assert found.norm == norm
    assert found.ball.norm == "inf"


@pytest.mark.rule("L-3")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("ball", ["inf", 1, 2])
def test_a_fold_makes_the_least_quotient_zero(norm: Any, ball: Any) -> None:
    graph = ircert.load(beside(ABSOLUTE, line(1)))
    before = ircert.bilipschitz(graph, ([1.0, 0.25], 0.875, ball), norm)
    assert (float(before.upper.high), float(before.lower.low)) == (1.0, 1.0)
    behind = ircert.bilipschitz(graph, ([1.0, 0.25], 1.125, ball), norm)
    assert behind.lower.exact == 0
    assert math.isinf(behind.constant.low)
    assert "L* = inf\n" in behind.summary()
    assert "orientation" in behind.lower.low.evidence


@pytest.mark.rule("L-3")
def test_fewer_outputs_than_inputs_and_constant_networks() -> None:
    flat = ircert.load([(np.array([[1.0, 2.0]]), np.zeros(1))])
    assert ircert.bilipschitz(flat, ([0, 0], 1.0)).lower.exact == 0
    wide = ircert.load([(np.array([[1.0, 2.0, 3.0]]), np.zeros(1))])
    found = ircert.bilipschitz(wide, ([0, 0, 0], 1.0))
    assert found.lower.exact == 0
    assert found.upper.low == pytest.approx(6.0, rel=1e-12)
    constant = ircert.load([(np.zeros((2, 2)), np.ones(2))])
    found = ircert.bilipschitz(constant, ([0, 0], 1.0), 2)
    assert found.upper.exact == found.lower.exact == 0
    assert math.isinf(found.constant.low)


@pytest.mark.rule("L-3", "L-4")
@pytest.mark.parametrize("norm", NORMS)
def test_a_curve_with_a_bend_comes_back_near_itself(norm: Any) -> None:
    """(|x|, x/4): each side is stretched by 1 or more, but x and -x are mapped to a distance of |x|/2."""
    graph = ircert.load(stacked(ABSOLUTE, [(w * s, b) for (w, b), s in zip(line(1), (1.0, 0.25), strict=True)]))
    found = ircert.bilipschitz(graph, ([0.0], 2.0), norm)
    assert found.lower.low <= 0.25 <= found.lower.high
    assert found.lower.high - found.lower.low <= 1e-9
    one_side = ircert.bilipschitz(graph, ([2.0], 2.0), norm)
    assert one_side.lower.low == pytest.approx(np.linalg.norm([1, 0.25], ORDER[norm]), rel=1e-14)


@pytest.mark.rule("L-3")
def test_a_far_collision_is_found_and_shown() -> None:
    """A curve that crosses itself: every region is injective, and no orientation can tell."""
    graph = ircert.load(curve([-1.0, 0.0, 1.0], [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]))
    found = ircert.bilipschitz(graph, ([0.0], 4.0))
    assert found.lower.exact == 0
    assert found.witness is not None
    x, y = found.witness.exact.x, found.witness.exact.y
    assert list(graph.exact(x)) == list(graph.exact(y))
    assert x != y


@pytest.mark.rule("L-4")
@pytest.mark.parametrize("norm", NORMS)
def test_the_border_matters_where_a_map_bends_round(norm: Any) -> None:
    """s∘s maps (1/2, 1/2) and (1/2, -1/2) to one point: just before, two parts of the border come near."""
    graph = ircert.load(then(square(), square()))
    ball = ([1.0, 0.0], 0.46875)
    found = check(graph, ball, norm)
    alone = min(float(least(region.exact_map()[0], norm).high) for region in ircert.enumerate_regions(graph, ball))
    assert 0 < found.lower.high < alone / 2
    assert found.lower.high - found.lower.low <= 1e-8 * found.lower.high
    if norm != "2":
        assert found.lower.high == pytest.approx(least_quotient(graph, ball, norm), rel=1e-6)
    beyond = ircert.bilipschitz(graph, ([1.0, 0.0], 0.53125), norm)
    assert beyond.lower.exact == 0
    assert beyond.witness is not None


@pytest.mark.rule("L-4")
@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sizes", [(1, 4, 2), (1, 3, 3, 3), (2, 3, 2)])
def test_all_pairs_by_linear_programs(norm: str, seed: int, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(seed)
    network = plain(rng, sizes, full=True)
    if sizes[0] == 2:  # near the identity, so that many are injective
        network = stacked(network, shifted(2))
        network[-1] = (np.hstack([np.eye(2) * 0.25, np.eye(2)]) @ network[-1][0], np.zeros(2))
    graph = ircert.load(network)
    ball = ([0.25] * sizes[0], 1.5, "inf")
    found = ircert.bilipschitz(graph, ball, norm)
    expected = least_quotient(graph, ball, norm)
    assert float(found.lower.low) <= expected * (1 + 1e-6) + 1e-9
    assert float(found.lower.high) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert float(found.lower.low) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.rule("L-4")
@pytest.mark.parametrize("ball", Norm)
@pytest.mark.parametrize("norm", NORMS)
def test_a_learned_flow(ball: str, norm: str) -> None:
    found = check(networks.bundled("vanderpol-2-16-16-2"), ([0.5, 0.25], 1.0, ball), norm)
    assert found.lower.low > 0.1
    assert found.lower.high <= found.lower.low * (1 + 1e-6)
    assert found.upper.high <= found.upper.low * (1 + 1e-12)


@pytest.mark.rule("L-5")
def test_a_disc_lies_between_its_polygons() -> None:
    graph = networks.bundled("vanderpol-2-10-10-2")
    inside = ircert.bilipschitz(graph, ([0, 0], 1.4 / np.sqrt(2), "inf"), 2)
    disc = ircert.bilipschitz(graph, ([0, 0], 1.4, 2))
    around = ircert.bilipschitz(graph, ([0, 0], 1.4, "inf"), 2)
    assert inside.upper.low <= disc.upper.high <= around.upper.high
    assert around.lower.low <= disc.lower.high <= inside.lower.high


@given(st.integers(0, 10_000), st.sampled_from(NORMS), st.sampled_from(Norm), st.booleans())
def test_random_networks(seed: int, norm: str, ball: str, full: bool) -> None:
    rng = np.random.default_rng(seed)
    sizes = [(2, 4, 2), (2, 3, 3), (1, 5, 1), (1, 4, 2), (3, 4, 3), (2, 3, 1), (2, 3, 2, 2)][seed % 7]
    graph = ircert.load(plain(rng, sizes, full))
    found = ircert.bilipschitz(graph, ([0.125] * sizes[0], 1.0, ball), norm, time_limit=0.2)
    seen = quotients(graph, ([0.125] * sizes[0], 1.0, ball), norm, 500, seed)
    assert seen.max() <= found.upper.high * (1 + 1e-6) + 1e-9
    assert seen.min() >= found.lower.low * (1 - 1e-6) - 1e-9


@pytest.mark.rule("L-6")
@pytest.mark.parametrize("norm", NORMS)
def test_more_inputs_have_bounds(norm: str) -> None:
    rng = np.random.default_rng(2)
    hidden, out = rng.normal(size=(6, 3)), rng.normal(size=(3, 6)) / 40
    build = ircert.Builder(3)
    graph = build.graph(build.add(build.input, build.affine(build.relu(build.affine(build.input, hidden)), out)))
    found = check(graph, ([0.1, 0.2, 0.3], 1.0), norm)
    assert 0.3 < found.lower.low <= found.lower.high <= 1.2
    assert found.upper.high <= 1.8
    assert "matrix" in found.lower.low.evidence
    assert "derivative" in found.lower.high.evidence


@pytest.mark.rule("L-6")
def test_a_surface_in_space_has_bounds_from_its_regions() -> None:
    graph = ircert.load(stacked(shifted(2), [(np.eye(2), np.zeros(2)), (np.array([[0.25, 0.25]]), np.zeros(1))]))
    found = check(graph, ([0.0, 0.0], 1.0), "inf")
    assert found.upper.exact == 1
    assert 0.5 < found.lower.low <= found.lower.high <= 1


@pytest.mark.rule("L-1", "L-3")
@pytest.mark.parametrize("power", [20, 45])
def test_numbers_that_must_not_fool(power: int) -> None:
    tiny = 2.0**-power
    scaled = ircert.bilipschitz(ircert.load([(tiny * np.eye(2), np.zeros(2))]), ([0, 0], 1.0))
    assert scaled.upper.exact == scaled.lower.exact == Fraction(tiny)
    build = ircert.Builder(1)  # x - relu(e x) / e, which is min(x, 0)
    hidden = build.relu(build.affine(build.input, [[tiny]]))
    flat = build.graph(build.add(build.input, build.affine(hidden, [[-1 / tiny]])))
    assert ircert.bilipschitz(flat, ([0.0], 1.0)).lower.exact == 0
    assert ircert.bilipschitz(flat, ([0.0], 1.0)).upper.exact == 1
    assert ircert.bilipschitz(flat, ([-2.0], 1.0)).lower.exact == 1
    bend = ircert.load(curve([0.0, tiny], [[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]))  # a region of width 2^-power
    found = ircert.bilipschitz(bend, ([0.0], 1.0), "inf")
    assert found.lower.low <= 1 <= found.lower.high


@pytest.mark.rule("L-7")
def test_the_constant_is_the_larger_of_both() -> None:
    shrinks = ircert.bilipschitz(ircert.load([(np.eye(2) / 8, np.zeros(2))]), ([0, 0], 1.0))
    assert shrinks.constant.exact == 8
    assert "1/L'" in shrinks.constant.low.evidence
    grows = ircert.bilipschitz(ircert.load([(np.eye(2) * 8, np.zeros(2))]), ([0, 0], 1.0))
    assert grows.constant.exact == 8
    assert "L* = 8" in grows.summary()


def test_questions_that_cannot_be_asked() -> None:
    graph = networks.bundled("vanderpol-2-10-10-2")
    with pytest.raises(QueryError, match="3 coordinates"):
        ircert.bilipschitz(graph, ([0, 0, 0], 1.0))
    with pytest.raises(QueryError, match="fix"):
        ircert.bilipschitz(graph, ([0, 0], 1.0), domain=([0, -1], [0, 1]))
    with pytest.raises(QueryError, match="norm"):
        ircert.bilipschitz(graph, ([0, 0], 1.0), 3)
    with pytest.raises(QueryError, match="time limit"):
        ircert.bilipschitz(graph, ([0, 0], 1.0), time_limit=-1)
    with pytest.raises(QueryError, match="seed"):
        ircert.bilipschitz(graph, ([0, 0], 1.0), seed=-1)
    smooth = ircert.parse("ircert.ir/1\nx = input(length=1)\nz = log(x)\ny = relu(z)\nreturn y\n")
    with pytest.raises(UnsupportedModel, match="log"):
        ircert.bilipschitz(smooth, ([0], 1.0))


def test_a_domain_cuts_the_ball() -> None:
    graph = ircert.load(beside(ABSOLUTE, line(1)))
    assert ircert.bilipschitz(graph, ([0.5, 0], 1.0)).lower.exact == 0
    assert ircert.bilipschitz(graph, ([0.5, 0], 1.0), domain=(0, 5)).lower.exact == 1
    assert ircert.bilipschitz(graph, ([0.5, 0], 1.0, 2), domain=(0, 5)).lower.high == pytest.approx(1, rel=1e-12)
