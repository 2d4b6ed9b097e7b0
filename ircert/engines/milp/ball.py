"""One closed ball by the paper's program: p* between a pair and a dual bound, and what follows from both.

p* = 0 has no slack, so that a dual bound b only excludes pairs further apart than b. Pairs nearer than that are
excluded by another argument (`near_diagonal`): together both certify, with the trust of a solver. A solver's pair is
only where an exact collision is looked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ircert.engines.base import Question
from ircert.engines.milp.collisions import Collisions, Exact
from ircert.engines.milp.near_diagonal import Half, Near, isolated_center, thick_tangents
from ircert.engines.optimum.far_pairs import FarPairs, far_pairs, farther, takes_squares
from ircert.errors import IrcertError
from ircert.geometry.norm import Norm
from ircert.limits import Deadline, OutOfTime, until
from ircert.result.result import Optimum
from ircert.result.witness import length_down

FAR = 0.6
"""The part of a ball's time for the paper's program."""
GIVENS = 0.8
"""… and for `transform` the part of what is left then for the constrained outputs alone."""
CLIMB = 0.5
"""The part of the time left for pairs further apart than an exact one that is not the solver's."""
NEAR: dict[str, Half] = {"local": thick_tangents, "pseudo": isolated_center}


@dataclass(frozen=True)
class Ball:
    """What the programs of one ball gave.

    reached: no violation lies in the closed ball of this radius, if the solver is right; at most the radius asked about
    pair:    an exact violation in the ball: of those known the one furthest apart
    optimum: p* of the ball, where there is a bound
    reason:  which half of the argument failed, and why
    """

    radius: float
    reached: float = 0.0
    pair: Exact | None = None
    optimum: Optimum | None = None
    reason: str | None = None
    backend: str | None = None
    solved: int = 0

    @property
    def certified(self) -> bool:
        """Whether both halves of the argument hold for the whole ball."""
        return self.pair is None and self.reached >= self.radius


def decided(question: Question, radius: float, collisions: Collisions, deadline: Deadline) -> Ball:
    """Ask both halves of the argument about a ball; nearest collisions go to `collisions`."""
    far = _far(question, radius, FAR * deadline.left())
    found = Ball(radius, backend=far.backend, solved=int(far.backend is not None))
    with until(deadline):
        _look(collisions, far, radius)
    pair = _furthest(question, far.pair, collisions.within(radius))
    if pair is not None and far.pair is None:
        pair = _climbed(question, radius, pair, deadline)
    found = replace(found, pair=pair, optimum=optimum_of(question, radius, far, pair))
    if pair is not None:
        return found
    if far.bound is None:
        return replace(found, reason=f"the far half failed: {far.reason}")
    return _with_near(question, far.bound, collisions, deadline, found)


def _far(question: Question, radius: float, seconds: float) -> FarPairs:
    """The paper's program; in the L-infinity norm where the backend maximises no squares."""
    norm: Norm = question.norm if question.norm is not Norm.TWO or takes_squares(question) else Norm.INF
    far = far_pairs(question, radius, seconds, norm)
    if far.bound is None or norm == question.norm:
        return far
    entries = len(question.center) if question.other is None else question.other.output_dim
    return replace(far, bound=far.bound * math.sqrt(entries) * (1 + 1e-15))


def _look(collisions: Collisions, far: FarPairs, radius: float) -> None:
    if far.pair is not None:
        collisions.add(far.pair)
    if far.near is not None:
        x, y = (np.array([float(v) for v in point]) for point in far.near)
        collisions.look([(x, y)], radius)


def _furthest(question: Question, *pairs: Exact | None) -> Exact | None:
    return max((p for p in pairs if p is not None), key=lambda pair: _separation(question, pair), default=None)


def _climbed(question: Question, radius: float, pair: Exact, deadline: Deadline) -> Exact:
    """A pair that says more about p*, where that is asked for."""
    return pair if question.radius is None else farther(question, radius, pair, CLIMB * deadline.left())


def _separation(question: Question, pair: Exact) -> float:
    other = question.other
    apart = pair if other is None else (list(other.exact(pair[0])), list(other.exact(pair[1])))
    return length_down(question.norm, *apart)


def optimum_of(question: Question, radius: float, far: FarPairs, pair: Exact | None) -> Optimum | None:
    """p* between the pair's separation and the dual bound, or what the ball itself allows where that is less."""
    value = 0.0 if pair is None else _separation(question, pair)
    trivial = question.trivial_bound(radius)
    if far.bound is None or (trivial is not None and trivial <= far.bound):
        return None if trivial is None else Optimum(value, trivial, "exact")
    # where the bound is wrong, a pair says so
    return Optimum(value, far.bound if pair is None else max(far.bound, math.nextafter(value, math.inf)), "solver")


def _with_near(question: Question, bound: float, collisions: Collisions, deadline: Deadline, found: Ball) -> Ball:
    """The near half, for pairs up to the bound apart; what its tangents suggest is looked at exactly."""
    if question.problem == "transform":
        return _by_constrained_outputs(question, collisions, deadline, found)
    near = _near(question, found.radius, bound, deadline)
    with until(deadline):
        collisions.look(reversed(near.candidates), found.radius)
    pair = collisions.within(found.radius)
    found = replace(found, solved=found.solved + near.solved)
    if pair is not None:
        return _with_pair(question, found, pair, deadline)
    failed = f"the far half holds beyond {bound:.3g}, the near half failed: {near.reason}"
    return replace(found, reached=near.reached, reason=None if near.reason is None else failed)


def _with_pair(question: Question, found: Ball, pair: Exact, deadline: Deadline) -> Ball:
    """The ball with an exact violation that the far half did not give."""
    pair = _climbed(question, found.radius, pair, deadline)
    optimum = found.optimum
    if optimum is not None:
        value = _separation(question, pair)
        bound = optimum.bound if optimum.trust == "exact" else max(optimum.bound, math.nextafter(value, math.inf))
        optimum = Optimum(value, bound, optimum.trust)
    return replace(found, pair=pair, optimum=optimum)


def _near(question: Question, radius: float, bound: float, deadline: Deadline) -> Near:
    most = question.trivial_bound(radius)
    delta = bound if most is None else min(bound, most)
    try:
        with until(deadline):
            return NEAR[question.problem](question, radius, delta, deadline)
    except OutOfTime:
        return Near(0.0, "there was no time for it")
    except (IrcertError, ArithmeticError) as error:
        return Near(0.0, str(error))


def _by_constrained_outputs(question: Question, collisions: Collisions, deadline: Deadline, found: Ball) -> Ball:
    """`transform`: small gaps are excluded where the constrained outputs are injective, and by nothing else."""
    failed = "the near half failed: small gaps are excluded only where the constrained outputs are injective, and"
    if question.graph.output_dim < len(question.center):
        return replace(found, reason=f"{failed} they are fewer than the inputs")
    alone = replace(question, problem="local", other=None, known=None)
    inner = decided(alone, found.radius, Collisions(alone), Deadline(GIVENS * deadline.left()))
    found = replace(found, solved=found.solved + inner.solved)
    if inner.pair is None:
        reason = None if inner.certified else f"{failed} that is open: {inner.reason}"
        return replace(found, reached=inner.reached, reason=reason)
    x, y = (np.array([float(v) for v in point]) for point in inner.pair)
    with until(deadline):
        collisions.look([(x, y)], found.radius)
    pair = collisions.within(found.radius)
    return (
        replace(found, reason=f"{failed} they collide") if pair is None else _with_pair(question, found, pair, deadline)
    )
