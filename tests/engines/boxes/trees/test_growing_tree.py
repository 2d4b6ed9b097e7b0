"""One tree for balls of all sizes: what it says of a ball is true, in whatever order balls are asked about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.engines.boxes.linear_regions.coincidence import Coincidence
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.trees.growing_tree import GrowingTree
from ircert.engines.boxes.trees.relaxation import Relaxation
from ircert.engines.boxes.trees.whole import WholeTree
from ircert.geometry.norm import Norm
from ircert.limits import OutOfTime, Undecided
from tests.engines.boxes.making import deep, fold, residual, setting_of
from tests.engines.boxes.trees.support import never, tools_of
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
    graph = residual(rng, 2, 3, 2.0, int(rng.integers(2, 4))) if seed % 2 else deep(rng, 2, 3, 2, 2.5)
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
        assert outcome == "closed" if radius <= truth.certified else outcome != "closed" or radius < refuted
        assert outcome == "violated" if radius > refuted * (1 + 1e-9) else True
        assert tree.reached < refuted * (1 + 1e-12)
        assert outcome != "closed" or tree.reached >= radius


@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("seed", range(6))
def test_as_one_tree_for_each_ball(seed: int, problem: str) -> None:
    """With four inputs."""
    graph = deep(np.random.default_rng(seed), 4, 3, 2, 2.5)
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
    """Balls without the region in question are good, others are not."""
    setting = setting_of(fold(), [0.0, 0.0])

    def undecided(self: Coincidence, radius: object) -> None:
        raise Undecided

    tree = GrowingTree(tools_of(setting))
    monkeypatch.setattr(tree, "_guess", lambda *_: None)
    monkeypatch.setattr("ircert.engines.boxes.trees.phase_tree.PhaseTree._look_at", lambda *_: None)
    monkeypatch.setattr(Coincidence, "violation", undecided)
    assert tree.advance(0.75, never) == "stopped"
    assert tree.reached < 0.75
    assert tree.advance(0.25, never) == "closed"
    assert tree.advance(0.75, never) == "stopped"
