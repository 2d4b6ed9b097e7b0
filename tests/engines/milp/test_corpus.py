"""The corpus of adversarial numbers through the engine `milp` with every solver: never a wrong verdict."""

from __future__ import annotations

import math
from typing import Any

import pytest

import ircert
from ircert import backends
from tests.effort import some_of
from tests.engines.corpus import corpus, min_net, slope
from tests.oracle.build import Network
from tests.oracle.oracle import local_radius

LIMIT = 4
CORPUS = corpus()
SOLVERS = ("highs", "scip", "mip", "gurobi")


def solver(name: str) -> str:
    if not backends.get(name).is_available():
        pytest.skip(f"optional: the backend {name}")
    return name


def ask(layers: Network, center: Any, **more: Any) -> ircert.Result:
    return ircert.certify(ircert.load(layers), center, engine="milp", **{"time_limit": 20, **more})


@pytest.mark.rule("E-4", "E-5", "E-6")
@pytest.mark.parametrize(("backend", "k"), some_of(SOLVERS, [20, 30, 37, 45], every=2))
def test_a_collapsed_axis_with_every_solver(backend: str, k: int) -> None:
    """min(x, 0) on [-2, 1]: refuted, and p* = 1; SCIP and CBC believe 0."""
    found = ask(min_net(2.0**-k), [-0.5], radius=1.5, backend=solver(backend))
    assert found.verdict == "refuted"
    assert found.optimum is not None
    assert found.optimum.value <= 1 + 1e-12
    assert found.optimum.bound >= 1 - 1e-9
    assert ask(min_net(2.0**-k), [0.0], radius=1.0, backend=backend).verdict == "refuted"
    assert ask(min_net(2.0**-k), [-0.75], radius=0.5, backend=backend).verdict == "certified"


@pytest.mark.rule("E-4", "E-6")
@pytest.mark.parametrize(("backend", "k"), some_of(SOLVERS, [10, 30, 45], every=2))
def test_a_tiny_slope_with_every_solver(backend: str, k: int) -> None:
    """Injective, though every solver reports p* = 2 r."""
    for problem in ("local", "pseudo"):
        found = ask(slope(2.0**-k), [0.25], problem=problem, radius=1.0, backend=solver(backend))
        assert found.verdict != "refuted"


@pytest.mark.rule("E-1", "E-6")
@pytest.mark.parametrize("backend", SOLVERS)
def test_little_time_with_every_solver(backend: str) -> None:
    """Where the deadline is near, the answer may be open and is never wrong."""
    for name, (layers, center) in list(CORPUS.items())[::8]:
        true = local_radius(layers, center, "inf", limit=LIMIT)
        upper = math.inf if true.upper is None else float(true.upper)
        for radius in (0.5, 1.0):
            found = ask(layers, center, radius=radius, backend=solver(backend), time_limit=0.05)
            assert found.verdict != ("refuted" if radius < float(true.lower) else "certified") or radius == upper, name
