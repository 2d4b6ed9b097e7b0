"""What solvers do with limits, Ctrl-C, crashes, licences and numbers they cannot hold."""

from __future__ import annotations

import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ircert import backends
from ircert.backends import gurobi as gurobi_module
from ircert.backends.base import Limits, Outcome, Progress, Solver, Status
from ircert.errors import BackendError, CoefficientWarning, IrcertError, MissingExtra
from ircert.programs.program import Program
from ircert.testing import small_program

ROOT = Path(__file__).parents[2]
REQUIRED = ["highs", "mip", "mip-highs", "scip"]
PLAIN = small_program([1.0, 1.0], [([1, 2], "<=", 4)], upper=3, integer=[True, False])


def solver(name: str) -> Solver:
    backend = backends.get(name)
    assert isinstance(backend, Solver)
    return backend


def hard() -> Program:
    """A market split: equations that take very long to satisfy or refute."""
    rng = np.random.default_rng(4)
    rows = [(row.tolist(), "=", float(row.sum() // 2)) for row in rng.integers(1, 1000, size=(5, 40)).astype(float)]
    return small_program([1.0] * 40, rows, upper=1, integer=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", REQUIRED)
def test_build_hands_out_the_native_model(name: str) -> None:
    kinds = {"highs": "Highs", "mip": "Model", "mip-highs": "Model", "scip": "Model"}
    assert type(solver(name).build(PLAIN)).__name__ == kinds[name]


@pytest.mark.parametrize("name", REQUIRED)
def test_the_time_limit_ends_a_run(name: str) -> None:
    outcome = solver(name).solve(hard(), time_limit=0.5)
    assert outcome.status is Status.TIME_LIMIT


@pytest.mark.parametrize("name", ["highs", "scip"])
def test_progress_ends_a_run(name: str) -> None:
    told: list[Progress] = []

    def stop_at_third(progress: Progress) -> bool:
        told.append(progress)
        return len(told) >= 3

    outcome = solver(name).solve(hard(), time_limit=60, progress=stop_at_third)
    assert outcome.status is Status.INTERRUPTED
    assert len(told) == 3
    assert all(a.seconds <= b.seconds for a, b in pairwise(told))


def in_a_process(code: str) -> str:
    """What a script prints; signals and threads of solvers are tried where they cannot harm other tests."""
    head = "from ircert import backends\nfrom tests.backends.test_solvers import PLAIN, hard\n"
    run = subprocess.run(
        [sys.executable, "-c", head + code], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


CTRL_C = """
import os, signal, threading
before = signal.getsignal(signal.SIGINT)
threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    backends.get({name!r}).solve(hard(), time_limit=60)
except KeyboardInterrupt:
    print("interrupted", signal.getsignal(signal.SIGINT) is before)
"""


@pytest.mark.parametrize("name", ["highs", "scip"])
def test_ctrl_c_ends_a_run(name: str) -> None:
    assert "interrupted True" in in_a_process(CTRL_C.format(name=name))


THREADS = """
from ircert.errors import BackendError
for threads in (1, 2, 1):
    try:
        print(backends.get("highs").solve(PLAIN, threads=threads).status.value)
    except BackendError as error:
        print(error)
"""


def test_another_number_of_threads_is_right_or_refused() -> None:
    first, second, third = in_a_process(THREADS).splitlines()
    assert first == third == "optimal"
    assert second == "optimal" or "only one number of threads" in second


def test_solvers_run_in_other_threads() -> None:
    found: list[float | None] = []
    threads = [threading.Thread(target=lambda: found.append(solver("highs").solve(PLAIN).value)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3.5] * 3


@pytest.mark.rule("PR-16")
@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("small", [1e-13, 1e-61, 5e-324])
def test_small_coefficients_are_left_out_soundly(name: str, small: float) -> None:
    """max x + small (x + y), x + small y = 1: the bound covers what was left out, and the outcome says so."""
    program = small_program([1.0, small], [([1.0, small], "=", 1), ([0, 1], ">=", 1)], upper=3)
    outcome = solver(name).solve(program)
    assert outcome.status is Status.OPTIMAL
    assert outcome.bound is not None
    assert outcome.value == pytest.approx(1)
    assert 1 - 1e-9 <= outcome.bound <= 1 + 1e-6
    assert "2 coefficients up to 1e-" in outcome.message
    assert "widened" in outcome.message
    with pytest.warns(CoefficientWarning, match=r"coefficients up to 1e-.* widened"):
        solver(name).build(program)


@pytest.mark.rule("PR-16")
@pytest.mark.parametrize("name", REQUIRED)
def test_rows_are_rescaled_before_anything_is_left_out(name: str) -> None:
    """s (x - y) = 0 with a small s is x = y, and a large coefficient is one in another row."""
    s = 2.0**-60
    program = small_program([1.0, -1.0], [([s, -s], "=", 0), ([2.0**60, 0.0], "<=", 2.0**61)], upper=3)
    outcome = solver(name).solve(program)
    assert (outcome.status, outcome.message) == (Status.OPTIMAL, "")
    assert outcome.value == pytest.approx(0, abs=1e-9)
    assert outcome.bound == pytest.approx(0, abs=1e-6)


@pytest.mark.rule("PR-16")
@pytest.mark.parametrize("name", REQUIRED)
def test_a_point_that_only_the_relaxation_has_is_no_answer(name: str) -> None:
    """x <= 1e-14 k with an integer k up to 1e14, which has no other unit: the bound is right, a point may not be."""
    program = small_program([1.0, -1e-3], [([1, -1e-14], "<=", 0)], upper=[10, 1e14], integer=[False, True])
    outcome = solver(name).solve(program)
    assert outcome.bound is not None
    assert outcome.bound >= 0
    assert outcome.point is None
    assert outcome.value is None
    assert outcome.status is Status.UNKNOWN
    assert "violates the program itself" in outcome.message


@pytest.mark.rule("PR-7", "PR-16")
@pytest.mark.parametrize("name", REQUIRED)
def test_numbers_that_would_be_lost_are_refused(name: str) -> None:
    endless = small_program([1.0, 0.0], [([1, -1e-61], "<=", 0)], upper=[10, np.inf])
    with pytest.raises(BackendError, match=r"drops coefficients up to 1e-.*`x_1` has no bounds; give the variable"):
        solver(name).solve(endless)
    with pytest.raises(BackendError, match=r"coefficient 1e\+16 is too large"):
        solver(name).solve(small_program([1e16], upper=1))


def test_an_explicit_zero_is_no_coefficient() -> None:
    program = small_program([1.0, 1.0], [([1, 2], "<=", 4)], upper=3)
    program.matrix.data[1] = 0.0
    for name in REQUIRED:
        assert solver(name).solve(program).value == pytest.approx(6)


def test_cbc_is_kept_from_unbounded_variables_with_integers() -> None:
    program = small_program([1.0, 1.0], [([1, 1], "<=", 4)], upper=[3, np.inf], integer=[True, False])
    with pytest.raises(BackendError, match=r"x_1.*unbounded.*mip-highs"):
        solver("mip").solve(program)
    assert solver("mip-highs").solve(program).value == pytest.approx(4)


# --- refusals --------------------------------------------------------------------------------------------------------


def test_unknown_backend_names_those_there_are() -> None:
    with pytest.raises(BackendError, match=r"no such backend.*highs.*scip"):
        backends.get("nonsense")


@pytest.mark.parametrize(("name", "package"), [("scip", "pyscipopt"), ("gurobi", "gurobipy")])
def test_a_missing_extra_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert not backends.get(name).is_available()
    with pytest.raises(MissingExtra, match=rf"{package}.*ircert\[{name}\]"):
        solver(name).solve(PLAIN)
    with pytest.raises(MissingExtra, match=rf"ircert\[{name}\]"):
        solver(name).build(PLAIN)


@pytest.mark.parametrize(("name", "package"), [("highs", "highspy"), ("mip", "mip")])
def test_a_missing_package_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BackendError, match=f"pip install {package}"):
        solver(name).solve(PLAIN)


def test_nothing_is_imported_to_find_out_what_is_there() -> None:
    code = (
        "import sys; from ircert import backends; [backends.get(n).is_available() for n in backends.names()]; "
        "print(sorted({'highspy', 'mip', 'pyscipopt', 'gurobipy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.rule("PR-4")
@pytest.mark.parametrize("name", ["highs", "mip", "mip-highs"])
def test_a_feature_not_offered_names_who_can(name: str) -> None:
    program = small_program([0.0], upper=1, squares=[[1.0]])
    with pytest.raises(BackendError, match=r"nonconvex quadratic objective.*backends that can: gurobi, scip"):
        solver(name).solve(program)


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        ({"time_limit": -1}, "time_limit"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"gap": "small"}, "gap"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"threads": 0}, "threads"),
        ({"threads": True}, "threads"),
        ({"seed": 1.5}, "seed"),
        ({"timelimit": 5}, "unknown limit"),
    ],
)
def test_bad_limits_are_refused(limits: dict[str, Any], problem: str) -> None:
    with pytest.raises(BackendError, match=problem):
        solver("highs").solve(PLAIN, **limits)


# --- crashes and licences --------------------------------------------------------------------------------------------


@pytest.mark.rule("PR-7")
@pytest.mark.parametrize("name", REQUIRED)
def test_a_crash_is_no_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = solver(name)

    def crash(program: Program) -> Any:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(backend, "build", crash)
    with pytest.raises(BackendError, match=r"the solver failed \(RuntimeError: out of luck\); try another"):
        backend.solve(PLAIN)


class GurobiError(Exception):
    def __init__(self, errno: int) -> None:
        super().__init__(f"error {errno}")
        self.errno = errno


@pytest.mark.parametrize(
    ("errno", "problem"),
    [(10010, r"2000 variables.*`scip`"), (10009, r"no valid Gurobi licence.*`highs`"), (10001, "Gurobi failed")],
)
def test_a_licence_refusal_names_the_way_out(errno: int, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> Any:
        raise GurobiError(errno)

    monkeypatch.setitem(sys.modules, "gurobipy", SimpleNamespace(Env=refuse, GurobiError=GurobiError))
    monkeypatch.setattr(gurobi_module.Gurobi, "is_available", lambda self: True)
    with pytest.raises(BackendError, match=problem):
        solver("gurobi").solve(PLAIN)


def test_the_free_gurobi_licence_is_too_small() -> None:
    if not backends.get("gurobi").is_available():
        pytest.skip("optional: the backend gurobi (pip install 'ircert[gurobi]')")
    program = small_program([1.0] * 2500, [([1.0] * 2500, "<=", 7.0)], upper=1, integer=True)
    try:
        assert solver("gurobi").solve(program).value == pytest.approx(7)
    except BackendError as error:
        assert "2000 variables" in str(error) or "licence" in str(error)  # noqa: PT017


def test_limits_of_a_third_party_solver_are_shielded() -> None:
    class Broken(Solver):
        name = "broken"
        offers = frozenset({"binaries", "integers"})

        def build(self, program: Program) -> None:
            return None

        def _solve(self, program: Program, limits: Limits) -> Outcome:
            raise ZeroDivisionError

    with pytest.raises(BackendError, match="broken"):
        Broken().solve(PLAIN)


# --- plugins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loaded", [ImportError("no module named fake"), object, 5, "fake"])
def test_a_broken_plugin_is_named(loaded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> Any:
        if isinstance(loaded, Exception):
            raise loaded
        return loaded

    point = SimpleNamespace(name="fake", value="fake:thing", dist=None, load=load)
    monkeypatch.setattr(type(backends.REGISTRY), "plugins", lambda _: (point,))
    assert "fake" in backends.names()
    with pytest.raises(IrcertError, match="fake:thing"):
        backends.get("fake")
