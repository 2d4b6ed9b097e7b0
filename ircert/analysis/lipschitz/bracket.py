"""What `ircert.bilipschitz` answers: three numbers, each between two ends that say what they rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.result.radius import End
from ircert.result.witness import Witness


@dataclass(frozen=True)
class Bracket:
    """low <= the number <= high; `low` is rounded down and `high` up."""

    low: End
    high: End

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"{float(self.low)} lies above {float(self.high)}")

    @property
    def exact(self) -> Fraction | None:
        """The number itself, where it is known exactly."""
        return self.low.exact if self.low.exact is not None and self.low.exact == self.high.exact else None

    def __str__(self) -> str:
        if self.exact is not None or math.isinf(self.low):
            return f"{float(self.low):.12g}"
        return f"[{float(self.low):.12g}, {float(self.high):.12g}]"


@dataclass(frozen=True, eq=False)
class BiLipschitz:
    """How much f stretches distances on a ball: for all x, y in it  lower |x - y| <= |f(x) - f(y)| <= upper |x - y|.

    upper:    L, the largest quotient |f(x) - f(y)| / |x - y| of two points of the ball
    lower:    L', the infimum of these quotients; 0 if f is not injective there
    inverse:  1/L', the worst amplification of the inverse
    constant: L* = max(L, 1/L'), infinite if L' is 0
    norm:     of the quotients, in inputs and outputs; the ball has its own
    witness:  a pair with equal outputs, where `lower` is 0 because of one that was replayed exactly
    """

    upper: Bracket
    lower: Bracket
    ball: Ball
    norm: Norm
    graph: Graph = field(repr=False)
    witness: Witness | None = None

    @property
    def constant(self) -> Bracket:
        """L*."""
        return Bracket(max(self.upper.low, self.inverse.low), max(self.upper.high, self.inverse.high))

    def summary(self) -> str:
        """The numbers and what they rest on, for people."""
        lines = []
        for name, bracket in (("L ", self.upper), ("L'", self.lower), ("L*", self.constant)):
            lines.append(f"{name} = {bracket}")
            reasons = [bracket.low.evidence, bracket.high.evidence]
            lines += [f"     {text}" for text in dict.fromkeys(reasons)]
        return "\n".join(lines + self._round_trip())

    @property
    def inverse(self) -> Bracket:
        """1/L', the worst amplification of the inverse on the values of f: errors of outputs grow by at most that."""
        return Bracket(_reciprocal(self.lower.high, up=False), _reciprocal(self.lower.low, up=True))

    @property
    def float32_round_trip(self) -> float:
        """How far, in lengths of the output, inputs move if outputs are rounded to float32; infinite if unknown."""
        return float(self.inverse.high) * 2.0**-24

    def _round_trip(self) -> list[str]:
        """What rounding the outputs does to their preimages."""
        if not self.lower.high:
            return []
        if not self.lower.low:
            return [
                "no bound on how much the inverse stretches errors was found on this ball; a smaller one may have it"
            ]
        most = f"1/L' = {float(self.inverse.high):.6g}"
        return [
            f"the inverse stretches errors by at most {most}: outputs rounded to float32 (relative 2^-24)",
            f"     come back within {self.float32_round_trip:.3g} times their length, if it is computed without error",
        ]


def _reciprocal(end: End, *, up: bool) -> End:
    evidence = f"1/L': {end.evidence}"
    if not end:
        return End(math.inf, evidence)
    if math.isinf(end):
        return End(0.0, evidence)
    exact = 1 / (Fraction(end) if end.exact is None else end.exact)
    made = End.above(exact, evidence) if up else End.below(exact, evidence)
    return made if end.exact is not None else End(float(made), evidence)


def unless_pinned(ball: Ball) -> None:
    """QueryError where the domain leaves an input no room."""
    if (ball.low == ball.high).any():
        raise QueryError("the domain has no interior", remedy="`fix` the inputs that do not vary")
