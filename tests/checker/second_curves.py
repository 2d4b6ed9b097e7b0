"""Curves for the second checker: C-26 to C-28 with the interval arithmetic of python-flint, and fractions.

Values and slopes are those of `Curve.series`, to 200 bits: the checker's own series are not used.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

from flint import arb, arb_series, ctx, fmpq

from ircert.ir.ops import Curve

F = Fraction
STEP = F(1, 2**24)
turns = {
    "silu": (F(239935, 100000), F("1.09984"), F("-0.09984")),
    "gelu": (F(141425, 100000), F("1.12891"), F("-0.12891")),
}
ranges: dict[str, tuple[F, F]] = {
    **dict.fromkeys(("tanh", "softplus", "softsign"), (F(0), F(1))),
    "sigmoid": (F(0), F(1, 4)),
    "erf": (F(0), F(floor(F("1.13") / STEP) + 1) * STEP),
    **{kind: (F(floor(low / STEP)) * STEP, F(floor(high / STEP) + 1) * STEP) for kind, (_, high, low) in turns.items()},
}


def at(curve: Curve, x: F) -> tuple[F, F]:
    """Value and slope, off by less than 2^-150."""
    before = ctx.prec, ctx.cap
    try:
        ctx.prec, ctx.cap = 400, 2
        series = curve.series(arb_series([arb(fmpq(x.numerator, x.denominator)), 1]), 1 if x >= 0 else 0)
        found: list[Any] = [*series.coeffs(), arb(0), arb(0)][:2]
        assert all(float(v.rad()) < 2.0**-200 for v in found)
        scaled = [(v * arb(2) ** 300).mid().floor().unique_fmpz() for v in found]
    finally:
        ctx.prec, ctx.cap = before
    return F(int(scaled[0]), 2**300), F(int(scaled[1]), 2**300)


def around(curve: Curve, low: F, high: F) -> tuple[tuple[F, F], F, F, F]:
    """Slopes, and a line: its slope, shift and error."""
    a, b = F(floor(low * 2**48), 2**48), F(ceil(high * 2**48), 2**48)
    ends = [a + (b - a) * k / 4 for k in range(5)]
    middles = [(u + v) / 2 for u, v in pairwise(ends)]
    values = [at(curve, m)[0] for m in middles]
    slope = F(floor((values[-1] - values[0]) / (middles[-1] - middles[0]) / STEP)) * STEP if a < b else F(0)
    slopes, rest = [], []
    for k, (u, v) in enumerate(pairwise(ends)):
        found = [at(curve, u)[1], at(curve, v)[1]]
        if u < 0 < v and curve.kind != "softplus":
            found.append(at(curve, F(0))[1])
        if curve.kind in turns:
            place, most, least = turns[curve.kind]
            near = F(1, 20000)
            found += [most] if v >= place - near and u <= place + near else []
            found += [least] if u <= -place + near and v >= -place - near else []
        slopes += found
        off = max(abs(s - slope) for s in found) * (v - u) / 2
        rest += [values[k] - slope * middles[k] - off, values[k] - slope * middles[k] + off]
    both = F(floor(min(slopes) / STEP)) * STEP, F(ceil(max(slopes) / STEP)) * STEP
    error = (max(rest) - min(rest)) / 2 + F(1, 2**40)
    return both, slope, (max(rest) + min(rest)) / 2, error
