"""Why a search ended before it knew: a value, and the one place where its sentence is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum


class Cause(Enum):
    """What ended a search.

    BUDGET:    the work that was allowed; more of it might help
    RANGE:     numbers that floats do not hold
    PROCESS:   a process that shared the work
    SOLVER:    a solver that refused, or whose bound does not count
    UNDECIDED: the engine's method, which has no more to say
    PRECISION: the answer lies in the last digits of the question
    REFUSED:   no engine takes the question
    """

    TIME = "time limit"
    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    MEMORY = "memory"
    RANGE = "range"
    PROCESS = "process"
    SOLVER = "solver"
    UNDECIDED = "undecided"
    PRECISION = "precision"
    REFUSED = "refused"


SENTENCES = {
    Cause.TIME: "the time limit was reached",
    Cause.INTERRUPTED: "interrupted",
    Cause.BUDGET: "the work that was allowed was done",
    Cause.MEMORY: "memory would not suffice",
    Cause.RANGE: "numbers beyond the range of floats",
}
"""How reasons begin; those of other causes are their details."""
MORE_HELPS = (Cause.TIME, Cause.BUDGET)
FINAL = (Cause.INTERRUPTED, Cause.PRECISION, Cause.REFUSED)


@dataclass(frozen=True)
class Stop:
    """What ended a search, the particulars, and the work done until then, counted by its plural (`boxes`)."""

    cause: Cause
    detail: str = ""
    work: Mapping[str, int] = field(default_factory=dict)

    @property
    def unfinished(self) -> bool:
        """Whether another engine may go on from here."""
        return self.cause not in FINAL

    @property
    def more_helps(self) -> bool:
        """Whether the same engine might come further with more time or work."""
        return self.cause in MORE_HELPS

    def after(self, earlier: Stop | None) -> Stop:
        """The same with what was done before as well."""
        if earlier is None:
            return self
        names = {**earlier.work, **self.work}
        return replace(self, work={name: earlier.work.get(name, 0) + self.work.get(name, 0) for name in names})

    def __str__(self) -> str:
        done = _listed([f"{count:,} {name if count > 1 else _one(name)}" for name, count in self.work.items() if count])
        if self.cause not in SENTENCES:
            return f"{self.detail} (after {done})" if done else self.detail
        sentence = f"{SENTENCES[self.cause]} after {done}" if done else SENTENCES[self.cause]
        return f"{sentence}: {self.detail}" if self.detail else sentence


def _one(plural: str) -> str:
    return plural.removesuffix("es") if plural.endswith("xes") else plural.removesuffix("s")


def _listed(items: list[str]) -> str:
    """a, b and c"""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
