"""Every engine asked about a generated network, and all that can be wrong with the answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import ircert
from ircert.result.result import Result
from tests.generated.networks import Asked, asked
from tests.generated.truth import affordable, exact_radius, fault_of, hunted

LIMIT = 16.0
TOL = 1e-4
NEAR = 2.0**-20
"""A witness may lie this much outside of a refuted end that is a limit of collisions."""


@dataclass
class Tally:
    """What was asked, what stayed open, and what was wrong."""

    seconds: float
    networks: int = 0
    full: int = 0
    positive: int = 0
    wrong: list[str] = field(default_factory=list)
    checks: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    unresolved: Counter[str] = field(default_factory=Counter)
    families: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    open: list[str] = field(default_factory=list)

    def share(self, engine: str) -> float:
        """The part of an engine's searches that stayed open."""
        return self.unresolved[engine] / max(1, self.asked[engine])

    def __str__(self) -> str:
        """A table for people."""
        lines = [
            f"{self.networks} networks, {self.full} with full mantissas, {self.positive} with a finite positive radius",
            f"checked by {dict(self.checks)}",
            *(f"{name}: {self.unresolved[name]} of {self.asked[name]} open" for name in sorted(self.asked)),
            *(f"open by family, {name}: {dict(found)}" for name, found in sorted(self.families.items())),
            *self.open,
            *self.wrong,
        ]
        return "\n".join(lines)


def engines(question: Asked) -> list[str]:
    """`auto` leaves more than two inputs to `boxes`, so that it is asked about a part of those only."""
    if len(question.center) <= 2:
        return ["boxes", "regions", "auto"]
    return ["boxes", "auto"] if question.index % 8 == 0 else ["boxes"]


def boxes_against_regions(question: Asked) -> list[str]:
    """`boxes`, and the exact engine where it can judge."""
    return ["boxes", "regions"] if len(question.center) <= 2 else ["boxes"]


def check_all(indices: Iterable[int], seconds: float, which: Callable[[Asked], list[str]] = engines) -> Tally:
    """The answers of all engines, or some of them, about these networks, each with a time limit."""
    tally = Tally(seconds)
    for index in indices:
        question = asked(index)
        check(question, tally, which(question))
    return tally


def check(question: Asked, tally: Tally, names: list[str]) -> None:
    """One network: searches by some engines against each other and the truth, then balls beside the radius."""
    results = {}
    for engine in names:
        found = _answer(question, engine, tally)
        if found is not None:
            results[engine] = found
            _count(question, engine, found, tally)
    if not results:
        return
    tally.networks += 1
    tally.full += question.full
    lower = max(float(r.radius.certified) for r in results.values())
    upper = min((float(r.radius.refuted) for r in results.values() if r.radius.refuted is not None), default=None)
    tally.positive += lower > 0 and upper is not None
    _check_truth(question, lower, upper, tally)
    if upper is not None:
        _check_balls(question, results, lower, upper, tally)


def _answer(question: Asked, engine: str, tally: Tally, **more: Any) -> Result | None:
    """The answer with its witness checked; None, and a wrong answer on record, if the engine fails."""
    other = None if question.other is None else ircert.load(question.other)
    options = {"max_radius": LIMIT, **more} if "radius" not in more else more
    try:
        found = ircert.certify(
            ircert.load(question.layers),
            question.center,
            problem=question.problem,
            other=other,
            norm=question.norm,
            domain=question.domain,
            engine=engine,
            tol=TOL,
            time_limit=tally.seconds,
            **options,
        )
    except Exception as error:
        tally.wrong.append(f"{question}, {engine}, {more}: {error!r}")
        return None
    if found.witness is not None:
        within = _reach_of_witness(found)
        fault = fault_of(question, found.witness.exact.x, found.witness.exact.y, within)
        if fault is not None:
            tally.wrong.append(f"{question}, {engine}, {more}: the witness fails, {fault}")
    elif found.radius.refuted is not None:
        tally.wrong.append(f"{question}, {engine}, {more}: refuted without a witness")
    return found


def _reach_of_witness(found: Result) -> Fraction:
    if found.asked_radius is not None:
        return Fraction(found.asked_radius)
    assert found.radius.refuted is not None
    return Fraction(float(found.radius.refuted)) * (1 + Fraction(NEAR)) or Fraction(1)


def _count(question: Asked, engine: str, found: Result, tally: Tally) -> None:
    tally.asked[engine] += 1
    if found.verdict != "unresolved":
        return
    tally.unresolved[engine] += 1
    tally.families[engine][question.family] += 1
    ends = float(found.radius.certified), None if found.radius.refuted is None else float(found.radius.refuted)
    tally.open.append(f"{question}, {engine}: {ends}, {found.reason}")


def _check_truth(question: Asked, lower: float, upper: float | None, tally: Tally) -> None:
    """The brackets of all engines meet, and hold the oracle's radius where it can be found."""
    if upper is not None and lower > upper:
        tally.wrong.append(f"{question}: {lower!r} certified, {upper!r} refuted")
    reach = min(LIMIT, lower if upper is None else max(lower, upper) * (1 + 2 * NEAR))
    if reach <= 0:
        tally.checks["witness"] += 1
        return
    if affordable(question, reach):
        tally.checks["oracle"] += 1
        truth = exact_radius(question, reach)
        low, high = Fraction(truth.lower), truth.upper
        if (high is not None and Fraction(lower) > high) or (upper is not None and low > Fraction(upper)):
            tally.wrong.append(f"{question}: [{lower!r}, {upper!r}] instead of {float(truth.lower)!r}")
        return
    tally.checks["regions" if len(question.center) <= 2 else "hunt"] += 1
    if hunted(question, min(lower, LIMIT)) is not None:
        tally.wrong.append(f"{question}: a collision below {lower!r}")


def _check_balls(question: Asked, results: dict[str, Result], lower: float, upper: float, tally: Tally) -> None:
    """Closed balls just inside and just outside of the radius."""
    margin = 2.0**-10 if question.index % 3 else NEAR
    balls = [((1 + margin) * upper or margin, "certified")] + [((1 - margin) * lower, "refuted")] * (lower > 0)
    for engine in results:
        if engine == "auto" or (engine == "boxes" and question.index % 4):
            continue
        for radius, wrong in balls:
            found = _answer(question, engine, tally, radius=radius)
            name = f"{engine}, balls"
            if found is not None:
                tally.asked[name] += 1
                tally.unresolved[name] += found.verdict == "unresolved"
                if found.verdict == wrong:
                    tally.wrong.append(f"{question}, {engine}: the ball of radius {radius!r} is not {wrong}")
