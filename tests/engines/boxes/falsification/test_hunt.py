"""Hunts find the violations that are known, as near as they are, and nothing where there is none."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.hunt import FIRST_AT_ALL, FOLDS, PAIRS, Hunt
from ircert.geometry.norm import Norm
from ircert.limits import OutOfTime, until
from tests.engines.boxes.falsification.making import descent_of, distance, folded, hunted
from tests.engines.boxes.making import residual, setting_of


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("n", range(1, 9))
def test_a_fold_is_found_at_its_distance(n: int, norm: Norm) -> None:
    rng = np.random.default_rng(n)
    turn, outer = rng.normal(size=(2, n, n))
    center = rng.normal(size=n)
    setting = setting_of(folded(turn, 2.5, outer), center, norm=norm)
    expected = abs(2.5 - turn[0] @ center) / norm.dual.lengths(turn[:1])[0]
    assert distance(hunted(setting)) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("norm", "expected"), [(Norm.INF, 1.0), (Norm.TWO, 1.25**0.5), (Norm.ONE, 1.5)])
def test_a_fold_is_followed_across_its_ridges(norm: Norm, expected: float) -> None:
    """(y1 - 2 relu(y1 - 1 - 4 relu(y2) - 4 relu(-y2)), y2): the fold is y1 = 1 + 4 |y2|, next to (0, .5) is (1, 0)."""
    build = ircert.Builder(2)
    slopes = build.relu(build.affine(build.input, np.array([[0.0, 1.0], [0.0, -1.0]]), np.zeros(2)))
    height = build.affine(slopes, np.array([[-4.0, -4.0]]), np.array([-1.0]))
    beyond = build.relu(build.add(height, build.affine(build.input, np.array([[1.0, 0.0]]), np.zeros(1))))
    graph = build.graph(build.add(build.input, build.affine(beyond, np.array([[-2.0], [0.0]]), np.zeros(2))))
    assert distance(hunted(setting_of(graph, [0.0, 0.5], norm=norm))) == pytest.approx(expected, rel=1e-8)


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize(("n", "more"), [(1, 0), (2, 0), (5, 0), (2, 1), (4, 3)])
def test_a_flat_region_is_found_at_its_distance(n: int, more: int, norm: Norm) -> None:
    """All coordinates of relu(x + 1) end at -1; more outputs repeat them."""
    layers = [(np.eye(n), np.ones(n)), (np.vstack([np.eye(n), np.ones((more, n))]), np.zeros(n + more))]
    setting = setting_of(ircert.load(layers), np.zeros(n), norm=norm)
    assert distance(hunted(setting)) == pytest.approx(1.0, rel=1e-8)


@pytest.mark.parametrize("norm", Norm)
def test_pairs_are_found_where_there_are_more_outputs(norm: Norm) -> None:
    """(|x1 - 1|, x2, x1-free third output): every pair is a mirror image."""
    outer = np.vstack([np.eye(2), [[1.0, 1.0]]])
    setting = setting_of(folded(np.eye(2), 1.0, outer), [0.25, 0.0], norm=norm)
    assert distance(hunted(setting, 600)) == pytest.approx(0.75, rel=1e-8)


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
def test_the_nearest_fold_of_random_networks_is_the_exact_one(norm: Norm) -> None:
    """Exact geometry knows the largest good radius of two inputs."""
    close = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        layers = [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in ((2, 8), (8, 8), (8, 2))]
        graph = ircert.load(layers)
        exact = ircert.certify(graph, [0.1, 0.2], norm=norm, engine="regions").radius.refuted
        assert exact is not None
        found = distance(hunted(setting_of(graph, [0.1, 0.2], norm=norm), 300))
        assert found >= float(exact) * (1 - 1e-12)
        close += found <= float(exact) * (1 + 1e-6)
    assert close >= 2


def test_nothing_is_found_where_there_is_no_fold() -> None:
    setting = setting_of(residual(np.random.default_rng(4), 4, 8, scale=0.01), np.zeros(4))
    assert hunted(setting, 200).best is None


def test_without_neurons_a_hunt_ends_at_once() -> None:
    setting = setting_of(ircert.load([(np.eye(3), np.zeros(3))]), np.zeros(3))
    hunt = Hunt(setting, descent_of(setting))
    assert not hunt.advance(10**9)
    assert hunt.work == 0


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
def test_a_domain_cuts_folds_off(norm: Norm) -> None:
    """The fold is x1 + x2 = 1; in the domain x1 <= 1/4 its nearest point to 0 is another one, or there is none."""
    graph = folded(np.array([[1.0, 1.0], [0.0, 1.0]]), 1.0, np.eye(2))
    high = np.array([0.25, 3.0])
    cut = setting_of(graph, [0.0, 0.0], norm=norm, high=high)
    expected = {Norm.INF: 0.75, Norm.ONE: 1.0, Norm.TWO: 0.625**0.5}[norm]
    assert distance(hunted(cut)) == pytest.approx(expected, rel=1e-7)
    free = setting_of(graph, [0.0, 0.0], norm=norm, high=np.array([0.25, 0.5]))
    assert hunted(free).best is None


def test_the_centre_may_lie_in_a_corner_of_the_domain() -> None:
    n = 6
    graph = folded(np.eye(n), 2.0, np.random.default_rng(0).normal(size=(n, n)))
    setting = setting_of(graph, np.zeros(n), low=np.zeros(n), high=np.full(n, 9.0))
    assert distance(hunted(setting)) == pytest.approx(2.0, rel=1e-8)


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_folds_through_the_centre_leave_no_radius(n: int, norm: Norm) -> None:
    outer = np.random.default_rng(n).normal(size=(n, n))
    descent = hunted(setting_of(folded(np.eye(n), 0.0, outer), np.zeros(n), norm=norm))
    assert descent.infimum_is_zero
    distance(descent)


def test_a_centre_on_a_kink_that_is_no_fold_is_no_violation() -> None:
    """x1 + relu(x1) bends at the centre, and the fold is x2 = 3."""
    build = ircert.Builder(2)
    bent = build.relu(build.affine(build.input, np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, -3.0])))
    graph = build.graph(build.add(build.input, build.affine(bent, np.diag([1.0, -2.0]), np.zeros(2))))
    assert distance(hunted(setting_of(graph, [0.0, 0.0]))) == pytest.approx(3.0, rel=1e-8)


def test_folds_far_away_are_found() -> None:
    graph = folded(np.eye(4), 2e5, np.random.default_rng(1).normal(size=(4, 4)))
    assert distance(hunted(setting_of(graph, np.zeros(4)))) == pytest.approx(2e5, rel=1e-8)
    assert hunted(setting_of(graph, np.zeros(4)), reach=1e5).best is None


def _network(n: int) -> ircert.Graph:
    rng = np.random.default_rng(n)
    return ircert.load([(rng.normal(size=(b, a)) / np.sqrt(a), rng.normal(size=b)) for a, b in ((n, 20), (20, n))])


def test_the_same_seed_and_work_find_the_same() -> None:
    setting = setting_of(_network(8), np.zeros(8))
    found = []
    for seed in (3, 3, 4):
        hunt = Hunt(setting, descent_of(setting), seed, 1e6)
        for _ in range(3):
            hunt.advance(40)
        found.append((hunt.work, hunt.descent.best))
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_more_work_never_loses_what_was_found() -> None:
    setting = setting_of(_network(6), np.zeros(6))
    hunt, last = Hunt(setting, descent_of(setting), 0, 1e6), np.inf
    for _ in range(10):
        better = hunt.advance(20)
        size = np.inf if hunt.descent.best is None else distance(hunt.descent)
        assert size < last if better else size == last
        last = size
    assert last < np.inf


def test_a_deadline_ends_a_turn_and_the_next_one_goes_on() -> None:
    """Time is counted in questions for it: whenever it ends, what was found stays, and the hunt can go on."""
    setting = setting_of(_network(5), np.zeros(5))
    for most in (1, 3, 10, 30, 100, 300):
        asked = count()
        hunt = Hunt(setting, descent_of(setting), 0, 1e6)
        with until(lambda asked=asked, most=most: next(asked) >= most), pytest.raises(OutOfTime):  # type: ignore[misc]
            hunt.advance(10**9)
        assert next(asked) < most + 20
        before = hunt.descent.best
        hunt.advance(100)
        assert hunt.descent.best is not None
        assert before is None or hunt.descent.best[0] <= before[0]
        distance(hunt.descent)


@pytest.mark.parametrize("norm", Norm)
def test_a_centre_in_a_flat_region_leaves_no_radius(norm: Norm) -> None:
    layers = [(np.eye(3), np.array([2.0, 2.0, -1.0])), (np.eye(3), np.zeros(3))]
    assert hunted(setting_of(ircert.load(layers), np.zeros(3), norm=norm)).infimum_is_zero


def test_a_point_beyond_a_fold_is_followed_up() -> None:
    """… with hardly any work of its own: proofs that meet such a point hand it over."""
    setting = setting_of(folded(np.eye(3), 2.5, np.eye(3)), np.zeros(3))
    descent = descent_of(setting)
    hunt = Hunt(setting, descent)
    hunt._folds.suggest(np.array([[2.75, 0.5, -0.25]]))
    assert distance(descent) == pytest.approx(2.5, rel=1e-8)


def test_a_wide_bracket_is_worth_more_work() -> None:
    """Beside proofs of the same effort, up to the nearest violation or far below it."""
    setting = setting_of(folded(np.eye(3), 2.5, np.eye(3)), np.zeros(3))
    done = {}
    for clear in (0.1, 2.4):
        hunt = Hunt(setting, descent_of(setting), 0, 1e6)
        hunt.begin()
        assert distance(hunt.descent) == pytest.approx(2.5, rel=1e-8)
        before = hunt.work
        hunt.beside(20_000, [], clear)
        done[clear] = hunt.work - before
    assert done[0.1] > 3 * done[2.4] > 0


def test_the_first_look_is_longer_where_nothing_is_known() -> None:
    """A fold at once ends it early; a network without a violation is worth more, and not without an end."""
    done = []
    for graph in (folded(np.eye(3), 2.5, np.eye(3)), residual(np.random.default_rng(1), 3, 12, 0.2)):
        setting = setting_of(graph, np.zeros(3))
        hunt = Hunt(setting, descent_of(setting), 0, 1e6)
        hunt.begin()
        done.append((hunt.descent.best is not None, hunt.work))
    (known, soon), (none, late) = done
    assert known
    assert not none
    assert soon < FIRST_AT_ALL / 2
    assert FIRST_AT_ALL <= late < 2 * FIRST_AT_ALL


class Way:
    """One that has done some work, and does a unit at a time."""

    idle = False

    def __init__(self, work: int) -> None:
        self.work = self.before = work

    def advance(self, _: int) -> None:
        self.work += 1


def test_what_it_takes_to_begin_does_not_let_pairs_go_first() -> None:
    """In large networks the reference alone is work; the exact programs of a pair take seconds there."""
    setting = setting_of(residual(np.random.default_rng(0), 4, 8), np.zeros(4))
    hunt = Hunt(setting, descent_of(setting))
    folds, pairs = Way(5), Way(0)
    hunt._ways = [(folds, FOLDS), (pairs, PAIRS)]  # type: ignore[list-item]
    hunt.advance(4)
    assert folds.work > folds.before
    assert pairs.work == 0


def test_what_it_takes_to_begin_does_not_put_folds_behind_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In wide networks a reference and a population take many turns' work, and one exact program of pairs seconds."""
    rng, turns = np.random.default_rng(0), []
    setting = setting_of(residual(rng, 60, 150), np.zeros(60))
    hunt = Hunt(setting, descent_of(setting))
    for way, _ in hunt._ways:

        def turn(work: int, name: str = type(way).__name__) -> bool:
            turns.append((name, work > 0))
            raise OutOfTime

        monkeypatch.setattr(way, "advance", turn)
    with pytest.raises(OutOfTime):
        hunt.advance(1)
    assert hunt.work > 1
    assert turns == [("FoldSampler", True)]
