"""One tree for balls of all sizes: what it says of a ball is true, in whatever order balls are asked about."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.engines.boxes.linear_regions.coincidence import Coincidence
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.trees.growing_tree import GrowingTree, Node
from ircert.engines.boxes.trees.phase_tree import PhaseTree
from ircert.engines.boxes.trees.relaxation import Relaxation
from ircert.engines.boxes.trees.whole import WholeTree
from ircert.errors import ProgramError
from ircert.exact.live_program import LiveProgram
from ircert.geometry.norm import Norm
from ircert.limits import OutOfTime, Undecided
from tests.engines.boxes.making import deep, fold, residual, setting_of
from tests.engines.boxes.trees.support import ball_of, never, tools_of
from tests.engines.boxes.trees.test_whole import wide

pytestmark = pytest.mark.rule("E-24")


@pytest.mark.parametrize("norm", tuple(Norm))
@pytest.mark.parametrize(("problem", "good", "bad"), [("local", 0.5, 0.625), ("pseudo", 0.875, 1.0)])
def test_up_to_the_fold(norm: Norm, problem: str, good: float, bad: float) -> None:
    tools = tools_of(setting_of(fold(), [0.0, 0.0], problem, norm))
    tree = GrowingTree(tools)
    assert tree.advance(good, lambda: True) == "stopped"
    assert tree.advance(bad, never) == "violated"
    assert tools.descent.best is not None
    assert good < norm.length(tools.descent.best[0]) <= bad
    assert tree.advance(good, never) == "closed"
    assert good <= tree.reached < bad
    assert tree.advance(good / 2, never) == "closed"
    assert tree.advance(bad, never) == "violated"


def asked_setting(seed: int, problem: str, norm: Norm) -> tuple[ircert.Graph, list[float], Setting]:
    rng = np.random.default_rng(seed)
    graph = residual(rng, 2, 3, 2.0, int(rng.integers(2, 5))) if seed % 3 else deep(rng, 2, 3, 2, 2.5)
    center = [0.25, -0.125] if seed % 3 else [0.0, 0.0]
    return graph, center, setting_of(graph, center, problem, norm)


@given(
    st.integers(0, 400),
    st.sampled_from(["local", "pseudo"]),
    st.sampled_from(list(Norm)),
    st.lists(st.floats(0.02, 3.0), min_size=1, max_size=5),
)
@settings(max_examples=60)
def test_what_it_says_is_true(seed: int, problem: str, norm: Norm, radii: list[float]) -> None:
    """Against the exact engine for two inputs."""
    graph, center, setting = asked_setting(seed, problem, norm)
    truth = ircert.certify(graph, center, problem=problem, norm=norm, engine="regions", max_radius=8.0).radius
    assert truth is not None
    tree = GrowingTree(tools_of(setting))
    for radius in radii:
        outcome = tree.advance(radius, never)
        refuted = np.inf if truth.refuted is None else truth.refuted
        assert outcome == "closed" if radius < truth.certified else outcome != "closed" or radius < refuted
        assert outcome == "violated" if radius > refuted * (1 + 1e-9) else True
        assert tree.reached < refuted * (1 + 1e-12)
        assert outcome != "closed" or tree.reached >= radius


@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("seed", range(6))
def test_as_one_tree_for_each_ball(seed: int, problem: str) -> None:
    """With four inputs, and as many outputs or two more."""
    rng = np.random.default_rng(seed)
    graph = deep(rng, 4, 3, 2, 2.5) if seed % 2 else residual(rng, 4, 3, 4.0, 6)
    setting = setting_of(graph, np.zeros(4), problem)
    tree = GrowingTree(tools_of(setting))
    for radius in (1.0, 0.25, 0.5, 2.0):
        assert tree.advance(radius, never) == WholeTree([tools_of(setting)], radius).advance(never)


def counted(most: int) -> Callable[[], bool]:
    """Time that is over after so many looks at the clock."""
    left = [most]

    def stop() -> bool:
        left[0] -= 1
        return left[0] < 0

    return stop


def to_the_end(tree: GrowingTree, stop: Callable[[], Callable[[], bool]]) -> list[float]:
    """What was reached, time after time, until the ball below the nearest violation is good."""
    radius, reached, best = 4.0, [0.0], tree.tools.descent
    for _ in range(100_000):
        outcome = tree.advance(radius, stop())
        assert tree.reached >= reached[-1]
        reached.append(tree.reached)
        if outcome == "closed":
            break
        if outcome == "violated":
            assert best.best is not None
            radius = tree.tools.setting.norm.length(best.best[0]) * (1 - 1e-6)
    assert tree.advance(radius, never) == "closed"
    return reached


@pytest.mark.parametrize("norm", tuple(Norm))
def test_it_shows_more_and_more(norm: Norm) -> None:
    """A tree that is stopped goes on, and ends like one that was not."""
    setting = setting_of(wide(6), np.zeros(8), norm=norm)
    whole, stopped = (GrowingTree(tools_of(setting)) for _ in range(2))
    end = to_the_end(whole, lambda: never)[-1]
    steps = to_the_end(stopped, lambda: counted(3))
    assert steps[-1] == pytest.approx(end, rel=1e-5)
    assert len(set(steps)) > 5


def test_an_interrupted_fit_leaves_no_wrong_relaxation(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of(fold(), [0.0, 0.0])
    tree = GrowingTree(tools_of(setting))
    assert tree.advance(0.25, never) == "closed"
    fit = Relaxation.fit

    def interrupted(self: Relaxation, *parts: object) -> None:
        raise OutOfTime

    monkeypatch.setattr(Relaxation, "fit", interrupted)
    assert tree.advance(0.625, never) == "stopped"
    monkeypatch.setattr(Relaxation, "fit", fit)
    assert tree.advance(0.625, never) == "violated"
    assert tree.advance(0.5, never) == "closed"


def test_what_exact_programs_cannot_decide_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Balls without the region in question are good, and once it can be decided, others are decided as well."""
    setting = setting_of(fold(), [0.0, 0.0])
    decided = Coincidence.violation

    def undecided(self: Coincidence, radius: object) -> None:
        raise Undecided

    tree = GrowingTree(tools_of(setting))
    monkeypatch.setattr(tree, "_guess", lambda *_: None)
    monkeypatch.setattr(PhaseTree, "look_at", lambda *_: None)
    monkeypatch.setattr(Coincidence, "violation", undecided)
    for _ in range(2):
        assert tree.advance(0.75, never) == "stopped"
        assert tree.reached < 0.75
    assert tree.advance(0.25, never) == "closed"
    assert tree.advance(0.75, never) == "stopped"
    monkeypatch.setattr(Coincidence, "violation", decided)
    assert tree.advance(0.875, never) == "violated"


@pytest.mark.parametrize("tries", [True, False])
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("norm", tuple(Norm))
def test_phases_that_follow_in_one_ball_are_open_in_larger_ones(tries: bool, problem: str, norm: Norm) -> None:
    """(x1 - 1.5 h1 + h2, x2 - 2 h3): h1 = h2 need a split near the centre, where h3 is off; h3 folds further out."""
    build = ircert.Builder(2)
    bent = build.relu(build.affine(build.input, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [-0.125, -0.125, -0.5]))
    outer = [[1.0, 0.0, -1.5, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0, -2.0]]
    graph = build.graph(build.affine(build.concat(build.input, bent), outer))
    tree = GrowingTree(tools_of(setting_of(graph, [0.0, 0.0], problem, norm)))
    tree._tries = tries
    assert tree.advance(0.25, never) == "closed"
    assert tree._heap[0].number != 0, "the root was split"
    assert tree.advance(2.0, never) == "violated"
    assert tree.reached <= (0.5 if problem == "local" else 1.0)


@pytest.mark.parametrize("outputs", [3, 5])
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("norm", tuple(Norm))
def test_what_small_balls_show_is_not_said_of_larger_ones(
    outputs: int, problem: str, norm: Norm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Balls in ascending order; violations come from leaves alone, so that a node that was lost is missed."""
    radii = [0.05 * 1.6**k for k in range(9)]
    graphs = [
        deep(rng, 3, 3, 2, 2.5) if outputs == 3 else residual(rng, 3, 2, 4.0, outputs)
        for rng in map(np.random.default_rng, range(6))
    ]
    asked = [setting_of(graph, np.zeros(3), problem, norm) for graph in graphs]
    truth = [[WholeTree([tools_of(setting)], radius).advance(never) for radius in radii] for setting in asked]
    monkeypatch.setattr(GrowingTree, "_reach_by_bounds", lambda *_: None)
    monkeypatch.setattr(GrowingTree, "_guess", lambda *_: None)
    monkeypatch.setattr(PhaseTree, "look_at", lambda *_: None)
    for tries in (True, False):
        for setting, expected in zip(asked, truth, strict=True):
            tree = GrowingTree(tools_of(setting))
            tree._tries = tries
            for radius, outcome in zip(radii, expected, strict=True):
                assert tree.advance(radius, never) == outcome
                best = tree.tools.descent.best
                assert best is None or tree.reached <= norm.length(best[0])


@pytest.mark.parametrize("norm", tuple(Norm))
def test_distances_are_bounds(norm: Norm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad multipliers only make them less."""
    setting = setting_of(fold(1 / 16), [0.0, 0.0], norm=norm)
    relaxation = Relaxation(setting, measured=True)
    on, either = np.ones(1, dtype=np.int8), np.zeros(1, dtype=np.int8)
    for radius in (1 / 8, 4.0, 1 / 4):
        part = ball_of(setting, radius)
        relaxation.fit(part, part)
        for phases in ((on, either), (either, on)):
            assert 0.06 < relaxation.least_distance(*phases)[0] <= 1 / 16
    monkeypatch.setattr(LiveProgram, "multipliers", property(lambda self: np.zeros(self.solver.getNumRow())))
    assert relaxation.least_distance(on, either)[0] == 0.0


def test_the_ball_ends_before_open_nodes() -> None:
    tree = GrowingTree(tools_of(setting_of(fold(), [0.0, 0.0])))
    root = tree._heap[0]
    tree._heap = [Node(0.5, -1, root.first, root.second)]
    tree._note(1.0)
    assert tree.reached == math.nextafter(0.5, 0.0)
    tree._heap, tree._undecided = [], [(2.0, Node(0.75, -2, root.first, root.second))]
    tree._note(1.0)
    assert tree.reached == math.nextafter(0.75, 0.0)


def test_numbers_that_no_program_takes_leave_a_ball_open(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, fit = GrowingTree(tools_of(setting_of(fold(), [0.0, 0.0]))), Relaxation.fit

    def refused(self: Relaxation, *parts: object) -> None:
        raise ProgramError("a neuron has no finite bounds on this ball")

    monkeypatch.setattr(Relaxation, "fit", refused)
    assert tree.advance(0.625, never) == "stopped"
    assert tree.reached < 0.5
    monkeypatch.setattr(Relaxation, "fit", fit)
    assert tree.advance(0.5, never) == "closed"


def test_a_distance_that_floats_take_below_zero() -> None:
    setting = setting_of(fold(), [0.0, 0.0], "pseudo", Norm.TWO)
    relaxation, part = Relaxation(setting, measured=True), ball_of(setting, 1.0)
    relaxation.fit(part, part)
    point = np.zeros(relaxation._base.shape[1])
    assert relaxation.r is not None
    point[relaxation.r.start] = -1e-15
    assert not relaxation.round_off(point)


def test_pseudo_around_a_kink_in_norm_2() -> None:
    weights = np.array([[2.0, -1, -2, -1, 0, 2, 0], [-2, -1, 1, 2, 1, 2, -2]])
    outer = np.array([[2.0, -2], [0, -1], [-1, 1], [-1, 0], [-1, -2], [1, 0], [1, 1]])
    build = ircert.Builder(7)
    bent = build.relu(build.affine(build.input, weights, [1.0, 0.0]))
    graph = build.graph(build.add(build.input, build.affine(bent, outer)))
    found = ircert.certify(graph, np.zeros(7), problem="pseudo", norm=2, engine="boxes").radius
    assert found is not None
    assert found.certified == 1e6
    assert found.refuted is None


@pytest.mark.parametrize(("outputs", "tried"), [(8, False), (10, True)])
def test_phases_are_tried_with_more_outputs_than_inputs(
    outputs: int, tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trying them makes trees smaller; what they say is the same."""
    setting = setting_of(residual(np.random.default_rng(3), 8, 4, 4.0, outputs), np.zeros(8))
    ends, nodes = [], []
    for tries in (True, False):
        tree = GrowingTree(tools_of(setting))
        assert tree._tries is tried
        monkeypatch.setattr(tree, "_tries", tries)
        ends.append(to_the_end(tree, lambda: never)[-1])
        nodes.append(tree.tools.counts.nodes)
    assert ends[0] == pytest.approx(ends[1], rel=1e-5)
    assert nodes[0] < nodes[1]


@pytest.mark.parametrize("at", [0.5, 8.0])
def test_unknown_outputs_that_read_nothing_but_neurons_that_are_off(at: float) -> None:
    """7 inputs, 3 sums of neurons are given, one of them off: max(0, x1 - at) is unknown."""
    rng = np.random.default_rng(0)
    build = ircert.Builder(7)
    bent = build.relu(build.affine(build.input, rng.integers(-8, 9, (5, 7)) / 8, [-40.0, 0.25, 0.125, 0.0, 0.5]))
    last = build.relu(build.affine(build.input, np.eye(1, 7), [-at]))
    graph = build.graph(build.concat(build.affine(bent, rng.integers(-8, 9, (3, 5)) / 8), last))
    tree = GrowingTree(tools_of(replace(setting_of(graph, np.zeros(7), "transform"), constrained=3)))
    assert tree.advance(0.375, counted(40)) == "closed"
    assert tree.tools.counts.nodes < 4
    assert tree.advance(at + 0.5, counted(400)) == "violated"
