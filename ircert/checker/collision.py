"""Certificates of collisions: two points that a network does not tell apart, by exact evaluation (C-4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ircert.checker.limits import require_evaluation
from ircert.checker.reading import Claim, Integer, Stop
from ircert.errors import IrcertError
from ircert.ir.evaluate import exact_values
from ircert.ir.graph import Graph
from ircert.ir.rational import Rationals, integer_array


@dataclass(frozen=True)
class Pair(Claim):
    """A claim with two points x and y, for which a ball is not good."""

    fields: ClassVar[tuple[str, ...]] = ("x", "y")
    points: ClassVar[tuple[str, ...]] = ("x", "y")
    refutes: ClassVar[bool] = True
    x: list[Integer]
    y: list[Integer]

    def in_ball(self, point: list[Integer], reach: list[Integer] | None = None, *, strictly: bool = False) -> bool:
        """Whether the points around one, as far as `reach` in each input, lie in the ball (`strictly`: inside)."""
        places = zip(point, self.center, reach or [0] * len(point), strict=True)
        length, most = self.measure([abs(v - c) + r for v, c, r in places]), self.measure([self.radius])
        return bool(length < most if strictly else length <= most)


class Collision(Pair):
    """The claim that x and y in the ball, which the problem asks to be told apart, are not."""

    def fault(self, stop: Stop) -> str | None:
        """All in exact arithmetic."""
        require_evaluation(self.model, self.unit, self.x + self.y)
        require_evaluation(self.other, self.unit, self.x + self.y)
        for name, point in (("x", self.x), ("y", self.y)):
            if not self.in_ball(point):
                return f"{name} lies outside the ball"
            if not self.in_box(point):
                return f"{name} lies outside the domain"
        if self.problem == "pseudo" and self.y != self.center:
            return "y is not the centre"
        if self.other is None and self.x == self.y:
            return "x and y are the same point"
        try:
            if not self._agree(self.model):
                return "the outputs differ"
            if self.other is not None and self._agree(self.other):
                return "the other network does not tell the points apart"
        except IrcertError as error:  # a network without exact evaluation
            return str(error)
        return None

    def _agree(self, graph: Graph) -> bool:
        """Whether a network has the same output at x and y."""
        p, q = (exact_values(graph, Rationals(integer_array(v), self.unit)) for v in (self.x, self.y))
        pairs = zip(p.numerators, q.numerators, strict=True)
        return all(a * q.denominator == b * p.denominator for a, b in pairs)
