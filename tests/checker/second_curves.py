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
from ircert.ir.ops.curves import Elu

F = Fraction
STEP = F(1, 2**24)
turns = {
    "silu": {F("2.39935"): F("1.09984"), F("-2.39935"): F("-0.09984")},
    "gelu": {F("1.41425"): F("1.12891"), F("-1.41425"): F("-0.12891")},
    "mish": {F("1.49055"): F("1.08850"), F("-2.25635"): F("-0.11253")},
}
ranges: dict[str, tuple[F, F]] = {
    **dict.fromkeys(("tanh", "softplus", "softsign"), (F(0), F(1))),
    "sigmoid": (F(0), F(1, 4)),
    "erf": (F(0), F(floor(F("1.13") / STEP) + 1) * STEP),
    "hard_swish": (F(-1, 2), F(3, 2)),
    **{
        kind: (F(floor(min(found.values()) / STEP)) * STEP, F(floor(max(found.values()) / STEP) + 1) * STEP)
        for kind, found in turns.items()
    },
}


def everywhere(curve: Curve) -> tuple[F, F]:
    """Between which numbers all slopes lie."""
    if isinstance(curve, Elu):
        ends = min(F(0), F(curve.alpha)), max(F(1), F(curve.alpha))
        return F(floor(ends[0] / STEP)) * STEP, F(ceil(ends[1] / STEP)) * STEP
    return ranges[curve.kind]


def at(curve: Curve, x: F, *, before_kinks: bool = False) -> tuple[F, F]:
    """Value and slope (at a kink that of one side), off by less than 2^-150."""
    piece = sum(k < x if before_kinks else k <= x for k in curve.kinks)
    before = ctx.prec, ctx.cap
    try:
        ctx.prec, ctx.cap = 400, 2
        series = curve.series(arb_series([arb(fmpq(x.numerator, x.denominator)), 1]), piece)
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
        if u < 0 < v and curve.kind not in ("softplus", "square", "hard_swish"):
            found.append(at(curve, F(0))[1])
        kinks = [F(k) for k in curve.kinks if u <= k <= v]
        found += [at(curve, k, before_kinks=side)[1] for k in kinks for side in (True, False)]
        near = F(1, 20000)
        found += [steep for place, steep in turns.get(curve.kind, {}).items() if u - near <= place <= v + near]
        slopes += found
        off = max(abs(s - slope) for s in found) * (v - u) / 2
        rest += [values[k] - slope * middles[k] - off, values[k] - slope * middles[k] + off]
    both = F(floor(min(slopes) / STEP)) * STEP, F(ceil(max(slopes) / STEP)) * STEP
    error = (max(rest) - min(rest)) / 2 + F(1, 2**40)
    return both, slope, (max(rest) + min(rest)) / 2, error
