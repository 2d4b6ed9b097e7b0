"""Searches over boxes: how far regions have the reference orientation, and which pairs of a ball or its boundary may
collide."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.cutting.orientation import Orientation
from ircert.engines.boxes.cutting.pair_search import PairSearch
from ircert.engines.boxes.effort.portfolio import Portfolio
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.arguments import FEW_READ, PHASES
from ircert.engines.boxes.search.prover import Prover
from ircert.engines.boxes.trees.whole import few_open
from ircert.geometry.norm import Norm
from tests.effort import some_of
from tests.engines.boxes.making import deep, fold, residual, setting_of
from tests.generated.networks import asked
from tests.oracle.build import square, then

NORMS = tuple(Norm)


def prover_of(setting: Setting, seconds: float = 20.0) -> Prover:
    end = time.monotonic() + seconds
    descent = Descent(setting, ExactMaps(setting), lambda: time.monotonic() < end)
    return Prover(setting, descent, Counts(), lambda: time.monotonic() > end, lambda: None)


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(3))
def test_the_distance_of_the_nearest_fold(seed: int, norm: str) -> None:
    """`reached` never passes the exact radius, and comes close to it."""
    graph = residual(np.random.default_rng(seed), 2, 5, scale=4.0)
    center = np.array([0.25, -0.125])
    exact = ircert.certify(graph, center, norm=norm, engine="regions", max_radius=8.0)
    prover = prover_of(setting_of(graph, center, norm=norm))
    assert prover.orientation is not None
    radius = float(exact.radius.certified)
    if exact.radius.refuted is not None and radius > 0:
        assert prover.prove(radius * 1.25) != "closed"
        assert prover.reached <= radius
        assert prover.prove(radius * 0.875) == "closed"
    assert prover.reached >= min(radius, 8.0) * 0.8


@pytest.mark.rule("E-9")
@pytest.mark.parametrize(("norm", "radius"), some_of(NORMS, [1e-310, 5e-324], every=2))
def test_boundaries_between_subnormal_floats(radius: float, norm: str) -> None:
    """s(x) = s(-x), and every determinant is positive: a boundary that is left out would make every ball good."""
    prover = prover_of(setting_of(ircert.load(square()), [0.0, 0.0], norm=norm))
    with np.errstate(all="ignore"):
        assert prover.prove(radius) == "violated"
    assert prover.reached == 0.0


@pytest.mark.parametrize("search", [Orientation, PairSearch])
def test_an_error_in_a_wave_leaves_its_pieces_open(search: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    prover = prover_of(setting_of(ircert.load(square()), [1.0, 0.5]))
    prover._ways[4.0] = Portfolio(prover.counts, [(lambda stop: prover._by_degree(4.0, stop), 1.0)])
    with monkeypatch.context() as patch:

        def fails(*_: Any) -> Any:
            raise OverflowError

        patch.setattr(search, "_worked", fails)
        with pytest.raises(OverflowError):
            prover.prove(4.0)
    assert prover.prove(4.0) == "violated"


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", NORMS)
def test_sheets_are_found_on_the_boundary(norm: str) -> None:
    """s∘s: every determinant is positive, but f(.5, .5) = f(.5, -.5) near (1, 0)."""
    graph = ircert.load(then(square(), square()))
    prover = prover_of(setting_of(graph, [1.0, 0.0], norm=norm))
    radius = float(ircert.certify(graph, [1.0, 0.0], norm=norm, engine="regions").radius.certified)
    assert prover.orientation is not None
    assert prover.orientation.advance(0.9 * radius, lambda: False) == "closed"
    assert prover.prove(0.9 * radius) == "closed"
    if norm == "1":  # the ball then holds 0, where all sheets meet: that takes long
        return
    assert prover.prove(1.05 * radius) == "violated"
    assert prover.descent.has_within(1.05 * radius)


@pytest.mark.rule("E-9")
def test_a_domain_cuts_the_ball() -> None:
    """(|x1 - 1/2|, x2): no fold where the domain ends before it, and the domain's sides belong to the boundary."""
    build = ircert.Builder(2)
    kink = build.relu(build.affine(build.input, [[1.0, 0.0]], [-0.5]))
    graph = build.graph(build.affine(build.concat(build.input, kink), [[-1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]))
    for norm in NORMS:
        for end, outcome in ((0.5, "closed"), (0.5625, "violated")):
            domain: dict[str, Any] = {"low": np.array([-1.0, -0.25]), "high": np.array([end, 0.25])}
            setting = setting_of(graph, [0.0, 0.0], norm=norm, **domain)
            assert prover_of(setting).prove(0.875) == outcome


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", [Norm.ONE, Norm.TWO])
def test_small_waves_on_the_boundary_come_to_an_end(monkeypatch: pytest.MonkeyPatch, norm: str) -> None:
    """Pairs outside of the ball, which the boxes of round balls have, do not stand in the way of others."""
    monkeypatch.setattr("ircert.engines.boxes.enclosures.batches.MOST", 3)
    graph = residual(np.random.default_rng(3), 2, 5, scale=4.0)
    setting = setting_of(graph, [0.25, -0.125], norm=norm)
    radius = 0.875 * float(
        ircert.certify(graph, setting.center, norm=norm, engine="regions", max_radius=8.0).radius.certified
    )
    prover = prover_of(setting)
    search = PairSearch(prover.network, prover.tools, prover.counts, lambda: None, boundary=True)
    assert search.advance(radius, lambda: prover.counts.waves > 5_000) == "closed"


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("norm", NORMS)
def test_pairs_of_boxes_with_neurons_that_are_off_on_both(norm: str) -> None:
    """(|x1|, x2) is given, max(0, x1 - 1/2) unknown: x and (-x1, x2) differ where |x1| > 1/2. Without trees."""
    build = ircert.Builder(2)
    bent = build.relu(build.affine(build.input, [[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]], [0.0, 0.0, -0.5]))
    both = build.concat(bent, build.input)
    graph = build.graph(build.affine(both, [[1, 1, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 1, 0, 0]]))
    setting = replace(setting_of(graph, [0.0, 0.0], "transform", norm), constrained=2)
    counts = Counts()
    search = PairSearch(Batches(setting), [], counts, lambda: None)
    assert search.advance(0.4375, lambda: counts.waves > 2) == "closed"
    assert counts.pairs == 1
    assert search.advance(0.75, lambda: counts.waves > 40) == "stopped", "off on one is not enough"
    assert 0.4375 <= search.reached <= 0.5 + 1e-9


@pytest.mark.rule("E-9", "E-15")
@pytest.mark.parametrize("norm", tuple(Norm))
def test_points_that_one_matrix_meets_beyond_a_fold_lead_to_a_violation(norm: Norm) -> None:
    setting = setting_of(fold(at=0.5), np.zeros(2), norm=norm)
    descent = Descent(setting, ExactMaps(setting))
    prover = Prover(setting, descent, Counts(), lambda: False, lambda: None)
    assert prover.prove(2.0) == "violated"
    assert prover.counts.boxes == 0, "without a box"
    assert descent.has_within(0.6)
    assert not descent.has_within(0.5 - 1e-9)


# --- many inputs -----------------------------------------------------------------------------------------------------


def widened(graph: ircert.Graph, inputs: int, rng: np.random.Generator) -> ircert.Graph:
    """(f(x1, x2), x3, …) with outputs mixed by a triangular matrix of integers: as good on all balls around 0 as f."""
    n, m = graph.input_dim, inputs - graph.input_dim
    build = ircert.Builder(inputs)
    first = build.insert(graph, build.affine(build.input, np.eye(n, inputs)))
    rest = build.affine(build.input, np.eye(m, inputs, k=n))
    size = graph.output_dim + m
    mixed = np.triu(rng.integers(-2, 3, (size, size)), 1) + np.eye(size)
    return build.graph(build.affine(build.concat(first, rest), mixed))


@pytest.mark.rule("E-21")
@pytest.mark.parametrize("outputs", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_more_inputs_that_change_nothing(seed: int, outputs: int) -> None:
    """Trees and determinants with 9 inputs say what exact geometry says with 2."""
    rng = np.random.default_rng(seed)
    graph = residual(rng, 2, 2, scale=4.0, outputs=outputs)
    exact = ircert.certify(graph, np.zeros(2), engine="regions", max_radius=8.0).radius
    found = ircert.certify(widened(graph, 9, rng), np.zeros(9), engine="boxes", max_radius=8.0, time_limit=30.0).radius
    assert float(found.certified) <= float(exact.certified) * (1 + 1e-9)
    assert float(found.certified) >= 0.999 * float(exact.certified)
    if exact.refuted is not None and found.refuted is not None:
        assert float(found.refuted) >= float(exact.certified) * (1 - 1e-9)


@pytest.mark.rule("E-21")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(3))
def test_what_many_inputs_are_asked_with_is_right_for_two(
    seed: int, norm: Norm, problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("search.prover.MOST_CUT", "trees.whole.MOST_CUT", "enclosures.secants.FEW_INPUTS"):
        monkeypatch.setattr(f"ircert.engines.boxes.{place}", 1)
    graph, center = residual(np.random.default_rng(seed + 10), 2, 4, scale=4.0), np.array([0.25, -0.125])
    asked: dict[str, Any] = {"norm": norm, "problem": problem, "max_radius": 4.0}
    exact = ircert.certify(graph, center, engine="regions", **asked).radius
    found = ircert.certify(graph, center, engine="boxes", time_limit=20.0, **asked).radius
    assert float(found.certified) <= float(exact.certified) * (1 + 1e-9)
    assert float(found.certified) >= 0.999 * float(exact.certified)


@pytest.mark.rule("E-21")
def test_few_neurons_and_secants_without_a_kernel_need_no_ball() -> None:
    """x + 3 u relu(w·x): its determinants are 1 and 1 + 3 w·u > 0, and no matrix C is near."""
    rng = np.random.default_rng(0)
    u, w = rng.normal(size=(2, 12, 1))
    u -= (0.25 + float((u * w).sum())) / float((w * w).sum()) * w  # w·u = -1/4
    build = ircert.Builder(12)
    inner = build.relu(build.affine(build.input, w.T, [1.0]))
    graph = build.graph(build.add(build.input, build.affine(inner, 3.0 * u)))
    prover = prover_of(setting_of(graph, np.zeros(12)))
    assert prover.is_free_of_kernels
    assert prover.prove_everywhere(lambda: False) == "closed"
    assert prover.reached == np.inf
    assert prover.counts.boxes == prover.counts.nodes == 0
    turned = build.graph(build.add(build.input, build.affine(inner, 5.0 * u)))
    assert not prover_of(setting_of(turned, np.zeros(12))).is_free_of_kernels


@pytest.mark.rule("E-21")
def test_secants_of_a_ball_have_no_kernel_while_neurons_that_turn_it_are_off() -> None:
    """x1 - 2 relu(x1 - 1/2) folds at 1/2; other inputs are carried along."""
    prover = prover_of(setting_of(widened(fold(), 8, np.random.default_rng(1)), np.zeros(8)))
    assert prover.prove(0.4375) == "closed"
    assert prover.counts.boxes == prover.counts.programs == 0
    assert prover.prove(0.625) == "violated"
    assert 0.4375 <= prover.reached < 0.5


@pytest.mark.rule("E-22")
@pytest.mark.parametrize(("scale", "seed"), [(1.0, 3), (2.0, 1), (2.0, 5)])
def test_few_neurons_take_the_place_of_many_inputs(scale: float, seed: int) -> None:
    """Trees and one matrix for all inputs take longer than that."""
    prover = prover_of(setting_of(deep(np.random.default_rng(seed), 12, 4, 3, scale), np.zeros(12)))
    with np.errstate(all="ignore"):
        assert prover.prove(2.0, stop=lambda: prover.counts.effort > 3000, effort=3000) == "closed"
    assert prover.argument.startswith(FEW_READ)


@pytest.mark.rule("E-22")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", [0, 2, 4])
def test_few_neurons_reach_no_violation(seed: int, norm: Norm) -> None:
    """Whatever they prove ends before the nearest collision that is known; the centre's image is rounded."""
    graph, center = deep(np.random.default_rng(seed), 8, 3, 2, 3.0), np.full(8, 0.1)
    found = ircert.certify(graph, center, norm=norm, time_limit=4, engine="boxes")
    prover = prover_of(setting_of(graph, center, norm=norm))
    assert prover.inner_map is not None
    assert prover.inner_map.slack > 0
    for radius in (0.125, 0.5, 2.0, 8.0):
        with np.errstate(all="ignore"):
            most = prover.counts.effort + 1000
            outcome = prover.prove(radius, stop=lambda most=most: prover.counts.effort > most, effort=1000)  # type: ignore[misc]
        if found.radius.refuted is not None and radius >= found.radius.refuted:
            assert outcome != "closed"
    assert found.radius.refuted is None or prover.reached < found.radius.refuted


@pytest.mark.rule("E-24")
def test_where_all_ways_give_up_a_tree_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many open neurons for trees to be tried beside one matrix, which gives up."""
    rng = np.random.default_rng(1)
    layers = [(rng.normal(size=(b, a)) / np.sqrt(a), 0.3 * rng.normal(size=b)) for a, b in ((8, 60), (60, 30))]
    setting = setting_of(ircert.load(layers), np.full(8, 0.05), "pseudo")
    assert not few_open(setting, 1.0)
    monkeypatch.setattr(Prover, "_by_matrix", lambda *_: "stopped")
    prover = prover_of(setting)
    assert prover.prove(1.0) == "closed"
    assert prover.reached >= 1.0
    assert prover.argument == PHASES


@pytest.mark.rule("E-3")
def test_a_transform_that_fits_a_tree_is_asked_about_the_large_ball_at_once() -> None:
    """Smaller balls first took five times as many boxes, because nothing of theirs is used again."""
    q = asked(5256)
    assert q.other is not None
    given: dict[str, Any] = {"problem": q.problem, "other": ircert.load(q.other), "norm": q.norm}
    found = ircert.certify(ircert.load(q.layers), q.center, engine="boxes", max_radius=16.0, time_limit=60, **given)
    assert found.verdict == "certified"
    assert found.stats["boxes"] < 4_000


@pytest.mark.rule("E-24")
@pytest.mark.parametrize("index", [9775, 5078, 5613])
def test_few_inputs_and_neurons_in_layers_have_one_tree(index: int) -> None:
    """4 inputs and outputs, 20 to 25 neurons: boxes were cut tens of thousands of times and left the ball open."""
    q = asked(index)
    given: dict[str, Any] = {"problem": q.problem, "norm": q.norm, "engine": "boxes", "tol": 1e-4}
    found = ircert.certify(ircert.load(q.layers), q.center, max_radius=16.0, time_limit=60, **given)
    assert found.verdict == "certified"
    assert PHASES in found.radius.certified.evidence
    assert found.stats["boxes"] + found.stats["nodes"] < 8_000
