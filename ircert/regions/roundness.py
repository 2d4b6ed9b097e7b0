"""The Euclidean norm over exact polytopes: tangent cuts and exact linear programs, until the bracket is tight.

A tangent u · x <= |x| with |u| = 1 exactly (Pythagorean rationals) makes every program a relaxation, so its optimum is
a bound below; its solution is a point of the polytope, so its length is a bound above. Each round adds tangents fanned
out around the last solution at many scales, which catch the optimum wherever near it lies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ircert.regions.coincidence import Pair, Polytope, Row, Vector, length_forms

TIGHT = Fraction(1, 2**51)
ROUNDS = 60
SCALES = tuple(8.0**-k for k in range(1, 11))


@dataclass(frozen=True)
class Nearest:
    """Bounds of the smallest measure over a polytope of pairs, and a pair that has the upper one."""

    low: Fraction
    high: Fraction
    pair: Pair


def nearest_pair(polytope: Polytope, norm: str, below: Fraction | None = None) -> Nearest | None:
    """The pair (x, y) that minimises max(|x|, |y|); None if there is none, or none with a measure under `below`."""
    if norm != "2":
        forms = length_forms("1" if norm == "1" else "inf", (0, 1), 4)
        best = polytope.nearest([*forms, *length_forms("1" if norm == "1" else "inf", (2, 3), 4)])
        if best is None or (below is not None and best[0] >= below):
            return None
        return Nearest(best[0], best[0], Pair.of(best[1]))
    return _nearest_round(polytope, below)


def _nearest_round(polytope: Polytope, below: Fraction | None) -> Nearest | None:
    tangents = [_unit(k * math.pi / 4) for k in range(8)]
    cuts = [_cut(u, at) for u in tangents for at in (0, 2)]
    fans: list[list[Row]] = []
    low, found = Fraction(0), None
    for _ in range(ROUNDS):
        best = polytope.nearest([*cuts, *(row for fan in fans[-2:] for row in fan)])
        if best is None:
            return None
        low = max(low, best[0] * best[0] if best[0] > 0 else Fraction(0))
        pair = Pair.of(best[1])
        measure = pair.measure("2")
        if found is None or measure < found.measure("2"):
            found = pair
        if below is not None and low >= below:
            return None
        high = found.measure("2")
        if high - low <= TIGHT * high:
            break
        fans.append(_fan(best[1]))
    assert found is not None
    if below is not None and found.measure("2") >= below and low >= below:
        return None
    return Nearest(low, found.measure("2"), found)


def _fan(z: Vector) -> list[Row]:
    """Tangents around the directions of both points of a pair."""
    rows = []
    for at in (0, 2):
        u, v = float(z[at]), float(z[at + 1])
        if u or v:
            angle = math.atan2(v, u)
            spread = (0.0, *(s * scale for scale in SCALES for s in (1, -1)))
            rows += [_cut(_unit(angle + turn), at) for turn in spread]
            rows.append(_cut(_along(z[at], z[at + 1]), at))
    return rows


def _unit(angle: float) -> tuple[Fraction, Fraction]:
    """A rational vector of length exactly 1 near an angle."""
    angle = math.remainder(angle, 2 * math.pi)
    if abs(angle) > math.pi / 2:
        u, v = _unit(angle - math.copysign(math.pi, angle))
        return -u, -v
    t = Fraction(math.tan(angle / 2))
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def _along(u: Fraction, v: Fraction) -> tuple[Fraction, Fraction]:
    """A vector of length exactly 1, along (u, v) to nearly double the precision of floats."""
    if u < 0:
        a, b = _along(-u, -v)
        return -a, -b
    length = _root(u * u + v * v)
    t = v / (length + u) if length + u else Fraction(1)
    t = Fraction(round(t * 2**100), 2**100)
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def _root(square: Fraction) -> Fraction:
    shift = 110 + max(0, (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)


def _cut(u: tuple[Fraction, Fraction], at: int) -> Row:
    row: Row = [0] * 5
    row[at], row[at + 1] = u
    return row
