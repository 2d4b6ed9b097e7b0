"""Small programs with known answers, and the checks that every backend, ours or a third party's, must pass.

>>> import pytest
>>> from ircert.testing import cases_for, check_backend, check_case
>>> @pytest.mark.parametrize("case", cases_for(MySolver()), ids=lambda case: case.name)
... def test_my_solver(case):
...     check_case(MySolver(), case)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.backends.answers import objective_value, violation
from ircert.backends.base import Backend, Outcome, Progress, Solver, Status, Writer
from ircert.errors import BackendError
from ircert.programs.program import CONVEX_ROWS, Program
from ircert.testing.programs import CASES, Case
from ircert.testing.writers import Read, check_writer

TOLERANCE = 1e-5
"""Of values and bounds, relative to max(1, |value|); solvers stop at 1e-6."""
SECONDS = 60.0
"""More than enough for each program: a solver that needs longer has lost its way."""


@dataclass(frozen=True)
class Report:
    """What `check_backend` did: the cases that were answered or written, and those refused as they may be."""

    answered: tuple[str, ...]
    refused: tuple[str, ...]


def cases_for(backend: Solver) -> list[Case]:
    """The cases that ask for nothing the backend does not offer."""
    return [case for case in CASES if case.program.features <= backend.offers]


def check_backend(backend: Backend, read: Read | None = None) -> Report:
    """Assert that a backend answers or writes every case it offers the features for, and keeps its contract otherwise.

    For a writer, `read` may read its files back as programs (`ircert.testing.writers`).
    """
    if isinstance(backend, Writer):
        return Report(*check_writer(backend, read))
    assert isinstance(backend, Solver), f"{backend!r} is derived neither from Solver nor from Writer"
    answers = {case.name: check_case(backend, case) for case in cases_for(backend)}
    check_refusals(backend)
    check_limits(backend)
    check_repeatable(backend)
    check_progress(backend)
    refused = tuple(name for name, answer in answers.items() if answer is None)
    return Report(tuple(name for name in answers if name not in refused), refused)


def check_case(backend: Solver, case: Case) -> Outcome | None:
    """Assert that a backend answers a case rightly; None if it refuses one that may be refused."""
    try:
        outcome = backend.solve(case.program, time_limit=SECONDS, gap=0.0)
    except BackendError as error:
        crashed = error.__cause__ is not None
        if crashed or not (case.may_refuse and error.remedy):
            raise AssertionError(f"{case.name}: crashed, refused, or named no remedy ({error})") from error
        return None
    check_outcome(case.program, outcome)
    assert outcome.status in case.statuses, f"{case.name}: {outcome.status}, expected {case.statuses} ({outcome})"
    assert outcome.backend == backend.name, f"{case.name}: the outcome names {outcome.backend}"
    if case.value is not None:
        _check_optimum(case, case.value, outcome)
    return outcome


def check_outcome(program: Program, outcome: Outcome) -> None:
    """Assert what holds for every outcome of a program, whatever its status."""
    for number in (outcome.value, outcome.bound):
        assert number is None or (type(number) is float and math.isfinite(number)), outcome
    assert (outcome.value is None) == (outcome.point is None), f"value without point, or point without value: {outcome}"
    assert type(outcome.nodes) is int, outcome
    assert outcome.nodes >= 0, outcome
    assert 0 <= outcome.seconds < math.inf, outcome
    if outcome.status in (Status.INFEASIBLE, Status.UNBOUNDED, Status.INFEASIBLE_OR_UNBOUNDED):
        assert outcome.bound is None, f"an infeasible or unbounded program has no bound: {outcome}"
        assert outcome.point is None, f"an infeasible or unbounded program has no best point: {outcome}"
    if outcome.point is not None:
        _check_point(program, outcome)


def check_refusals(backend: Solver) -> None:
    """Assert that features which are not offered, and limits that make no sense, are refused by a BackendError.

    Balls are the exception: every solver answers them, if need be through tangent planes.
    """
    for case in CASES:
        missing = case.program.features - backend.offers
        if missing == {CONVEX_ROWS}:
            _check_planes(backend, case)
        elif missing:
            _assert_refused(backend, case.program, f"{case.name}, which it does not offer")
    program = cases_for(backend)[0].program
    for limits in ({"time_limit": math.nan}, {"gap": -1.0}, {"threads": 0}, {"seed": -1}, {"nonsense": 1}):
        _assert_refused(backend, program, str(limits), **limits)


def _check_planes(backend: Solver, case: Case) -> None:
    try:
        outcome = backend.solve(case.program, time_limit=SECONDS, gap=0.0)
    except BackendError as error:
        if "is not a ball" not in str(error):
            raise AssertionError(f"{case.name}: {error}") from error
        return
    check_outcome(case.program, outcome)
    assert outcome.status in case.statuses, f"{case.name}: {outcome}"
    if case.value is not None:
        _check_optimum(case, case.value, outcome)


def check_limits(backend: Solver) -> None:
    """Assert that every limit is taken, and that no time at all gives no wrong answer."""
    for case in _searched(backend):
        outcome = backend.solve(case.program, time_limit=SECONDS, gap=0.0, threads=1, seed=3, tolerance=1e-8)
        check_outcome(case.program, outcome)
        assert outcome.status is Status.OPTIMAL, f"{case.name}: {outcome}"
        _check_optimum(case, case.value or 0.0, outcome)
        hasty = backend.solve(case.program, time_limit=0.0)
        check_outcome(case.program, hasty)
        assert hasty.status in (Status.OPTIMAL, Status.TIME_LIMIT, Status.UNKNOWN), f"{case.name}: {hasty}"
        if hasty.bound is not None and case.value is not None:
            slack = (hasty.bound - case.value) * (1 if case.program.maximise else -1)
            assert slack >= -TOLERANCE * max(1.0, abs(case.value)), f"{case.name}: a wrong bound: {hasty}"


def check_repeatable(backend: Solver) -> None:
    """Assert that one thread and one seed give one answer."""
    for case in _searched(backend):
        first, second = (backend.solve(case.program, threads=1, seed=7) for _ in range(2))
        assert (first.status, first.value, first.bound) == (second.status, second.value, second.bound), case.name
        assert first.point is not None, case.name
        assert second.point is not None, case.name
        assert np.array_equal(first.point, second.point), f"{case.name}: {first.point} and {second.point}"


def check_progress(backend: Solver) -> None:
    """Assert that what is told in the middle of a run is true, that it may end a run, and that its errors come out."""
    for case in _searched(backend):
        told: list[Progress] = []
        backend.solve(case.program, progress=told.append)
        for progress in told:
            _check_told(case, progress)
        stopped = backend.solve(case.program, progress=lambda _: True)
        check_outcome(case.program, stopped)
        assert stopped.status in (Status.OPTIMAL, Status.INTERRUPTED, Status.UNKNOWN), f"{case.name}: {stopped}"
        if told:
            _check_error_comes_out(backend, case)


def _searched(backend: Solver) -> list[Case]:
    return [case for case in cases_for(backend) if case.search]


def _check_error_comes_out(backend: Solver, case: Case) -> None:
    def fail(progress: Progress) -> None:
        raise ArithmeticError("from the callback")

    try:
        backend.solve(case.program, progress=fail)
    except ArithmeticError:
        return
    raise AssertionError(f"{case.name}: an error of the progress callback was lost")


def _check_told(case: Case, progress: Progress) -> None:
    assert case.value is not None
    assert progress.seconds >= 0, progress
    assert progress.nodes >= 0, progress
    sign, slack = (1 if case.program.maximise else -1), TOLERANCE * max(1.0, abs(case.value))
    for number in (progress.value, progress.bound):
        assert number is None or (type(number) is float and math.isfinite(number)), progress
    if progress.value is not None:
        assert sign * (case.value - progress.value) >= -slack, f"{case.name}: told a value beyond the best: {progress}"
    if progress.bound is not None:
        assert sign * (progress.bound - case.value) >= -slack, f"{case.name}: told a wrong bound: {progress}"


def _check_point(program: Program, outcome: Outcome) -> None:
    assert outcome.point is not None
    assert outcome.point.dtype == np.float64, outcome
    assert outcome.point.shape == (program.columns,), outcome
    assert outcome.value is not None
    assert abs(outcome.value - objective_value(program, outcome.point)) <= 1e-9 * max(1.0, abs(outcome.value)), outcome
    excess = violation(program, outcome.point)
    assert excess <= TOLERANCE, f"the point violates the program by {excess}: {outcome}"
    assert set(outcome.by_name(program)) == set(program.column_names)


def _check_optimum(case: Case, value: float, outcome: Outcome) -> None:
    slack = TOLERANCE * max(1.0, abs(value))
    assert outcome.value is not None, f"{case.name}: no value: {outcome}"
    assert abs(outcome.value - value) <= slack, f"{case.name}: the value is {outcome.value}, expected {value}"
    assert outcome.bound is not None, f"{case.name}: no bound: {outcome}"
    assert abs(outcome.bound - value) <= slack, f"{case.name}: the bound is {outcome.bound}, expected {value}"


def _assert_refused(backend: Solver, program: Program, what: str, **limits: object) -> None:
    try:
        backend.solve(program, **limits)
    except BackendError:
        return
    raise AssertionError(f"{backend.name} did not refuse {what}")
