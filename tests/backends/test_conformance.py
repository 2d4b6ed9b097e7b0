"""The conformance suite on every solver: highs, mip, mip-highs and scip are required, gurobi is optional."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert import backends
from ircert.backends.base import Limits, Outcome, Solver, Status
from ircert.errors import BackendError
from ircert.programs.program import BINARIES, FEATURES, INTEGERS, Program
from ircert.testing import CASES, Case, cases_for, check_backend, check_case, check_outcome, small_program
from tests.effort import examples

REQUIRED = ["highs", "mip", "mip-highs", "scip"]
SOLVERS = [*REQUIRED, "gurobi"]


def solver(name: str) -> Solver:
    backend = backends.get(name)
    assert isinstance(backend, Solver)
    if name not in REQUIRED and not backend.is_available():
        pytest.skip(f"optional: the backend {name} (pip install 'ircert[{backend.extra}]')")
    if name not in REQUIRED and not has_licence(name):
        pytest.skip(f"optional: a licence for {name} that has not expired")
    return backend


@cache
def has_licence(name: str) -> bool:
    backend = backends.get(name)
    assert isinstance(backend, Solver)
    try:
        backend.build(CASES[0].program)
    except BackendError as error:
        return "licence" not in str(error)
    return True


def pairs() -> list[Any]:
    found = []
    for name in SOLVERS:
        backend = backends.get(name)
        assert isinstance(backend, Solver)
        found += [pytest.param(name, case, id=f"{name}-{case.name}") for case in cases_for(backend)]
    return found


@pytest.mark.parametrize(("name", "case"), pairs())
def test_every_case_is_answered_in_silence(name: str, case: Case, capfd: pytest.CaptureFixture[str]) -> None:
    check_case(solver(name), case)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", SOLVERS)
def test_the_whole_suite(name: str) -> None:
    report = check_backend(solver(name))
    may = {case.name for case in CASES if case.may_refuse}
    assert set(report.refused) <= may
    assert set(report.answered) | set(report.refused) == {case.name for case in cases_for(solver(name))}


def test_the_cases_ask_for_everything_and_have_names_of_their_own() -> None:
    assert frozenset().union(*(case.program.features for case in CASES)) == set(FEATURES)
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.program.maximise for case in CASES} == {True, False}


def bounded_programs() -> st.SearchStrategy[Program]:
    """Small programs whose variables are bounded, of small numbers, often infeasible."""
    number = st.integers(-4, 4)

    @st.composite
    def programs(draw: Any) -> Program:
        n = draw(st.integers(1, 4))
        vector = st.lists(number, min_size=n, max_size=n)
        lower = [low / 2 for low in draw(vector)]
        upper = [low + abs(size) for low, size in zip(lower, draw(vector), strict=True)]
        row = st.tuples(vector, st.sampled_from(["<=", ">=", "="]), number)
        integer = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        rows, cost = draw(st.lists(row, max_size=4)), draw(vector)
        return small_program(cost, rows, lower=lower, upper=upper, integer=integer, maximise=draw(st.booleans()))

    return programs()


@examples(60, derandomize=True)  # a new bug of a solver is no failure of a commit
@given(bounded_programs())
def test_solvers_agree(program: Program) -> None:
    outcomes = [solver(name).solve(program, gap=0.0) for name in REQUIRED]
    assert len({outcome.status for outcome in outcomes}) == 1, outcomes
    for outcome in outcomes:
        check_outcome(program, outcome)
    if outcomes[0].status is Status.OPTIMAL:
        numbers = np.array([[outcome.value, outcome.bound] for outcome in outcomes], dtype=np.float64)
        assert np.ptp(numbers) <= 1e-5, outcomes


class Liar(Solver):
    """A solver that gets something wrong, as the suite must notice."""

    name = "liar"
    offers = frozenset({BINARIES, INTEGERS})
    lie = "value"

    def build(self, program: Program) -> None:
        return None

    def _solve(self, program: Program, limits: Limits) -> Outcome:
        true = solver("highs").solve(program)
        fields = {name: getattr(true, name) for name in ("status", "value", "bound", "point", "nodes", "seconds")}
        if true.value is not None and true.bound is not None and true.point is not None:
            wrong: dict[str, Any] = {
                "value": true.value + 0.5,
                "bound": true.bound - 0.5,
                "point": true.point + 0.25,
                "status": Status.INFEASIBLE,
                "nodes": -1,
                "seconds": math.nan,
            }
            fields[self.lie] = wrong[self.lie]
        return Outcome(**fields, backend=self.name)


@pytest.mark.parametrize("lie", ["value", "bound", "point", "status", "nodes", "seconds"])
def test_a_wrong_backend_does_not_pass(lie: str) -> None:
    backend = Liar()
    backend.lie = lie
    with pytest.raises(AssertionError):
        check_backend(backend)


def test_a_refusal_must_be_allowed() -> None:
    class Refuser(Liar):
        def _solve(self, program: Program, limits: Limits) -> Outcome:
            raise RuntimeError("not today")

    with pytest.raises(AssertionError, match="not today"):
        check_backend(Refuser())
