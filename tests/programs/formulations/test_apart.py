"""Violations that are some way apart: nearest ones against the oracle, and what follows together with tangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import ircert
from ircert.engines.optimum.far_pairs import delicate
from ircert.errors import IrcertError
from ircert.ir.graph import Graph
from ircert.passes.merge_multiples import merged
from ircert.programs.encodings.analyse import analyse
from ircert.programs.encodings.isolation import isolation, longest_in_box
from ircert.programs.formulations.apart import Apart
from ircert.programs.program import Program
from tests.effort import examples
from tests.oracle.build import Network, beside, curve, line, plain, square, summed, then
from tests.oracle.families import sample
from tests.oracle.oracle import local_radius, pseudo_radius
from tests.programs.encodings.fold_distance import ORDERS
from tests.programs.formulations.test_tangent import RADIUS, TOLERANCE, loaded, minimum, smallest

ABSOLUTE = curve([0.0], [[-1.0], [1.0]])


def apart(
    graph: Graph,
    problem: str,
    center: Any,
    radius: float,
    separation: float | None = None,
    norm: str = "inf",
    **more: Any,
) -> Program:
    domain = more.pop("domain", None)
    box = None if domain is None else {"low": domain[0], "high": domain[1]}
    return ircert.program(graph, ircert.Query(problem, center, radius, norm, domain=box, **more), Apart(separation))


def nearest(network: Network | Graph, center: Any, separation: float | None = None, **more: Any) -> float:
    """The least radius, or inf where there is nothing up to the largest."""
    options = {"problem": "local", "radius": RADIUS, "separation": separation, **more}
    backend = options.pop("backend", "highs")
    program = apart(loaded(network), center=np.asarray(center, float), **options)
    return minimum(program, backend)


@pytest.mark.rule("PR-12")
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
@pytest.mark.parametrize("backend", ["highs", "scip"])
def test_one_fold(norm: str, backend: str) -> None:
    """(|x1|, x2) at (1, 0): pairs that are δ apart reach 1 + δ / 2."""
    network = beside(ABSOLUTE, line(1))
    for delta in (0.125, 1.0):
        found = nearest(network, [1.0, 0.0], delta, norm=norm, backend=backend)
        assert found == pytest.approx(1 + delta / 2, abs=TOLERANCE)
    found = nearest(network, [1.0, 0.0], None, problem="pseudo", norm=norm, backend=backend)
    assert found == pytest.approx(2.0, abs=TOLERANCE)


@pytest.mark.rule("PR-12")
def test_far_collisions() -> None:
    """s∘s: what tangents do not see."""
    assert nearest(then(square(), square()), [1.0, 0.0], 0.25) == pytest.approx(0.5, abs=TOLERANCE)
    assert nearest(then(square(), square()), [1.0, 0.0], 0.25, radius=0.49) == np.inf


@pytest.mark.rule("PR-11", "PR-12")
@pytest.mark.parametrize("e", [0.5, 0.125])
@pytest.mark.parametrize("ratio", [0.5, 2.0, 2.9, 3.1, 5.0])
def test_tangents_and_far_pairs_together_bound_the_radius(e: float, ratio: float) -> None:
    """f(-e) = f(2e): whichever side of δ the pair is on, one of the two sees it."""
    network = curve([0.0, e], [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    thick, far = smallest(network, [e / 2], thickness=ratio * e), nearest(network, [e / 2], ratio * e)
    assert min(thick, far) <= 1.5 * e + TOLERANCE
    assert far == (pytest.approx(1.5 * e, abs=TOLERANCE) if ratio < 3 else np.inf)


@pytest.mark.rule("PR-11", "PR-12")
@pytest.mark.parametrize(
    ("seed", "norm", "chosen"),
    [
        # every other family, and all of them
        *((2, "inf", range(0, 22, 2)), (2, "1", range(1, 22, 2))),
        *(pytest.param(seed, norm, range(22), marks=pytest.mark.slow) for seed in range(6) for norm in ("inf", "1")),
    ],
)
def test_the_bound_never_exceeds_the_radius(seed: int, norm: str, chosen: range) -> None:
    """All families of the oracle: min(T_δ, F_δ) <= r, and it comes near where δ is small."""
    rng, checked, near = np.random.default_rng(seed), 0, 0
    for index in range(22):
        found = sample(rng, index)
        if len(found.center) > 2 or index not in chosen:
            continue
        radius = local_radius(found.layers, found.center, norm, limit=RADIUS).upper
        program = apart(loaded(found.layers), "local", tuple(found.center), RADIUS, 0.05, norm)
        if delicate(program) is not None:
            continue
        bound = min(minimum(program), smallest(found.layers, found.center, norm, thickness=0.05))
        assert bound <= (np.inf if radius is None else float(radius)) + TOLERANCE, found.name
        checked += 1
        near += radius is None or bound >= float(radius) - 0.25
    assert checked >= len(chosen) // 3
    assert near >= 0.7 * checked


@pytest.mark.rule("PR-13")
@pytest.mark.parametrize("norm", ["inf", "1"])
def test_pseudo_in_one_solve(norm: str) -> None:
    """Where the optimum exceeds what homogeneity covers, it is the radius; else the radius may be anything."""
    rng, checked = np.random.default_rng(1), 0
    for index in range(44):
        found = sample(rng, index)
        graph = merged(loaded(found.layers))
        query = ircert.Query("pseudo", found.center, RADIUS, norm)
        epsilon = isolation(analyse(graph, query.ball), query.ball)
        if len(found.center) > 2 or epsilon < 1e-3:
            continue
        program = apart(loaded(found.layers), "pseudo", tuple(found.center), RADIUS, None, norm)
        if delicate(program) is not None:
            continue
        best = minimum(program)
        if best > epsilon * longest_in_box(query.ball) * (1 + 1e-6):
            wanted = pseudo_radius(found.layers, found.center, norm, limit=RADIUS).upper
            assert min(best, RADIUS) == pytest.approx(min(RADIUS, float(wanted or RADIUS)), abs=TOLERANCE), found.name
            checked += 1
    assert checked >= 8


@examples(6, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6))
def test_a_solution_is_a_pair_of_the_network(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = summed(line(2, 1), plain(rng, [2, 5, 2], True), 1.0)
    graph, center = loaded(network), rng.uniform(-1, 1, 2)
    program = apart(graph, "local", tuple(center), 2.0, 0.5, "1")
    outcome = ircert.backends.get("highs").solve(program, time_limit=60)  # type: ignore[attr-defined]
    if outcome.point is None:
        return
    x, y = (outcome.point[program.block(name).where] for name in "xy")
    assert np.abs(graph(x) - graph(y)).max() <= 1e-4
    assert np.abs(x - y).max() >= 0.5 - 1e-5
    assert max(np.linalg.norm(p - center, ORDERS["1"]) for p in (x, y)) == pytest.approx(outcome.value, abs=1e-4)


@pytest.mark.rule("PR-12")
def test_transform_excludes_gaps_of_that_size_only() -> None:
    """f = |x| and g = 100 x: gaps of η need |x| = η / 200; the radius is 0 all the same."""
    steep = ircert.load([([[100.0]], None)])
    for gap in (1.0, 50.0):
        found = nearest(ABSOLUTE, [0.0], gap, problem="transform", other=steep)
        assert found == pytest.approx(gap / 200, abs=TOLERANCE)
    assert nearest(line(1), [0.0], 1e-2, problem="transform", other=steep) == np.inf


@pytest.mark.parametrize("separation", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_separations(separation: float) -> None:
    with pytest.raises(IrcertError, match="the separation must be a positive number"):
        apart(loaded(ABSOLUTE), "local", (0.0,), 1.0, separation)
    with pytest.raises(
        IrcertError, match=r"needs the least gap to look for; write for example apart\{separation=0.1\}"
    ):
        apart(loaded(ABSOLUTE), "local", (0.0,), 1.0, None)
