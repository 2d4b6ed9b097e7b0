"""What a backend is: a declaration of what it can do, plus one or two methods."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from typing import Any, ClassVar

from ircert.errors import BackendError, MissingExtra
from ircert.ir.arrays import Array
from ircert.program.program import Program


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
    """What is known in the middle of a run, in the program's own sense (larger is better when it maximises)."""

    seconds: float
    value: float | None
    bound: float | None
    nodes: int


@dataclass(frozen=True)
class Limits:
    """How a run may go; None leaves a matter to the solver.

    gap: relative gap at which to stop; tolerance: feasibility and integrality tolerance; progress may return True to stop.
    """

    time_limit: float | None = None
    gap: float | None = None
    threads: int = 1
    seed: int = 0
    tolerance: float | None = None
    progress: Callable[[Progress], bool | None] | None = None


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

    def by_name(self, program: Program) -> dict[str, float]:
        """The point by variable name; empty if there is none."""
        return {} if self.point is None else dict(zip(program.column_names, self.point.tolist(), strict=True))


class Backend(ABC):
    """Something that takes programs. `offers` lists features (see `ircert.program.program`) beyond linear programming.

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

    def check(self, program: Program) -> None:
        """Raise unless the package is there and the program asks for nothing that is not offered."""
        if not self.is_available():
            raise MissingExtra(str(self.package), extra=self.extra or "all", purpose=f"the backend `{self.name}`")
        missing = program.features - self.offers
        if missing:
            raise BackendError(
                f"it cannot handle: {', '.join(sorted(missing))}", backend=self.name, remedy=_who_can(program.features)
            )


class Solver(Backend):
    """A backend that answers."""

    @abstractmethod
    def build(self, program: Program) -> Any:
        """The solver's own model of the program, to be used with the solver's own interface."""

    def solve(self, program: Program, **limits: Any) -> Outcome:
        """Answer the program within `Limits`, given by name: solve(program, time_limit=60)."""
        self.check(program)
        try:
            chosen = Limits(**limits)
        except TypeError as error:
            raise BackendError(f"unknown limit ({error})", backend=self.name) from None
        return self._solve(program, chosen)

    @abstractmethod
    def _solve(self, program: Program, limits: Limits) -> Outcome: ...


class Writer(Backend):
    """A backend that writes files."""

    @abstractmethod
    def emit(self, program: Program, path: str | os.PathLike[str]) -> None:
        """Write the program, whole or not at all."""


def _who_can(features: frozenset[str]) -> str:
    from ircert.backends import BUILT_IN, get

    able = [name for name in BUILT_IN if isinstance(backend := get(name), Solver) and features <= backend.offers]
    return f"backends that can: {', '.join(able)}" if able else "no backend can; export it with `lp` or `mps`"
