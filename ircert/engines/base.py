"""What an engine is given and what it gives back."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ircert.exact.rounding import rounded_up
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place, Placed
from ircert.ir.arrays import Array
from ircert.ir.boxed_pair import BoxedPair
from ircert.ir.graph import Graph
from ircert.limits import Deadline
from ircert.questions.network import Network, Networks
from ircert.result.radius import End
from ircert.result.result import Optimum, Trust, Verdict
from ircert.result.stop import Cause as Cause
from ircert.result.stop import Stop as Stop

FARTHEST = 1e6
"""A search ends at this radius, times the centre's length if that is more than 1."""


def farthest(center: Array, norm: Norm) -> float:
    """How far a search goes if nothing else is said."""
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(center, ord=norm.order))
    return min(FARTHEST * max(1.0, length), sys.float_info.max)


@dataclass(frozen=True)
class Progress:
    """How far a search is: the bracket so far, and a few words."""

    certified: float
    refuted: float | None
    text: str = ""

    def __str__(self) -> str:
        upper = "?" if self.refuted is None else f"{self.refuted:.9g}"
        return f"radius between {self.certified:.9g} and {upper}  {self.text}".rstrip()


def silent(progress: Progress) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class Question(Placed):
    """A validated question about graphs of piecewise-linear operations and curves, as they were loaded.

    place:     the centre, the norm and the domain of all balls
    radius:    the closed ball to decide, or None to search for the largest good radius up to max_radius (or inf)
    tol:       a search may stop once refuted - certified <= tol * refuted
    report:    may be called with the bracket so far, as often as the engine likes
    at_once:   whether answers that need no search are still to be tried
    known:     what another engine found out about the same question before
    networks:  the same graphs lowered, once for all engines, with the way back to them
    budget:    how much an engine may do before it gives what it has, in units of its own: linear regions (`regions`),
               boxes and pairs (`boxes`, which then asks no solver, whose work cannot be counted) or programs
               (`milp`); None for as much as it likes
    optimum_later: whether p* is bracketed after the verdict, so that engines need not look for more than a pair
    """

    graph: Graph
    other: Graph | None
    problem: str
    place: Place
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
    optimum_later: bool = False
    networks: Networks = None  # type: ignore[assignment]  # made below from the graphs, where they are none of theirs

    def __str__(self) -> str:
        ball = "the largest radius" if self.radius is None else f"radius {self.radius:g}"
        graph = self.graph
        sizes = f"{graph.input_dim} inputs, {graph.output_dim} outputs and {len(graph.nodes)} nodes"
        return f"{self.problem}, {ball}, norm {self.norm}, of a network with {sizes}"

    def __post_init__(self) -> None:
        if self.networks is None or not self.networks.are_of(self.graph, self.other):
            object.__setattr__(self, "networks", Networks.of(self.graph, self.other))

    @property
    def network(self) -> Network:
        """The network of the question; for `transform` the other one is `networks.other`, both together `.both`."""
        return self.networks.network

    @property
    def is_smooth(self) -> bool:
        """Whether there are curves, so that no finite number of linear regions describes the networks."""
        return any(network.has_curves for network in self.networks)

    @property
    def reach(self) -> float:
        """The radius beyond which nothing matters."""
        return self.max_radius if self.radius is None else self.radius

    def trivial_bound(self, radius: float) -> float | None:
        """A bound on p* that needs no solver, where there is one: the size of the ball cut with the domain."""
        if self.problem == "transform":
            return None
        reach, sides = Fraction(radius), []
        for c, a, b in zip(self.center.tolist(), self.low.tolist(), self.high.tolist(), strict=True):
            below = reach if a == -math.inf else min(reach, Fraction(c) - Fraction(a))
            above = reach if b == math.inf else min(reach, Fraction(b) - Fraction(c))
            sides.append(below + above if self.problem == "local" else max(below, above))
        whole = rounded_up(reach * (2 if self.problem == "local" else 1))
        return min(whole, self.norm.length_up(self.norm.measure(sides)))


def free_inputs(question: Question) -> list[int]:
    """The inputs that the domain leaves some room."""
    return [i for i, (a, b) in enumerate(zip(question.low.tolist(), question.high.tolist(), strict=True)) if a < b]


Points: TypeAlias = tuple[list[Fraction], list[Fraction]]
"""Two exact points."""
Stats: TypeAlias = Mapping[str, Any]
NO_STATS: Stats = {}


@dataclass(frozen=True)
class Answer:
    """What an engine found out.

    verdict: for a fixed ball; None for a search, where the bracket says it
    witness: an exact pair; needed for a refuted verdict (inside the ball) and for every refuted end (where the end is
             an infimum, near it)
    turned:  two exact points inside every larger ball, with determinants of opposite signs: another kind of witness for
             `local` with as many outputs as inputs
    boxes:   boxes that hold a violation, in place of the exact pair, where networks have no exact evaluation
    stats:   free form; a dict under "seconds" is shown as where the time went
    engine:  who answered, if it was not the engine that was asked
    stop:    what ended the search before it knew; None where it went to its end
    """

    verdict: Verdict | None
    certified: End
    refuted: End | None
    witness: Points | None
    trust: Trust
    stats: Stats = field(default_factory=dict)
    optimum: Optimum | None = None
    backend: str | None = None
    formulation: str | None = None
    engine: str | None = None
    stop: Stop | None = None
    turned: Points | None = None
    boxes: BoxedPair | None = None

    @classmethod
    def good(cls, end: End, stats: Stats = NO_STATS, optimum: Optimum | None = None, trust: Trust = "exact") -> Answer:
        """The ball is good."""
        return cls("certified", end, None, None, trust, stats, optimum)

    @classmethod
    def bad(
        cls,
        witness: Points,
        end: End,
        refuted: End | None = None,
        stats: Stats = NO_STATS,
        optimum: Optimum | None = None,
    ) -> Answer:
        """The ball holds this violation; it is good up to `end`, as far as is known."""
        return cls("refuted", end, refuted, witness, "exact", stats, optimum)

    @classmethod
    def bracket(
        cls,
        end: End,
        refuted: End | None = None,
        witness: Points | None = None,
        stats: Stats = NO_STATS,
        trust: Trust = "exact",
        stop: Stop | None = None,
    ) -> Answer:
        """What a search knows: good up to `end`, and bad at `refuted`."""
        return cls(None, end, refuted, witness, trust, stats, stop=stop)

    @classmethod
    def undecided(
        cls,
        question: Question,
        end: End,
        stop: Stop,
        stats: Stats = NO_STATS,
        optimum: Optimum | None = None,
        trust: Trust = "exact",
    ) -> Answer:
        """Good up to `end`, and why there is no more to say, about a ball or of a search."""
        verdict: Verdict | None = None if question.radius is None else "unresolved"
        return cls(verdict, end, None, None, trust, stats, optimum, stop=stop)

    @property
    def reason(self) -> str | None:
        """What ended the search, as a sentence."""
        return None if self.stop is None else str(self.stop)

    @property
    def unfinished(self) -> bool:
        """Whether another engine may go on from here."""
        return self.stop is not None and self.stop.unfinished


OPTIONS: Mapping[str, Any] = {"backend": None, "formulation": None, "threads": 1}
"""What only some engines know how to use, and what each is by default."""


@dataclass(frozen=True)
class Effort:
    """What `auto` may expect of an engine, in units of its own, which `Question.budget` counts.

    rate:  about how many of them take a second
    trial: so many are worth trying before anything else; 0 for none
    whole: about how many a complete answer takes; None where that is not known
    most:  more of them would fill the memory
    """

    rate: float = 1000.0
    trial: int = 0
    whole: Callable[[], float] | None = None
    most: float = math.inf


class Engine(ABC):
    """Answers questions. Stopped by the deadline or by KeyboardInterrupt, a search returns the bracket it reached.

    options:     those of OPTIONS that it knows; others are refused before it is asked
    takes_turns: whether `auto` asks it, in turns with others
    takes_smooth: whether it takes networks with curves; for others they are refused before it is asked
    """

    name: ClassVar[str]
    options: frozenset[str] = frozenset()
    takes_turns: ClassVar[bool] = False
    takes_smooth: ClassVar[bool] = False

    @abstractmethod
    def refusal(self, question: Question) -> str | None:
        """Why this engine cannot answer (more inputs than it handles, say), or None if it can."""

    def effort(self, question: Question) -> Effort:
        """What to expect of it; only asked where it does not refuse."""
        return Effort()

    @abstractmethod
    def answer(self, question: Question) -> Answer:
        """The answer; `unresolved` with what ended the search rather than a guess."""
