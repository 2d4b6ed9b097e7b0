"""The engine `regions`: exact geometry of the linear regions, for networks with one or two inputs."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ircert.engines.base import Answer, Cause, Effort, Engine, Progress, Question, Stop
from ircert.engines.pinned import unpinned, without_pinned
from ircert.engines.regions.beyond import Open, TooManyPairs, nearest_pair, nearest_preimage, surely_injective
from ircert.engines.regions.complex import MOST_CELLS, Complex, TooManyCells
from ircert.engines.regions.fibres import Fibre, candidates, fibre_of
from ircert.engines.regions.growth import Surroundings
from ircert.engines.regions.metric import Point, cell_distances
from ircert.engines.regions.prediction import predicted_regions
from ircert.engines.regions.violations import SMALL, Violation, Violations
from ircert.engines.sharing import good_radius, known_refuted, of_one_point
from ircert.exact.rounding import LARGEST, rounded_down
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair
from ircert.geometry.place import Place
from ircert.limits import OutOfTime, Undecided
from ircert.result.radius import End

SLACK = Fraction(1, 2**40)
"""A witness near an infimum lies within this relative distance of it."""

FEW = 8192
"""So many linear regions are enumerated before anything else is tried …"""
MOST = 10**6
"""… more than these would fill the memory …"""
RATE = 2000.0
"""… and about so many take a second."""
FAR = 64
"""Where a search goes on to so many times the radius, it is worth to ask what lies beyond all vertices …"""
FARTHER = 2**40
"""… and so many times: floats tell pairs of cells no longer apart there …"""
MOST_PAIRS = 200
"""… and otherwise no more pairs of cells than this are asked about."""

CLEAR = "every pair of linear regions nearer than this was excluded with exact signs"
CLEAR_PSEUDO = "every linear region nearer than this was solved for the centre's output exactly"
EVERYWHERE = "the linear regions of the whole domain were examined with exact signs"
EVIDENCE = {
    "fold": "the map folds over at this distance: the determinant changes sign across a facet",
    "singular cell": "the map is not injective on a linear region that begins at this distance",
    "far collision": "two linear regions have a common image, and this is the nearest pair",
    "touching cells": "linear regions that touch at this distance overlap in their images",
    "preimage": "the nearest other point with the centre's output",
    "flat": "the centre's output is taken on a segment or region through the centre",
}


class Regions(Engine):
    """Walks the linear regions outward from the centre; every sign is decided exactly."""

    name = "regions"
    takes_turns = True

    def refusal(self, question: Question) -> str | None:
        """It is planar geometry."""
        free = int((question.low < question.high).sum())
        return None if free <= 2 else f"the regions engine takes one or two inputs, not {free}"

    def effort(self, question: Question) -> Effort:
        """Regions are counted by a sample of the ball."""
        return Effort(RATE, FEW, lambda: predicted_regions(question, question.reach), MOST)

    def answer(self, question: Question) -> Answer:
        """Fix what the domain pins down, grow, and stop at the nearest violation."""
        return of_one_point(question) or unpinned(_RegionSearch(without_pinned(question)).answer(), question)


@dataclass
class _RegionSearch:
    """One question being answered; `clear` is the radius of the largest open ball without a violation so far."""

    question: Question
    clear: Fraction = field(init=False)
    lap: float = 0.0
    stats: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        question = self.question
        self.clear = Fraction(good_radius(question))
        graph = question.networks.both.lowered
        self.line = len(question.center) == 1
        self.norm = question.norm.on(1 if self.line else 2)
        self.around = Surroundings(graph, Place(question.center, self.norm, question.low, question.high))
        first = list(range(question.graph.output_dim))
        self.rest = None if question.other is None else list(range(len(first), graph.output_dim))
        self.outputs = [*first, graph.output_dim] if self.line else first
        self.nowhere = False
        self._cells = -1
        self.stats = {"cells": 0, "radius explored": 0.0, "exact signs": 0, "seconds": {"cells": 0.0, "answer": 0.0}}

    def answer(self) -> Answer:
        """The bracket, or what is known of it when time is up."""
        try:
            for radius, complex_ in self._complexes():
                found = self._found(complex_)
                self.stats["seconds"]["answer"] += time.perf_counter() - self.lap
                if found is not None and found.low <= radius**self.norm.power:
                    return self._refuted(found)
                self.clear = radius
                refuted = known_refuted(self.question)
                self.question.report(Progress(float(radius), refuted, f"{len(complex_)} linear regions"))
                self.lap = time.perf_counter()
            return self._certified()
        except KeyboardInterrupt:
            return self._stopped(Cause.INTERRUPTED)
        except OutOfTime:
            return self._stopped(Cause.TIME)
        except TooManyCells as many:
            return self._stopped(Cause.MEMORY if self.question.budget is None else Cause.BUDGET, str(many))
        except Undecided:
            return self._stopped(Cause.UNDECIDED, "an exact computation would have been too large")

    def _complexes(self) -> Iterator[tuple[Fraction, Complex]]:
        self.lap = time.perf_counter()
        question = self.question
        # a ball that holds a collision is as far as a search has to go
        reach = (
            question.reach if question.radius is not None else min(question.reach, known_refuted(question) or math.inf)
        )
        most = MOST_CELLS if question.budget is None else question.budget
        options: dict[str, Any] = {"beyond": float(self.clear), "most": most, "ahead": self._ahead}
        for radius, complex_ in self.around.growing(reach, self._between, **options):
            self.stats["cells"] = len(complex_)
            self.stats["radius explored"] = float(radius)
            self.stats["seconds"]["cells"] += time.perf_counter() - self.lap
            self.lap = time.perf_counter()
            yield radius, complex_
            self.stats["exact signs"] += complex_.exact.asked

    def _ahead(self, radius: Fraction, complex_: Complex) -> float:
        """The radius up to which there is nothing to find, where the complex goes on as it is; infinite: nowhere."""
        unchanged, self._cells = len(complex_) == self._cells, len(complex_)
        reach = self.question.reach
        if self.question.radius is not None or not unchanged or reach < radius * FAR:
            return 0.0
        cells = self.around.open_cells(radius, complex_)
        if cells is None:
            return 0.0
        try:
            nearest = self._nearest_beyond(complex_, cells, MOST_PAIRS if reach < radius * FARTHER else math.inf)
        except TooManyPairs:
            return 0.0
        self.nowhere = nearest is None
        if nearest is None:
            return math.inf
        self.clear = max(self.clear, min(nearest, LARGEST if reach == math.inf else Fraction(reach)))
        return rounded_down(nearest)

    def _nearest_beyond(self, complex_: Complex, cells: list[Open], most: float) -> Fraction | None:
        """The distance (norm inf) of the nearest violation beyond the complex, which holds none."""
        if self.question.problem == "pseudo":
            return nearest_preimage(complex_, cells, self._value)
        violations = self._violations(complex_)
        if surely_injective(violations, cells, whole=self.around.everywhere):
            return None
        return nearest_pair(violations, cells, most)

    @property
    def _value(self) -> list[Fraction]:
        """The centre's output, as the complex has it."""
        return list(self.question.graph.exact(self.question.center)) + [Fraction(0)] * self.line

    def _between(self) -> None:
        if self.question.deadline.passed():
            raise OutOfTime

    # --- what one complex says ---------------------------------------------------------------------------------------

    def _found(self, complex_: Complex) -> _Finding | None:
        if self.question.problem == "pseudo":
            return self._other_preimage(complex_)
        violations = self._violations(complex_)
        single = violations.nearest_single()
        below = None if single is None else single.high
        if below == 0:
            return None if single is None else _Collision(single, violations)
        closer = violations
        if single is not None:
            # Beyond the fold images overlap that are apart inside the ball: cells are cut to it.
            radius = Fraction(self.norm.length_up(single.high)) if self.norm == "2" else single.high
            closer = self._violations(self.around.complex(radius, self._between))
        pair = closer.nearest_pair(below, clear=self.clear)
        self.stats["pairs solved"] = closer.pairs_asked
        best = closer.floored(pair or single)
        return None if best is None else _Collision(best, closer if pair else violations)

    def _violations(self, complex_: Complex) -> Violations:
        return Violations(complex_, self.norm, self.outputs, self.rest, self._between)

    def _other_preimage(self, complex_: Complex) -> _Finding | None:
        value = self._value
        cells = candidates(complex_, value)
        distances = cell_distances(complex_, self.norm)[cells]
        best: _Finding | None = None
        for i in np.argsort(distances, kind="stable").tolist():
            self._between()
            if best is not None and distances[i] > self.norm.length_up(best.measure) * (1 + 2.0**-40):
                break
            fibre = fibre_of(complex_, int(cells[i]), value)
            found = None if fibre is None else _other_point(fibre, self.norm)
            if found is not None and (best is None or found.measure < best.measure):
                best = found
        return best

    # --- answers -----------------------------------------------------------------------------------------------------

    def _certified(self) -> Answer:
        everywhere = self.nowhere or self.around.covered(self.clear) or self.around.first_radius() == math.inf
        if not everywhere and self.question.reach == math.inf and known_refuted(self.question) is None:
            return self._stopped(Cause.RANGE, f"up to {float(self.clear):.3g} the linear regions do not end")
        evidence = EVERYWHERE if everywhere else CLEAR_PSEUDO if self.question.problem == "pseudo" else CLEAR
        end = End(math.inf, evidence) if everywhere else End.below(self.clear, evidence)
        if self.question.radius is None:
            return Answer.bracket(end, stats=self.stats)
        return Answer.good(end, self.stats)

    def _refuted(self, found: _Finding) -> Answer:
        clear = CLEAR_PSEUDO if self.question.problem == "pseudo" else CLEAR
        certified = self._end(found.low, clear, up=False)
        if self.question.radius is not None:
            return self._decided(found, certified)
        pair = found.pair_near(self.norm)
        measure = pair.measure(self.norm) if found.measure else Fraction(0)
        refuted = self._end(measure, EVIDENCE[found.kind], up=True)
        return Answer.bracket(certified, refuted, self._points(pair), self.stats)

    def _decided(self, found: _Finding, certified: End) -> Answer:
        """The closed ball: cells were cut to it (norms 1 and inf), so whatever was found lies inside."""
        assert self.question.radius is not None
        radius = Fraction(self.question.radius)
        limit = radius**self.norm.power
        pair = found.pair_within(limit, self.norm)
        if pair is not None:
            refuted = self._end(min(found.measure, limit), EVIDENCE[found.kind], up=True)
            return Answer.bad(self._points(pair), certified, refuted, self.stats)
        pair, sure = found.on_rim(limit)
        if pair is not None:
            refuted = self._end(limit, EVIDENCE["far collision"], up=True)
            return Answer.bad(self._points(pair), certified, refuted, self.stats)
        if sure:
            return Answer.good(End.below(radius, CLEAR), self.stats)
        detail = "the nearest violation lies at this distance up to the last digits: a slightly larger ball is decided"
        return Answer.undecided(self.question, certified, Stop(Cause.PRECISION, detail), self.stats)

    def _stopped(self, cause: Cause, detail: str = "") -> Answer:
        stop = Stop(cause, detail, {"linear regions": self.stats["cells"]})
        clear = CLEAR_PSEUDO if self.question.problem == "pseudo" else CLEAR
        return Answer.undecided(self.question, End.below(self.clear, clear), stop, self.stats)

    def _end(self, measure: Fraction, evidence: str, *, up: bool) -> End:
        if self.norm == "2":
            return End.root_above(measure, evidence) if up else End.root_below(measure, evidence)
        return End.above(measure, evidence) if up else End.below(measure, evidence)

    def _points(self, pair: Pair) -> tuple[list[Fraction], list[Fraction]]:
        """A pair in the network's own coordinates."""
        center = [Fraction(t) for t in self.question.center.tolist()]
        return [c + t for c, t in zip(center, pair.x, strict=False)], [
            c + t for c, t in zip(center, pair.y, strict=False)
        ]


class _Finding(ABC):
    """The nearest violation of one complex: `measure` is that of the nearest pair, `low` a bound below of the truth."""

    low: Fraction
    measure: Fraction
    kind: str

    @abstractmethod
    def pair_within(self, limit: Fraction, norm: Norm) -> Pair | None:
        """A violating pair whose measure is at most the limit."""

    def on_rim(self, limit: Fraction) -> tuple[Pair | None, bool]:
        """Where no pair within the limit is at hand: a pair exactly there, or None and whether there is surely none."""
        return None, False

    def pair_near(self, norm: Norm) -> Pair:
        """A violating pair as near as it gets, or nearly so."""
        pair = self.pair_within(self.measure, norm) or self.pair_within(self.measure * (1 + SLACK), norm)
        assert pair is not None, "violating pairs come arbitrarily near"
        return pair


class _Collision(_Finding):
    """A violation of `local` or `transform`."""

    def __init__(self, violation: Violation, violations: Violations) -> None:
        self.low, self.measure, self.kind = violation.low, violation.high, violation.kind
        self._violation, self._violations = violation, violations

    def pair_within(self, limit: Fraction, norm: Norm) -> Pair | None:
        return self._violations.witness(self._violation, limit)

    def on_rim(self, limit: Fraction) -> tuple[Pair | None, bool]:
        return self._violations.on_rim(limit) if self._violation.high >= limit else (None, False)


class _OtherPreimage(_Finding):
    """Another point with the centre's output; `point` is the nearest, or any of a whole segment through the centre."""

    def __init__(self, point: Point, norm: Norm, *, flat: bool) -> None:
        self._point = point
        self._flat = flat
        self.kind = "flat" if flat else "preimage"
        self.low = self.measure = Fraction(0) if flat else norm.measure(point)

    def pair_within(self, limit: Fraction, norm: Norm) -> Pair | None:
        zero = tuple(Fraction(0) for _ in self._point)
        pair = Pair(self._point, zero)
        if self._flat:  # the segment from the centre to the point has the same output
            share = Fraction(1) if limit else SMALL
            while (pair := Pair(zero, zero).towards(Pair(self._point, zero), share)).measure(norm) > limit > 0:
                share /= 2
        return pair if self._flat or pair.measure(norm) <= limit else None


def _other_point(fibre: Fibre, norm: Norm) -> _OtherPreimage | None:
    """The nearest point of a fibre that is not the centre."""
    measure, point = fibre.nearest(norm)
    if measure:
        return _OtherPreimage(point, norm, flat=False)
    others = [corner for corner in fibre.corners if any(corner)]
    return _OtherPreimage(others[0], norm, flat=True) if others else None
