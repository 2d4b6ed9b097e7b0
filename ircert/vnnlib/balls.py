"""Balls of norms 1 and 2, as queries write them.

In norm 2 one inequality is a positive multiple of Σ (x_i − c_i)² <= r², over all entries of x. In norm 1 there is one
side s·x <= s·c + r for each of the 2^n choices of signs s, so that r is the mean of the right sides and c_i that of s_i
times them. Nothing is rounded: of norm 2 the square of the radius is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ircert.errors import IrcertError
from ircert.exact.rounding import LARGEST, rounded_down, rounded_up
from ircert.geometry.norm import Norm
from ircert.vnnlib.terms import Polynomial

Signs = tuple[int, ...]


@dataclass(frozen=True)
class ExactBall:
    """A ball by rational numbers; `measure` is the radius, and its square in norm 2."""

    norm: Norm
    center: tuple[Fraction, ...]
    measure: Fraction

    def contains(self, point: Sequence[Fraction]) -> bool:
        """Whether a point lies in it, exactly."""
        return self.norm.distance(self.center, point) <= self.measure

    def reaches_beyond(self, coordinate: int, side: Fraction) -> bool:
        """Whether some points of it lie on either side of a bound on a coordinate."""
        return abs(side - self.center[coordinate]) ** self.norm.power < self.measure

    def rounded(self) -> list[tuple[list[float], float]]:
        """Centre and radius of a ball in floats that holds it and, if there is one, of a ball that it holds.

        By the triangle inequality: the centre moves by at most the sum of what its coordinates are rounded by.
        """
        if max(map(abs, self.center)) > LARGEST / 4 or self.measure > (LARGEST / 4) ** self.norm.power:
            raise IrcertError("the ball is wider than floats can say", remedy="narrow it")
        center = [float(c) for c in self.center]
        moved = sum((abs(c - Fraction(near)) for c, near in zip(self.center, center, strict=True)), Fraction(0))
        outer = rounded_up(Fraction(self.norm.length_up(self.measure)) + moved)
        inner = rounded_down(max(Fraction(self.norm.length_down(self.measure)) - moved, Fraction(0)))
        return [(center, outer), (center, inner)] if inner > 0 else [(center, outer)]


def ball_of_squares(given: Polynomial, name: str, size: int) -> ExactBall | None:
    """The ball that `given` <= 0 says of a tensor; None where it says something else."""
    entries = [(name, i) for i in range(size)]
    weight = given.get((entries[0], entries[0]), Fraction(0))
    known = {(), *((e,) for e in entries), *((e, e) for e in entries)}
    if weight <= 0 or not known >= given.keys() or any(given.get((e, e)) != weight for e in entries):
        return None
    center = tuple(-given.get((e,), Fraction(0)) / (2 * weight) for e in entries)
    measure = Norm.TWO.measure(center) - given.get((), Fraction(0)) / weight
    return ExactBall(Norm.TWO, center, measure) if measure > 0 else None


def side_of_signs(given: Polynomial, name: str, size: int) -> tuple[Signs, Fraction] | None:
    """s and b where `given` <= 0 says that s·x <= b with signs s of all entries; None where it does not."""
    factors = [given.get(((name, i),), Fraction(0)) for i in range(size)]
    weight = abs(factors[0])
    if not weight or any(abs(factor) != weight for factor in factors) or len(given.keys() - {()}) != size:
        return None
    return tuple(1 if factor > 0 else -1 for factor in factors), -given.get((), Fraction(0)) / weight


def ball_of_sides(sides: dict[Signs, Fraction]) -> ExactBall | None:
    """The ball of norm 1 with these sides; None where they are those of another set."""
    count, size = len(sides), len(next(iter(sides)))
    if count != 2**size:
        return None
    radius = sum(sides.values(), Fraction(0)) / count
    center = tuple(sum((s[i] * b for s, b in sides.items()), Fraction(0)) / count for i in range(size))
    fits = all(_dot(signs, center) + radius == bound for signs, bound in sides.items())
    return ExactBall(Norm.ONE, center, radius) if fits and radius > 0 else None


def _dot(signs: Signs, center: Sequence[Fraction]) -> Fraction:
    return sum((s * c for s, c in zip(signs, center, strict=True)), Fraction(0))
