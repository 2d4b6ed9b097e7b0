"""One question about networks with curves: balls proved by one matrix or by degree; turned points and boxes refute.

What needs linear regions (pairs of regions, trees of phases, collisions by exact programs) has no part in it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ircert.engines.base import Answer, Cause, Progress, Question, Stop, farthest
from ircert.engines.boxes.cutting.center_value import CenterValue
from ircert.engines.boxes.cutting.smooth_degree import SmoothDegree
from ircert.engines.boxes.effort.portfolio import Portfolio, Way
from ircert.engines.boxes.enclosures.batches import MOST as MOST_AT_ONCE
from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.falsification.turned_points import proved_sign
from ircert.engines.boxes.one_matrix.all_slopes import holds_everywhere
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.one_box import first_closed
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.climbing import FIRST_EFFORT, LEAST_EFFORT
from ircert.engines.boxes.search.smooth_climb import SmoothClimb
from ircert.engines.boxes.search.smooth_hunt import GROWTH, SmoothHunt
from ircert.engines.boxes.workers.pool import WorkerPool
from ircert.engines.judge import NOTHING
from ircert.engines.sharing import good_radius
from ircert.errors import ProcessError
from ircert.ir.arrays import Array
from ircert.ir.ops import Affine
from ircert.limits import Deadline, OutOfTime, until
from ircert.result.radius import End
from ircert.result.result import Verdict

CLEAR = "no violation in this ball: {}{}; safely rounded"
ONE_MATRIX = "one matrix C with sym(C J) positive definite at all its points"
EVERYWHERE = "one matrix C with sym(C J) positive definite for all slopes that neurons have anywhere"
DEGREE = "one orientation inside and no collision on the boundary"
ALONE = "in a small one the outputs tell all points apart, and outside of it boxes of points do not have the centre's"
GIVEN = ", so that the given outputs tell its points apart"
KNOWN = "known from another engine"
FEWER = "a smooth network with fewer outputs than free inputs is not proved: violations alone were looked for"
BENDING = 0.5
"""The first ball moves the neuron that moves fastest by this, about."""
CLOSE = 1.005
"""Between a ball that is proved and one for which there is no matrix, nothing is tried if they are that close."""
TOO_FAR = 32.0
"""How much farther than its radius a ball's slopes are followed at most: rounding errors are those of the steepest."""
BY_DEGREE = {1: 4.0, 2: 8.0, 3: 40.0}
BY_DEGREE_BEYOND = 0.3
"""How much degree gets of what one matrix takes, by the number of inputs, where that does not prove a ball."""
APART = 0.6
"""The part of the time in which other points with the centre's output are excluded before larger balls are proved."""
MOST_BY_DEGREE = 2_000_000
"""The effort of degree in all, where there is no time limit: it does not see that a determinant touches 0."""
LARGER = 2.0
"""How much larger than a good ball the next one is that degree alone is asked about."""
SMALLER, TRIES = 0.25, 24
"""How much smaller a first ball is than one that was not proved, and how many of `pseudo` are tried."""
EARLY = 4
"""… and of all problems before violations are looked for, with little effort: so there is a radius when time ends."""
MANY_INPUTS, ONE_BOX, BOXES = 16, 1 / 16, 12
"""From so many inputs on a first ball is one box: how much smaller each is than the last, and how many are tried."""
FARTHER = 2.0
"""How much larger balls than the one that is asked about a new covering serves."""
MOST_ENTRIES = 1 << 24
"""Of the matrices of a network, which are written out several times: a gigabyte."""
ALONE_ROUNDS, LAST_ROUNDS = 200, 20
"""Rounds of points that follow gradients where proofs have given up: in a ball that is neither closed nor refuted, and
in vain at the end of a search; looks for pairs are as many as the latter."""
HUNTING = 0.1
"""The part of the time that looking for violations may take …"""
LEAST_HUNTING = 0.7
"""… at first, and the seconds that it may take where a third of a limit allows them."""


@dataclass
class SmoothSearch:
    """One question being answered; `clear` is the largest radius whose closed ball was proved."""

    question: Question
    counts: Counts = field(default_factory=Counts)
    seconds: dict[str, float] = field(default_factory=dict)
    backend: str | None = None

    def __post_init__(self) -> None:
        question = self.question
        graph = question.network.lowered
        place = question.place.simplest
        scale = min(question.reach, 1.0 + float(np.abs(place.center).max(initial=0.0)))
        self.setting = Setting(
            graph, "local", graph.output_dim, place, scale if question.radius is None else question.radius
        )
        self.clear, self.stop = good_radius(question), None
        self._known = self.clear
        self.pool = WorkerPool(question.threads, question.deadline.left)
        self.hunt = SmoothHunt(question, self.setting)
        self._argument, self._by_degree = ONE_MATRIX, 0

    @cached_property
    def covering(self) -> Covering:
        """One matrix for the outputs that must agree."""
        return Covering(Batches(self.setting), self.counts, self._report, self.question.seed, processes=self.pool)

    @cached_property
    def degree(self) -> SmoothDegree | None:
        """Determinants inside and pairs on the boundary, where there are as many outputs as inputs, and few."""
        sign = proved_sign(self.setting, self.setting.center) if SmoothDegree.serves(self.setting) else 0
        return SmoothDegree(self.setting, sign, self.counts, self._report) if sign else None

    @cached_property
    def alone(self) -> CenterValue:
        """Points with the centre's output, which are excluded."""
        return CenterValue(self.covering.network, self.counts, self._report)

    def answer(self) -> Answer:
        """The bracket, or what is known of it when time is up."""
        stop: Stop | None = None
        try:
            stop = self._searched()
        except KeyboardInterrupt:
            stop = Stop(Cause.INTERRUPTED, work=self._work())
        except ProcessError as error:
            stop = Stop(Cause.PROCESS, str(error), self._work())
        except OutOfTime:
            stop = Stop(Cause.TIME, work=self._work())
        except ArithmeticError:
            stop = Stop(Cause.RANGE, work=self._work())
        finally:
            self.pool.close()
        return self._ends(stop)

    def _searched(self) -> Stop | None:
        entries = sum(math.prod(n.op.weight.shape) for n in self.setting.graph.nodes if isinstance(n.op, Affine))
        if entries > MOST_ENTRIES:
            return Stop(Cause.MEMORY, f"the matrices of the network have {entries:,} entries")
        with np.errstate(all="ignore"):
            if self.question.radius is None and not (self._is_flat or self.clear):
                if self.setting.size >= MANY_INPUTS:
                    self._timed("proofs", self._prove_one_box)
                else:
                    self._prove_some_ball(EARLY, LEAST_EFFORT)
            self._begin()
            if not self._is_flat:
                self._certify()
                if self._timed("falsification", self._hunt_on):
                    self._certify()
            self._finish()
        if self._is_settled():
            return None
        if self._is_flat:
            return Stop(Cause.UNDECIDED, FEWER)
        if self.question.deadline.passed():
            return Stop(Cause.TIME, work=self._work())
        if self._is_over():
            return Stop(Cause.BUDGET, work=self._work())
        return Stop(Cause.UNDECIDED, "no matrix serves larger balls, or boxes were not closed", self._work())

    @property
    def _is_flat(self) -> bool:
        """Whether there are fewer outputs than inputs, so that nothing can be proved."""
        return self.setting.constrained < self.setting.size

    def _certify(self) -> None:
        """Balls without a violation; for `pseudo`, before and after balls on which outputs tell all points apart."""
        pseudo = self.question.problem == "pseudo"
        if pseudo:
            self._exclude(APART)
        if self.question.radius is not None and not self._is_settled():
            self._decide(self.question.radius)
        elif self.question.radius is None and not self._is_settled():
            self._climb()
        if pseudo:
            self._exclude(1.0)

    # --- balls -------------------------------------------------------------------------------------------------------

    def _decide(self, radius: float) -> None:
        """One matrix and degree in turns; in between violations are looked for, where points met seem turned."""
        ways: list[tuple[Way, float]] = [(lambda stop: self._covered(radius, stop), 1.0)]
        if self.degree is not None:
            ways.append((lambda stop: self._turned(radius, stop), min(self._share, 1.0)))
        portfolio, effort = Portfolio(self.counts, ways), FIRST_EFFORT
        while portfolio.ways and not (self._is_settled() or self._is_over()):
            most = self.counts.effort + effort
            if portfolio.advance(partial(self._is_spent, most)) != "stopped":
                break
            self._timed("falsification", self._hunt_beside)
            effort *= 2
        self._timed("falsification", self._hunt_alone)

    def _climb(self) -> None:
        """Balls that grow while they are cheap; violations say where to stop."""
        effort = max(LEAST_EFFORT, FIRST_EFFORT * self.covering.network.batch / MOST_AT_ONCE)
        near = math.inf if self.hunt.refuted is None else SMALLER * self._top()  # its own ball may take all the time
        climb = SmoothClimb(min(self._first, near), effort)
        while not (self._is_settled() or climb.is_hopeless or self._is_over()):
            top, gave_up = self._top(), self.covering.gave_up
            if gave_up <= top:  # no matrix is known from there on
                top = math.sqrt(self.clear) * math.sqrt(gave_up) if self.clear else SMALLER * gave_up
            if gave_up < CLOSE * self.clear:
                if not self._with_degree(LARGER * self.clear, math.inf):
                    break
                continue
            radius, before = climb.next(self.clear, top), self.counts.effort
            outcome = self._prove(radius, climb.effort)
            used, too_long = self.counts.effort - before, self.covering.too_long
            if outcome == "closed":
                self._try_everywhere()
                climb.proved(self.clear, used, far=self.clear >= farthest(self.question.center, self.question.norm))
            else:
                climb.failed(radius, self.clear, too_long, gave_up=too_long is None and used < climb.effort)
                self._with_degree(radius, climb.effort)
            self._timed("falsification", self._hunt_beside)

    def _exclude(self, share: float) -> None:
        """`pseudo`: a small ball by one matrix; then boxes that do not have the centre's output, in balls that grow."""
        if not self.clear and not self._is_settled():
            self._prove_some_ball()
        end = Deadline(share * self.question.deadline.left())
        while self.clear and not self._is_settled():
            outcome = self._timed("proofs", partial(self._excluded, lambda: self._is_over() or end.passed()))
            self._reach(self.alone.reached, ALONE)
            if outcome == "stopped" and not self._timed("falsification", self._is_proved):
                break

    def _prove_some_ball(self, tries: int = TRIES, effort: float = FIRST_EFFORT) -> None:
        """A ball around the centre, however small."""
        radius = min(self._first, self._top())
        for _ in range(tries):
            if self._is_over() or self._prove(radius, effort) == "closed":
                break
            radius *= SMALLER

    def _prove_one_box(self) -> None:
        """A ball around the centre without looking for a matrix."""
        largest = ONE_BOX * min(self._first, self._top())
        self._follow(largest)
        radii = (largest * ONE_BOX**k for k in range(BOXES))
        self._reach(first_closed(self.covering.network, self.covering.points, radii), ONE_MATRIX)
        self._report("one box")

    def _excluded(self, stop: Callable[[], bool]) -> Outcome:
        return self.alone.advance(min(GROWTH * self.clear, self._top()), self.clear, stop)

    def _is_proved(self) -> bool:
        """Whether a point that seems to have the centre's output led to one that has, nearer than before."""
        suspect = self.alone.suspect
        return suspect is not None and self.hunt.pairs.look_at(suspect, self.question.reach)

    def _try_everywhere(self) -> None:
        """Whether the matrix of the last ball serves the whole space, where that is asked about."""
        matrix, place = self.covering.matrix, self.setting.place
        if matrix is None or self.hunt.refuted is not None or np.isfinite([place.low, place.high]).any():
            return
        if self.question.reach < farthest(self.question.center, self.question.norm):
            return
        if self._timed("proofs", lambda: holds_everywhere(self.covering.network, matrix)):
            self._reach(math.inf, EVERYWHERE)

    def _prove(self, radius: float, effort: float) -> Outcome:
        most = self.counts.effort + effort
        self.covering.effort = effort
        outcome = self._covered(radius, partial(self._is_spent, most))
        self._report(f"radius {radius:g}: {outcome}")
        return outcome

    def _with_degree(self, radius: float, effort: float) -> bool:
        """Whether a ball is proved where one matrix failed: the largest one that is worth it, if there is an end."""
        if self.degree is None or self._is_over():
            return False
        before = self.counts.effort
        most = before + self._share * max(effort, before - self._by_degree) - self._by_degree
        if before >= most:
            return False
        radius = self._top() if self.hunt.refuted is not None else min(radius, self._top())
        return self._turned(radius, partial(self._is_spent, most)) == "closed"

    @property
    def _share(self) -> float:
        return BY_DEGREE.get(self.setting.size, BY_DEGREE_BEYOND)

    def _covered(self, radius: float, stop: Callable[[], bool]) -> Outcome:
        self._follow(radius)
        outcome: Outcome = self._timed("proofs", lambda: self.covering.advance(radius, stop))
        self._reach(self.covering.reached, ONE_MATRIX)
        return outcome

    def _follow(self, radius: float) -> None:
        """Slopes without a bound are followed about as far as they go in a ball: others need another covering."""
        if not radius <= self.setting.scale <= TOO_FAR * radius and self.covering.network.steep:
            self.setting = replace(self.setting, scale=FARTHER * radius)
            del self.__dict__["covering"]

    def _turned(self, radius: float, stop: Callable[[], bool]) -> Outcome:
        degree, before = self.degree, self.counts.effort
        assert degree is not None
        most = math.inf if self.question.deadline.left() < math.inf else before + MOST_BY_DEGREE - self._by_degree
        work = partial(degree.advance, radius, lambda: stop() or self.counts.effort > most)
        outcome: Outcome = self._timed("proofs", work)
        self._by_degree += self.counts.effort - before
        self._reach(degree.reached, DEGREE)
        return outcome

    def _reach(self, radius: float, argument: str) -> None:
        if radius > self.clear:
            self.clear, self._argument = radius, argument

    @cached_property
    def _first(self) -> float:
        """The ball in which the fastest neuron moves by about BENDING."""
        network, rows = self.covering.network, [np.zeros((0, self.setting.size))]
        slopes = self.setting.derivatives(self.setting.center[None])[0]

        def neuron(name: str, state: Array) -> Array:
            rows.append(state[:, :, 0])
            return state * slopes[self.setting.relus[name]][:, None, None]

        start = np.eye(self.setting.size)[:, :, None]
        network.forward(start, lambda name, state: times(network.weights[name], state), neuron)
        fastest = float(self.setting.norm.dual.lengths(np.concatenate(rows)).max(initial=0.0))
        first = BENDING / fastest if fastest > 0 and math.isfinite(fastest) else 1.0
        return min(first, self.question.reach)

    def _top(self) -> float:
        """The largest ball that is worth proving."""
        best = self.hunt.refuted
        if best is None:
            return self.question.reach
        return min(best * (1 - max(self.question.tol / 2, 1e-12)), self.question.reach)

    def _is_settled(self) -> bool:
        if self.question.radius is not None:
            return self.clear >= self.question.radius or self.hunt.holds(self.question.radius)
        return self.clear >= self._top() * (1 - self.question.tol / 4)

    # --- violations --------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Look for violations: in the stem, and for a part of the time."""
        self._timed("stem", self.hunt.look_at_stem)
        self._hunted(lambda: self.hunt.begin(self._first, self._is_over))
        self._finish()  # so that there is a pair whenever time ends

    def _finish(self) -> None:
        """A pair for people, where there is time for it."""
        if not self._is_over():
            self._hunted(self.hunt.finish)

    def _hunted(self, work: Callable[[], None]) -> None:
        left = self.question.deadline.left()
        seconds = left if self._is_flat else max(HUNTING * left, min(LEAST_HUNTING, left / 3))
        with suppress(OutOfTime), until(Deadline(seconds)):
            self._timed("falsification", work)
        self._timed("falsification", self.hunt.catch_up)

    def _hunt_beside(self) -> None:
        """Look again, where the proofs met points that seem turned, or for a part of the time."""
        met = self.covering.turned
        self.covering.turned = []
        if self._is_over():
            return
        far = math.inf if self.question.radius is not None else max(GROWTH * self.clear, self._first)
        self.hunt.beside(self.counts.effort, far, met)
        spent = self.seconds.get("falsification", 0.0)
        if met or spent < HUNTING * sum(self.seconds.values()):
            self.hunt.look(min(self.question.reach, far), met)

    def _hunt_alone(self) -> None:
        """Look on in a ball that no proof closed."""
        turned = self.hunt.turned is not None
        for _ in range(ALONE_ROUNDS if turned else LAST_ROUNDS):
            if self._is_settled() or self._is_over():
                break
            if turned:
                self.hunt.seek(self._first)
            else:
                self.hunt.look(self.question.reach)

    def _hunt_on(self) -> bool:
        """Whether there are violations much nearer than the one that is known."""
        found, vain = False, 0
        while self.hunt.refuted is not None and vain < LAST_ROUNDS and not (self._is_settled() or self._is_over()):
            before = self.hunt.refuted
            looked = self.hunt.look(before) if not vain else self.hunt.seek(self._first)
            better = looked and self.hunt.refuted <= before * (1 - self.question.tol / 8)
            found, vain = found or better, 0 if better else vain + 1
        return found

    # --- small things ------------------------------------------------------------------------------------------------

    def _is_over(self) -> bool:
        budget = self.question.budget
        return self.question.deadline.passed() or (budget is not None and self.counts.work > budget)

    def _is_spent(self, most: float) -> bool:
        return self._is_over() or self.counts.effort > most

    def _ends(self, stop: Stop | None) -> Answer:
        certified, hunt, question = self._certified(), self.hunt, self.question
        if question.radius is not None and self.clear >= question.radius:
            return Answer.good(certified, self._stats())
        if question.radius is not None and not hunt.holds(question.radius):
            return Answer.undecided(question, certified, stop or Stop(Cause.UNDECIDED), self._stats())
        verdict: Verdict | None = None if question.radius is None else "refuted"
        found = Answer(verdict, certified, hunt.end, None, "exact", self._stats(), hunt.optimum, stop=stop)
        return replace(found, turned=hunt.points, boxes=hunt.boxes)

    def _certified(self) -> End:
        if not self.clear:
            return End(0.0, NOTHING)
        if self.clear <= self._known:
            return End(self.clear, KNOWN)
        return End(self.clear, CLEAR.format(self._argument, GIVEN if self.question.problem == "transform" else ""))

    def _work(self) -> dict[str, int]:
        return {"boxes": self.counts.boxes}

    def _report(self, text: str = "") -> None:
        self.question.report(Progress(self.clear, self.hunt.refuted, text or f"{self.counts.boxes} boxes"))

    def _timed(self, name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        try:
            return work()
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def _stats(self) -> dict[str, Any]:
        return {"neurons": self.setting.neurons, **asdict(self.counts), "seconds": dict(self.seconds)}
