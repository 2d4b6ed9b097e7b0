"""`ircert.step_size`: how long steps x + h g(x) may be, everywhere or on a ball."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ircert.analysis.asked_ball import BallLike, ball_for
from ircert.analysis.lipschitz.bracket import unless_pinned
from ircert.analysis.steps.found import StepSize
from ircert.analysis.steps.proving import Steps, least_lipschitz_bound
from ircert.analysis.steps.step_map import StepMap
from ircert.answering import certifiable, check_limits
from ircert.certification import certify
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.setting import Setting
from ircert.errors import QueryError
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.geometry.ball import Ball
from ircert.geometry.domain import Box, DomainLike
from ircert.geometry.norm import NormLike
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.floats import Real
from ircert.limits import Deadline, OutOfTime, until
from ircert.questions.network import lowered
from ircert.questions.query import positive_float
from ircert.result.radius import End
from ircert.result.witness import Witness
from ircert.threads import one_thread

CONSTANT = "|g(x) - g(y)| <= L |x - y| everywhere, and h L < 1"
EVERYWHERE = "one matrix C with sym(C) and sym(C (I + h J)) positive definite for all slopes that neurons have anywhere"
ON_BALL = "one matrix C with sym(C) and sym(C (I + h J)) positive definite at all points of the ball"
STRETCHES = "for each stretch of lengths one matrix C with sym(C (I + h J)) positive definite at all points of the ball"
ALONE = "longer steps are proved for themselves alone, and not all steps up to them"
NOTHING = "nothing is proved"
HALVINGS, TESTS, FILLS = 30, 60, 40
"""How often a length is halved between a proof and a failure, on the whole space and on a ball; stretches tried."""
LEAST = 1e-6
"""The part of the first length tried below which a search does not go."""
SHARE = 0.3
"""The part of the time left that one length may take."""


def step_size(
    g: Any,
    ball: BallLike | None = None,
    *,
    center: Any = None,
    radius: Real | None = None,
    norm: NormLike = "inf",
    domain: DomainLike | None = None,
    step: Real | None = None,
    max_step: Real = 1e3,
    tol: float = 1e-3,
    time_limit: float | None = 60.0,
    seed: int = 0,
) -> StepSize:
    """Up to which h the step x + h g(x) is certainly injective, and from which h on it is not.

    g is whatever `ircert.load` reads, with as many outputs as inputs; with `step`, it is the map x + step * g(x)
    itself. Without a ball (or a centre and a radius) the whole space is meant. `certified` holds for all shorter steps;
    a collision shows that the step `refuted` is not injective on the ball. Lengths up to `max_step` are asked about.
    """
    check_limits(time_limit, seed)
    if not (isinstance(tol, int | float) and 0 < tol < 1):
        raise QueryError(f"tol must be a number between 0 and 1, got {tol!r}")
    network = certifiable(g, "the network")
    steps = StepMap(network, None if step is None else positive_float(step, "the step"))
    longest = positive_float(max_step, "max_step")
    body = _body(network, ball, center, radius, norm, domain)
    deadline = Deadline(math.inf if time_limit is None else float(time_limit))
    with one_thread():
        search = _Search(steps, body, longest, tol, deadline, seed)
        return search.answer()


def _body(
    graph: Any, ball: BallLike | None, center: Any, radius: Real | None, norm: NormLike, domain: DomainLike | None
) -> Ball | None:
    if (center is None) != (radius is None) or (ball is not None and center is not None):
        raise QueryError("a ball needs a centre and a radius", remedy="give both, or a ball, or neither for everywhere")
    if ball is None and center is None:
        if domain is not None:
            raise QueryError("a domain without a ball", remedy="give center and radius; without a ball all of space")
        return None
    found = ball_for(graph, ball if ball is not None else (center, radius, norm), domain)
    unless_pinned(found)
    return found


@dataclass
class _Search:
    """Lengths are factors of `steps.moved` here, and steps of g in what is answered."""

    steps: StepMap
    ball: Ball | None
    max_step: float
    tol: float
    deadline: Deadline
    seed: int
    certified: tuple[float, str] = (0.0, NOTHING)
    single: tuple[float, str] | None = None
    refuted: tuple[float, str] | None = None
    witness: Witness | None = None
    failed: float | None = None
    tried: list[float] = field(default_factory=list)

    @property
    def longest(self) -> float:
        return self.steps.factor(self.max_step)

    def answer(self) -> StepSize:
        everywhere = self._everywhere()
        self.certified = everywhere
        reason = None
        if self.ball is not None and everywhere[0] < self.longest:
            self._on_ball(self.ball)
            self._fill(self.ball)
            if self.deadline.passed():
                reason = "the time limit was reached"
            elif self._single > self.certified[0]:
                reason = ALONE
        if self.single is not None and self.single[0] <= self.certified[0]:
            self.single = None
        found = StepSize(
            everywhere=self._end(everywhere),
            certified=self._end(self.certified),
            single=None if self.single is None else self._end(self.single),
            refuted=None if self.refuted is None else self._end(self.refuted, up=True),
            witness=self.witness,
            ball=self.ball,
            max_step=self.max_step,
            tol=self.tol,
            graph=self.steps.given,
            reason=reason,
        )
        return found if found.verdict == "unresolved" else replace(found, reason=None)

    def _end(self, found: tuple[float, str], *, up: bool = False) -> End:
        factor, evidence = found
        if math.isinf(factor):
            return End(math.inf, evidence)
        exact = self.steps.length(factor)
        return End(rounded_up(exact) if up else rounded_down(exact), evidence)

    # --- the whole space ---------------------------------------------------------------------------------------------

    def _everywhere(self) -> tuple[float, str]:
        try:
            with until(self.deadline):
                bound = least_lipschitz_bound(self.steps.moved)
                best = (0.0, NOTHING)
                if bound is not None:
                    best = (math.inf if not bound else rounded_down(1 / bound), CONSTANT)
                if best[0] >= self.longest:
                    return best
                return self._by_matrices(best)
        except OutOfTime:
            return (0.0, NOTHING)

    def _by_matrices(self, best: tuple[float, str]) -> tuple[float, str]:
        """Longer ones, each proved with all shorter ones."""
        place = Place.everywhere(np.zeros(self.steps.given.input_dim))
        low, high = best[0], self.longest
        if not Steps(self.steps.at(1.0), place, self.seed).is_small:
            return best
        own = Deadline(SHARE * self.deadline.left() if self.ball is not None else self.deadline.left())
        try:
            with until(own):
                if Steps(self.steps.at(high), place, self.seed).hold_everywhere():
                    return (high, EVERYWHERE)
                low = low or high * LEAST
                for _ in range(HALVINGS):
                    if high - low <= self.tol / 4 * high:
                        break
                    middle = math.sqrt(low * high)
                    if Steps(self.steps.at(middle), place, self.seed).hold_everywhere():
                        low, best = middle, (middle, EVERYWHERE)
                    else:
                        high = middle
        except (OutOfTime, np.linalg.LinAlgError):
            pass
        return best

    # --- a ball ------------------------------------------------------------------------------------------------------

    def _on_ball(self, ball: Ball) -> None:
        """Just above and below the length at which a Jacobian becomes singular, then by halving."""
        first = self._first_singular(ball)
        if first is not None and first <= self.longest:
            # the length itself: a linear map may be injective again behind it
            for factor in (first, first * (1 + self.tol / 4), first * (1 - self.tol / 4)):
                self._try(factor, ball)
        else:
            self._try(self.longest, ball)
        for _ in range(TESTS):
            low, high = max(self.certified[0], self._single), self.failed
            if self.deadline.passed() or high is None or high - low <= self.tol * high:
                break
            low = max(low, LEAST * high)
            middle = math.sqrt(low * high)
            if not low < middle < high or middle in self.tried:
                break
            self._try(middle, ball)

    def _fill(self, ball: Ball) -> None:
        """Stretches of lengths up to one that was proved for itself."""
        share = 1.0
        for _ in range(FILLS):
            low, high = self.certified[0], self._single
            if not low < high or self.deadline.passed() or share * (high - low) < self.tol / 4 * high:
                return
            target = high if share == 1.0 else low + share * (high - low)
            if low < target and self._all_up_to(target, ball):
                self.certified, share = (target, STRETCHES), 1.0
            else:
                share /= 2

    @property
    def _single(self) -> float:
        return 0.0 if self.single is None else self.single[0]

    def _first_singular(self, ball: Ball) -> float | None:
        """About the least h with I + h J singular for some Jacobian J that was met: -1/h is an eigenvalue of J."""
        moved = lowered(self.steps.moved)
        setting = Setting(moved, "local", moved.output_dim, Place.of(ball))
        try:
            with until(Deadline(SHARE * self.deadline.left())), np.errstate(all="ignore"):
                points = Points(setting, self.seed)
                draws = [points.jacobians(points.sampled(ball.radius)) for _ in range(3)]
                return _least_singular(np.concatenate(draws))
        except (OutOfTime, np.linalg.LinAlgError):
            return None

    def _try(self, factor: float, ball: Ball) -> None:
        """One length: all up to it, or it alone, or a collision."""
        if not 0 < factor <= self.longest or self.deadline.passed() or factor <= self.certified[0]:
            return
        if self.failed is not None and factor >= self.failed:
            return
        self.tried.append(factor)
        if self._all_up_to(factor, ball):
            self.certified = (factor, STRETCHES if self.certified[1] in (ON_BALL, STRETCHES) else ON_BALL)
            return
        found = certify(
            self.steps.at(factor),
            ball.center,
            norm=ball.norm,
            radius=ball.radius,
            domain=Box(ball.low, ball.high) if np.isfinite([ball.low, ball.high]).any() else None,
            time_limit=max(0.1, SHARE * self.deadline.left()) if self.deadline.left() < math.inf else None,
            seed=self.seed,
            require="exact",
        )
        if found.verdict == "certified":
            if factor > self._single:
                self.single = (factor, f"this step alone: {found.radius.certified.evidence}")
            return
        self.failed = factor
        if found.verdict == "refuted":
            evidence = found.radius.refuted.evidence if found.radius.refuted is not None else "a collision"
            self.refuted, self.witness = (factor, evidence), found.witness

    def _all_up_to(self, factor: float, ball: Ball) -> bool:
        known = self.certified[0]
        first = self.steps.at(known) if known else None
        made = Steps(self.steps.at(factor), Place.of(ball), self.seed, first, ball.radius)
        if not made.is_small:
            return False
        try:
            with until(Deadline(SHARE * self.deadline.left())):
                return made.hold_on(ball)
        except (OutOfTime, np.linalg.LinAlgError):
            return False


def _least_singular(jacobians: Array) -> float | None:
    good = jacobians[np.isfinite(jacobians).all(axis=(1, 2))]
    if not len(good):
        return None
    values = np.linalg.eigvals(good)
    real = values.real[(np.abs(values.imag) <= 1e-12 * np.abs(values.real)) & (values.real < 0)]
    return float(Fraction(-1) / Fraction(float(real.min()))) if len(real) else None
