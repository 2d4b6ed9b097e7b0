"""Networks whose radii are known in closed form, and numbers that must not fool the engine."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.effort import some_of
from tests.engines.regions.asking import (
    LIMIT,
    NORMS,
    Refused,
    ask,
    check_witness,
    closed,
    exact_radius,
    radius_of,
    verdict,
)
from tests.oracle.build import Network, beside, curve, line, plain, square, stacked, summed, then
from tests.oracle.oracle import closed_ball, local_radius, pseudo_radius

ABSOLUTE = curve([0.0], [[-1.0], [1.0]])
FOLD = beside(ABSOLUTE, line(1))
TWICE = then(square(), square())


def affine(w: Any, b: Any = 0.0) -> Network:
    w = np.array(w, float)
    return [(w, np.zeros(len(w)) + b)]


def length(offset: Any, norm: str) -> float:
    return float(np.linalg.norm(offset, {"inf": np.inf, "1": 1, "2": 2}[norm]))


def is_infinite(*question: Any, **more: Any) -> bool:
    """Nothing is found up to the limit, and on a bounded domain nothing at all."""
    found = ask(*question, **more)
    box = ask(*question, **{**more, "domain": (np.array(question[1]) - 9.0, np.array(question[1]) + 9.0)})
    return found.refuted is None and found.certified >= LIMIT and box.refuted is None and math.isinf(box.certified)


# --- closed forms ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("G-6")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("t", [0.0, 1.25, -0.1])
def test_one_fold(t: float, n: int, norm: str) -> None:
    """(|x1 - t|, x2): the radius is |c1 - t| in all norms; the closed ball is still good, and none that is larger."""
    crease = curve([t], [[-1.0], [1.0]])
    network = crease if n == 1 else beside(crease, line(1))
    for c in (0.5, 2.0, t):
        center = np.array([c, 0.375][:n])
        radius = abs(Fraction(c) - Fraction(t))
        found = ask(network, center, norm)
        assert found.certified.exact == radius
        check_witness(found, network, center, norm)
        assert closed(found)
        rounded = float(found.certified)
        if rounded and Fraction(rounded) == radius:
            assert verdict(network, center, norm, rounded) == "certified"
            assert verdict(network, center, norm, math.nextafter(rounded, 9.0)) == "refuted"


@pytest.mark.parametrize("norm", NORMS)
def test_sheets_overlap_without_a_fold(norm: str) -> None:
    """s∘s at (1, 0): f(.5, .5) = f(.5, -.5), and no determinant changes its sign."""
    found = ask(TWICE, [1.0, 0.0], norm)
    assert float(found.certified) == pytest.approx(length([0.5, 0.5], norm) if norm != "1" else 1.0, rel=1e-12)
    assert found.refuted is not None
    assert "images" in found.refuted.evidence or "common image" in found.refuted.evidence
    check_witness(found, TWICE, [1.0, 0.0], norm)
    if norm != "2":
        assert verdict(TWICE, [1.0, 0.0], norm, float(found.certified)) == "refuted"
        assert verdict(TWICE, [1.0, 0.0], norm, math.nextafter(float(found.certified), 0.0)) == "certified"


@pytest.mark.parametrize("norm", NORMS)
def test_winding(norm: str) -> None:
    """s(x) = s(-x): radius 0 at 0 although every determinant is positive, and |c| beside it."""
    assert radius_of(square(), [0.0, 0.0], norm) == 0.0
    assert radius_of(square(), [1.0, 0.0], norm) == 1.0
    found = ask(square(), [0.75, 1.0], norm)
    assert float(found.certified) == pytest.approx(length([0.75, 1.0], norm), rel=1e-15)
    assert verdict(square(), [1.0, 0.0], norm, 1.0) == ("certified" if norm != "inf" else "refuted")


@pytest.mark.parametrize("norm", NORMS)
def test_cells_that_meet_in_a_vertex_only(norm: str) -> None:
    """(s(x), x1): f(0, 1) = f(0, -1)."""
    network = stacked(
        square(), [(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))]
    )
    assert radius_of(network, [0.0, 0.0], norm) == 0.0
    assert radius_of(network, [0.5, 0.0], norm) == 0.5
    assert radius_of(network, [3.0, 0.25], norm) == pytest.approx(length([3.0, 0.25], norm), rel=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("e", [1.0, 2.0**-10, 2.0**-30])
def test_a_near_pair_without_a_fold(e: float, norm: str) -> None:
    """f(-e) = f(2e), nothing else: at e/2 the radius is 3e/2."""
    network = curve([0.0, e], [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    found = ask(network, [e / 2], norm)
    assert found.certified.exact == Fraction(3 * e / 2)
    assert found.refuted is not None
    assert found.refuted.exact == Fraction(3 * e / 2)  # the pair itself
    check_witness(found, network, [e / 2], norm)
    assert verdict(network, [e / 2], norm, 1.5 * e) == "refuted"
    assert verdict(network, [e / 2], norm, math.nextafter(1.5 * e, 0.0)) == "certified"


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2])
def test_the_identity_in_disguise(n: int, norm: str) -> None:
    for hidden in (1, 2):
        assert is_infinite(line(n, hidden), np.zeros(n), norm)
        assert is_infinite(line(n, hidden), np.full(n, 0.3), norm, problem="pseudo")


@pytest.mark.parametrize(("norm", "k"), some_of(NORMS, range(20, 46, 5)))
def test_a_collapsed_axis(k: int, norm: str) -> None:
    """x - relu(e x) / e = min(x, 0) with e = 2^-k: collapses the positive axis."""
    e = 2.0**-k
    first = [(np.array([[1.0], [-1.0], [e]]), np.zeros(3)), (np.array([[1.0, -1.0, -1 / e]]), np.zeros(1))]
    for network, center in ((first, [-1.0]), (beside(first, line(1)), [-1.0, 0.25])):
        assert radius_of(network, center, norm) == 1.0
        assert verdict(network, center, norm, 1.0) == "certified"
        assert verdict(network, center, norm, 1 + 2.0**-40) == "refuted"
        assert radius_of(network, np.zeros(len(center)), norm) == 0.0
        assert is_infinite(network, center, norm, problem="pseudo")
        assert radius_of(network, np.ones(len(center)), norm, problem="pseudo") == 0.0


@pytest.mark.parametrize(("norm", "k"), some_of(NORMS, range(10, 46, 7)))
def test_tiny_slopes_are_injective(k: int, norm: str) -> None:
    s = 2.0**-k
    kinked = [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[s, -s]]), np.zeros(1))]
    for first in (affine([[s]]), kinked):
        assert is_infinite(first, [0.3], norm)
    assert is_infinite(beside(kinked, line(1)), [0.3, 0.0], norm)
    fold = curve([0.0], [[-s], [s]])
    assert radius_of(beside(fold, line(1)), [0.75, 0.0], norm) == 0.75


@pytest.mark.parametrize("norm", NORMS)
def test_the_first_violation_found_is_not_the_nearest(norm: str) -> None:
    """A curve that meets itself far away next to a fold nearby, and the other way round."""
    # along (1,0), up, back left, down through the first piece at t = 6.5; a fold at t = fold
    # right to (2, 0), up to (2, 1), left to (1, 1), down through (1, 0) at t = 5, which was passed at t = 1
    slopes = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    near = curve([2.0, 3.0, 4.0, 4.25], [*slopes, [0.0, 0.5]])  # folds back at 4.25, before it crosses
    assert radius_of(near, [3.0], norm) == 1.25
    far = curve([2.0, 3.0, 4.0, 5.5], [*slopes, [0.0, 0.5]])  # crosses, and folds behind that
    assert radius_of(far, [3.0], norm) == 2.0
    assert radius_of(far, [5.0], norm) == 0.5  # the fold is nearer from here
    assert radius_of(far, [3.75], norm) == pytest.approx(1.75, rel=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_pseudo_where_local_fails(norm: str) -> None:
    """|x| + |y| at 0: no other point has its value; elsewhere a whole segment has."""
    both = [(np.vstack([np.eye(2), -np.eye(2)]), np.zeros(4)), (np.ones((1, 4)), np.zeros(1))]
    assert is_infinite(both, [0.0, 0.0], norm, problem="pseudo")
    assert radius_of(both, [0.0, 0.0], norm) == 0.0
    assert radius_of(both, [0.5, 0.5], norm, problem="pseudo") == 0.0


@pytest.mark.parametrize("norm", NORMS)
def test_pseudo_jumps(norm: str) -> None:
    """min(|x|, 1): R = 2|c| inside, 0 from 1 on."""
    network = curve([-1.0, 0.0, 1.0], [[0.0], [-1.0], [1.0], [0.0]])
    for c in (2.0**-20, 0.25, 1 - 2.0**-30):
        assert radius_of(network, [c], norm, problem="pseudo") == 2 * c
        assert verdict(network, [c], norm, 2 * c, problem="pseudo") == "refuted"
        assert verdict(network, [c], norm, math.nextafter(2 * c, 0.0), problem="pseudo") == "certified"
    for c in (1.0, 1.5):
        assert radius_of(network, [c], norm, problem="pseudo") == 0.0
    assert is_infinite(network, [0.0], norm, problem="pseudo")


@pytest.mark.rule("G-7")
def test_a_collision_on_the_rim_beside_a_fold_that_touches_it() -> None:
    """Norm 2: a slanted fold and a far collision both at distance exactly 3; only the collision lies in the ball."""
    split, join = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [4.0, 3.0]]), np.zeros((2, 5))
    join[0], join[1] = [3.0, -3.0, 0.0, 0.0, -3.0], [0.0, 0.0, 4.0, -4.0, 0.0]
    creased = [(split, np.array([0.0, 0.0, 0.0, 0.0, -35.0])), (join, np.zeros(2))]
    network = then(then(creased, square()), square())
    assert closed_ball(network, [5.0, 0.0], 3.0, "2") is False
    assert verdict(network, [5.0, 0.0], "2", 3.0) == "refuted"
    assert verdict(network, [5.0, 0.0], "2", math.nextafter(3.0, 0.0)) == "certified"
    # without the far collision, the fold alone leaves the closed ball good
    assert verdict(creased, [5.0, 0.0], "2", 3.0) == "certified"
    assert verdict(creased, [5.0, 0.0], "2", math.nextafter(3.0, 4.0)) == "refuted"


@pytest.mark.parametrize("norm", NORMS)
def test_transform_in_closed_form(norm: str) -> None:
    """Is relu(x1 - 1) a function of |x1|? Only until the ball holds points beyond 1 and their mirror images."""
    first, second = FOLD, [(np.array([[1.0, 0.0]]), np.array([-1.0])), (np.array([[1.0]]), np.zeros(1))]
    assert radius_of(first, [0.0, 0.5], norm, other=second) == 1.0
    assert verdict(first, [0.0, 0.5], norm, 1.0, other=second) == "certified"
    assert verdict(first, [0.0, 0.5], norm, 1 + 2.0**-40, other=second) == "refuted"
    assert radius_of(first, [0.25, 0.5], norm, other=second) == 1.25
    assert is_infinite(first, [0.25, 0.5], norm, other=FOLD)


# --- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("G-4")
@pytest.mark.parametrize(
    ("norm", "shape"), some_of(NORMS, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (2, 5)], every=2)
)
def test_all_shapes(norm: str, shape: tuple[int, int]) -> None:
    n, m = shape
    rng = np.random.default_rng(10 * n + m)
    for hidden in ([6], [4, 4]):
        network, center = plain(rng, [n, *hidden, m], True), rng.normal(size=n)
        truth = local_radius(network, center, norm, limit=8)
        assert radius_of(network, center, norm, max_radius=8.0) == pytest.approx(float(truth.lower), rel=1e-12)
        truth = pseudo_radius(network, center, norm, limit=8)
        found = radius_of(network, center, norm, problem="pseudo", max_radius=8.0)
        assert found == pytest.approx(float(truth.lower), rel=1e-12)
    if m < n:
        assert radius_of(network, center, norm) == 0.0


@pytest.mark.rule("G-8")
@pytest.mark.parametrize("norm", NORMS)
def test_trivial_networks(norm: str) -> None:
    for problem in ("local", "pseudo"):
        assert ask(affine([[2.0, 1.0], [0.0, 0.1]], 3.0), [0.5, -1.0], norm, problem=problem).certified == math.inf
        assert radius_of(affine([[2.0, 1.0], [4.0, 2.0]]), [0.5, -1.0], norm, problem=problem) == 0.0  # singular
        assert radius_of(affine([[0.0]], 3.0), [0.5], norm, problem=problem) == 0.0  # constant
        assert radius_of(affine(np.zeros((3, 2)), 3.0), [0.5, 1.0], norm, problem=problem) == 0.0
    dead = [(np.eye(2), np.full(2, -1000.0)), (np.eye(2), np.ones(2))]
    assert radius_of(dead, [0.0, 0.0], norm) == 0.0
    narrow = [(np.array([[1.0, -1.0]]), np.zeros(1)), (np.ones((2, 1)), np.zeros(2))]
    assert radius_of(narrow, [1.0, 2.0], norm) == 0.0
    thin = [(np.array([[2.0]]), np.array([-1.0])), (np.array([[3.0]]), np.zeros(1))]  # width 1: 3 relu(2x - 1)
    assert radius_of(thin, [2.0], norm) == 1.5
    assert radius_of(thin, [2.0], norm, domain=(0.75, 3.0)) == LIMIT


@pytest.mark.rule("G-2")
@pytest.mark.parametrize("norm", NORMS)
def test_doubled_and_paired_neurons(norm: str) -> None:
    """|x1 - 1| from six neurons, twice each and with both signs, and two dead ones."""
    (w, b), (v, a) = beside(curve([1.0], [[-1.0], [1.0]]), line(1))
    doubled = [
        (np.vstack([w, w, 0 * w[:2]]), np.concatenate([b, b, [-1.0, 0.0]])),
        (np.hstack([v / 2, v / 2, np.ones((2, 2))]), a),
    ]
    assert radius_of(doubled, [0.25, 3.0], norm) == 0.75
    assert radius_of(doubled, [1.0, 3.0], norm) == 0.0


@pytest.mark.parametrize("norm", NORMS)
def test_centres_on_kinks_and_vertices(norm: str) -> None:
    """A centre on an edge, a vertex, a fold, the border of a singular cell."""
    harmless = [
        (np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.zeros(4)),
        (np.array([[1.0, -2.0, 0.0, 0.0], [0.0, 0.0, 1.0, -3.0]]), np.zeros(2)),
    ]
    for center in ([0.0, 0.5], [0.0, 0.0]):
        assert is_infinite(harmless, center, norm)
        assert is_infinite(harmless, center, norm, problem="pseudo")
    assert radius_of(FOLD, [0.0, 0.5], norm) == 0.0
    assert is_infinite(FOLD, [0.0, 0.5], norm, problem="pseudo")
    half = [
        (np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.zeros(3)),
        (np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -1.0]]), np.zeros(2)),
    ]
    assert radius_of(half, [0.0, 0.5], norm) == 0.0  # relu(x1), x2
    assert radius_of(half, [0.0, 0.5], norm, problem="pseudo") == 0.0
    assert radius_of(half, [2.0**-40, 0.5], norm) == 2.0**-40
    assert is_infinite(half, [2.0**-40, 0.5], norm, problem="pseudo")


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
def test_weights_of_very_different_size(norm: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(3):
        network = [(w * 10.0 ** rng.integers(-12, 13, w.shape), b) for w, b in plain(rng, [2, 6, 2], True)]
        center = rng.normal(size=2)
        truth = local_radius(network, center, norm, limit=8)
        assert radius_of(network, center, norm, max_radius=8.0) == pytest.approx(float(truth.lower), rel=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("gap", [1e-9, 2.0**-45])
def test_thin_cells_and_nearly_parallel_lines(gap: float, norm: str) -> None:
    rng = np.random.default_rng(6)
    for tilt in (0.0, gap):
        network = summed(line(2), plain(rng, [2, 4, 2], True), 0.5)
        w, b = (array.copy() for array in network[0])
        w[-1], b[-1] = w[-2], b[-2] + gap
        w[-1, 0] += tilt
        network = [(w, b), *network[1:]]
        on_line = -b[-2] * w[-2] / (w[-2] @ w[-2])  # on the lines, up to rounding
        for center in (np.zeros(2), on_line):
            truth = local_radius(network, center, norm, limit=8)
            assert radius_of(network, center, norm, max_radius=8.0) == pytest.approx(float(truth.lower), rel=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_thin_folds(norm: str) -> None:
    """A fold forth and back within 1e-9: a strip of that width decides the radius."""
    e = 2.0**-30
    zigzag = beside(curve([1.0, 1.0 + e], [[1.0], [-1.0], [1.0]]), line(1))
    found = ask(zigzag, [0.0, 0.0], norm)
    assert found.certified.exact == 1 - Fraction(0)
    check_witness(found, zigzag, [0.0, 0.0], norm)
    assert radius_of(zigzag, [1.0 + e / 4, 0.0], norm) == e / 4
    assert radius_of(zigzag, [1.0 + 8 * e, 0.0], norm) == 7 * e


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("scale", [1e-160, 1e-300, 1e150, 1e300])
def test_weights_whose_products_leave_the_floats(scale: float, norm: str) -> None:
    """|x1 - 1| scaled in both layers: products vanish or overflow in floats, not in the exact answer."""
    (w, b), (v, a) = beside(curve([1.0], [[-1.0], [1.0]]), line(1))
    network = [(scale * w, scale * b), (scale * v, a)]
    assert radius_of(network, [0.25, 3.0], norm) == 0.75
    assert verdict(network, [0.25, 3.0], norm, 0.75) == "certified"
    assert verdict(network, [0.25, 3.0], norm, 0.75 + 2.0**-40) == "refuted"
    assert radius_of(network, [0.25, 3.0], norm, problem="pseudo") == 1.5
    scaled = [(scale * w, b) for w, b in TWICE]
    assert radius_of(scaled, [1.0, 0.0], norm) == pytest.approx(
        length([0.5, 0.5], norm) if norm != "1" else 1.0, rel=1e-12
    )


@pytest.mark.parametrize("norm", NORMS)
def test_slopes_that_vanish_while_outputs_do_not(norm: str) -> None:
    """Inputs of 2^300 and outputs of 2^-900: the slopes, 2^-1200, are zero in floats."""
    (w, b), (v, a) = FOLD
    network, unit = [(w * 2.0**-300, b), (v * 2.0**-900, a)], 2.0**300
    center = [0.75 * unit, 0.0]
    assert radius_of(network, center, norm, max_radius=8 * unit) == 0.75 * unit
    assert radius_of(network, center, norm, max_radius=8 * unit, problem="pseudo") == 1.5 * unit
    assert verdict(network, center, norm, 1.5 * unit, problem="pseudo") == "refuted"


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("bias", [1e15, -1e15, 2.0**60])
def test_huge_biases(bias: float, norm: str) -> None:
    """A unit that is always on carries the identity through a huge bias; folds stay where they are."""
    (w, b), (v, a) = beside(curve([1.0], [[-1.0], [1.0]]), line(1))
    w, b = np.vstack([w, [[1.0, 0.0]]]), np.append(b, bias)
    v, a = np.hstack([v, [[0.0], [0.0]]]), a.copy()
    v[1, -1] = 1.0
    network = [(w, b), (v, a)]
    assert radius_of(network, [0.25, 3.0], norm) == 0.75
    far = [(np.array([[1.0], [-1.0]]), np.array([bias, -bias])), (np.array([[1.0, 1.0]]), np.zeros(1))]
    assert radius_of(far, [0.5], norm) == LIMIT
    assert radius_of(far, [0.5], norm, max_radius=4e18) == pytest.approx(abs(bias + 0.5), rel=1e-15)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("tiny", [1e-170, 1e-300, 3e-308])
def test_distances_whose_squares_vanish(tiny: float, norm: str) -> None:
    """A fold at a distance that floats hold and whose square they do not; another one a little farther."""
    assert radius_of(FOLD, [tiny, 0.0], norm) == tiny
    assert verdict(FOLD, [tiny, 0.0], norm, tiny) == "certified"
    assert verdict(FOLD, [tiny, 0.0], norm, 2 * tiny) == "refuted"
    crossed = then(
        FOLD,
        [
            (np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.zeros(3)),
            (np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), np.zeros(2)),
        ],
    )
    assert radius_of(crossed, [3 * tiny, 2 * tiny], norm) == 2 * tiny  # (|x1|, |x2|)
    assert radius_of(crossed, [2 * tiny, 3 * tiny], norm) == 2 * tiny
    assert radius_of(FOLD, [tiny, 0.0], norm, problem="pseudo") == 2 * tiny


# --- domains ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
def test_domains(norm: str) -> None:
    inside = {"low": [0.5, -1.0], "high": [2.0, 1.0]}
    box = (inside["low"], inside["high"])
    assert ask(FOLD, [1.0, 0.0], norm, domain=box).certified == math.inf  # the fold lies outside
    wide = ([-0.5, -1.0], [2.0, 1.0])
    assert radius_of(FOLD, [1.0, 0.0], norm, domain=wide) == 1.0
    found = ask(FOLD, [1.0, 0.0], norm, domain=wide)
    check_witness(found, FOLD, [1.0, 0.0], norm, domain=wide)
    # on the border and in a corner; far collisions whose partner the domain leaves out
    assert radius_of(FOLD, [2.0, 1.0], norm, domain=wide) == 2.0
    assert radius_of(FOLD, [-0.5, 0.0], norm, domain=wide) == 0.5
    assert ask(FOLD, [0.0, 1.0], norm, domain=(0.0, 1.0)).certified == math.inf
    assert radius_of(FOLD, [1.0, 0.0], norm, domain=wide, problem="pseudo") == LIMIT
    assert radius_of(FOLD, [0.5, 0.0], norm, domain=wide, problem="pseudo") == 1.0
    for center in ([1.0, 0.0], [0.875, -0.5]):
        for domain in (([0.5, -0.5], [1.5, 0.25]), ([-2.0, -0.5], [3.0, 2.0])):
            truth = local_radius(TWICE, center, norm, domain, limit=8)
            found = ask(TWICE, center, norm, domain=domain, max_radius=8.0)
            assert float(min(found.certified, 8.0)) == pytest.approx(float(truth.lower), rel=1e-12)
            if truth.upper is not None:
                check_witness(found, TWICE, center, norm, domain=domain)


@pytest.mark.parametrize("norm", NORMS)
def test_pinned_coordinates(norm: str) -> None:
    """A coordinate with low = high does not vary: (|x1|, x2) is injective along x2; three inputs become two."""
    assert ask(FOLD, [0.0, 0.5], norm, domain=([0.0, -1.0], [0.0, 1.0])).certified == math.inf
    found = ask(FOLD, [0.75, 0.5], norm, domain=([-9.0, 0.5], [9.0, 0.5]))
    assert found.certified == 0.75
    check_witness(found, FOLD, [0.75, 0.5], norm, domain=([-9.0, 0.5], [9.0, 0.5]))
    three = beside(FOLD, line(1))
    pinned = ([-9.0, -9.0, 2.0], [9.0, 9.0, 2.0])
    found = ask(three, [0.75, 0.5, 2.0], norm, domain=pinned)
    assert found.certified == 0.75
    check_witness(found, three, [0.75, 0.5, 2.0], norm, domain=pinned)
    assert ask(FOLD, [0.0, 0.5], norm, domain=([0.0, 0.5], [0.0, 0.5])).certified == math.inf
    assert verdict(FOLD, [0.0, 0.5], norm, 1.0, domain=([0.0, 0.5], [0.0, 0.5])) == "certified"


# --- what is refused, and what is hard --------------------------------------------------------------------------------


def test_three_inputs_are_refused() -> None:
    with pytest.raises(Refused, match="one or two inputs, not 3"):
        ask(line(3), [0.0, 0.0, 0.0])


def test_a_flat_cell_very_near_and_very_large() -> None:
    """relu(e - (1 - 2^-51) x) at e = 1e-9: flat from 4e-25 on, as far as anyone looks."""
    slope = 1 - 2.0**-51
    network = [(np.array([[-1.0], [-slope]]), np.array([0.5, 1e-9])), (np.array([[0.0, 1024.0]]), np.zeros(1))]
    found = ask(network, [1e-9], max_radius=16.0)
    assert exact_radius(found) == Fraction(1e-9) / Fraction(slope) - Fraction(1e-9)
    check_witness(found, network, [1e-9])
