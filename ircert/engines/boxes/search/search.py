"""One question being answered for any number of inputs: a bracket grown and narrowed, or one ball decided.

Proofs come from boxes and trees of phases (`boxes.trees`), which need no solver's word; the paper's mixed-integer
program gives p* of a fixed ball, and takes over the pairs that are far apart where proofs take too long.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ircert.engines.asking import nothing_known
from ircert.engines.base import Answer, Cause, Progress, Question, Stop, farthest
from ircert.engines.boxes.enclosures.batches import MOST as MOST_AT_ONCE
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import falsify
from ircert.engines.boxes.falsification.hunt import Hunt
from ircert.engines.boxes.falsification.work import first_ball, switching_radii
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.ball_optimum import bounded_optimum
from ircert.engines.boxes.search.climbing import FIRST_EFFORT, LEAST_EFFORT, WITHIN, climb_for
from ircert.engines.boxes.search.ends import clear_end, refuted_end, witness_of
from ircert.engines.boxes.search.prover import FEW_INPUTS, Prover
from ircert.engines.boxes.search.whole_space import WholeSpace
from ircert.engines.boxes.workers.pool import WorkerPool
from ircert.engines.judge import NOTHING
from ircert.engines.optimum.far_pairs import FarPairs, far_pairs
from ircert.engines.sharing import good_radius, settled
from ircert.errors import ProcessError, ProgramError
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair
from ircert.limits import Allowance, Changing, OutOfTime, Undecided, until
from ircert.questions.network import Network
from ircert.result.radius import End
from ircert.result.result import Optimum

NEAR = "an exact tree excludes pairs nearer than"
FAR = "the dual bound of the mixed-integer program those further apart"
GROWTH = {1: 16.0, 2: 4.0}
"""A ball that is tried has at most this many times the radius of one that is good, by the number of inputs."""
FASTEST = 2.0**12
"""… but beyond the radii that are asked about without a limit, steps grow up to this one."""
FIRST = 0.983
"""Where growing starts: round radii are often exactly critical in networks made by hand, which is the hardest case."""
SMALLEST = 1 / 16
"""… or this part of the radius in question; for networks that are not small, below the first switch of a neuron."""
FEW = 24
"""Networks of three inputs with that few neurons are small, as all with fewer inputs are."""
SHARE = 0.7
"""The part of the time left that one ball may take."""
BISECTIONS = 12
TURN = 8_000
"""The effort of a proof between two turns of looking for violations, in boxes of a small network."""
FALSIFICATION = 0.1
"""The part of a time limit that looking for collisions may take at first …"""
LEAST_FALSIFICATION = 0.7
"""… and the seconds that it may take where a third of the limit allows them."""
MOST_FOR_OPTIMUM = 10.0
"""Seconds for the bound on p* of a ball that is refuted already."""


@dataclass
class Search:
    """One question being answered; `clear` is the largest radius whose closed ball was proved.

    whole: whether the whole space is asked about, and not only balls
    """

    question: Question
    whole: bool = False
    clear: float = 0.0
    stop: Stop | None = None
    far: FarPairs | None = None
    counts: Counts = field(default_factory=Counts)
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        question = self.question
        self._limit = question.deadline
        self.setting = self._setting(question.networks.both, question.problem)
        injective = None
        if question.other is not None and question.graph.output_dim >= len(question.center):
            injective = self._setting(question.network, "local")
        self.injective = injective
        self._end = math.inf
        self.pool = WorkerPool(question.threads, self._left)
        self.descent = Descent(self.setting, ExactMaps(self.setting), lambda: not self._over())
        self._start_from_known()
        if question.budget is not None:
            budget = question.budget
            self.question = replace(question, deadline=Allowance(question.deadline, lambda: self.counts.work > budget))

    def _start_from_known(self) -> None:
        self.clear = good_radius(self.question)
        known = self.question.known
        if known is not None and known.witness is not None:
            center = self.setting.exact_center
            u, v = (tuple(t - c for t, c in zip(point, center, strict=True)) for point in known.witness)
            self.descent.best = Pair(u, v).measure(self.setting.norm), Pair(u, v)

    @property
    def backend(self) -> str | None:
        """The solver that was asked, if one was."""
        return None if self.far is None else self.far.backend

    @cached_property
    def prover(self) -> Prover:
        """Made when it is first needed."""
        given = self.setting, self.descent, self.counts, self._over, self._report
        follow = None if self.hunt is None else self.hunt.suggest
        return Prover(*given, self.injective, self.clear, self.pool, follow)

    @cached_property
    def whole_space(self) -> WholeSpace:
        """Who proves it, in turns with balls."""
        return WholeSpace(self.prover, self.counts, self._over)

    def _setting(self, network: Network, problem: str) -> Setting:
        return Setting(network.merged, problem, self.question.graph.output_dim, self.question.place.simplest)

    def answer(self) -> Answer:
        """The bracket, or what is known of it when time is up."""
        with until(Changing(self._left, self._over)):
            found = self._answered()
        ended = None if settled(self.question, found) else found.stop
        return replace(found, stop=self.stop or ended)

    def _answered(self) -> Answer:
        with self._ended_by_trouble():
            self._report(f"{self.setting.neurons} neurons, {self.setting.size} inputs")
            if self.question.radius is not None:
                self._timed("falsification", self._falsify)
                return self._fixed(self.question.radius)
            self._bracket()
        if self.question.radius is not None:
            return self._stopped()
        return self._ends()

    @contextmanager
    def _ended_by_trouble(self) -> Iterator[None]:
        """Note what ended the search, and end the processes that shared it."""
        try:
            yield
        except KeyboardInterrupt:
            self._end_by(Cause.INTERRUPTED)
        except ProcessError as error:
            self._end_by(Cause.PROCESS, str(error))
        except ProgramError as error:
            self._end_by(Cause.UNDECIDED, str(error))
        except OutOfTime:
            pass  # as anywhere else where the limit comes
        except Undecided:
            self._end_by(Cause.UNDECIDED, "an exact computation would have been too large")
        except ArithmeticError:
            self._end_by(Cause.RANGE)
        finally:
            self.pool.close()

    def _falsify(self) -> None:
        if self._over():  # a prover takes time to be made
            return
        left = self.question.deadline.left()
        with self._within(max(FALSIFICATION * left, min(LEAST_FALSIFICATION, left / 3))), suppress(OutOfTime):
            if self.hunt is not None:
                self.hunt.begin()
            elif self.prover.orientation is None:  # which looks for folds by itself, and better
                falsify(self.setting, self.descent, self._farthest, self.question.seed)

    @property
    def _farthest(self) -> float:
        """How far violations are sought."""
        return min(self.question.reach, self._usual)

    @cached_property
    def hunt(self) -> Hunt | None:
        """Who looks for violations in turns with the proofs; small questions need nobody."""
        if self._is_direct or not Hunt.applies(self.setting):
            return None
        return Hunt(self.setting, self.descent, self.question.seed, self._farthest)

    def _hunted(self, effort: int, *, is_last: bool) -> None:
        """Look for nearer violations beside a proof that took some effort; time that ends loses nothing."""
        if (hunt := self.hunt) is None or self._over():
            return
        with suppress(OutOfTime), np.errstate(all="ignore"):
            self._timed("falsification", lambda: hunt.beside(effort, self.prover.turned(), self.clear, is_last=is_last))

    @property
    def _is_direct(self) -> bool:
        """Whether a question is so small that balls are asked about directly."""
        return self.setting.size <= 2 or (self.setting.size == 3 and self.setting.neurons <= FEW)

    @cached_property
    def _usual(self) -> float:
        """The largest radius that is asked about without a limit: farther away there is hardly a kink."""
        return farthest(self.question.center, self.question.norm)

    def _over(self) -> bool:
        return time.monotonic() > self._end or self.question.deadline.passed()

    def _left(self) -> float:
        return max(0.0, min(self._end - time.monotonic(), self.question.deadline.left()))

    @contextmanager
    def _within(self, seconds: float) -> Iterator[None]:
        """Give what follows this much time at most."""
        self._end = time.monotonic() + seconds
        try:
            yield
        finally:
            self._end = math.inf

    # --- one ball ----------------------------------------------------------------------------------------------------

    def _fixed(self, radius: float) -> Answer:
        left = self.question.deadline.left()
        if not self.descent.has_within(radius):
            outcome = self._in_turns(radius, math.inf, radius, SHARE * left)
            if outcome == "closed":
                optimum = Optimum(0.0, 0.0, "exact")
                return Answer.good(self._clear_end(radius), self._stats(), optimum)
            if outcome != "violated":
                return self._near_and_far(radius)
        return self.with_optimum(self._refuted(), radius)

    def _refuted(self) -> Answer:
        certified = self._clear_end(self.clear)
        return Answer.bad(witness_of(self.descent), certified, None, self._stats())

    def with_optimum(self, answer: Answer, radius: float) -> Answer:
        """A decided ball with p*: 0, or the separation of the farthest exact pair known and the program's bound."""
        try:
            return self._with_optimum(answer, radius)
        except OutOfTime:  # the verdict is known
            return answer

    def _with_optimum(self, answer: Answer, radius: float) -> Answer:
        witness = answer.witness
        if witness is None:
            return replace(answer, optimum=Optimum(0.0, 0.0, "exact"))
        asked = self.question.budget is None and not self.question.optimum_later
        seconds = min(MOST_FOR_OPTIMUM, self.question.deadline.left()) if asked else 0.0
        given = self.question, replace(answer, stats=self._stats()), witness, radius, seconds, self._refuted_end
        found, self.far = self._timed("program", lambda: bounded_optimum(*given))
        return replace(found, stats=self._stats())

    def _near_and_far(self, radius: float) -> Answer:
        """Far pairs by the program's bound, near ones by a tree: `certified` with the trust of a solver."""
        question = self.question
        if question.deadline.passed() or question.problem == "transform":
            return self._stopped()
        seconds = question.deadline.left() / 2
        self.far = self._timed("program", lambda: far_pairs(question, radius, seconds, Norm.INF))
        if self.far.pair is not None:
            certified = self._clear_end(self.clear)
            return Answer.bad(self.far.pair, certified, None, self._stats())
        if self.far.bound is None:
            self._end_by(Cause.SOLVER, f"the tree is too large, and {self.far.reason}")
            return self._stopped()
        outcome = self._prove(radius, math.inf, nearer=self.far.bound)
        if outcome == "violated":
            return self._refuted()
        if outcome == "closed":
            evidence = f"{NEAR} {self.far.bound:.3g}, {FAR} ({self.far.backend})"
            optimum = Optimum(0.0, self.far.bound, "solver")
            return Answer.good(End(radius, evidence), self._stats(), optimum, "solver")
        self._end_by(self._why().cause, f"pairs nearer than {self.far.bound:.3g} were not closed")
        return self._stopped()

    def _stopped(self) -> Answer:
        if self.question.radius is not None and self.descent.has_within(self.question.radius):
            return self._refuted()
        certified = self._clear_end(self.clear)
        return replace(nothing_known(self.question, self._why()), certified=certified, stats=self._stats())

    # --- the largest radius ------------------------------------------------------------------------------------------

    def _bracket(self) -> None:
        """Grow until something is found, then prove the ball just below it."""
        if self._is_direct:
            self._timed("falsification", self._falsify)
            self._ask_directly()
        else:
            self._climb()
        if self.whole:
            self._look_everywhere(at_last=True)

    def _climb(self) -> None:
        """Small balls first, because time may end."""
        alike = self.prover.alike
        first = min(WITHIN * first_ball(self.setting), alike or math.inf)
        self._begin(min(first, SMALLEST * FIRST))
        top = self._top()
        effort = max(LEAST_EFFORT, FIRST_EFFORT * self._share / self.prover.dearness)
        start = first if first < math.inf else SMALLEST * max(top, FIRST)  # the same whatever was found so far
        steep, at_once = self.setting.size > FEW_INPUTS, self.prover.fits_a_tree(top)
        climb = climb_for(start, effort, switching_radii(self.setting), alike=alike, steep=steep, at_once=at_once)
        while not (self._is_settled(top) or climb.is_hopeless):
            before = self.counts.effort
            radius = climb.next(self.clear, top, before)
            outcome = self._in_turns(radius, climb.effort, top)
            used = self.counts.effort - before
            if outcome == "closed":
                climb.proved(self.clear, used, far=self.clear >= self._usual or self.prover.is_saturated)
            elif outcome == "stopped":
                too_long = self.prover.too_long
                gave_up = too_long is None and used < climb.effort
                climb.failed(radius, self.clear, too_long or self.prover.guess, gave_up=gave_up)
            self._look_everywhere()
            top = self._top(top)

    def _begin(self, radius: float) -> None:
        """A first ball, where it is cheap, then a first look for violations: so there are both ends early.

        The look ends by itself, whatever the limit: a search that is stopped later has done the same and more.
        """
        if not self.clear and not self._is_settled(self._top()):
            first = min(radius, self._top())
            self._tried(first, lambda: self.prover.by_secants(first))
        self._look_everywhere()
        if self.hunt is None:
            self._timed("falsification", self._falsify)
        elif not (self._over() or self._is_settled(self._top())):
            with suppress(OutOfTime), np.errstate(all="ignore"):
                self._timed("falsification", self.hunt.begin)

    @cached_property
    def _share(self) -> float:
        """How many boxes take as long as one of a small network, at most one."""
        return self.prover.network.batch / MOST_AT_ONCE

    def _in_turns(self, radius: float, effort: float, top: float, seconds: float = math.inf) -> Outcome:
        """Prove a ball in turns with looking for nearer violations, which may end it."""
        turn = TURN * self._share if self.clear else math.inf  # nothing is looked for before a first ball is known
        end, until = self.counts.effort + effort, time.monotonic() + seconds
        while True:
            before = self.counts.effort
            outcome = self._prove(radius, until - time.monotonic(), effort=end - before, turn=turn)
            used = self.counts.effort - before
            if not self._is_settled(top):
                self._hunted(int(self.prover.dearness * used), is_last=radius >= top and self.prover.too_long is None)
            if outcome == "stopped" and self.descent.has_within(radius):
                return "violated"
            goes_on = outcome == "stopped" and used > turn and self.counts.effort <= end and time.monotonic() < until
            if not goes_on or self.prover.too_long is not None or self._over():
                return outcome

    def _ask_directly(self) -> None:
        """The ball in question at once; one that takes too long is followed by smaller ones."""
        deadline, hard = self.question.deadline, math.inf
        slow = GROWTH[min(self.setting.size, 2)]
        growth = slow
        for _ in range(BISECTIONS):
            outcome: Outcome = "closed"
            while outcome != "stopped":
                target = self._target(growth)
                if self._is_settled(min(target, hard)):
                    return
                if target < hard:
                    radius = target
                else:
                    radius = math.sqrt(self.clear * hard) if self.clear > 0 else SMALLEST * hard
                outcome = self._prove(radius, SHARE * deadline.left())
                self._look_everywhere()
                growth = min(growth * growth, FASTEST) if self.clear >= self._usual else slow
            hard = radius

    def _look_everywhere(self, *, at_last: bool = False) -> None:
        """Try to prove the whole space, if no violation is known and balls may be as large as by default."""
        if self._over() or self.descent.best is not None or max(self.clear, self._usual) > self.question.reach:
            return
        self._timed("whole space", lambda: self.whole_space.advance(self.clear, at_last=at_last))
        self.clear = max(self.clear, self.prover.reached)

    def _is_settled(self, top: float) -> bool:
        over = self.question.deadline.passed() or self.descent.infimum_is_zero
        return over or self.clear >= top * (1 - self.question.tol / 4)

    def _top(self, before: float = 0.0) -> float:
        """The largest ball that is worth proving; what it was before, if that is nearly the same: work goes on."""
        below = self._below_best()
        if below is None:
            return self.question.reach
        return before if below <= before <= below * (1 + self.question.tol / 4) else below

    def _target(self, growth: float) -> float:
        """The ball to prove: just below the best collision, or larger than what is proved."""
        below = self._below_best()
        if below is not None:
            return below
        larger = max(FIRST, growth * self.clear)
        return larger if larger * math.sqrt(growth) < self.question.reach else self.question.reach

    def _below_best(self) -> float | None:
        """A radius just below the best collision's: within half the tolerance."""
        best = self.descent.best
        return None if best is None else self._just_below(best[0])

    def _just_below(self, measure: Fraction) -> float:
        if self.descent.infimum_is_zero:
            return 0.0
        root = self.setting.norm.length(measure)
        below = min(
            root * (1 - max(self.question.tol / 2, 1e-12)), math.nextafter(root, 0.0)
        )  # of the least floats too
        return min(below, self.question.reach)

    def _prove(
        self,
        radius: float,
        seconds: float,
        nearer: float = math.inf,
        effort: float = math.inf,
        turn: float = math.inf,
    ) -> Outcome:
        """Prove a ball, or find a violation in it; the effort is for all of it, and it is left after a turn."""
        if self._over():
            return "stopped"
        most = self.counts.effort + min(effort, turn)

        def stop() -> bool:
            return self._over() or self.counts.effort > most

        with self._within(seconds):
            given: dict[str, Any] = {"nearer": nearer, "stop": stop, "effort": effort}
            return self._tried(radius, lambda: self.prover.prove(radius, **given))

    def _tried(self, radius: float, proof: Callable[[], Outcome]) -> Outcome:
        with np.errstate(all="ignore"):  # what is not a finite number proves nothing, and need not be reported
            outcome: Outcome = self._timed("proofs", proof)
        self.clear = max(self.clear, self.prover.reached)
        self._report(f"radius {radius:g}: {outcome}")
        return outcome

    def _ends(self) -> Answer:
        certified = self._clear_end(self.clear)
        best = self.descent.best
        stop = None if self.clear >= self.question.reach else self._why()
        if best is None:
            return Answer.bracket(certified, stats=self._stats(), stop=stop)
        if self.descent.infimum_is_zero:
            zero = End(0.0, "collisions come arbitrarily close to the centre")
            return Answer.bracket(End(0.0, NOTHING), zero, witness_of(self.descent), self._stats())
        refuted = self._refuted_end()
        return Answer.bracket(certified, refuted, witness_of(self.descent), self._stats(), stop=stop)

    def _clear_end(self, radius: float) -> End:
        made = "prover" in self.__dict__  # else the ball is known from elsewhere
        return clear_end(radius, self.prover.argument if made else "")

    def _refuted_end(self) -> End:
        return refuted_end(self.descent)

    # --- small things ------------------------------------------------------------------------------------------------

    def _why(self) -> Stop:
        if self.stop is not None:
            return self.stop
        if self.question.deadline.passed():
            return Stop(Cause.TIME if self._limit.passed() else Cause.BUDGET, work=self._work())
        return Stop(Cause.UNDECIDED, "the proofs gave up", self._work())

    def _end_by(self, cause: Cause, detail: str = "") -> None:
        self.stop = Stop(cause, detail, self._work())

    def _work(self) -> dict[str, int]:
        counts = self.counts
        return {"boxes": counts.boxes, "pairs": counts.pairs, "tree nodes": counts.nodes}

    def _report(self, text: str = "") -> None:
        best = self.descent.best
        upper = None if best is None else self.setting.norm.length(best[0])
        if not text:
            text = f"{self.counts.boxes} boxes, {self.counts.pairs} pairs, {self.counts.nodes} nodes"
        self.question.report(Progress(self.clear, upper, text))

    def _timed(self, name: str, work: Any) -> Any:
        start = time.perf_counter()
        try:
            return work()
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def _stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = {"neurons": self.setting.neurons, **asdict(self.counts), "seconds": dict(self.seconds)}
        if "prover" in self.__dict__ and self.prover.orientation is not None:
            stats["j0_lower"] = self.prover.orientation.reached
        if self.pool.rounds:
            stats |= {"processes": self.pool.threads, "rounds": self.pool.rounds, "busiest": self.pool.busiest}
        return stats
