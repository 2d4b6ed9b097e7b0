"""T against the fold set, the oracle and the traps: what it bounds, and what it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import ircert
from ircert import backends
from ircert.backends.base import Solver, Status
from ircert.backends.lp import Lp
from ircert.engines.optimum.far_pairs import delicate
from ircert.errors import IrcertError
from ircert.ir.graph import Graph
from ircert.programs.formulations.tangent import Tangent
from ircert.programs.program import Program
from ircert.questions.network import lowered as canonical
from tests.backends import emitting
from tests.effort import examples
from tests.oracle.build import Network, beside, curve, line, plain, square, summed, then
from tests.oracle.families import sample
from tests.oracle.oracle import local_radius
from tests.programs.encodings.fold_distance import fold_distance

RADIUS = 4.0
NORMS = ("inf", "1", "2")
TOLERANCE = 2e-5


def loaded(network: Network | Graph) -> Graph:
    return network if isinstance(network, Graph) else canonical(ircert.load(network))


def tangent(graph: Graph, center: Any, radius: float, norm: str = "inf", domain: Any = None, **options: Any) -> Program:
    box = None if domain is None else {"low": domain[0], "high": domain[1]}
    return ircert.program(graph, ircert.Query("local", center, radius, norm, domain=box), Tangent(**options))


def smallest(network: Network | Graph, center: Any, norm: str = "inf", backend: str = "highs", **more: Any) -> float:
    """T, or inf where there is nothing up to the radius."""
    options = {"radius": RADIUS, **more}
    program = tangent(loaded(network), np.asarray(center, float), norm=norm, **options)
    return minimum(program, backend)


def minimum(program: Any, backend: str = "highs") -> float:
    solver = backends.get(backend)
    assert isinstance(solver, Solver)
    outcome = solver.solve(program, time_limit=60, gap=1e-6)
    if outcome.status is Status.INFEASIBLE:
        return np.inf
    assert outcome.status is Status.OPTIMAL, outcome
    assert outcome.value is not None
    return outcome.value


@pytest.mark.rule("PR-10")
@examples(3, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6), st.sampled_from(NORMS))
def test_it_is_the_distance_to_the_fold_set(seed: int, norm: str) -> None:
    """Networks with random weights: nothing is degenerate, and both agree."""
    rng = np.random.default_rng(seed)
    network = summed(line(2, 2), plain(rng, [2, 4, 4, 2], True), 0.5)
    center = rng.uniform(-1, 1, 2)
    wanted = fold_distance(loaded(network), center, RADIUS, norm)
    found = smallest(network, center, norm, "scip" if norm == "2" else "highs")
    assert min(found, RADIUS) == pytest.approx(min(wanted, RADIUS), abs=TOLERANCE)


@pytest.mark.rule("PR-10")
@examples(12, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6), st.data())
def test_it_never_exceeds_the_distance_to_the_fold_set(seed: int, data: st.DataObject) -> None:
    """Dyadic networks, degenerate as they like."""
    network = plain(np.random.default_rng(seed), [2, 4, 3, 2], False)
    center = [data.draw(st.integers(-8, 8)) / 8 for _ in range(2)]
    assert smallest(network, center) <= fold_distance(loaded(network), center, RADIUS, "inf") + TOLERANCE


FOLDED = (
    "fold",
    "random_shallow",
    "residual",
    "four_inputs",
    "pruned",
    "on_kinks",
    "on_fold",
    "thin",
    "wound",
    "vertex",
)


@pytest.mark.rule("PR-10")
def test_families_with_folds() -> None:
    """Where the nearest violation of the exact oracle is a fold, T is no larger than its radius."""
    rng, checked = np.random.default_rng(7), 0
    for index in range(44):
        found = sample(rng, index)
        if found.name.split("-")[0] not in FOLDED or len(found.center) > 3:
            continue
        answer = local_radius(found.layers, found.center, "inf", limit=RADIUS)
        program = tangent(loaded(found.layers), tuple(found.center), RADIUS)
        if answer.kind not in ("fold", "singular") or delicate(program) is not None:
            continue
        assert answer.upper is not None
        assert minimum(program) <= float(answer.upper) + TOLERANCE
        checked += 1
    assert checked >= 8


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("backend", ["highs", "mip", "scip"])
def test_ground_truth_in_all_norms(norm: str, backend: str) -> None:
    """(|x1 - t|, x2): T = |c1 - t| in every norm; for a slanted fold the norms differ."""
    fold = beside(curve([0.25], [[-1.0], [1.0]]), line(1))
    assert smallest(fold, [1.0, 0.5], norm, backend) == pytest.approx(0.75, abs=TOLERANCE)
    (w, b), *rest = fold
    slanted = [(w @ np.array([[1.0, 2.0], [0.0, 1.0]]), b), *rest]  # |x1 + 2 x2 - t|
    wanted = 0.75 / {"inf": 3.0, "1": 2.0, "2": np.sqrt(5.0)}[norm]
    assert smallest(slanted, [1.0, 0.0], norm, backend) == pytest.approx(wanted, abs=TOLERANCE)


def test_the_coordinates_together_are_the_disjunction() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        network, center = plain(rng, [3, 5, 3], True), rng.uniform(-1, 1, 3)
        each = [smallest(network, center, coordinate=j) for j in range(3)]
        assert smallest(network, center) == pytest.approx(min(each), abs=TOLERANCE)


# --- what it does not say --------------------------------------------------------------------------------------------


@pytest.mark.rule("PR-10")
def test_sheets_that_overlap_without_a_fold() -> None:
    """s∘s at (1, 0): f(.5, .5) = f(.5, -.5), and no tangent within 0.8; only the winding point 0 is one."""
    twice = then(square(), square())
    assert smallest(twice, [1.0, 0.0], radius=0.8) == np.inf
    assert smallest(twice, [1.0, 0.0], radius=1.5) == pytest.approx(1.0, abs=TOLERANCE)
    assert local_radius(twice, [1.0, 0.0]).lower == 0.5


@pytest.mark.rule("PR-11")
@pytest.mark.parametrize("e", [0.5, 0.125, 2.0**-6])
def test_a_near_pair_without_a_tangent(e: float) -> None:
    """f(-e) = f(2e) and nothing else: no tangent at all, so that T with far pairs alone would be wrong."""
    network = curve([0.0, e], [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    assert smallest(network, [e / 2]) == np.inf
    assert smallest(network, [e / 2], thickness=e / 2) == np.inf
    assert smallest(network, [e / 2], thickness=3 * e) == pytest.approx(0.0, abs=TOLERANCE)


@pytest.mark.rule("PR-11")
@examples(3, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6))
def test_thickness_only_lowers_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network, center = plain(rng, [2, 4, 3, 2], True), rng.uniform(-1, 1, 2)
    found = [smallest(network, center, thickness=delta) for delta in (0.0, 1e-3, 0.1)]
    assert found[0] >= found[1] - TOLERANCE >= found[2] - 2 * TOLERANCE


@pytest.mark.parametrize("hidden", [1, 2])
def test_pairs_of_opposite_neurons_share_their_slope(hidden: int) -> None:
    """The identity written relu(x) - relu(-x) has no tangent, nor has what residual folding makes of x + g(x)."""
    for thickness in (0.0, 0.1):
        assert smallest(line(2, hidden), [0.25, 0.0], thickness=thickness) == np.inf
    build = ircert.Builder(2)
    inner = build.affine(
        build.relu(build.affine(build.input, [[0.5, 0.25], [0.125, -0.5]], [0.0, 0.25])), 0.5 * np.eye(2)
    )
    graph = build.graph(build.add(build.input, inner))
    folded = ircert.Pipeline.parse("fold-residual")(graph)
    assert smallest(graph, [0.0, 0.0]) == np.inf
    assert smallest(folded, [0.0, 0.0]) == np.inf


# --- the program as data ---------------------------------------------------------------------------------------------


def small() -> Graph:
    return ircert.load([([[1.0, 0.5], [-0.5, 1.0]], [0.0, -0.25]), ([[1.0, -1.0], [0.5, 1.0]], None)])


@pytest.mark.parametrize(("name", "norm"), [("tangent.lp", "inf"), ("tangent-2.lp", "2")])
def test_golden(name: str, norm: str, tmp_path: Path, update_golden: bool) -> None:
    program = ircert.program(small(), ircert.Query("local", [0.25, 0.5], 1.0, norm), formulation="tangent")
    emitting.assert_golden(Lp(), program, name, tmp_path, update_golden)


def test_the_radius_of_the_question_is_the_largest() -> None:
    program = ircert.program(small(), ircert.Query("local", [0.25, 0.5], 0.75), formulation="tangent")
    assert program.upper[program.block("r").where] == pytest.approx([0.75])
    assert not program.maximise
    assert program.about["formulation"] == "tangent"


def test_inputs_that_do_not_vary_are_no_directions() -> None:
    """(|x1|, x2) with x1 pinned: nothing folds."""
    network = beside(curve([0.0], [[-1.0], [1.0]]), line(1))
    assert smallest(network, [0.0, 0.5]) == pytest.approx(0.0, abs=TOLERANCE)
    assert smallest(network, [0.0, 0.5], domain=((0.0, -9.0), (0.0, 9.0))) == np.inf


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"thickness": -1.0}, "thickness must be a number of at least 0"),
        ({"thickness": float("nan")}, "thickness must be a number of at least 0"),
        ({"coordinate": 2}, "input 2 is none, or does not vary"),
        ({"coordinate": 0, "domain": ((0.0, -1.0), (0.0, 1.0))}, "input 0 is none, or does not vary"),
        ({"center": (0.0,)}, "the centre has 1 coordinates"),
    ],
)
def test_bad_questions(options: dict[str, Any], says: str) -> None:
    with pytest.raises(IrcertError, match=says):
        tangent(small(), **{"center": (0.0, 0.0), "radius": 1.0, **options})


def test_other_problems() -> None:
    query = ircert.Query("transform", [0.0, 0.0], 1.0, other=small())
    with pytest.raises(IrcertError, match="is for `local` and `pseudo`"):
        ircert.program(small(), query, formulation="tangent")
