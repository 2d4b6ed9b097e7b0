"""The bracket of a radius: two numbers, each with what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ircert.exact.rounding import exact_root, root_down, root_up, rounded_down, rounded_up


class End(float):
    """One end of a bracket: a float, the sentence it rests on, and the exact number where that is rational and known.

    A certified end is rounded down and a refuted end up, so that the float says no more than was proved.
    """

    evidence: str
    exact: Fraction | None

    def __new__(cls, value: float, evidence: str, exact: Fraction | None = None) -> End:
        end = super().__new__(cls, value)
        if not float(end) >= 0.0:
            raise ValueError(f"a radius is at least 0, got {float(end)}")
        end.evidence = evidence
        end.exact = exact
        return end

    def __getnewargs__(self) -> tuple[float, str, Fraction | None]:  # type: ignore[override]
        return float(self), self.evidence, self.exact

    @classmethod
    def below(cls, exact: Fraction, evidence: str) -> End:
        """The largest float that is at most `exact`: a certified end."""
        return cls(rounded_down(exact), evidence, exact)

    @classmethod
    def above(cls, exact: Fraction, evidence: str) -> End:
        """The smallest float that is at least `exact`: a refuted end."""
        return cls(rounded_up(exact), evidence, exact)

    @classmethod
    def root_below(cls, square: Fraction, evidence: str) -> End:
        """A certified end whose square is known exactly (norm 2)."""
        return cls(root_down(square), evidence, exact_root(square))

    @classmethod
    def root_above(cls, square: Fraction, evidence: str) -> End:
        """A refuted end whose square is known exactly (norm 2)."""
        return cls(root_up(square), evidence, exact_root(square))


@dataclass(frozen=True)
class Radius:
    """The largest good radius lies between `certified` and `refuted` (None: nothing bad was found)."""

    certified: End
    refuted: End | None = None

    def __post_init__(self) -> None:
        if self.refuted is not None and self.certified > self.refuted:
            raise ValueError(f"certified {float(self.certified)} lies above refuted {float(self.refuted)}")

    def closed(self, tol: float) -> bool:
        """Whether both ends agree up to the relative tolerance; [0, 0] does, and an infinite certified end."""
        if self.refuted is None or math.isinf(self.certified):
            return math.isinf(self.certified)
        return Fraction(self.refuted) - Fraction(self.certified) <= Fraction(tol) * Fraction(self.refuted)
