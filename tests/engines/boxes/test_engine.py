"""The engine `boxes`: against the oracle, against numbers that fool solvers, and in all problems and norms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.base import Progress
from ircert.engines.boxes.linear_regions.coincidence import Coincidence
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.passes.merge_multiples import merged
from ircert.questions.network import lowered as canonical
from ircert.result.result import Result
from tests.effort import some_of
from tests.oracle.build import Network, beside, curve, line, square, then
from tests.oracle.families import FAMILIES, Sample, sample
from tests.oracle.oracle import Answer, local_radius, pseudo_radius, transform_radius

NORMS = tuple(Norm)
LIMIT = 8
FOLD = beside(curve([0.5], [[-1.0], [1.0]]), line(1))
"""(|x1 - 1/2|, x2)"""
SLOW = {"twice_squared", "sheets", "wound", "wound_column", "random_deep", "vertex", "after"}


def asked(layers: Network, center: Any, **options: Any) -> Result:
    if options.get("other") is not None:
        options["other"] = ircert.load(options["other"])
    return ircert.certify(ircert.load(layers), center, engine="boxes", **{"time_limit": 60, **options})


def truth(given: Sample, problem: str, norm: str) -> Answer:
    if problem == "transform":
        return transform_radius(given.layers, given.other, given.center, norm, limit=LIMIT)
    radius = {"local": local_radius, "pseudo": pseudo_radius}[problem]
    return radius(given.layers, given.center, norm, limit=LIMIT)


def problems(given: Sample) -> list[str]:
    return ["local", "pseudo"] if given.other is None else ["transform"]


def agree(found: Result, true: Answer) -> None:
    """The bracket holds the true radius."""
    if true.upper is not None:
        assert float(found.radius.certified) <= float(true.upper) * (1 + 1e-12)
    if found.radius.refuted is not None:
        assert float(found.radius.refuted) >= float(true.lower) * (1 - 1e-12)


@pytest.mark.rule("E-1", "E-2", "E-3")
@pytest.mark.parametrize(
    "index",
    [
        *range(len(FAMILIES)),
        *(pytest.param(k, marks=pytest.mark.slow) for k in range(len(FAMILIES), 2 * len(FAMILIES))),
    ],
)
def test_against_the_oracle(index: int) -> None:
    """Families of 1 to 4 inputs; the slow ones have a few seconds, which may leave them open but never wrong."""
    given = sample(np.random.default_rng(4000 + index), index)
    norm = NORMS[index % 3]
    slow = given.name.rpartition("-")[0] in SLOW
    for problem in problems(given):
        true = truth(given, problem, norm)
        found = asked(
            given.layers,
            given.center,
            problem=problem,
            other=given.other,
            norm=norm,
            tol=1e-4,
            max_radius=LIMIT,
            time_limit=1 if slow else 30,
        )
        agree(found, true)
        assert found.trust == "exact"
        assert found.verdict == ("refuted" if true.upper == 0 else "certified") or slow, found.reason


@pytest.mark.slow
@pytest.mark.parametrize("index", range(200))
def test_against_the_oracle_at_length(index: int) -> None:
    given = sample(np.random.default_rng(9000 + index), index)
    norm = NORMS[index // 3 % 3]
    for problem in problems(given):
        true = truth(given, problem, norm)
        options: dict[str, Any] = {"problem": problem, "other": given.other, "norm": norm, "time_limit": 60}
        agree(asked(given.layers, given.center, tol=1e-4, max_radius=LIMIT, **options), true)
        if true.upper is not None and true.upper > 0:
            for factor, wrong in ((0.9, "refuted"), (1.1, "certified")):
                if (radius := factor * float(true.upper)) < LIMIT:
                    assert asked(given.layers, given.center, radius=radius, **options).verdict != wrong


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_against_the_regions_engine(problem: str, norm: str) -> None:
    graph = bundled("vanderpol-2-10-10-2")
    exact, found = (
        ircert.certify(graph, [0.25, -0.5], problem, norm=norm, engine=engine, tol=1e-3, max_radius=20, time_limit=30)
        for engine in ("regions", "boxes")
    )
    assert found.verdict == "certified"
    assert (exact.radius.refuted is None) == (found.radius.refuted is None)
    assert float(found.radius.certified) == pytest.approx(float(exact.radius.certified), rel=2e-3)


# --- fixed balls -----------------------------------------------------------------------------------------------------


@pytest.mark.rule("E-1", "E-5")
@pytest.mark.parametrize(("problem", "norm"), some_of(["local", "pseudo", "transform"], Norm))
def test_a_fixed_ball(problem: str, norm: str) -> None:
    """The fold at distance 1/2; its mirror image of the centre at distance 1."""
    other = line(2) if problem == "transform" else None
    radius = 1.0 if problem == "pseudo" else 0.5
    good = asked(FOLD, [0.0, 0.0], problem=problem, norm=norm, other=other, radius=0.9 * radius)
    assert (good.verdict, good.trust, good.optimum) == ("certified", "exact", (0.0, 0.0, "exact"))
    bad = asked(FOLD, [0.0, 0.0], problem=problem, norm=norm, other=other, radius=1.25 * radius)
    assert bad.verdict == "refuted"
    assert bad.witness is not None
    assert bad.optimum is not None
    p = 1.0 if problem == "pseudo" else 0.25
    assert bad.optimum.bound >= p * (1 - 1e-9)
    assert bad.optimum.value <= p * (1 + 1e-9)
    strict = asked(
        FOLD, [0.0, 0.0], problem=problem, norm=norm, other=other, radius=1.25 * radius, require="exact"
    ).optimum
    assert strict is None if problem == "transform" else (strict is not None and strict.trust == "exact")


@pytest.mark.rule("E-5", "E-6")
@pytest.mark.parametrize("norm", Norm)
def test_the_optimum_of_a_fixed_ball(norm: str) -> None:
    """(|x1 - 1/2|, x2) at 0, r = 1: p* = 1."""
    found = asked(FOLD, [0.0, 0.0], norm=norm, radius=1.0)
    assert found.verdict == "refuted"
    assert found.backend == "highs"
    assert found.optimum is not None
    assert found.optimum.value <= 1 + 1e-9
    assert 1 - 1e-9 <= found.optimum.bound <= 2.0


@pytest.mark.rule("E-4")
def test_far_pairs_are_left_to_the_solver_where_the_tree_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from ircert.engines.boxes.search.search import Search

    real = Search._prove

    def without_far(self: Any, radius: float, seconds: float, nearer: float = np.inf, **effort: float) -> str:
        return real(self, radius, seconds, nearer, **effort) if nearer < np.inf else "stopped"

    monkeypatch.setattr(Search, "_prove", without_far)
    network = FOLD
    found = asked(network, [0.0, 0.0], radius=0.25)
    assert (found.verdict, found.trust) == ("certified", "solver")
    assert "dual bound" in found.radius.certified.evidence
    assert asked(network, [0.0, 0.0], radius=0.25, require="exact").verdict == "unresolved"
    assert asked(network, [0.0, 0.0], radius=0.75).verdict == "refuted"
    far_apart = asked(min_net(2.0**-30), [-1.0], radius=0.5)
    assert (far_apart.verdict, far_apart.trust) == ("certified", "solver"), "in units of its own each number is plain"
    assert asked(min_net(2.0**-30), [-1.0], radius=1.5).verdict == "refuted"


# --- numbers that fool solvers ---------------------------------------------------------------------------------------


def min_net(e: float) -> Network:
    """x - relu(e x) / e = min(x, 0)."""
    return [(np.array([[1.0], [-1.0], [e]]), np.zeros(3)), (np.array([[1.0, -1.0, -1 / e]]), np.zeros(1))]


@pytest.mark.rule("E-1", "E-4")
@pytest.mark.parametrize("k", [20, 30, 45])
def test_a_collapsed_axis_is_never_certified(k: int) -> None:
    network = min_net(2.0**-k)
    assert asked(network, [0.0], radius=1.0).verdict == "refuted"
    assert asked(network, [-1.0], radius=1.5).verdict == "refuted"
    assert asked(network, [-1.0], radius=0.75).verdict == "certified"
    found = asked(network, [-1.0])
    assert found.radius.certified <= 1 <= found.radius.refuted * (1 + 1e-12)  # type: ignore[operator]
    assert found.verdict == "certified"
    assert asked(beside(network, line(1)), [-1.0, 0.0], norm=2, radius=1.01).verdict == "refuted"


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("k", [10, 25, 45])
def test_a_tiny_slope_is_never_refuted(k: int) -> None:
    s = 2.0**-k
    plain = [(np.array([[s]]), np.zeros(1))]
    bent = [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[s, -s / 3]]), np.zeros(1))]
    for network in (plain, bent):
        assert asked(network, [0.25], radius=1.0).verdict == "certified"


@pytest.mark.rule("E-1", "E-2")
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_weights_far_apart(scale: float) -> None:
    """(|x1 - 1/2|, x2) with rescaled units and outputs."""
    (w, b), (v, a) = FOLD
    units = np.resize([scale, 1.0, 1 / scale], len(b))
    units = np.exp2(np.round(np.log2(units)))
    network = [(units[:, None] * w, units * b), (v / units * np.array([[scale], [1.0]]), a)]
    true = local_radius(network, [0.0, 0.0], "inf", limit=4)
    found = asked(network, [0.0, 0.0], max_radius=4, tol=1e-4, time_limit=20)
    agree(found, true)


@pytest.mark.rule("E-1")
@pytest.mark.parametrize("norm", Norm)
def test_winding_and_sheets(norm: str) -> None:
    """s(x) = s(-x) though every determinant is positive; s∘s collides far from any fold."""
    nothing = asked(square(), [0.0, 0.0], norm=norm)
    assert nothing.verdict == "refuted"
    assert [nothing.radius.certified, nothing.radius.refuted] == [0.0, 0.0]
    found = asked(then(square(), square()), [1.0, 0.0], norm=norm, tol=1e-2, time_limit=1)
    agree(found, local_radius(then(square(), square()), [1.0, 0.0], norm))


@pytest.mark.rule("E-1")
@pytest.mark.parametrize("norm", Norm)
def test_affine_givens_without_neurons(norm: str) -> None:
    """x1 alone is given: |x1 + x2| + |x1 - x2| changes where |x2| > |x1|, from 0.125 (0.25, 0.125 √2) on."""
    constrained = [(np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros(2))]
    other = [
        (np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.zeros(4)),
        (np.ones((1, 4)), np.zeros(1)),
    ]
    true = {"inf": 0.125, "1": 0.25, "2": 0.125 * 2**0.5}[norm]
    found = asked(constrained, [0.5, 0.25], problem="transform", other=other, norm=norm)
    assert found.verdict == "certified"
    assert float(found.radius.certified) == pytest.approx(true, rel=1e-5)
    assert (
        asked(constrained, [0.5, 0.25], problem="transform", other=other, norm=norm, radius=0.9 * true).verdict
        == "certified"
    )
    assert (
        asked(constrained, [0.5, 0.25], problem="transform", other=other, norm=norm, radius=1.1 * true).verdict
        == "refuted"
    )


@pytest.mark.rule("E-2", "E-3")
def test_unknown_outputs_that_are_flat_before_they_differ() -> None:
    """What is given depends on differences of inputs alone, in two outputs of 24 neurons, and what is unknown, in two
    layers, on x1 + x2 + x3 from 1.5 on: so (0, 0, 0) and (r, r, r) differ from r = 0.5 on, and no pair before."""
    rng, build = np.random.default_rng(0), ircert.Builder(3)
    apart = build.affine(build.input, [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    bent = build.relu(build.affine(apart, rng.integers(-8, 9, (24, 2)) / 8, rng.integers(-4, 5, 24) / 8))
    constrained = build.graph(build.affine(bent, rng.integers(-8, 9, (2, 24)) / 8))
    build = ircert.Builder(3)
    late = build.relu(build.affine(build.input, [[1.0] * 3, [-1.0] * 3, [0.0] * 3], [-1.5, -2.5, 1.0]))
    other = build.graph(build.relu(build.affine(late, [[1.0, -1.0, 0.0], [1.0, 1.0, 0.0]])))
    found = ircert.certify(constrained, np.zeros(3), "transform", other, engine="boxes", tol=1e-6, time_limit=20)
    assert found.verdict == "certified"
    assert found.radius.refuted is not None
    assert 0.5 - 1e-6 < found.radius.certified < 0.5 < found.radius.refuted < 0.5 + 1e-6
    assert found.witness is not None
    x, y = found.witness.x, found.witness.y
    assert list(constrained.exact(x)) == list(constrained.exact(y))
    assert list(other.exact(x)) != list(other.exact(y))


@pytest.mark.rule("E-3")
def test_degenerate_networks() -> None:
    eye = np.eye(2)
    doubled = [(np.vstack([eye, -eye, 2 * eye]), np.zeros(6)), (np.hstack([eye, -eye, 0 * eye]), np.zeros(2))]
    dead = [(eye, np.array([-1000.0, -1000.0])), (eye, np.zeros(2))]
    huge = [(eye, np.full(2, 2.0**40)), (eye, np.zeros(2))]
    assert asked(doubled, [0.0, 0.0], radius=3.0).verdict == "certified"
    assert asked(dead, [0.0, 0.0], radius=3.0).verdict == "refuted"
    assert asked(huge, [0.0, 0.0], radius=3.0).verdict == "certified"
    assert asked([(0 * eye, np.ones(2))], [0.0, 0.0], radius=2.0**-30).verdict == "refuted"


# --- searches --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
def test_more_inputs_and_a_domain(norm: str) -> None:
    """(|x1 - 1/2|, x2, …) with five inputs; a domain that ends before the fold makes every ball good."""
    network = beside(curve([0.5], [[-1.0], [1.0]]), line(4))
    found = asked(network, np.zeros(5), norm=norm, tol=1e-4)
    assert found.verdict == "certified"
    assert float(found.radius.certified) == pytest.approx(0.5, rel=1e-4)
    inside = asked(network, np.zeros(5), norm=norm, domain=(-1.0, 0.25), max_radius=3)
    assert (inside.verdict, inside.radius.refuted) == ("certified", None)
    low = np.array([-1.0, 0.0, -1.0, -1.0, -1.0])
    pinned = asked(network, np.zeros(5), norm=norm, domain=(low, -low), radius=0.75)
    assert pinned.verdict == "refuted"
    assert pinned.witness is not None
    assert pinned.witness.exact.x[1] == 0


@pytest.mark.rule("E-1")
def test_a_closed_ball_that_just_touches_the_fold_is_good() -> None:
    for norm in ("inf", "1"):
        assert asked(FOLD, [0.0, 0.0], norm=norm, radius=0.5).verdict == "certified"
        assert asked(FOLD, [0.0, 0.0], norm=norm, radius=0.5 + 2.0**-40).verdict == "refuted"


@pytest.mark.rule("E-7")
def test_time_progress_and_determinism() -> None:
    graph = bundled("coupled-vanderpol-4-32-32-4")
    seen: list[Progress] = []
    found = ircert.certify(graph, np.zeros(4), engine="boxes", time_limit=3, progress=seen.append)
    assert found.verdict == "unresolved"
    assert found.reason is not None
    assert found.radius.certified > 0
    assert seen
    assert "neurons" in seen[0].text
    network = then(square(), FOLD)
    results = [asked(network, [1.0, 0.25], tol=1e-3, seed=3) for _ in range(2)]
    assert results[0].radius == results[1].radius
    assert results[0].witness is not None
    assert results[1].witness is not None
    assert results[0].witness.exact == results[1].witness.exact


@pytest.mark.rule("E-7")
def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C gives the bracket that was reached."""

    def press(progress: Progress) -> None:
        if progress.certified > 0:
            raise KeyboardInterrupt

    graph = bundled("coupled-vanderpol-4-16-16-4")
    found = ircert.certify(graph, np.zeros(4), engine="boxes", progress=press)
    assert found.verdict == "unresolved"
    assert found.interrupted
    assert str(found.reason).startswith("interrupted after ")
    assert 0 < found.radius.certified < 1


# --- holes that were there -------------------------------------------------------------------------------------------


def tent(slope: float, small: float) -> ircert.Graph:
    """f(0, 0) = f(0, 1) = 0, and on the line x2 = 1 zeros leave the diamond of radius 1 at once."""
    build = ircert.Builder(2)
    kink = build.relu(build.affine(build.input, [[0.0, small]], [-small * (1 - 1 / slope)]))
    both = build.concat(build.input, kink)
    sides = build.relu(build.affine(both, [[1.0, 0.0, -slope / small], [-1.0, 0.0, -slope / small]]))
    return build.graph(build.concat(build.affine(both, [[0.0, 1.0, -slope / small]]), sides))


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("small", [1.0, 2.0**-45, 2.0**-100])
def test_a_collision_in_the_corner_of_a_diamond(small: float) -> None:
    graph = tent(1024.0, small)
    found = ircert.certify(graph, [0.0, 0.0], problem="pseudo", norm=1, radius=1.0, engine="boxes", time_limit=60)
    assert found.verdict != "certified"


def test_a_leaf_tries_every_coordinate() -> None:
    graph = merged(canonical(tent(2.0, 1.0)))
    setting = Setting(graph, "pseudo", 3, Place(np.zeros(2), Norm.ONE, np.full(2, -np.inf), np.full(2, np.inf)))
    phases = np.array([1, -1, -1], dtype=np.int8)
    pair = Coincidence(setting, ExactMaps(setting), phases, phases, 1.0).violation(Fraction(1))
    assert pair is not None
    assert pair.x == (Fraction(0), Fraction(1))


@pytest.mark.rule("E-3")
def test_a_bound_of_zero_is_no_radius_of_zero() -> None:
    weight, bias = [[0.75, 0.03125], [2.0**20, 0.0], [2.0**-8, 128.0]], [-3 * 2.0**-28, 0.01171875, 2.0**23]
    last = [[1.0, 0.0, -96.0, 2.0**-30, 2.0**-29], [-(2.0**25), 0.0, 0.0, 0.0, -(2.0**-18)]]
    build = ircert.Builder(2)
    hidden = build.relu(build.affine(build.input, weight, bias))
    graph = build.graph(build.affine(build.concat(hidden, build.input), last))
    radius = float(ircert.certify(graph, [0.0, -1.0], norm=2, engine="regions").radius.certified)
    found = ircert.certify(graph, [0.0, -1.0], norm=2, engine="boxes", time_limit=2).radius
    assert radius > 0.04
    assert found.certified <= radius
    assert found.refuted is None or found.refuted >= radius


def test_extreme_numbers_are_no_crash() -> None:
    layers = [(np.array([[1e-200, 0.0], [1e200, 0.0], [0.0, 1.0]]), np.zeros(3)), (np.ones((2, 3)), np.zeros(2))]
    assert asked(layers, [1.0, 1.0], radius=0.5, time_limit=5).verdict in ("refuted", "unresolved")
    assert asked(FOLD, [0.0, 0.0], radius=5e-324, time_limit=5).verdict in ("certified", "unresolved")
    assert asked(FOLD, [0.0, 0.0], radius=1e200, norm=2, time_limit=5).verdict in ("refuted", "unresolved")
    for norm in NORMS:
        assert asked(FOLD, [1e308, 0.0], radius=1.7e308, norm=norm, time_limit=5).verdict != "certified"
    assert asked(FOLD, [1e308, 0.0], norm=2, time_limit=5).radius.certified <= 1e308
    assert asked(FOLD, [0.5, 1.0], norm=2, radius=5e-324, time_limit=5).verdict != "certified"


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("radius", [0.0007, 1 / 3000, 2.0**-10, 2.0**-60])
def test_a_boundary_that_floats_cannot_hold(radius: float) -> None:
    """s(x - (1, 1)) winds round (1, 1): every determinant is positive, and no ball is good."""
    (w, b), last = square()
    network = [(w, b - w @ np.ones(2)), last]
    assert asked(network, [1.0, 1.0], radius=radius, time_limit=20).verdict == "refuted"
    beside = asked(network, [1.0003, 1.0], radius=radius, time_limit=20)
    assert beside.verdict == ("refuted" if radius > 0.0003 else "certified")


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("norm", Norm)
def test_slopes_whose_squares_vanish(norm: str) -> None:
    """(x1 - 2 relu(x1 - 1/2), x2), its neuron 2^-540 times as large."""
    small = 2.0**-540
    first = np.array([[1.0, 0.0], [-1.0, 0.0], [small, 0.0], [0.0, 1.0], [0.0, -1.0]])
    last = np.array([[1.0, -1.0, -2 / small, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, -1.0]])
    network = [(first, np.array([0.0, 0.0, -small / 2, 0.0, 0.0])), (last, np.zeros(2))]
    assert asked(network, [0.0, 0.0], norm=norm, radius=1.0).verdict == "refuted"
    assert asked(network, [0.0, 0.0], norm=norm, radius=0.4375).verdict == "certified"
