"""The engine `milp`, formulation `paper`: against the oracle, in all problems, norms and backends; what results say."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import ircert
from ircert import backends
from ircert.backends.base import Outcome, Status
from ircert.backends.highs import Highs
from ircert.data.networks import bundled
from ircert.engines import get
from ircert.engines.base import Answer, Cause, Progress, Question
from ircert.engines.milp import ball
from ircert.engines.milp.engine import Milp
from ircert.engines.milp.near_diagonal import Near
from ircert.engines.optimum.far_pairs import FarPairs
from ircert.errors import BackendError, QueryError
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.result.radius import End
from ircert.result.result import Result
from tests.engines.corpus import near_pair
from tests.oracle.build import Network, beside, curve, line, square, then
from tests.oracle.families import FAMILIES, Sample, sample
from tests.oracle.oracle import Answer as Truth
from tests.oracle.oracle import local_radius, pseudo_radius, transform_radius

NORMS = ("inf", "1", "2")
PROBLEMS = ("local", "pseudo", "transform")
SOLVERS = ("highs", "scip", "mip", "gurobi")
LIMIT = 4
FOLD = beside(curve([0.5], [[-1.0], [1.0]]), line(1))
"""(|x1 - 1/2|, x2)"""


def asked(layers: Network, center: Any, **options: Any) -> Result:
    if options.get("other") is not None:
        options["other"] = ircert.load(options["other"])
    return ircert.certify(ircert.load(layers), center, engine="milp", **{"time_limit": 60, **options})


def question(layers: Network, center: Any, **options: Any) -> Question:
    size = len(center)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    given: dict[str, Any] = {"radius": None, "max_radius": 2.0, **options}
    return Question(ircert.load(layers), None, "local", Place(np.asarray(center, float), Norm.INF, low, high), **given)


def truth(given: Sample, problem: str, norm: str) -> Truth:
    if problem == "transform":
        return transform_radius(given.layers, given.other, given.center, norm, limit=LIMIT)
    radius = {"local": local_radius, "pseudo": pseudo_radius}[problem]
    return radius(given.layers, given.center, norm, limit=LIMIT)


def agree(found: Result, true: Truth) -> None:
    """The bracket holds the true radius."""
    if true.upper is not None:
        assert float(found.radius.certified) <= float(true.upper) * (1 + 1e-12)
    if found.radius.refuted is not None:
        assert float(found.radius.refuted) >= float(true.lower) * (1 - 1e-12)


# --- against the oracle ----------------------------------------------------------------------------------------------


@pytest.mark.rule("E-1", "M-1", "M-2", "M-3", "M-4")
@pytest.mark.parametrize(
    "index", [pytest.param(k, marks=[pytest.mark.slow] if k % 2 else []) for k in range(len(FAMILIES))]
)
def test_against_the_oracle(index: int) -> None:
    """Families of 1 to 4 inputs with every solver in turn: open perhaps, never wrong."""
    able = [name for name in SOLVERS if backends.get(name).is_available()]
    given = sample(np.random.default_rng(700 + index), index)
    norm, backend = NORMS[index % 3], able[index // 3 % len(able)]
    for problem in ["local", "pseudo"] if given.other is None else ["transform"]:
        true = truth(given, problem, norm)
        options: dict[str, Any] = {"problem": problem, "other": given.other, "norm": norm, "backend": backend}
        found = asked(given.layers, given.center, max_radius=LIMIT, tol=1e-2, time_limit=0.5, **options)
        agree(found, true)
        assert found.trust == "solver" or not found.radius.certified > 0
        if true.upper is not None and true.upper > 0:
            for factor, wrong in ((0.9, "refuted"), (1.1, "certified")):
                radius = factor * float(true.upper)
                ball = asked(given.layers, given.center, radius=radius, time_limit=0.25, **options)
                assert ball.verdict != wrong, (given.name, problem, norm, backend)


@pytest.mark.slow
@pytest.mark.parametrize("backend", SOLVERS)
@pytest.mark.parametrize("index", range(2 * len(FAMILIES)))
def test_against_the_oracle_at_length(index: int, backend: str) -> None:
    if not backends.get(backend).is_available():
        pytest.skip(f"optional: the backend {backend}")
    given = sample(np.random.default_rng(1700 + index), index)
    norm = NORMS[index // 3 % 3]
    for problem in ["local", "pseudo"] if given.other is None else ["transform"]:
        true = truth(given, problem, norm)
        options: dict[str, Any] = {"problem": problem, "other": given.other, "norm": norm, "backend": backend}
        agree(asked(given.layers, given.center, max_radius=LIMIT, tol=1e-2, time_limit=10, **options), true)
        if true.upper is not None and true.upper > 0:
            for factor, wrong in ((0.9, "refuted"), (0.999, "refuted"), (1.001, "certified"), (1.1, "certified")):
                radius = factor * float(true.upper)
                found = asked(given.layers, given.center, radius=radius, time_limit=5, **options)
                assert found.verdict != wrong, (given.name, problem, norm, backend)


# --- one ball --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("M-1", "M-2", "M-3", "M-6")
@pytest.mark.parametrize(
    ("backend", "problem", "norm"),
    [
        # with every solver each problem and each norm, with the first one each pair of them
        pytest.param(name, problem, norm, marks=[pytest.mark.slow] if name != SOLVERS[0] and (i + j) % 3 else [])
        for name in SOLVERS
        for i, problem in enumerate(PROBLEMS)
        for j, norm in enumerate(NORMS)
    ],
)
def test_a_fixed_ball(backend: str, problem: str, norm: str) -> None:
    """The fold at distance 1/2; its mirror image of the centre at distance 1."""
    if not backends.get(backend).is_available():
        pytest.skip(f"optional: the backend {backend}")
    radius, p = (1.0, 1.0) if problem == "pseudo" else (0.5, 0.25)
    options: dict[str, Any] = {"problem": problem, "norm": norm, "backend": backend}
    options["other"] = line(2) if problem == "transform" else None
    good = asked(FOLD, [0.0, 0.0], radius=0.9 * radius, **options)
    assert (good.verdict, good.trust, good.radius.certified) == ("certified", "solver", 0.9 * radius)
    assert f"({backend}) is right" in good.radius.certified.evidence
    assert good.optimum is not None
    assert (good.optimum.value, good.optimum.trust) == (0.0, "solver")
    assert 0 < good.optimum.bound < 1e-4
    bad = asked(FOLD, [0.0, 0.0], radius=1.25 * radius, **options)
    assert (bad.verdict, bad.trust, bad.radius.certified) == ("refuted", "exact", 0.0)
    assert bad.optimum is not None
    assert 0.99 * p <= bad.optimum.value <= p * (1 + 1e-9)
    assert p * (1 - 1e-9) <= bad.optimum.bound
    for found in (good, bad):
        assert (found.engine, found.formulation, found.backend) == ("milp", "paper", backend)
        assert found.stats["solved"] > 0


@pytest.mark.rule("M-2")
def test_what_rests_on_a_solver_is_not_exact() -> None:
    strict = asked(FOLD, [0.0, 0.0], radius=0.25, require="exact")
    assert (strict.verdict, strict.radius.certified) == ("unresolved", 0.0)
    assert asked(FOLD, [0.0, 0.0], radius=0.75, require="exact").verdict == "refuted"


@pytest.mark.rule("M-3")
@pytest.mark.parametrize(
    ("n", "m", "norm"),
    [
        pytest.param(n, m, norm, marks=[pytest.mark.slow] if n > 3 and norm != "inf" else [])
        for n, m in [(1, 1), (2, 3), (3, 3), (3, 5), (6, 6), (10, 10)]
        for norm in NORMS
    ],
)
def test_shapes(n: int, m: int, norm: str) -> None:
    """(|x1 - 1/2|, x2, …, and some of them again), around 0."""
    plane = beside(curve([0.5], [[-1.0], [1.0]]), line(n - 1)) if n > 1 else curve([0.5], [[-1.0], [1.0]])
    w, b = plane[-1]
    again = np.arange(m) % n
    layers = [*plane[:-1], (w[again], b[again])]
    good, bad = (asked(layers, np.zeros(n), norm=norm, radius=r, time_limit=30) for r in (0.25, 0.75))
    assert (good.verdict, bad.verdict) == ("certified", "refuted")


@pytest.mark.rule("E-1")
@pytest.mark.parametrize("norm", NORMS)
def test_fewer_outputs_than_inputs(norm: str) -> None:
    sum_of_both = [(np.array([[1.0, 1.0]]), np.zeros(1))]
    found = asked(sum_of_both, [0.0, 0.0], norm=norm, radius=1.0)
    assert found.verdict == "refuted"
    assert found.optimum is not None
    wanted = {"inf": 2.0, "1": 2.0, "2": 2.0}[norm]
    assert 0.99 * wanted <= found.optimum.value <= wanted * (1 + 1e-9) <= found.optimum.bound * (1 + 2e-9)
    nothing = asked(sum_of_both, [0.0, 0.0], norm=norm)
    assert (nothing.verdict, nothing.radius.certified, nothing.radius.refuted) == ("refuted", 0.0, 0.0)
    apart = asked(sum_of_both, [0.0, 0.0], problem="transform", other=[(np.array([[2.0, 2.0]]), None)], radius=1.0)
    assert apart.verdict == "unresolved"
    assert "fewer than the inputs" in str(apart.reason)


@pytest.mark.rule("E-1", "M-2")
def test_domains_and_pinned_inputs() -> None:
    inside = asked(FOLD, [0.0, 0.0], domain=(-1.0, 0.25), radius=3.0)
    assert inside.verdict == "certified"
    pinned = {"low": [-1.0, 0.0], "high": [1.0, 0.0]}
    for domain, radius, verdict in ((pinned, 0.75, "refuted"), (pinned, 0.25, "certified")):
        found = asked(FOLD, [0.0, 0.0], domain=domain, radius=radius)
        assert found.verdict == verdict
        if found.witness is not None:
            assert [found.witness.exact.x[1], found.witness.exact.y[1]] == [0, 0]
    other = {"low": [0.0, -1.0], "high": [0.0, 1.0]}
    assert asked(FOLD, [0.0, 0.0], domain=other, radius=2.0).verdict == "certified"


# --- which half failed -----------------------------------------------------------------------------------------------


@pytest.mark.rule("M-2", "M-5")
def test_a_dual_bound_alone_certifies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*given: Any) -> Near:
        return Near(0.0, "it was not asked")

    monkeypatch.setitem(ball.NEAR, "local", nothing)
    found = asked(FOLD, [0.0, 0.0], radius=0.25)
    assert (found.verdict, found.radius.certified) == ("unresolved", 0.0)
    assert "the near half failed: it was not asked" in str(found.reason)
    assert found.optimum is not None
    assert found.optimum.bound < 1e-4, "p* is bounded all the same"


@pytest.mark.rule("M-2", "M-5")
def test_the_near_half_alone_certifies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ball, "far_pairs", lambda *given: FarPairs(None, None, "no bound today"))
    for problem in PROBLEMS:
        other = line(2) if problem == "transform" else None
        found = asked(FOLD, [0.0, 0.0], problem=problem, other=other, radius=0.25)
        assert (found.verdict, found.radius.certified, found.backend) == ("unresolved", 0.0, None)
        assert "the far half failed: no bound today" in str(found.reason)


@pytest.mark.rule("M-2", "M-5")
def test_a_bound_that_leaves_far_pairs_needs_thicker_tangents(monkeypatch: pytest.MonkeyPatch) -> None:
    """f(-1/4) = f(1/2) with kinks at 0 and 1/4, of which thin tangents see one at a time."""
    layers = near_pair(0.25)
    assert asked(layers, [0.125], radius=0.3).verdict == "certified"
    monkeypatch.setattr(ball, "far_pairs", lambda *given: FarPairs(0.5, "highs"))
    found = asked(layers, [0.125], radius=0.3)
    assert (found.verdict, found.radius.certified) == ("unresolved", 0.0)
    assert "the far half holds beyond 0.5, the near half failed: tangents of thickness 0.5" in str(found.reason)
    assert asked(layers, [0.125], radius=0.5).verdict == "refuted", "tangents lead to an exact pair"


@pytest.mark.rule("M-3", "M-5")
def test_small_gaps_where_the_givens_collide() -> None:
    """|2 x1 - 1| is a function of (|x1 - 1/2|, x2), which the programs cannot see."""
    doubled = [(np.array([[2.0, 0.0], [-2.0, 0.0]]), np.array([-1.0, 1.0])), (np.ones((1, 2)), np.zeros(1))]
    found = asked(FOLD, [0.0, 0.0], problem="transform", other=doubled, radius=0.75)
    assert found.verdict == "unresolved"
    assert "only where the constrained outputs are injective, and they collide" in str(found.reason)
    assert found.optimum is not None
    assert found.optimum.bound < 1e-4


@pytest.mark.rule("E-6", "M-6")
def test_a_solver_that_fails_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> Outcome:
        raise BackendError("not today", backend="highs")

    monkeypatch.setattr(Highs, "_solve", refuse)
    for options in cast("list[dict[str, Any]]", [{"radius": 0.25}, {}]):
        found = asked(FOLD, [0.0, 0.0], **options)
        assert (found.verdict, found.backend) == ("unresolved", None)
        assert "not today" in str(found.reason)


@pytest.mark.rule("E-1", "M-2")
@pytest.mark.parametrize("bound", [0.0, 0.01])
def test_an_exact_pair_outweighs_a_wrong_bound(monkeypatch: pytest.MonkeyPatch, bound: float) -> None:
    from ircert.engines.optimum.far_pairs import far_pairs as real

    def wrong(*given: Any) -> FarPairs:
        found = real(*given)
        return FarPairs(bound, found.backend, None, found.pair, found.near)

    monkeypatch.setattr(ball, "far_pairs", wrong)
    found = asked(FOLD, [0.0, 0.0], radius=0.75)
    assert found.verdict == "refuted"
    assert found.optimum is not None
    assert found.optimum.bound >= found.optimum.value > 0.4


# --- the largest radius ----------------------------------------------------------------------------------------------


@pytest.mark.rule("M-4")
@pytest.mark.parametrize(
    ("problem", "norm"),
    [
        pytest.param(problem, norm, marks=[pytest.mark.slow] if problem == "transform" and norm != "inf" else [])
        for problem in PROBLEMS
        for norm in NORMS
    ],
)
def test_bisection(problem: str, norm: str) -> None:
    radius = 1.0 if problem == "pseudo" else 0.5
    other = line(2) if problem == "transform" else None
    seen: list[Progress] = []
    found = asked(FOLD, [0.0, 0.0], problem=problem, norm=norm, other=other, tol=1e-2, progress=seen.append)
    assert (found.verdict, found.trust, found.formulation) == ("certified", "solver", "paper")
    assert found.radius.refuted == pytest.approx(radius, rel=1e-9)
    assert radius * (1 - 1e-2) <= found.radius.certified <= radius
    assert found.stats["balls"][0]["radius"] == pytest.approx(0.983)
    assert any(b["refuted"] for b in found.stats["balls"])
    lows = [step.certified for step in seen]
    assert lows == sorted(lows)


@pytest.mark.rule("M-4")
def test_a_bracket_that_tolerances_leave_open() -> None:
    found = asked(FOLD, [0.0, 0.0])
    assert found.verdict == "unresolved"
    assert "tolerances" in str(found.reason)
    assert 0.4999 < found.radius.certified < 0.5


@pytest.mark.rule("M-4")
def test_growing_to_the_largest_radius() -> None:
    found = asked(line(2), [0.25, 0.0], max_radius=100.0)
    assert (found.verdict, found.radius.certified, found.radius.refuted) == ("certified", 100.0, None)
    everywhere = asked(line(2), [0.25, 0.0], max_radius=np.inf, time_limit=30)
    assert everywhere.verdict == "unresolved"
    assert everywhere.radius.certified < np.inf


@pytest.mark.rule("M-4")
def test_no_ball_is_good() -> None:
    found = asked(square(), [0.0, 0.0])
    assert (found.verdict, found.trust, found.radius.certified, found.radius.refuted) == ("refuted", "exact", 0.0, 0.0)


@pytest.mark.rule("M-4")
def test_far_collisions_without_folds() -> None:
    """All determinants are positive: only pairs that are far apart collide."""
    sheets = then(square(), square())
    found = asked(sheets, [1.0, 0.0], tol=0.1, time_limit=10)
    agree(found, local_radius(sheets, [1.0, 0.0], "inf"))


@pytest.mark.rule("E-7", "M-4")
def test_interrupted() -> None:
    def press(progress: Progress) -> None:
        if progress.certified > 0:
            raise KeyboardInterrupt

    found = asked(FOLD, [0.0, 0.0], progress=press)
    assert (found.verdict, found.interrupted) == ("unresolved", True)
    assert found.radius.certified > 0
    assert str(found.reason).startswith("interrupted after ")


@pytest.mark.rule("E-7", "M-4")
@pytest.mark.parametrize("radius", [None, 1.0])
def test_interrupted_in_the_solver(radius: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*given: Any) -> FarPairs:
        raise KeyboardInterrupt

    monkeypatch.setattr(ball, "far_pairs", press)
    found = asked(FOLD, [0.0, 0.0], radius=radius)
    assert (found.verdict, found.interrupted, found.reason) == ("unresolved", True, "interrupted")


@pytest.mark.rule("E-7")
@pytest.mark.parametrize("formulation", ["paper", "tangent"])
def test_little_time(formulation: str) -> None:
    graph = bundled("coupled-vanderpol-4-32-32-4")
    for options in cast("list[dict[str, Any]]", [{}, {"radius": 2.0}]):
        found = ircert.certify(graph, np.zeros(4), engine="milp", formulation=formulation, time_limit=0.5, **options)
        assert found.verdict == "unresolved"
        assert found.stop is not None
        assert found.stop.cause is Cause.TIME


@pytest.mark.rule("M-4")
@pytest.mark.parametrize("formulation", ["paper", "tangent"])
def test_a_budget_is_a_number_of_programs(formulation: str) -> None:
    nothing = Milp().answer(question(FOLD, [0.0, 0.0], formulation=formulation, budget=0))
    assert nothing.stop is not None
    assert (nothing.stop.cause, nothing.stats["solved"]) == (Cause.BUDGET, 0)


@pytest.mark.rule("M-4")
def test_more_programs_come_further() -> None:
    whole = Milp().answer(question(FOLD, [0.0, 0.0], tol=1e-3))
    found = Milp().answer(question(FOLD, [0.0, 0.0], budget=4, tol=1e-3))
    assert found.stop is not None
    assert found.stop.cause is Cause.BUDGET
    assert 4 <= found.stats["solved"] < whole.stats["solved"]
    assert found.certified < whole.certified


@pytest.mark.rule("M-4")
def test_going_on_from_what_is_known() -> None:
    first = Milp().answer(question(FOLD, [0.0, 0.0], tol=1e-3))
    assert first.refuted is not None
    known = Answer(None, End(0.375, "proved"), first.refuted, first.witness, "exact")
    again = Milp().answer(question(FOLD, [0.0, 0.0], known=known, tol=1e-3))
    assert again.refuted == first.refuted
    assert all(0.375 < tried["radius"] < 0.5 for tried in again.stats["balls"])
    by_solver = Answer(None, End(0.375, "believed"), None, None, "solver")
    anew = Milp().answer(question(FOLD, [0.0, 0.0], known=by_solver, tol=1e-3))
    assert anew.stats["balls"][0]["radius"] == pytest.approx(0.983), "what rests on a solver is not gone on from"


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("AU-6", "M-6")
def test_options_are_those_of_this_engine() -> None:
    assert get("milp").options == {"backend", "formulation", "threads"}
    assert not get("milp").takes_turns
    for engine in ("auto", "boxes", "regions"):
        for given in cast("list[dict[str, Any]]", [{"backend": "highs"}, {"formulation": "paper"}]):
            with pytest.raises(QueryError, match=f"`{engine}` takes no `{next(iter(given))}`; .*choose milp"):
                ircert.certify(ircert.load(FOLD), [0.0, 0.0], engine=engine, **given)
    with pytest.raises(QueryError, match="there is no formulation 'other'"):
        asked(FOLD, [0.0, 0.0], formulation="other")
    for known in ("apart", "apart{separation=0.1}"):
        with pytest.raises(QueryError, match=r"no engine answers by .*; the engine `milp` takes paper and tangent; "):
            asked(FOLD, [0.0, 0.0], formulation=known)


@pytest.mark.rule("M-6")
def test_threads_are_the_solver_s(monkeypatch: pytest.MonkeyPatch) -> None:
    scip: Any = backends.get("scip")
    if not scip.is_available():
        pytest.skip("optional: the backend scip")
    seen: list[int] = []
    real = type(scip)._solve

    def solve(self: Any, program: Any, limits: Any) -> Outcome:
        seen.append(limits.threads)
        found: Outcome = real(self, program, limits)
        assert found.status is Status.OPTIMAL
        return found

    monkeypatch.setattr(type(scip), "_solve", solve)
    assert asked(FOLD, [0.0, 0.0], radius=0.75, backend="scip", threads=2).verdict == "refuted"
    assert set(seen) == {2}
