"""Trees that know signs of differences: what they say is true, whatever is asked, and they lose no pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.bounds.slope_minors import Tangent
from ircert.engines.boxes.linear_regions.coincidence import Coincidence
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.engines.boxes.trees.growing_tree import Node
from ircert.engines.boxes.trees.phase_tree import PhaseTree, slopes
from ircert.engines.boxes.trees.relaxation import Relaxation
from ircert.engines.boxes.trees.signed_tree import SignedTree
from ircert.engines.boxes.trees.whole import WholeTree
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import OutOfTime, Undecided
from tests.engines.boxes.making import deep, residual, setting_of
from tests.engines.boxes.trees.support import ball_of, never, tools_of
from tests.engines.boxes.trees.test_growing_tree import counted, to_the_end

pytestmark = pytest.mark.rule("E-26")


def taller(rng: np.random.Generator, n: int, kind: int) -> ircert.Graph:
    """More outputs than inputs: those of a network that may fold, mixed, or one or two more of their own."""
    if kind == 0:
        return deep(rng, n, 3, 2, 8.0).then(ircert.load([(rng.integers(-3, 4, (n + 2, n)) * 1.0, np.zeros(n + 2))]))
    more = int(rng.integers(1, 3))
    return residual(rng, n, 2 + more, 12.0, n + more) if kind == 1 else deep(rng, n, 2 + more, 2, 9.0, n + more)


def setting_for(seed: int, n: int, norm: Norm) -> Setting:
    rng = np.random.default_rng(seed)
    center = [0.0] * n if seed % 5 == 0 else list(rng.integers(-2, 3, n) / 8)
    return setting_of(taller(rng, n, seed % 3), center, norm=norm)


@given(st.integers(0, 10_000), st.sampled_from(list(Norm)), st.lists(st.floats(0.02, 3.0), min_size=1, max_size=4))
@settings(max_examples=60)
def test_what_it_says_is_true(seed: int, norm: Norm, radii: list[float]) -> None:
    """Against the exact engine for two inputs, in any order of balls."""
    setting = setting_for(seed, 2, norm)
    found = ircert.certify(setting.graph, setting.center, norm=norm, engine="regions", max_radius=8.0).radius
    assert found is not None
    refuted = np.inf if found.refuted is None else found.refuted
    tree = SignedTree(tools_of(setting))
    for radius in radii:
        outcome = tree.advance(radius, never)
        assert outcome == "closed" if radius < found.certified else outcome != "closed" or radius < refuted
        assert outcome == "violated" if radius > refuted * (1 + 1e-9) else True
        assert tree.reached < refuted * (1 + 1e-12)


@pytest.mark.parametrize("norm", tuple(Norm))
@pytest.mark.parametrize("n", [3, 4, 7])
def test_no_pair_is_lost(n: int, norm: Norm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Violations come from leaves alone, in balls that grow; a tree for each ball knows the truth."""
    radii = [0.25 * 3.0**k for k in range(3)]
    asked = [setting_for(seed, n, norm) for seed in (0, 2, 4)]
    truth = [[WholeTree([tools_of(setting)], radius).advance(never) for radius in radii] for setting in asked]
    assert {outcome for row in truth for outcome in row} == {"closed", "violated"}
    monkeypatch.setattr(SignedTree, "_guess_along", lambda *_: None)
    for setting, expected in zip(asked, truth, strict=True):
        tree = SignedTree(tools_of(setting))
        assert [tree.advance(radius, never) for radius in radii] == expected


@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from(list(Norm)))
@settings(max_examples=40)
def test_some_node_has_every_pair(seed: int, n: int, norm: Norm) -> None:
    """The phases and signs of random pairs, or of the mirrored ones, are those of an open node, or of one that was
    dropped for good because no secant of it has a kernel."""
    rng = np.random.default_rng(seed)
    setting = setting_for(seed, n, norm)
    tools = tools_of(setting)
    tree = SignedTree(tools)
    dropped: list[tuple[Phases, Phases, Phases | None]] = []
    visited = tree._visited

    def noted(at: PhaseTree, node: Node) -> list[Node]:
        children = visited(at, node)
        if not children:
            dropped.append((node.first, node.second, node.signs))
        return children

    tree._visited = noted  # type: ignore[method-assign]
    tree.advance(2.0, counted(int(rng.integers(1, 60))))
    open_ = [(node.first, node.second, node.signs) for node in tree._heap]
    for first, second, signs in dropped:
        pattern = slopes(setting, tools.matter, first, second)
        assert pattern.sides is not None
        assert signs is not None
        sides = np.where(pattern.sides == 0, signs, pattern.sides) * pattern.free
        assert tools.secants.tangent(replace(pattern, sides=sides)) is None
    for x, y in rng.uniform(-2, 2, (20, 2, n)):
        z, w = setting.preactivations(np.stack([x, y]))
        assert any(_has(node, *pair) for node in open_ + dropped for pair in ((z, w), (w, z)))


def _has(node: tuple[Phases, Phases, Phases | None], z: Array, w: Array) -> bool:
    """Whether a pair with these numbers below neurons has the phases and signs of a node."""
    first, second, signs = node
    assert signs is not None
    return bool((first * z >= 0).all() and (second * w >= 0).all() and (signs * (z - w) >= 0).all())


@pytest.mark.parametrize("norm", tuple(Norm))
def test_it_shows_more_and_more(norm: Norm) -> None:
    """A tree that is stopped goes on, and ends like one that was not."""
    setting = setting_of(residual(np.random.default_rng(1), 8, 4, 6.0, 10), np.zeros(8), norm=norm)
    whole, stopped = (SignedTree(tools_of(setting)) for _ in range(2))
    end = to_the_end(whole, lambda: never)[-1]
    steps = to_the_end(stopped, lambda: counted(3))
    assert steps[-1] == pytest.approx(end, rel=1e-5)
    assert all(before <= after for before, after in pairwise(steps))
    assert len(set(steps)) > 3


@pytest.mark.parametrize("way", ["fit", "_is_injective", "_tangent"])
def test_interruptions_leave_nothing_wrong(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_for(2, 4, Norm.INF)
    radii = (0.25, 0.5, 1.0, 2.0)
    truth = [WholeTree([tools_of(setting)], radius).advance(never) for radius in radii]
    tree = SignedTree(tools_of(setting))
    owner = Relaxation if way == "fit" else SignedTree
    real, turn = getattr(owner, way), [0]

    def sometimes(*given: object) -> object:
        turn[0] += 1
        if turn[0] % 3 == 0:
            raise OutOfTime
        return real(*given)

    monkeypatch.setattr(owner, way, sometimes)
    for radius, expected in zip(radii, truth, strict=True):
        outcome = "stopped"
        while outcome == "stopped":
            outcome = tree.advance(radius, never)
        assert outcome == expected


def test_what_exact_programs_cannot_decide_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_for(0, 4, Norm.INF)
    assert WholeTree([tools_of(setting)], 4.0).advance(never) == "violated"
    decided = Coincidence.violation

    def undecided(self: Coincidence, radius: object) -> None:
        raise Undecided

    tree = SignedTree(tools_of(setting))
    monkeypatch.setattr(tree, "_guess_along", lambda *_: None)
    monkeypatch.setattr(Coincidence, "violation", undecided)
    assert tree.advance(4.0, never) == "stopped"
    assert tree.reached < 4.0
    monkeypatch.setattr(Coincidence, "violation", decided)
    assert tree.advance(4.5, never) == "violated"


def test_signs_are_rows_of_relaxations() -> None:
    """Of (x1, x2, |x1|) a difference below the second neuron is the negative one of the first."""
    build = ircert.Builder(2)
    bent = build.relu(build.affine(build.input, [[1.0, 0.0], [-1.0, 0.0]]))
    graph = build.graph(build.concat(build.input, build.affine(bent, [[1.0, 1.0]])))
    setting = setting_of(graph, [0.0, 0.0])
    relaxation = Relaxation(setting, measured=True, signed=True)
    part = ball_of(setting, 1.0)
    relaxation.fit(part, part)
    any_phase = np.zeros(2, dtype=np.int8)
    rising = relaxation.rising(np.array([1.0, 0.0]))
    for signs, most in (([0, 0], 0.0), ([1, -1], 0.0), ([-1, 1], 0.0)):  # the inputs are outputs
        solved = relaxation.solve(any_phase, any_phase, rising, np.array(signs, dtype=np.int8))
        assert solved.point is not None
        assert rising @ solved.point == pytest.approx(most, abs=1e-9)
        assert relaxation.has(solved.point, any_phase, any_phase, np.array(signs, dtype=np.int8))
    point = np.zeros(relaxation.matrix.shape[1])
    point[relaxation.places[0].inner[0]] = 0.5
    assert not relaxation.has(point, any_phase, any_phase, np.array([-1, 0], dtype=np.int8))
    assert not relaxation.has(point, np.array([-1, 0], dtype=np.int8), any_phase, any_phase)
    assert not relaxation.has(point, any_phase, any_phase, np.array([-1, -1], dtype=np.int8))


def test_slopes_of_directions() -> None:
    """Inside [0, 1] by the lesser of both ends, outside of it by how far."""
    below, behind = np.array([1.0, 1.0, -1.0, 1.0, 1.0]), np.array([0.25, 1.0, -0.75, 1.5, -0.5])
    assert Tangent(below, behind).between.tolist() == [0.25, 0.0, 0.25, -0.5, -0.5]


def test_few_inputs_with_more_outputs_are_asked_about_one_tree() -> None:
    """Four inputs, six outputs, twelve neurons: neither one matrix nor pairs of boxes get to the nearest violation."""
    found = ircert.certify(deep(np.random.default_rng(7), 4, 12, 1, 5.0, 6), np.zeros(4), time_limit=30.0)
    assert found.verdict == "certified"
    assert found.radius.refuted is not None
    assert "a tree of phases" in found.radius.certified.evidence
