"""Solvers in another process: the same answers, an end in every case, and nobody is left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from signal import Signals
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.backends import solver_process
from ircert.backends.base import Limits, Outcome, Progress, Solver, Status
from ircert.backends.solver_process import SolverProcess, one_process
from ircert.errors import BackendError
from ircert.limits import until
from ircert.programs.program import Program
from ircert.testing import small_program
from tests.backends.test_solvers import PLAIN, REQUIRED, solver
from tests.processes import SIGNALS, last_line


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All programs are solved in another process."""
    monkeypatch.setattr(solver_process, "LARGE", 0)
    with one_process():
        yield


def running() -> int | None:
    """The process of the block, if it runs."""
    current = solver_process._current.get()
    return None if current is None or current._process is None else current._process.pid


BALL = small_program([1.0, 2.0], [([1, 1], "<=", 3)], upper=3, integer=[True, False], lower=-3)
ANSWERS = ("status", "value", "bound", "message", "backend")


@pytest.mark.rule("PR-18")
@pytest.mark.usefixtures("everything")
def test_the_same_outcomes_from_one_process() -> None:
    pids = set()
    for name in REQUIRED:
        for program in (PLAIN, BALL, small_program([1.0], [([1], ">=", 2)], upper=1, integer=True)):
            found = solver(name).solve(program, seed=3)
            pids.add(running())
            here = type(solver(name))()._shielded(program, Limits(seed=3))
            assert [getattr(found, key) for key in ANSWERS] == [getattr(here, key) for key in ANSWERS]
            assert (found.point is None) == (here.point is None)
            if found.point is not None and here.point is not None:
                np.testing.assert_array_equal(found.point, here.point)
    assert len(pids) == 1
    assert None not in pids


@pytest.mark.rule("PR-18")
def test_small_programs_stay_here() -> None:
    with one_process():
        for name in ("highs", "scip"):
            solver(name).solve(PLAIN)
        assert running() is None
        solver("mip").solve(small_program([1.0], upper=1))  # without integers CBC is quick
        assert running() is None
        solver("mip").solve(PLAIN)
        assert running() is not None
    assert running() is None


@pytest.mark.usefixtures("everything")
def test_a_solver_that_only_this_process_knows_stays_here() -> None:
    class Own(type(solver("highs"))):  # type: ignore[misc]
        pass

    assert Own().solve(PLAIN).status is Status.OPTIMAL
    assert running() is None


@pytest.mark.rule("PR-7", "PR-18")
@pytest.mark.usefixtures("everything")
def test_refusals_travel() -> None:
    with pytest.raises(BackendError, match=r"coefficient 1e\+16 is too large"):
        solver("highs").solve(small_program([1e16], upper=1))
    before = running()
    assert solver("highs").solve(PLAIN).value == pytest.approx(3.5)
    assert running() == before


# --- solvers that do not stop ----------------------------------------------------------------------------------------

ENDLESS = """
import time
from ircert.backends.base import Progress
from ircert.backends.highs import Highs
def endless(self, program, limits):
    limits.progress(Progress(0.0, 1.0, 7.0, 5, program.upper * 0))
    time.sleep(1000)
Highs._solve = endless
"""


def misled(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Another process begins with this."""
    head, main = solver_process.START.split("from ircert", 1)
    monkeypatch.setattr(solver_process, "START", f"{head}exec({code!r}); from ircert{main}")


@pytest.mark.rule("PR-18")
@pytest.mark.usefixtures("everything")
def test_a_run_that_does_not_stop_is_ended_and_its_bound_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    misled(monkeypatch, ENDLESS)
    told: list[Progress] = []

    def stop(progress: Progress) -> bool:
        told.append(progress)
        return progress.bound is not None

    found = solver("highs").solve(PLAIN, progress=stop)
    assert (found.status, found.bound, found.value, found.nodes) == (Status.INTERRUPTED, 7.0, 0.0, 5)
    assert found.message == "it did not stop in time and was ended"
    np.testing.assert_array_equal(found.point, [0, 0])
    assert running() is None


@pytest.mark.rule("PR-18")
@pytest.mark.usefixtures("everything")
def test_the_deadline_of_the_computation_around_it_ends_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    misled(monkeypatch, ENDLESS)
    told: list[float] = []
    with until(lambda: bool(told)):
        found = solver("highs").solve(PLAIN, progress=lambda p: told.append(p.bound) if p.bound else None)
    assert found.bound == 7.0
    assert running() is None


@pytest.mark.rule("PR-18")
@pytest.mark.usefixtures("everything")
def test_the_time_limit_ends_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    misled(monkeypatch, ENDLESS)
    hasty = solver("highs").solve(PLAIN, time_limit=0.0)
    assert (hasty.status, hasty.message) == (Status.TIME_LIMIT, "there was no time to start it")
    assert solver("scip").solve(PLAIN).status is Status.OPTIMAL  # now it is started
    found = solver("highs").solve(PLAIN, time_limit=0.1)
    assert (found.status, found.message) == (Status.TIME_LIMIT, "it did not stop in time and was ended")


@pytest.mark.rule("PR-7", "PR-18")
@pytest.mark.usefixtures("everything")
def test_a_process_that_ends_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.MonkeyPatch.context() as patch:
        misled(patch, "from ircert.backends.highs import Highs; import os; Highs._solve = lambda *_: os._exit(3)")
        with pytest.raises(BackendError, match=r"ended by itself \(exit code 3\); try another backend"):
            solver("highs").solve(PLAIN)
    assert solver("highs").solve(PLAIN).value == pytest.approx(3.5)


def test_a_run_of_cuts_tells_bounds_alone() -> None:
    """Its points lie outside the ball."""
    told: list[Progress] = []

    class Telling(Solver):
        name = "telling"
        offers = frozenset({"binaries", "integers"})

        def build(self, program: Program) -> None: ...

        def _solve(self, program: Program, limits: Limits) -> Outcome:
            assert limits.progress is not None
            limits.progress(Progress(0.0, 1.0, 2.0, 0, np.ones(program.columns)))
            return Outcome(Status.TIME_LIMIT, None, 2.0, None, 0, 0.0, self.name)

    query = ircert.Query("local", [0.0, 0.0], 1.0, norm=2, objective_norm="inf")
    Telling().solve(ircert.program(ircert.load([(np.eye(2), np.zeros(2))]), query), progress=told.append)
    assert [(p.bound, p.point) for p in told] == [(2.0, None)]


def test_highs_tells_its_points() -> None:
    told: list[Progress] = []
    rng = np.random.default_rng(0)
    rows: Any = [(row.tolist(), "<=", 200.0) for row in rng.integers(1, 50, size=(6, 30)).astype(float)]
    program = small_program(rng.integers(1, 50, size=30).astype(float).tolist(), rows, upper=1, integer=True)
    best = solver("highs").solve(program, progress=told.append)
    points = [p.point for p in told if p.point is not None]
    assert points
    assert best.value is not None
    assert max(float(program.objective @ p) for p in points) <= best.value + 1e-6
    assert all((program.matrix @ p <= program.rhs + 1e-6).all() for p in points)


# --- certify ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("E-7", "PR-18")
def test_a_question_ends_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """(|x - 1/2|, y): the bound of p* = 1 is the program's."""
    monkeypatch.setattr(solver_process, "LARGE", 0)
    made: list[int] = []
    old = SolverProcess.solve

    def noted(self: SolverProcess, *given: Any) -> Outcome:
        outcome = old(self, *given)
        made.append(running() or 0)
        return outcome

    monkeypatch.setattr(SolverProcess, "solve", noted)
    fold = [([[1, 0], [-1, 0], [0, 1]], [-0.5, 0.5, 2]), ([[1, 1, 0], [0, 0, 1]], [0, -2])]
    found = ircert.certify(ircert.load(fold), np.zeros(2), radius=1.0, engine="boxes")
    assert found.verdict == "refuted"
    assert found.optimum is not None
    assert found.optimum.bound == pytest.approx(1, abs=1e-3)
    assert made
    with pytest.raises(ProcessLookupError):
        os.kill(made[0], 0)


SCRIPT = """
import signal
signal.signal(signal.SIGTERM, signal.default_int_handler)
from ircert import backends
from ircert.backends.solver_process import one_process
from tests.backends.test_solvers import hard
from ircert.backends import solver_process
old = solver_process.send
def told(process, what):
    old(process, what)
    print("working", flush=True)
solver_process.send = told
try:
    with one_process():
        backends.get("mip").solve(hard(), time_limit=600)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.rule("E-7", "PR-18")
@pytest.mark.parametrize("how", SIGNALS)
def test_no_process_is_left(how: Signals) -> None:
    assert last_line(SCRIPT, how) in (None, "interrupted")
