"""max_radius=inf asks about the whole space: answered by structure or by unbounded regions, else honestly open."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert import Graph
from ircert.cli.main import run
from ircert.engines.base import Cause
from ircert.engines.boxes.search.search import Search
from ircert.errors import QueryError
from tests.effort import some_of
from tests.result.support import fold, read

KINK = ircert.load([([[1.0], [-1.0]], None), ([[2.0, -1.0]], None)])
"""2 x for x > 0, x for x < 0."""


def bent(n: int, m: int) -> Graph:
    """A network that is injective, but not by one of the arguments that need no search."""
    rng = np.random.default_rng(0)
    build = ircert.Builder(n)
    bump = build.relu(build.affine(build.input, rng.standard_normal((6, n)), rng.standard_normal(6)))
    rows = np.vstack([np.eye(n), rng.standard_normal((m - n, n))])
    scale = 0.5 if m == n else 1.0
    change = build.affine(bump, rng.standard_normal((m, 6)) * scale / math.sqrt(6))
    return build.graph(build.add(build.affine(build.input, rows), change))


def twisted(m: int) -> Graph:
    """Three inputs, injective, and no matrix C makes sym(C J) positive definite on all its regions.

    With three outputs, two shears (x, y + 2 |x|) and (x + 2 |y|, y); with four, a line that turns round.
    """
    build, axes = ircert.Builder(3), np.eye(3)
    if m == 3:
        x = build.input
        for i, j in ((1, 0), (0, 1)):
            # x itself as relu(x) - relu(-x): the structure does not tell
            bent = build.relu(build.affine(x, np.vstack([axes, -axes, np.outer([1.0, -1.0], axes[j])])))
            x = build.affine(bent, np.hstack([axes, -axes, np.outer(axes[i], [2.0, 2.0])]))
        return build.graph(x)
    kinks = build.relu(build.affine(build.input, [[1.0, 0.0, 0.0]] * 2, [0.0, -1.0]))
    rows = np.zeros((4, 5))
    rows[:2, [0, 3, 4]] = [[1.0, -1.0, -1.0], [0.0, 1.0, -1.0]]
    rows[2:, 1:3] = np.eye(2)
    return build.graph(build.affine(build.concat(build.input, kinks), rows))


@pytest.mark.rule("Q-3", "R-2")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("engine", ["auto", "regions"])
def test_the_whole_space_is_good(engine: str, problem: str) -> None:
    found = ircert.certify(KINK, [0.5], problem, max_radius=math.inf, engine=engine)
    assert (found.verdict, found.trust) == ("certified", "exact")
    assert (found.radius.certified, found.radius.refuted) == (math.inf, None)
    assert found.max_radius == math.inf
    assert "on every ball" in found.summary()
    assert read(found.to_json())["asked"]["max_radius"] == "inf"
    assert read(found.to_json())["radius"]["certified"] == "inf"


@pytest.mark.rule("Q-3")
@pytest.mark.parametrize("engine", ["auto", "boxes"])
def test_structure_answers_at_once(engine: str) -> None:
    affine = ircert.load([(np.eye(5) * 3.0, None)])
    found = ircert.certify(affine, np.zeros(5), max_radius=np.inf, engine=engine)
    assert (found.verdict, found.radius.certified) == ("certified", math.inf)
    flat = ircert.certify(ircert.load([(np.ones((1, 5)), None)]), np.zeros(5), max_radius=np.inf, engine=engine)
    assert (flat.verdict, flat.radius.refuted) == ("refuted", 0.0)


@pytest.mark.rule("Q-3")
@pytest.mark.parametrize("engine", ["auto", "regions", "boxes"])
@pytest.mark.parametrize("problem", ["local", "pseudo"])
def test_the_whole_space_is_not_good(engine: str, problem: str) -> None:
    found = ircert.certify(fold(), [0.75], problem, max_radius=math.inf, engine=engine)
    assert found.verdict == "certified"
    assert found.radius.refuted == pytest.approx(0.75 if problem == "local" else 1.5, rel=1e-6)


@pytest.mark.rule("Q-3")
@pytest.mark.parametrize(("problem", "outputs"), some_of(["local", "pseudo"], [3, 4], every=2))
def test_a_large_ball_is_not_the_whole_space(problem: str, outputs: int) -> None:
    """Three inputs, and no matrix for all regions: balls are proved, and what lies beyond them stays open."""
    graph, center, engine = twisted(outputs), [0.125, 0.25, 0.5], "boxes"  # auto takes it apart
    found = ircert.certify(graph, center, problem, max_radius=math.inf, engine=engine)
    assert (found.verdict, found.radius.certified, found.radius.refuted) == ("unresolved", 1e6, None)
    assert "not the whole space" in str(found.reason)
    assert found.stop is not None
    assert found.stop.cause is Cause.UNDECIDED
    assert "and no end was found" in found.summary()
    assert read(found.to_json())["asked"]["max_radius"] == "inf"
    ball = ircert.certify(graph, center, problem, max_radius=1e6, engine=engine)
    assert (ball.verdict, ball.radius.certified) == ("certified", 1e6)


@pytest.mark.rule("Q-3", "E-16")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("outputs", [3, 4])
@pytest.mark.parametrize("limit", [math.inf, 1e6])
def test_one_matrix_proves_the_whole_space(problem: str, outputs: int, limit: float) -> None:
    found = ircert.certify(bent(3, outputs), [0.125, 0.25, 0.5], problem, max_radius=limit)
    assert (found.verdict, found.trust) == ("certified", "exact")
    assert (found.radius.certified, found.radius.refuted) == (math.inf, None)


@pytest.mark.rule("Q-3")
def test_tangents_prove_balls_only() -> None:
    flat = ircert.load([([[1.0], [-1.0]], None), ([[2.0, -1.0]], None)])
    found = ircert.certify(flat, [0.5], max_radius=math.inf, engine="milp", formulation="tangent", time_limit=5)
    assert found.verdict == "unresolved"
    assert found.radius.certified < math.inf


@pytest.mark.rule("Q-3")
@pytest.mark.parametrize("wrong", [0, -1.0, -math.inf, math.nan, "inf", None])
def test_what_is_no_limit(wrong: Any) -> None:
    if wrong is None:
        with pytest.raises(QueryError, match="the radius must be a positive number, got inf"):
            ircert.certify(KINK, [0.5], radius=math.inf)
        return
    with pytest.raises(QueryError, match="max_radius must be a positive number"):
        ircert.certify(KINK, [0.5], max_radius=wrong)


@pytest.mark.rule("Q-3")
def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, graph in (("kink", KINK), ("bent", bent(3, 3)), ("twisted", twisted(3)), ("fold", fold())):
        ircert.save(graph, tmp_path / f"{name}.ir")

    def certify(name: str, *rest: str) -> int:
        return run(["certify", str(tmp_path / f"{name}.ir"), "--max-radius", "inf", *rest])

    assert certify("kink", "--center", "0.5", "--json", "-") == 0
    assert read(capsys.readouterr().out)["asked"]["max_radius"] == "inf"
    assert certify("kink", "--center", "0.5") == 0
    assert capsys.readouterr().out.startswith("certified: the network is injective on every ball")
    assert certify("bent", "--center", "0,0,0") == 0
    assert certify("twisted", "--center", "0.125,0.25,0.5", "--engine", "boxes") == 3
    assert certify("twisted", "--center", "0.125,0.25,0.5") == 0
    assert certify("fold", "--center", "0") == 1
    capsys.readouterr()
    for wrong in (["--max-radius", "nan"], ["--max-radius", "-inf"], ["--radius", "inf"]):
        assert run(["certify", str(tmp_path / "kink.ir"), "--center", "0.5", *wrong]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)


@pytest.mark.rule("E-3")
def test_larger_limits_take_few_more_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 1e6 to 1e300 there are a thousand doublings, and fewer than a hundred balls are proved."""
    real, balls = Search._prove, [0]

    def counted(self: Search, *given: Any, **more: Any) -> Any:
        balls[-1] += 1
        return real(self, *given, **more)

    monkeypatch.setattr(Search, "_prove", counted)
    for limit in (1e6, 1e300):
        balls.append(0)
        found = ircert.certify(twisted(3), [0.125, 0.25, 0.5], max_radius=limit, engine="boxes")
        assert (found.verdict, found.radius.certified) == ("certified", limit)
    assert balls[2] <= balls[1] + 100
