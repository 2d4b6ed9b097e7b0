"""What a backend is: a declaration of what it can do, plus one or two methods."""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.util import find_spec
from typing import IO, Any, ClassVar

import numpy as np

from ircert.backends.watch import Watch
from ircert.errors import BackendError, FileError, IrcertError, MissingExtra
from ircert.files import check_writable, replacing
from ircert.ir.arrays import Array
from ircert.programs.program import CONVEX_ROWS, Program

INFINITE = 1e20
"""Solvers take this number, and all beyond, for infinity."""
SMALLEST_TOLERANCE = 1e-9
"""No solver takes a smaller tolerance."""


class Status(Enum):
    """What a solver says of a run. Evidence, never a verdict."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    INFEASIBLE_OR_UNBOUNDED = "infeasible or unbounded"
    TIME_LIMIT = "time limit"
    NODE_LIMIT = "node limit"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Progress:
    """What is known in the middle of a run, in the program's own sense (larger is better when it maximises).

    point: the best one, where it is new and the solver hands it out
    """

    seconds: float
    value: float | None
    bound: float | None
    nodes: int
    point: Array | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, seconds: float, value: float | None, bound: float | None, nodes: int) -> Progress:
        """Progress in a solver's words: what is not finite, or a solver's infinity, is not known."""
        known = [None if x is None or not abs(x) < INFINITE else float(x) for x in (value, bound)]
        return cls(float(seconds), known[0], known[1], max(0, int(nodes)))


@dataclass(frozen=True)
class Limits:
    """How a run may go; None leaves a matter to the solver.

    gap: relative gap at which to stop; tolerance: of feasibility and integrality; progress may return True to stop.
    """

    time_limit: float | None = None
    gap: float | None = None
    threads: int = 1
    seed: int = 0
    tolerance: float | None = None
    progress: Callable[[Progress], bool | None] | None = None

    def __post_init__(self) -> None:
        for name, least in (("time_limit", 0.0), ("gap", 0.0), ("tolerance", SMALLEST_TOLERANCE)):
            number = getattr(self, name)
            if number is not None and not (isinstance(number, int | float) and least <= number < math.inf):
                raise ValueError(f"{name} must be a finite number of at least {least:g}, not {number!r}")
        for name, least in (("threads", 1), ("seed", 0)):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or not least <= number < 2**31:
                raise ValueError(f"{name} must be an integer of at least {least}, not {number!r}")

    def since(self, started: float) -> Limits:
        """What is left for the run, when the solver's model was begun at this moment of the monotonic clock."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=max(0.0, self.time_limit - (time.monotonic() - started)))


@dataclass(frozen=True)
class Outcome:
    """What a run gave: `value` is the objective of `point`, the best one found; `bound` is the dual bound.

    value, bound and point are None where the solver has none; a bound of an infeasible program is None.
    """

    status: Status
    value: float | None
    bound: float | None
    point: Array | None
    nodes: int
    seconds: float
    backend: str
    message: str = ""

    def __repr__(self) -> str:
        point = "no point" if self.point is None else f"a point of {len(self.point)} variables"
        return f"<{self.backend}: {self.status.value}, value {self.value}, bound {self.bound}, {point}>"

    def by_name(self, program: Program) -> dict[str, float]:
        """The point by variable name; empty if there is none."""
        return {} if self.point is None else dict(zip(program.column_names, self.point.tolist(), strict=True))


class Backend(ABC):
    """Something that takes programs. `offers` lists features (see `ircert.programs.program`) beyond linear programming.

    name:    its word on the command line
    package: the module it needs, or None; extra: what to install to have it, or None if it comes with ircert
    """

    name: ClassVar[str]
    offers: ClassVar[frozenset[str]]
    package: ClassVar[str | None] = None
    extra: ClassVar[str | None] = None

    def is_available(self) -> bool:
        """Whether its package is installed; nothing is imported to find out."""
        return self.package is None or find_spec(self.package) is not None

    def check_available(self) -> None:
        """Raise, with what to install, unless the package is there."""
        if not self.is_available():
            raise self._missing()

    def check(self, program: Program) -> None:
        """Raise unless the package is there and the program asks for nothing that is not offered."""
        self.check_available()
        missing = program.features - self.offers
        if missing:
            raise BackendError(
                f"it cannot handle: {', '.join(sorted(missing))}",
                backend=self.name,
                remedy=_who_can(program.features, Writer if isinstance(self, Writer) else Solver),
            )

    def _missing(self) -> IrcertError:
        if self.extra is not None:
            return MissingExtra(str(self.package), extra=self.extra, purpose=f"the backend `{self.name}`")
        return BackendError(
            f"it needs the package `{self.package}`, which is not installed",
            backend=self.name,
            remedy=f"install it with: pip install {self.package}",
        )


class Solver(Backend):
    """A backend that answers.

    stops: whether a run calls `limits.progress` before its end, and then ends early where that says so
    """

    stops: ClassVar[bool] = True

    @abstractmethod
    def build(self, program: Program) -> Any:
        """The solver's own model of the program, to be used with the solver's own interface."""

    def solve(self, program: Program, **limits: Any) -> Outcome:
        """Answer the program within `Limits`, given by name: solve(program, time_limit=60).

        A solver without quadratic rows answers programs about L2 balls through tangent planes (`ircert.backends.cuts`).
        During `certify` large programs are solved in another process, which ends when it should
        (`ircert.backends.solver_process`).
        """
        from ircert.backends.solver_process import process_for

        by_cuts = program.features - self.offers == {CONVEX_ROWS}
        self.check(replace(program, quadratic_rows=()) if by_cuts else program)
        try:
            chosen = Limits(**limits)
        except TypeError as error:
            raise BackendError(f"unknown limit ({error})", backend=self.name) from None
        except ValueError as error:
            raise BackendError(str(error), backend=self.name) from None
        with Watch(chosen.progress) as watch:
            watched = replace(chosen, progress=watch)
            process = process_for(self, program)
            if process is not None:
                return process.solve(self, program, watched)
            if not by_cuts:
                return self._shielded(program, watched)
            from ircert.backends.cuts import solve_with_cuts

            return solve_with_cuts(self._shielded, program, watched, self.name)

    def _shielded(self, program: Program, limits: Limits) -> Outcome:
        """What `_solve` answers; whatever a solver raises is a BackendError, never an answer."""
        try:
            return _answered(program, self.name) or self._solve(program, limits)
        except IrcertError:
            raise
        except Exception as error:
            raise BackendError(
                f"the solver failed ({type(error).__name__}: {error})", backend=self.name, remedy="try another backend"
            ) from error

    @abstractmethod
    def _solve(self, program: Program, limits: Limits) -> Outcome:
        """Answer a program with variables. `limits.progress` is set, never raises, and says True also after Ctrl-C."""


class Writer(Backend):
    """A backend that writes files.

    suffixes: how their names end, such as (".lp",), in small letters; `ircert export` finds a writer by them
    """

    suffixes: ClassVar[tuple[str, ...]] = ()

    def emit(self, program: Program, path: str | os.PathLike[str]) -> None:
        """Write the program, whole or not at all."""
        self.check(program)
        self.check_path(path)
        with replacing(path) as file:
            try:
                self._write(program, file)
            except (IrcertError, OSError):
                raise
            except Exception as error:
                raise BackendError(f"the writer failed ({type(error).__name__}: {error})", backend=self.name) from error

    def check_path(self, path: str | os.PathLike[str]) -> None:
        """FileError unless the name has an ending that the writer's files have, and a file can be written there."""
        if not os.fspath(path).lower().endswith(self.suffixes):
            raise FileError(
                f"the name must end in {' or '.join(self.suffixes)}",
                path=path,
                remedy="solvers choose how to read a file by its ending",
            )
        check_writable(path)

    @abstractmethod
    def _write(self, program: Program, file: IO[bytes]) -> None:
        """Write a program that asks for nothing but what is offered; if this raises, no file is left."""


def _answered(program: Program, backend: str) -> Outcome | None:
    """The answer where it is plain, and solvers differ all the same: no variables, or an integer without a value."""
    if (np.ceil(program.lower) > np.floor(program.upper))[program.integer].any():
        return Outcome(Status.INFEASIBLE, None, None, None, 0, 0.0, backend, "an integer variable has no value")
    if program.columns:
        return None
    rows = {"<=": program.rhs >= 0, ">=": program.rhs <= 0, "=": program.rhs == 0}
    holds = all(rows[sense][i] for i, sense in enumerate(program.senses.tolist()))
    if not holds or any(row.bound < 0 for row in program.quadratic_rows):
        return Outcome(Status.INFEASIBLE, None, None, None, 0, 0.0, backend)
    value = float(program.constant)
    return Outcome(Status.OPTIMAL, value, value, np.zeros(0), 0, 0.0, backend)


def _who_can(features: frozenset[str], kind: type[Backend]) -> str:
    """The solvers, or the writers, that take such a program."""
    from ircert.backends import BUILT_IN, get

    able = {
        each: [name for name in BUILT_IN if isinstance(backend := get(name), each) and features <= backend.offers]
        for each in (kind, Writer)
    }
    if able[kind]:
        return f"{'writers' if kind is Writer else 'backends'} that can: {', '.join(able[kind])}"
    written = f"; it can be written by {' or '.join(able[Writer])}" if able[Writer] else ""
    return f"no {'writer' if kind is Writer else 'solver'} can{written}"
