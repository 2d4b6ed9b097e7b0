"""Roots in boxes: Krawczyk's test, by interval arithmetic, that a box of unknowns holds one solution of equations.

With g continuous, z0 the middle of a box Z of radii r, and S a matrix of intervals that holds a secant matrix of g for
every two points of Z (g(z) - g(w) = M (z - w) with M in S; derivatives over Z are one), and any matrix C,

    |C g(z0)| + |I - C S| r < r    entry by entry

shows that Z holds exactly one root. The map z - C g(z) sends Z into itself: z - C g(z) = z0 - C g(z0) + (I - C M)(z -
z0) for some M in S, so it has a fixed point there (Brouwer). |I - C M| r < r makes every C M regular, hence C: a fixed
point is a root, and two roots z, w would have M (z - w) = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias, cast

from flint import arb, arb_mat, ctx, fmpq

Equations: TypeAlias = Callable[[list[arb]], tuple[list[arb], arb_mat]]
"""As many values as there are unknowns, and their secants (a row each), over a box of balls; in the precision that is
set."""
ROUNDS = 24
"""Of Newton's method: it doubles the digits each time, once it is close."""
SHARE = 4
"""Steps below 2^(-bits/SHARE), relatively, are the last ones: the next is squared."""


def holds_root(equations: Equations, middle: list[Fraction], radii: list[Fraction], bits: int) -> bool:
    """Whether a box of positive radii holds exactly one root, for sure."""
    with ctx.workprec(bits):
        points, sizes = ([exact_ball(v) for v in values] for values in (middle, radii))
        boxes = [p + s * arb(0, 1) for p, s in zip(points, sizes, strict=True)]
        values, _ = equations(points)
        _, slopes = equations(boxes)
        inverse = _inverse(slopes)
        if inverse is None:
            return False
        steps = (inverse * arb_mat(len(values), 1, values)).tolist()
        rest = (_unit(len(values)) - inverse * slopes).tolist()
        for (step,), row, size in zip(steps, rest, sizes, strict=True):
            reach = sum((abs(a) * b for a, b in zip(row, sizes, strict=True)), abs(step))
            if not reach < size:  # certain, or False
                return False
        return True


def near_root(equations: Equations, start: list[Fraction], bits: int) -> list[Fraction] | None:
    """A dyadic point very close to a root, by Newton's method from a point that is close; None where that fails."""
    with ctx.workprec(bits):
        points = [exact_ball(v).mid() for v in start]
        for _ in range(ROUNDS):
            values, slopes = equations(points)
            inverse = _inverse(slopes)
            if inverse is None:
                return None
            steps = [row[0].mid() for row in (inverse * arb_mat(len(values), 1, values)).tolist()]
            if not all(step.is_finite() for step in steps):
                return None
            points = [(p - s).mid() for p, s in zip(points, steps, strict=True)]
            least = arb(2) ** (-bits // SHARE)
            if all(abs(s) <= least * (1 + abs(p)) for p, s in zip(points, steps, strict=True)):
                return [_fraction(p) for p in points]
    return None


def exact_ball(value: Fraction) -> arb:
    """A ball around a rational number, of the precision that is set; a point where it is a short dyadic one."""
    return arb(fmpq(value.numerator, value.denominator))


def _inverse(slopes: arb_mat) -> arb_mat | None:
    """About the inverse of the middle, in numbers that are exact."""
    try:
        found = cast("arb_mat", slopes.mid().inv())
    except ZeroDivisionError:
        return None
    return cast("arb_mat", found.mid())


def _unit(size: int) -> arb_mat:
    return arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def _fraction(point: arb) -> Fraction:
    mantissa, exponent = (int(v) for v in point.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
