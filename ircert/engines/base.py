"""What an engine is given and what it gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import Deadline
from ircert.query import Norm
from ircert.result.radius import End
from ircert.result.result import Optimum, Trust, Verdict


@dataclass(frozen=True)
class Progress:
    """How far a search is: the bracket so far, and a few words."""

    certified: float
    refuted: float | None
    text: str = ""


def silent(progress: Progress) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class Question:
    """A validated question about piecewise-linear graphs, as they were loaded.

    low, high: the domain box, infinite where there is none; the centre lies in it
    radius:    the closed ball to decide, or None to search for the largest good radius up to max_radius
    tol:       a search may stop once refuted - certified <= tol * refuted
    report:    may be called with the bracket so far, as often as the engine likes
    at_once:   whether answers that need no search are still to be tried
    known:     what another engine found out about the same question before
    budget:    how much an engine may do before it gives what it has: linear regions (`regions`), or boxes and pairs
               (`milp`, which then asks no solver, whose work cannot be counted); None for as much as it likes
    """

    graph: Graph
    other: Graph | None
    problem: str
    norm: Norm
    center: Array
    low: Array
    high: Array
    radius: float | None
    max_radius: float
    tol: float = 1e-6
    deadline: Deadline = field(default_factory=Deadline)
    seed: int = 0
    threads: int = 1
    backend: str | None = None
    formulation: str | None = None
    report: Callable[[Progress], None] = silent
    at_once: bool = True
    known: Answer | None = None
    budget: int | None = None

    @property
    def reach(self) -> float:
        """The radius beyond which nothing matters."""
        return self.max_radius if self.radius is None else self.radius

    def trivial_bound(self, radius: float) -> float | None:
        """A bound on p* of the ball of this radius that needs no solver, where there is one."""
        return {"local": 2.0 * radius, "pseudo": radius}.get(self.problem)


@dataclass(frozen=True)
class Answer:
    """What an engine found out.

    verdict: for a fixed ball; None for a search, where the bracket says it
    witness: an exact pair; needed for a refuted verdict (inside the ball) and for every refuted end (where the end is
             an infimum, near it)
    stats:   free form; a dict under "seconds" is shown as where the time went
    engine:  who answered, if it was not the engine that was asked
    unfinished: whether another engine may go on from here: time, budget or memory ended, and nobody interrupted
    """

    verdict: Verdict | None
    certified: End
    refuted: End | None
    witness: tuple[list[Fraction], list[Fraction]] | None
    trust: Trust
    stats: Mapping[str, Any] = field(default_factory=dict)
    optimum: Optimum | None = None
    backend: str | None = None
    formulation: str | None = None
    reason: str | None = None
    engine: str | None = None
    unfinished: bool = False


class Engine(ABC):
    """Answers questions. Stopped by the deadline or by KeyboardInterrupt, a search returns the bracket it reached."""

    name: ClassVar[str]

    @abstractmethod
    def refusal(self, question: Question) -> str | None:
        """Why this engine cannot answer (more inputs than it handles, say), or None if it can."""

    @abstractmethod
    def answer(self, question: Question) -> Answer:
        """The answer; `unresolved` with a reason rather than a guess."""
