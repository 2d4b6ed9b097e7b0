"""Two points relative to a centre, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ircert.geometry.norm import Norm


@dataclass(frozen=True)
class Pair:
    """Two points relative to the centre."""

    x: tuple[Fraction, ...]
    y: tuple[Fraction, ...]

    @staticmethod
    def of(z: Sequence[Fraction]) -> Pair:
        """The first and the second half of a vector."""
        half = len(z) // 2
        return Pair(tuple(z[:half]), tuple(z[half:]))

    def measure(self, norm: Norm) -> Fraction:
        """That of the farther point."""
        return max(norm.measure(self.x), norm.measure(self.y))

    def moved(self, by: Sequence[Fraction]) -> Pair:
        """Both points moved."""
        x, y = (tuple(a + b for a, b in zip(p, by, strict=True)) for p in (self.x, self.y))
        return Pair(x, y)

    def towards(self, other: Pair, share: Fraction) -> Pair:
        """The pair this share of the way to another one."""
        x, y = (
            tuple(a + share * (b - a) for a, b in zip(p, q, strict=True))
            for p, q in ((self.x, other.x), (self.y, other.y))
        )
        return Pair(x, y)
