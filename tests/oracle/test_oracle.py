"""The oracle against closed forms, properties of the true radius, and searches that know nothing of cells."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from tests.oracle.build import Network, beside, curve, line, plain, square, stacked, summed, then
from tests.oracle.cells import cells, forward, image
from tests.oracle.families import FAMILIES, Sample, sample
from tests.oracle.hunt import hunt
from tests.oracle.oracle import Answer, closed_ball, local_radius, pseudo_radius, transform_radius
from tests.oracle.rational import dot, fraction, number, vector
from tests.oracle.setting import Setting
from tests.programs.encodings import brute_force

NORMS = ("inf", "1", "2")
LIMIT = 8
ABSOLUTE = curve([0.0], [[-1.0], [1.0]])


def affine(w: Any, b: Any = 0.0) -> Network:
    w = np.array(w, float)
    return [(w, np.zeros(len(w)) + b)]


def length(d: Any, norm: str) -> float:
    return float(np.linalg.norm(np.array(d, float), {"inf": np.inf, "1": 1, "2": 2}[norm]))


def is_exactly(answer: Answer, radius: Any, kind: str) -> bool:
    return answer.lower == answer.upper == Fraction(radius) and answer.kind == kind


def replays(answer: Answer, layers: Network, center: Any, norm: str, other: Network | None = None) -> None:
    """The collision is one in the graph's own exact arithmetic, and lies where the answer says."""
    assert answer.collision is not None
    assert answer.upper is not None
    x, y = answer.collision
    f = ircert.load(layers)
    assert list(f.exact(x)) == list(f.exact(y))
    if other is None:
        assert x != y
    else:
        g = ircert.load(other)
        assert list(g.exact(x)) != list(g.exact(y))
    reach = max(length([a - Fraction(b) for a, b in zip(p, center, strict=True)], norm) for p in (x, y))
    assert reach == pytest.approx(float(answer.upper), rel=1e-12, abs=1e-25)


# --- closed forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_one_fold(n: int, norm: str) -> None:
    """(|x1 - t|, x2, …): the radius is |c1 - t|, and the closed ball is still good."""
    network = ABSOLUTE if n == 1 else beside(ABSOLUTE, line(n - 1))
    center = np.array([1.25, 0.5, -0.5, 2.0][:n])
    answer = local_radius(network, center, norm, limit=4)
    assert is_exactly(answer, 1.25, "fold")
    replays(answer, network, center, norm)
    assert closed_ball(network, center, 1.25, norm) is True
    assert closed_ball(network, center, 1.25 + 2.0**-40, norm) is False


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("e", [1.0, 2.0**-20, 2.0**-45])
def test_a_collapsed_axis(e: float, norm: str) -> None:
    """x - relu(e x) / e = min(x, 0): not injective as soon as the ball reaches past 0."""
    network = [(np.array([[1.0], [-1.0], [e]]), np.zeros(3)), (np.array([[1.0, -1.0, -1 / e]]), np.zeros(1))]
    answer = local_radius(network, [-1.0], norm)
    assert is_exactly(answer, 1, "singular")
    replays(answer, network, [-1.0], norm)
    assert closed_ball(network, [-1.0], 1, norm) is True
    assert closed_ball(network, [-1.0], 1 + 2.0**-40, norm) is False


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("network", [affine([[2.0**-45]]), line(1), line(3, 2), affine(np.eye(2) * 1e-12)])
def test_injective_everywhere(network: Network, norm: str) -> None:
    n = network[0][0].shape[1]
    assert local_radius(network, np.ones(n), norm, limit=5) == Answer(Fraction(5))
    assert pseudo_radius(network, np.ones(n), norm, limit=5) == Answer(Fraction(5))
    assert closed_ball(network, np.ones(n), 5, norm) is True


@pytest.mark.parametrize("norm", NORMS)
def test_fewer_outputs_than_inputs(norm: str) -> None:
    assert is_exactly(local_radius(affine([[1.0, 2.0]]), [0.0, 0.0], norm), 0, "singular")
    assert closed_ball(affine([[1.0, 2.0]]), [0.0, 0.0], 2.0**-50, norm) is False
    assert closed_ball(affine([[1.0, 2.0]]), [0.0, 0.0], 0, norm) is True


@pytest.mark.parametrize("norm", NORMS)
def test_a_winding_point(norm: str) -> None:
    """s(x) = s(-x), though every determinant is positive."""
    answer = local_radius(square(), [0.0, 0.0], norm)
    assert is_exactly(answer, 0, "far")
    replays(answer, square(), [0.0, 0.0], norm)
    assert is_exactly(local_radius(square(), [1.0, 0.0], norm), 1, "far")
    assert closed_ball(square(), [0.0, 0.0], 2.0**-60, norm) is False


@pytest.mark.parametrize(("norm", "radius"), [("inf", 0.5), ("1", 1.0), ("2", 0.5**0.5)])
def test_sheets_that_overlap(norm: str, radius: float) -> None:
    """s∘s at (1, 0): f(.5, .5) = f(.5, -.5)."""
    network, center = then(square(), square()), [1.0, 0.0]
    answer = local_radius(network, center, norm)
    assert answer.kind == "far"
    assert answer.upper is not None
    assert answer.upper - answer.lower <= 1e-14 * answer.upper
    assert float(answer.lower) == pytest.approx(radius, rel=1e-14)
    replays(answer, network, center, norm)
    assert closed_ball(network, center, radius * (1 - 2.0**-40), norm) is True
    assert closed_ball(network, center, radius * (1 + 2.0**-40), norm) is False
    if norm != "2":
        assert closed_ball(network, center, radius, norm) is False


@pytest.mark.parametrize("norm", NORMS)
def test_cells_that_meet_in_a_vertex(norm: str) -> None:
    """(s(x), x1): f(0, 1) = f(0, -1)."""
    height = [(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))]
    network = stacked(square(), height)
    assert is_exactly(local_radius(network, [0.0, 0.0], norm), 0, "far")
    assert is_exactly(local_radius(network, [0.5, 0.0], norm), 0.5, "far")
    assert is_exactly(local_radius(network, [0.0, 0.5], norm), 0.5, "far")


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("e", [1.0, 2.0**-10, 2.0**-30])
def test_near_pair_without_a_fold(e: float, norm: str) -> None:
    """f(-e) = f(2e): the closed ball has the collision, the open one has not."""
    network = curve([0.0, e], [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    answer = local_radius(network, [e / 2], norm)
    assert is_exactly(answer, 1.5 * e, "far")
    assert answer.collision is not None
    assert {p[0] for p in answer.collision} == {-Fraction(e), 2 * Fraction(e)}
    assert closed_ball(network, [e / 2], 1.5 * e, norm) is False
    assert closed_ball(network, [e / 2], 1.5 * e * (1 - 2.0**-40), norm) is True
    assert is_exactly(local_radius(network, [0.0], norm), 2 * e, "far")


def test_the_nearest_violation_is_not_the_first_found() -> None:
    """A fold at t = 5 beside a crossing at t = 0 and 3, from a centre between them."""
    slopes = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [0.0, -1.0], [0.0, 1.0]]
    network = curve([1.0, 2.0, 4.0, 5.0], slopes)
    assert is_exactly(local_radius(network, [4.5]), 0.5, "fold")
    assert is_exactly(local_radius(network, [1.5]), 1.5, "far")


# --- pseudo, transform, domain ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
def test_pseudo_jumps(norm: str) -> None:
    """min(|x|, 1): the twin of c is -c, until the plateau begins at 1."""
    network = curve([-1.0, 0.0, 1.0], [[0.0], [-1.0], [1.0], [0.0]])
    assert is_exactly(pseudo_radius(network, [0.75], norm), 1.5, "far")
    assert closed_ball(network, [0.75], 1.5, norm, "pseudo") is False
    assert closed_ball(network, [0.75], 1.5 - 2.0**-40, norm, "pseudo") is True
    assert is_exactly(pseudo_radius(network, [1.0], norm), 0, "singular")
    assert is_exactly(pseudo_radius(network, [2.0], norm), 0, "singular")
    assert closed_ball(network, [1.0], 2.0**-40, norm, "pseudo") is False


@pytest.mark.parametrize("norm", NORMS)
def test_pseudo_needs_no_injectivity(norm: str) -> None:
    """|x1| + |x2| at 0."""
    network = [(np.vstack([np.eye(2), -np.eye(2)]), np.zeros(4)), (np.ones((1, 4)), np.zeros(1))]
    assert pseudo_radius(network, [0.0, 0.0], norm).kind == "none"
    assert is_exactly(pseudo_radius(network, [0.0, 1.0], norm), 0, "singular")


@pytest.mark.parametrize("norm", NORMS)
def test_transform(norm: str) -> None:
    """|x| tells x apart from -x nowhere; relu(x - 2) + 2relu(-x - 3) needs to know from 2 on."""
    other = [(np.array([[1.0], [-1.0]]), np.array([-2.0, -3.0])), (np.array([[1.0, 2.0]]), np.zeros(1))]
    answer = transform_radius(ABSOLUTE, other, [0.0], norm)
    assert is_exactly(answer, 2, "far")
    replays(answer, ABSOLUTE, [0.0], norm, other)
    assert closed_ball(ABSOLUTE, [0.0], 2, norm, "transform", other) is True
    assert closed_ball(ABSOLUTE, [0.0], 2 + 2.0**-40, norm, "transform", other) is False
    assert is_exactly(transform_radius(ABSOLUTE, other, [1.0], norm), 3, "far")
    assert is_exactly(transform_radius(ABSOLUTE, affine([[1.0]]), [1.0], norm), 1, "fold")
    assert is_exactly(transform_radius(other, ABSOLUTE, [4.0], norm), 2, "singular")
    assert transform_radius(ABSOLUTE, affine([[0.0]], 3.0), [1.0], norm).kind == "none"


@pytest.mark.parametrize("norm", NORMS)
def test_domain(norm: str) -> None:
    network = beside(ABSOLUTE, ABSOLUTE)
    center = [1.0, 2.0]
    assert is_exactly(local_radius(network, center, norm), 1, "fold")
    assert is_exactly(local_radius(network, center, norm, domain=([0.0, -np.inf], np.inf)), 2, "fold")
    assert local_radius(network, center, norm, domain=(0.0, 9.0)).kind == "none"
    fixed = local_radius(network, center, norm, domain=([1.0, -np.inf], [1.0, np.inf]))
    assert is_exactly(fixed, 2, "fold")
    replays(fixed, network, center, norm)
    assert closed_ball(network, center, 1.5, norm, domain=([0.0, -5.0], 5.0)) is True


def test_a_rational_tie_in_norm_2_is_decided() -> None:
    network = curve([1.0, 2.0, 3.0], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    rolled = beside(network, line(1))
    assert is_exactly(local_radius(rolled, [2.0, 0.0], 2), 2, "far")
    assert closed_ball(rolled, [2.0, 0.0], 2, 2) is False


# --- families --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def samples() -> list[tuple[Sample, Answer]]:
    rng = np.random.default_rng(5)
    drawn = [sample(rng, index) for index in range(2 * len(FAMILIES))]
    return [(s, local_radius(s.layers, s.center, limit=LIMIT)) for s in drawn]


def test_every_collision_replays(samples: list[tuple[Sample, Answer]]) -> None:
    for s, answer in samples:
        if answer.upper is not None:
            replays(answer, s.layers, s.center, "inf")


def test_proportions(samples: list[tuple[Sample, Answer]]) -> None:
    positive = [answer for _, answer in samples if answer.upper]
    assert len(positive) >= len(samples) / 2
    assert sum(answer.kind == "far" for answer in positive) >= len(samples) / 10


def test_closed_balls_agree_with_radii(samples: list[tuple[Sample, Answer]]) -> None:
    for s, answer in samples:
        assert closed_ball(s.layers, s.center, answer.lower * Fraction(999, 1000)) is True
        if answer.upper is not None:
            assert (
                closed_ball(s.layers, s.center, max(answer.upper, Fraction(1, 10**30)) * Fraction(1001, 1000)) is False
            )


def test_norms_and_problems_are_ordered(samples: list[tuple[Sample, Answer]]) -> None:
    """ρ_inf <= ρ_2 <= ρ_1 <= n ρ_inf, ρ_2 <= √n ρ_inf, ρ_1 <= √n ρ_2, r <= R."""
    for s, answer in samples[::2]:
        n = len(s.center)
        if answer.upper is None or answer.upper * n >= LIMIT:
            continue
        one, two = (local_radius(s.layers, s.center, norm, limit=LIMIT) for norm in (1, 2))
        assert one.upper is not None
        assert two.upper is not None
        assert two.upper - two.lower <= 1e-14 * two.upper
        assert answer.lower <= two.upper
        assert two.lower <= one.upper <= n * answer.upper
        assert two.lower**2 <= n * answer.upper**2
        assert one.lower**2 <= n * two.upper**2
        assert pseudo_radius(s.layers, s.center, limit=LIMIT).lower >= answer.lower


def test_transform_families(samples: list[tuple[Sample, Answer]]) -> None:
    for s, local in samples:
        if s.other is None:
            continue
        for norm in NORMS:
            answer = transform_radius(s.layers, s.other, s.center, norm, limit=LIMIT)
            family = s.name.split("-")[0]
            if answer.upper is not None:
                assert family not in ("after", "constant")
                replays(answer, s.layers, s.center, norm, s.other)
                assert closed_ball(s.layers, s.center, answer.upper * 2 + 1, norm, "transform", s.other) is False
            if family == "same" and norm == "inf":
                assert (answer.lower, answer.upper, answer.kind) == (local.lower, local.upper, local.kind)
            assert answer.lower >= local.lower or norm != "inf"


def test_rotations_and_outputs() -> None:
    """Norm 2 does not see a rotation of the input, nor any norm an invertible map of the output."""
    rng = np.random.default_rng(1)
    rotation, shear = np.array([[3.0, -4.0], [4.0, 3.0]]), np.array([[1.0, 2.0], [0.0, -1.0]])
    for _ in range(6):
        network = summed(line(2), plain(rng, [2, 5, 2], False), 0.5)
        (w, b), (v, a) = network
        turned = [(w @ rotation, 5 * b), (v, 5 * a)]  # 5 f(R x), with R a fifth of the integer matrix
        one, two = (local_radius(layers, [0.0, 0.0], 2, limit=LIMIT) for layers in (network, turned))
        assert one.kind == two.kind
        if one.upper is not None and two.upper is not None:
            assert max(one.lower, two.lower) <= min(one.upper, two.upper)
        sheared = [(w, b), (shear @ v, shear @ a)]
        for norm in ("1", "inf"):
            radii = [local_radius(layers, [0.0, 0.0], norm, limit=LIMIT).lower for layers in (network, sheared)]
            assert radii[0] == radii[1]


@pytest.mark.parametrize("norm", NORMS)
def test_the_radius_is_lipschitz_in_the_centre(norm: str, samples: list[tuple[Sample, Answer]]) -> None:
    rng = np.random.default_rng(4)
    for s, _ in samples[::5]:
        moved = s.center + rng.uniform(-0.2, 0.2, len(s.center))
        one, two = (local_radius(s.layers, c, norm, limit=LIMIT) for c in (s.center, moved))
        step = Fraction(length(moved - s.center, norm)) * Fraction(1 + 2.0**-40)
        assert one.upper is None or two.lower <= one.upper + step
        assert two.upper is None or one.lower <= two.upper + step


# --- cells, and searches without them --------------------------------------------------------------------------------


def test_cells_cover_the_box_and_agree_with_the_network(samples: list[tuple[Sample, Answer]]) -> None:
    rng = np.random.default_rng(6)
    for s, _ in samples[::3]:
        setting = Setting(s.center, "inf", None, s.layers)
        found = cells(setting.box(number(2)), setting.network)
        for point in s.center + rng.uniform(-2, 2, (5, len(s.center))):
            x = vector(point)
            holding = [c for c in found if all(dot(a, x) <= b for a, b in c.polytope.facets)]
            assert holding
            assert all(image(c.f, x) == forward(setting.network, x) for c in holding)
            exact = ircert.load(s.layers).exact(point)
            assert [Fraction(v) for v in exact] == [fraction(v) for v in image(holding[0].f, x)]


@pytest.mark.parametrize("norm", NORMS)
def test_a_hunt_finds_collisions_outside_the_radius_only(norm: str, samples: list[tuple[Sample, Answer]]) -> None:
    rng = np.random.default_rng(3)
    caught, tried = 0, 0
    for s, answer in samples if norm == "inf" else samples[1::2]:
        # Floats cannot tell a fold that rounding has opened from a closed one, nor weigh outputs of different size.
        if answer.upper is None or answer.upper < 1e-3 or s.name.startswith(("crossing_and_fold", "spread")):
            continue
        radius = float(answer.lower if norm == "inf" else local_radius(s.layers, s.center, norm, limit=LIMIT).lower)
        assert hunt(rng, s.layers, s.center, radius * (1 - 1e-6), norm) is None, s.name
        caught += hunt(rng, s.layers, s.center, 1.5 * radius, norm) is not None
        tried += 1
    assert caught >= 0.8 * tried  # the hunt is not blind


@pytest.mark.parametrize("norm", ["inf", "1"])
def test_against_all_vertices_of_all_patterns(norm: str) -> None:
    """p* from an enumeration of 2^N patterns vanishes just below the radius and not above it."""
    rng = np.random.default_rng(2)
    for n, hidden in [(1, 4), (1, 5), (1, 5), (2, 3), (2, 3), (2, 3)]:
        network = plain(rng, [n, hidden, n + int(rng.integers(2))], True)
        center = rng.normal(size=n)
        answer = local_radius(network, center, norm, limit=LIMIT)
        graph = ircert.load(network)
        below = 0.99 * float(answer.lower)
        assert below == 0 or brute_force.largest_gap(graph, center, below, norm, "inf") < 1e-6
        if answer.upper is not None:
            above = 1.1 * float(answer.upper) + 0.01
            assert brute_force.largest_gap(graph, center, above, norm, "inf") > 1e-6


@pytest.mark.parametrize("norm", ["inf", "1"])
def test_transform_against_all_vertices_of_all_patterns(norm: str) -> None:
    rng = np.random.default_rng(7)
    for n, m, hidden in [(1, 1, 3), (1, 1, 3), (1, 2, 3), (1, 1, 4), (2, 1, 1), (2, 2, 2), (2, 2, 2)]:
        first, second = plain(rng, [n, hidden, m], True), plain(rng, [n, 2, 1], True)
        center = rng.normal(size=n) / 2
        answer = transform_radius(first, second, center, norm, limit=4)
        graph, other = ircert.load(first), ircert.load(second)
        below = 0.99 * float(answer.lower)
        assert below == 0 or brute_force.largest_gap(graph, center, below, norm, "inf", other) < 1e-6
        if answer.upper is not None:
            above = 1.1 * float(answer.upper) + 0.01
            assert brute_force.largest_gap(graph, center, above, norm, "inf", other) > 1e-6
