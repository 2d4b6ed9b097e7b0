"""Networks with curves: brackets around radii that are known, never a wrong one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search import smooth_search
from ircert.engines.boxes.search.smooth_hunt import SmoothHunt
from ircert.engines.boxes.search.smooth_search import EARLY
from ircert.errors import IrcertError, QueryError
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve, Exp, Square
from ircert.ir.ops.curves import Elu, Gelu, GeluTanh, HardSwish, Mish, Sigmoid, Silu, Sin, Softplus, Tanh
from ircert.ir.ops.smooth import Log, Product
from ircert.questions.network import lowered
from tests.result.support import read

FOLD = math.acosh(math.sqrt(2.0))
"""x - 2 tanh(x) turns here: 1 = 2 / cosh(x)^2."""


def bend(factor: float, size: int = 1, curve: Curve | None = None) -> Graph:
    """x + factor g(x), entry by entry, mixed by an invertible matrix."""
    build = ircert.Builder(size)
    bent = build.node(curve or Tanh(), build.input)
    total = build.add(build.input, build.affine(bent, factor * np.eye(size)))
    mix = np.eye(size) + np.triu(np.ones((size, size)), 1)
    return build.graph(build.affine(total, mix))


def network(curve: Curve, seed: int, sizes: tuple[int, ...] = (2, 8, 8, 2), relus: bool = False) -> Graph:
    """Random weights, close to the identity so that there is something to prove."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(sizes[0])
    x = build.input
    for k, (a, b) in enumerate(itertools.pairwise(sizes)):
        x = build.affine(x, rng.normal(size=(b, a)) * 0.8 / math.sqrt(a), rng.normal(size=b) * 0.3)
        if k < len(sizes) - 2:
            x = build.relu(x) if relus and k == 0 else build.node(curve, x)
    return build.graph(build.add(x, build.affine(build.input, 1.2 * np.eye(sizes[-1], sizes[0]))))


def ask(graph: Graph, center: Any, **more: Any) -> ircert.Result:
    return ircert.certify(graph, center, **{"time_limit": 20.0, "tol": 1e-3, "engine": "boxes", **more})


@pytest.mark.rule("E-17", "R-12")
@pytest.mark.parametrize(("size", "norm"), [(1, "inf"), (2, "inf"), (2, "1"), (2, "2")])
def test_a_known_radius(size: int, norm: str) -> None:
    center = np.full(size, 3.0)
    result = ask(bend(-2.0, size), center, norm=norm)
    exact = 3.0 - FOLD
    assert result.verdict == "certified"
    assert result.radius.refuted is not None
    assert result.radius.certified <= exact <= result.radius.refuted
    assert result.turned is not None
    assert result.witness is not None
    assert result.witness.radii is not None
    farthest = max(np.linalg.norm(p - center, ord=float(norm)) for p in (result.witness.x, result.witness.y))
    assert exact <= farthest <= 1.01 * result.radius.refuted
    assert 1e-3 < result.witness.separation < 0.1
    (a, b), (c, d) = result.turned.determinants
    assert max(a, b, c, d) > 0 > min(a, b, c, d)
    assert a * b > 0
    assert c * d > 0
    found = read(result.to_json())
    assert found["turned"]["determinants"] == [[a, b], [c, d]]
    assert len(found["witness"]["radii"]["x"]) == size
    assert "one orientation" in result.summary()
    assert "proved by interval arithmetic" in result.summary()


@pytest.mark.rule("E-17")
def test_a_derivative_that_touches_zero_stays_open() -> None:
    result = ask(bend(-1.0), [0.5], time_limit=3.0)
    assert result.verdict == "unresolved"
    assert 0.4 < result.radius.certified <= 0.5
    assert result.radius.refuted is None


@pytest.mark.parametrize("radius", [2.0, 2.2])
def test_fixed_balls(radius: float) -> None:
    result = ask(bend(-2.0, 2), [3.0, 3.0], radius=radius)
    assert result.verdict == ("certified" if radius < 3 - FOLD else "refuted")
    assert (result.turned is not None) == (result.verdict == "refuted")
    assert (result.witness is not None) == (result.verdict == "refuted")
    if result.witness is not None:
        points = np.array([result.witness.x, result.witness.y])
        assert np.abs(points - 3.0).max() <= radius
        assert result.witness.separation > 0.05


def thin() -> Graph:
    """With a fold in six dimensions that directions from the centre hardly ever meet."""
    rng, build = np.random.default_rng(4), ircert.Builder(6)
    x = build.input
    for k, (a, b) in enumerate(itertools.pairwise((6, 16, 16, 6))):
        x = build.affine(x, rng.normal(size=(b, a)) * 1.4 / math.sqrt(a), rng.normal(size=b) * 0.3)
        x = build.node(Tanh(), x) if k < 2 else x
    return build.graph(build.add(x, build.affine(build.input, 2.0 * np.eye(6))))


@pytest.mark.rule("E-17")
def test_a_ball_that_no_matrix_serves_is_looked_at_along_gradients() -> None:
    result = ask(thin(), np.zeros(6), radius=0.1196, time_limit=None)
    assert result.verdict == "refuted"
    assert result.turned is not None
    assert np.abs(np.array([result.turned.x, result.turned.y])).max() < 0.1196


@pytest.mark.rule("E-17")
def test_balls_that_proofs_give_up_are_looked_at_further(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = 0

    def seek(*_: object) -> bool:
        nonlocal rounds
        rounds += 1
        return False

    for name in ("begin", "look", "beside"):
        monkeypatch.setattr(SmoothHunt, name, lambda *_: False)
    monkeypatch.setattr(SmoothHunt, "seek", seek)
    monkeypatch.setattr(smooth_search, "ALONE_ROUNDS", 7)
    assert ask(thin(), np.zeros(6), radius=0.1196, time_limit=None).verdict == "unresolved"
    assert rounds == 7


def test_injective_everywhere_as_far_as_is_asked() -> None:
    result = ask(bend(5.0, 2), [0.0, 0.0], max_radius=50.0)
    assert (result.verdict, float(result.radius.certified), result.radius.refuted) == ("certified", 50.0, None)


@pytest.mark.rule("E-17")
def test_the_whole_space_by_all_slopes() -> None:
    """1 + a tanh' lies between 1 and 1 + a; for a <= -1 it does not stay positive."""
    for factor in (5.0, 20.0):  # smaller ones are contractions
        result = ask(bend(factor, 2), [0.3, -0.2])
        assert (result.verdict, float(result.radius.certified)) == ("certified", math.inf)
        assert "anywhere" in result.radius.certified.evidence
    assert float(ask(bend(5.0, 2), [0.0, 0.0], max_radius=7.0).radius.certified) == 7.0
    for factor in (-1.0, -1.1):
        assert float(ask(bend(factor, 2), [0.3, 0.2], time_limit=1.0).radius.certified) <= 0.3


@pytest.mark.parametrize("curve", [Tanh(), Sigmoid(), Gelu(), GeluTanh(), Silu(), Softplus(), Elu(1.5), Mish(), Sin()])
def test_brackets_agree_with_sampled_determinants(curve: Curve) -> None:
    """Within the certified ball determinants have one sign, and points different images."""
    for seed, relus in ((0, False), (1, True)):
        graph = network(curve, seed, relus=relus)
        result = ask(graph, [0.2, -0.1], max_radius=6.0, time_limit=4.0, tol=1e-2)
        certified, refuted = float(result.radius.certified), result.radius.refuted
        assert certified > 0
        rng = np.random.default_rng(2)
        points = Points(Setting(lowered(graph), "local", 2, Place.everywhere(np.array([0.2, -0.1]))))
        steps = rng.uniform(-1, 1, (4000, 2)) * (6.0 if refuted is None else refuted)
        signs = np.sign(np.linalg.det(points.jacobians(points.setting.center + steps)))
        home = np.sign(np.linalg.det(points.jacobians(points.setting.center[None])))
        turned = np.abs(steps).max(axis=1)[signs != home]
        assert turned.min(initial=np.inf) >= certified * (1 - 1e-9)
        values = np.asarray(graph(points.setting.center + steps[np.abs(steps).max(axis=1) < certified][:300]))
        gaps = np.abs(values[:, None] - values[None]).max(axis=2) + np.eye(len(values))
        assert gaps.min() > 0


def test_hard_swish_has_kinks() -> None:
    """x + h(x) / 2 around 0: the slope is 1 + (2 x + 3) / 12, 3/4 and 1 on both sides of -3."""
    result = ask(bend(0.5, 2, HardSwish()), [0.0, 0.0], max_radius=8.0)
    assert float(result.radius.certified) >= 8.0
    turned = ask(bend(3.0, 1, HardSwish()), [0.0], max_radius=8.0)  # 1 + (2 x + 3) / 2 = 0 at -5/2
    assert turned.radius.refuted is not None
    assert turned.radius.certified <= 2.5 <= turned.radius.refuted
    assert turned.verdict == "certified"


def test_domains_and_pinned_inputs() -> None:
    graph = bend(-2.0, 2)
    inside = ask(graph, [3.0, 3.0], domain=(1.0, 9.0), max_radius=4.0)
    assert float(inside.radius.certified) == 4.0
    whole = ask(graph, [3.0, 3.0], domain=(1.0, 9.0), max_radius=20.0)
    assert float(whole.radius.certified) == math.inf, "the domain ends at 6"
    pinned = ask(graph, [3.0, 3.0], domain={"low": [-9.0, 3.0], "high": [9.0, 3.0]})
    assert pinned.verdict == "certified"
    assert pinned.radius.refuted is not None
    assert pinned.radius.certified <= 3.0 - FOLD <= pinned.radius.refuted
    assert pinned.witness is not None
    assert pinned.witness.x[1] == pinned.witness.y[1] == 3.0
    turned = ask(graph.select([0]), [3.0, 3.0], domain={"low": [-9.0, 3.0], "high": [9.0, 3.0]})
    assert turned.verdict == "certified"
    assert turned.turned is not None
    point = ask(graph, [3.0, 3.0], domain=(3.0, 3.0))
    assert float(point.radius.certified) == math.inf


@pytest.mark.rule("R-13", "E-17")
def test_other_problems_get_both_ends() -> None:
    graph = bend(-2.0, 2)
    pseudo = ask(graph, [1.95, 1.95], problem="pseudo", time_limit=3.0)
    assert pseudo.radius.refuted == pytest.approx(1.97937812076377)  # x - 2 tanh(x) at 1.95 and there
    assert pseudo.verdict == "certified"
    assert pseudo.radius.certified <= 1.97937812076378
    assert "do not have the centre's" in pseudo.radius.certified.evidence
    assert pseudo.witness is not None
    assert pseudo.witness.y.tolist() == [1.95, 1.95]
    given = ask(graph, [3.0, 3.0], problem="transform", other=network(Gelu(), 3))
    assert given.verdict == "certified"
    assert given.radius.refuted is not None
    assert given.radius.certified <= 3.0 - FOLD <= given.radius.refuted
    assert "tell its points apart" in given.radius.certified.evidence
    same = ask(graph, [3.0, 3.0], problem="transform", other=graph, time_limit=1.0)
    assert same.radius.refuted is None
    more = ircert.stack(graph, network(Tanh(), 0))
    assert ask(more, [3.0, 3.0], time_limit=1.0).radius.certified > 1.0


@pytest.mark.rule("R-13")
@pytest.mark.parametrize("radius", [None, 1.5])
def test_curves_in_the_other_network_alone(radius: float | None) -> None:
    """|x| around 1 tells points apart up to 1, and the other network tells x from -x."""
    fold = ircert.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    result = ask(fold, [1.0], problem="transform", other=bend(3.0), radius=radius)
    assert result.verdict == ("certified" if radius is None else "refuted")
    assert result.radius.refuted is not None
    assert result.radius.certified <= 1.0 <= result.radius.refuted


@pytest.mark.rule("R-13")
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_fewer_outputs_than_inputs(problem: str) -> None:
    graph = bend(-2.0, 2)
    other = {"other": network(Gelu(), 3)} if problem == "transform" else {}
    search = ask(graph.select([0]), [3.0, 3.0], problem=problem, **other)
    assert (search.verdict, search.radius.refuted) == ("refuted", 0.0)
    ball = ask(graph.select([0]), [3.0, 3.0], problem=problem, radius=0.5, **other)
    assert ball.verdict == "refuted"
    assert ball.witness is not None
    if problem != "transform":
        assert ball.optimum is not None
        assert 0.4 < ball.optimum.value <= ball.optimum.bound == (1.0 if problem == "local" else 0.5)


@pytest.mark.rule("R-13")
def test_the_centre_may_be_alone() -> None:
    """softplus(x) + softplus(-x) + softplus(y) + softplus(-y) has its least value at 0 alone, and no other twice."""
    build = ircert.Builder(2)
    bent = build.node(Softplus(), build.affine(build.input, [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
    graph = build.graph(build.affine(bent, np.ones((1, 4))))
    alone = ask(graph, [0.0, 0.0], problem="pseudo", time_limit=2.0, max_radius=4.0)
    assert (alone.verdict, alone.radius.refuted) == ("unresolved", None)
    assert "fewer outputs" in str(alone.reason)
    assert ask(graph, [0.5, 0.0], problem="pseudo").radius.refuted == 0.0


@pytest.mark.rule("R-13")
def test_more_outputs_than_inputs() -> None:
    """(x - 2 tanh(x), an even function) meets itself at the roots of x = 2 tanh(x) and nowhere else."""
    build = ircert.Builder(1)
    odd = build.add(build.input, build.affine(build.node(Tanh(), build.input), [[-2.0]]))
    even = build.affine(build.node(Silu(), build.affine(build.input, [[1.0], [-1.0]])), [[1.0, 1.0]])
    result = ask(build.graph(build.concat(odd, even)), [0.25], time_limit=3.0)
    assert result.radius.refuted == pytest.approx(0.25 + 1.9150080481545375)
    assert result.turned is None
    assert result.witness is not None
    assert sorted(np.concatenate([result.witness.x, result.witness.y])) == pytest.approx([-1.91500805, 1.91500805])


@pytest.mark.rule("E-17")
def test_a_first_ball_may_be_small() -> None:
    """Near a fold `pseudo` begins with smaller balls: silu(x) = silu(-1) at x = -1.5969, x - 2 tanh(x) at 1.0708."""
    build = ircert.Builder(1)
    silu = build.graph(build.node(Silu(), build.input))
    for graph, center, expected in ((silu, -1.0, 0.596918), (bend(-2.0), 0.7, 0.370757)):
        found = ask(graph, [center], problem="pseudo", tol=1e-6)
        assert found.radius.refuted == pytest.approx(expected, rel=1e-5)
        assert found.radius.certified == pytest.approx(expected, rel=1e-5)


@pytest.mark.rule("E-17")
def test_a_search_that_proves_nothing_ends() -> None:
    """Without a time limit: at a centre without a regular Jacobian there is no ball to begin with."""
    build = ircert.Builder(2)
    flat = build.graph(build.relu(build.node(Tanh(), build.input)))
    found = ask(flat, [-1.0, -1.0], time_limit=None)
    assert (found.verdict, found.radius.certified) == ("unresolved", 0.0)


def test_auto_asks_boxes_and_others_refuse_in_words() -> None:
    graph = bend(-2.0, 2)
    assert ask(graph, [3.0, 3.0], engine="auto").verdict == "certified"
    for engine in ("regions", "milp"):
        with pytest.raises(QueryError, match="needs linear regions"):
            ask(graph, [3.0, 3.0], engine=engine)
    with pytest.raises(IrcertError, match="tanh"):
        ircert.program(graph, ircert.Query("local", center=[0, 0], radius=1.0))
    build = ircert.Builder(1)
    graph = build.graph(build.add(build.input, build.node(Log(), build.node(Softplus(), build.input))))
    assert "no search takes `log`" in str(ask(graph, [0.0]).reason)


def test_the_first_report_counts_curves() -> None:
    seen: list[str] = []
    ask(network(Tanh(), 0, relus=True), [0.0, 0.0], radius=0.01, progress=lambda p: seen.append(p.text))
    assert seen[0] == "16 neurons, of which 8 are smooth"


def test_processes_share_a_cover() -> None:
    result = ask(network(Tanh(), 5, (3, 8, 8, 3)), [0.0] * 3, max_radius=2.0, threads=2, time_limit=6.0)
    assert result.radius.certified > 0.1


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from(["local", "pseudo", "transform"]))
def test_compositions_of_shears_are_never_refuted(seed: int, problem: str) -> None:
    """Each adds a curve, or a relu, of one input to another: whatever they are, the map is one-to-one."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(2)
    x = build.input
    for _ in range(3):
        i = int(rng.integers(2))
        z = build.affine(x, rng.normal(size=(1, 2)) * np.eye(2)[1 - i] * 3, rng.normal(size=1))
        curve = (Tanh(), Gelu(), Sin(), HardSwish(), Elu(2.0))[int(rng.integers(5))]
        bent = build.relu(z) if rng.random() < 0.25 else build.node(curve, z)
        x = build.add(x, build.affine(bent, rng.normal(size=(2, 1)) * np.eye(2)[:, [i]] * 5))
    other = {"other": network(Silu(), seed)} if problem == "transform" else {}
    result = ask(build.graph(x), rng.normal(size=2), problem=problem, time_limit=0.3, radius=2.0, **other)
    assert result.verdict != "refuted"
    assert (result.witness, result.turned) == (None, None)


def test_networks_whose_matrices_are_too_large_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smooth_search, "MOST_ENTRIES", 3)
    build = ircert.Builder(2)
    bent = build.node(Tanh(), build.affine(build.input, [[1.0, 2.0], [3.0, 4.0]]))
    graph = build.graph(build.add(build.input, build.affine(bent, -np.eye(2))))
    found = ircert.certify(graph, [0.0, 0.0], engine="boxes", time_limit=10)
    assert (found.verdict, float(found.radius.certified)) == ("unresolved", 0.0)
    assert "8 entries" in found.summary()


@pytest.mark.rule("E-17")
def test_a_smaller_ball_comes_before_that_of_a_violation() -> None:
    """x + 2 exp(-x²) turns near 0.3: balls up to there may take all the time, and something is proved before."""
    build = ircert.Builder(2)
    bell = build.node(Exp(), build.affine(build.node(Square(), build.input), -np.eye(2)))
    graph = build.graph(build.add(build.input, build.affine(bell, [[2.0, 0.25], [0.25, 2.0]])))
    seen: list[str] = []
    found = ask(graph, [0.0, 0.0], tol=1e-3, progress=lambda p: seen.append(p.text))
    assert found.radius.refuted is not None
    balls = [text for text in seen if text.startswith("radius")]
    first = next(k for k, text in enumerate(balls) if text.endswith("closed"))
    assert first < EARLY
    assert float(balls[first].split()[1][:-1]) < found.radius.refuted
    assert found.verdict == "certified"


def test_slopes_that_explode_farther_away_do_not_spoil_small_balls() -> None:
    """(x, y (exp(exp(x)) - 2)) turns at x = log(log(2)); within the reach of a search slopes are beyond floats."""
    build = ircert.Builder(2)
    x, y = (build.affine(build.input, [row]) for row in ([1.0, 0.0], [0.0, 1.0]))
    scale = build.affine(build.node(Exp(), build.node(Exp(), x)), [[1.0]], [-2.0])
    graph = build.graph(build.concat(x, build.node(Product(), y, scale)))
    found = ircert.certify(graph, [1.0, 1.0], time_limit=5)
    assert found.radius.refuted == pytest.approx(1 - math.log(math.log(2)), rel=1e-4)
    assert 0.01 < found.radius.certified < 1 - math.log(math.log(2))
