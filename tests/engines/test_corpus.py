"""The corpus of adversarial numbers through every engine and every solver: never a wrong verdict."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ircert
from ircert import backends
from ircert.geometry.norm import Norm
from tests.engines.corpus import corpus, min_net, slope
from tests.generated.networks import NORMS
from tests.oracle.build import Network
from tests.oracle.oracle import Answer, local_radius, pseudo_radius

LIMIT = 4
CORPUS = corpus()
HARD = ("spread", "parallel", "sheets")
"""Where `boxes` may stay open: kinks of relative size 1e-16, lines that are all but one, many cells."""
SOLVERS = ("highs", "scip", "mip", "gurobi")


def truth(name: str, problem: str, norm: Norm) -> Answer:
    layers, center = CORPUS[name]
    return (local_radius if problem == "local" else pseudo_radius)(layers, center, norm, limit=LIMIT)


def solver(name: str) -> str:
    if not backends.get(name).is_available():
        pytest.skip(f"optional: the backend {name}")
    return name


def ask(layers: Network, center: Any, engine: str, **more: Any) -> ircert.Result:
    return ircert.certify(ircert.load(layers), center, engine=engine, **{"time_limit": 20, **more})


@pytest.mark.rule("E-1", "E-2", "E-3")
@pytest.mark.parametrize("name", CORPUS)
def test_radii_and_balls(name: str) -> None:
    """Brackets hold the oracle's radius and are closed; balls beside it have the right verdict."""
    layers, center = CORPUS[name]
    turn = list(CORPUS).index(name)
    for k, problem in enumerate(("local", "pseudo")[: 1 + (turn % 3 == 0)]):
        norm = NORMS[(turn + k) % 3]
        true = truth(name, problem, norm)
        for engine in ("boxes", "regions", "auto"):
            hard = engine == "boxes" and name.startswith(HARD)
            options = {"problem": problem, "norm": norm, "time_limit": 2 if hard else 30}
            found = ask(layers, center, engine, max_radius=LIMIT, tol=1e-4, **options)
            low, high = found.radius.certified, found.radius.refuted
            where = f"{problem}, {norm}, {engine}: [{low}, {high}], {float(true.lower)}, {found.reason}"
            assert true.upper is None or float(low) <= float(true.upper) * (1 + 1e-12), where
            assert high is None or float(high) >= float(true.lower) * (1 - 1e-12), where
            assert high is None or true.upper is not None, where
            assert found.verdict == ("refuted" if true.upper == 0 else "certified") or hard, where
        if true.upper is not None:
            inside, outside = 0.99 * float(true.lower), 1.01 * float(true.upper) or 0.5
            for engine in ("regions",) if name.startswith(HARD) else ("boxes", "regions"):
                options = {"problem": problem, "norm": norm}
                assert ask(layers, center, engine, radius=outside, **options).verdict == "refuted"
                assert inside == 0 or ask(layers, center, engine, radius=inside, **options).verdict == "certified"


@pytest.mark.rule("E-4", "E-5", "E-6")
@pytest.mark.parametrize("k", [20, 30, 37, 45])
@pytest.mark.parametrize("backend", SOLVERS)
def test_a_collapsed_axis_with_every_solver(backend: str, k: int) -> None:
    """min(x, 0) on [-2, 1]: refuted, and p* = 1; SCIP and CBC believe 0."""
    found = ask(min_net(2.0**-k), [-0.5], "milp", radius=1.5, backend=solver(backend))
    assert found.verdict == "refuted"
    assert found.optimum is not None
    assert found.optimum.value <= 1 + 1e-12
    assert found.optimum.bound >= 1 - 1e-9
    assert ask(min_net(2.0**-k), [0.0], "milp", radius=1.0, backend=backend).verdict == "refuted"
    assert ask(min_net(2.0**-k), [-0.75], "milp", radius=0.5, backend=backend).verdict == "certified"


@pytest.mark.rule("E-4", "E-6")
@pytest.mark.parametrize("k", [10, 30, 45])
@pytest.mark.parametrize("backend", SOLVERS)
def test_a_tiny_slope_with_every_solver(backend: str, k: int) -> None:
    """Injective, though every solver reports p* = 2 r."""
    for problem in ("local", "pseudo"):
        found = ask(slope(2.0**-k), [0.25], "milp", problem=problem, radius=1.0, backend=solver(backend))
        assert (found.verdict, found.optimum) == ("certified", (0.0, 0.0, "exact"))


@pytest.mark.rule("E-1", "E-6")
@pytest.mark.parametrize("backend", SOLVERS)
def test_little_time_with_every_solver(backend: str) -> None:
    """Where the deadline is near, the answer may be open and is never wrong."""
    for name, (layers, center) in list(CORPUS.items())[::8]:
        true = truth(name, "local", "inf")
        upper = math.inf if true.upper is None else float(true.upper)
        for radius in (0.5, 1.0):
            found = ask(layers, center, "milp", radius=radius, backend=solver(backend), time_limit=0.05)
            assert found.verdict != ("refuted" if radius < float(true.lower) else "certified") or radius == upper, name


@pytest.mark.parametrize("engine", ["boxes", "regions", "auto"])
def test_a_centre_far_away(engine: str) -> None:
    """Cells of width 1e-3 at a distance of 1e9 from 0."""
    tooth, _ = CORPUS["tooth-0.001"]
    (w, b), *rest = tooth
    shift = np.array([2.0**30, -(2.0**30)])
    moved = [(w, b - w @ shift), *rest]
    plain = ask(tooth, [-0.5, 0.0], engine, tol=1e-4, max_radius=LIMIT)
    found = ask(moved, np.array([-0.5, 0.0]) + shift, engine, tol=1e-4, max_radius=LIMIT)
    assert (plain.verdict, found.verdict) == ("certified", "certified")
    assert float(found.radius.certified) == pytest.approx(float(plain.radius.certified), rel=2e-3)
