"""How large the distance of two points of a ball cut with a domain can be at all, in any norm."""

from __future__ import annotations

import math
from fractions import Fraction

from ircert.exact.rounding import root_up, rounded_up
from ircert.geometry.norm import Norm
from ircert.questions.query import Query

ORDER = (Norm.ONE, Norm.TWO, Norm.INF)


def size_of_ball(query: Query) -> float:
    """A bound on |x - y| (`pseudo`: |x - c|) in the norm of the objective; infinite for `transform`.

    It is the length of the box's sides, and of a diameter of the ball: the norm of the objective is at most that of the
    ball if it comes later in 1, 2, inf, and else at most n (from inf to 1) or sqrt(n) times as large.
    """
    if query.problem == "transform":
        return math.inf
    norm: Norm = query.objective_norm
    reach, sides = Fraction(query.radius), []
    ends = zip(query.center.tolist(), query.ball.low.tolist(), query.ball.high.tolist(), strict=True)
    for c, a, b in ends:
        below = reach if a == -math.inf else min(reach, Fraction(c) - Fraction(a))
        above = reach if b == math.inf else min(reach, Fraction(b) - Fraction(c))
        sides.append(below + above if query.problem == "local" else max(below, above))
    whole = reach * (2 if query.problem == "local" else 1) * _factor(query.norm, norm, len(sides))
    return min(rounded_up(whole), norm.length_up(norm.measure(sides)))


def _factor(ball: Norm, objective: Norm, size: int) -> Fraction:
    steps = ORDER.index(ball) - ORDER.index(objective)
    if steps <= 0:
        return Fraction(1)
    return Fraction(size) if steps == 2 else Fraction(root_up(Fraction(size)))
