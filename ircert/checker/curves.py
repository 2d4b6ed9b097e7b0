"""Curves in integers: values and slopes at points, slopes on intervals, and a line with its error (C-26 to C-28).

x is an integer over 2**PLACES, all values and slopes are pairs of integers over 2**BITS, the first too small, the
second too large, or both right. Every floor and ceiling below is on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

PLACES, BITS, FINE = 48, 80, 24
"""Bits after the point: of numbers that go in, of what is computed with, and of slopes that come out."""
PIECES = 4
"""Of an interval, each with a value and slopes of its own."""
ONE, HALF = 1 << BITS, 1 << (BITS - 1)
Pair: TypeAlias = tuple[int, int]
FAR = 64
"""exp(-64) is less than 2**-BITS."""
DENSITY, TWICE = (
    (3989422804014326779399460599343 << BITS) // 10**31,
    (1128379167095512573896158903121 << BITS) // 10**30,
)
"""1/√(2π) and 2/√π, less than 2 units too small."""
NORMAL = 56
"""From here on, u is far out for the normal distribution."""
EVEN = frozenset({"tanh", "sigmoid", "softsign", "erf"})
"""Their slopes are even, and fall with |x|."""
TURNS = {"silu": (23993, 23994, 109984, -9984), "gelu": (14142, 14143, 112891, -12891)}
"""Where the slope is greatest lies between two numbers (in 1/10000), and it is least at the same place on the other
side; then bounds on both (in 1/100000)."""
WHOLE = {
    **dict.fromkeys(("tanh", "softplus", "softsign"), (0, 1 << FINE)),
    "sigmoid": (0, 1 << (FINE - 2)),
    "erf": (0, (113 << FINE) // 100 + 1),
    **{kind: ((least << FINE) // 10**5, (most << FINE) // 10**5 + 1) for kind, (_, _, most, least) in TURNS.items()},
}
"""Between which numbers all slopes lie."""


@dataclass(frozen=True)
class Line:
    """On an interval, slopes between `least` and `most` (over 2**FINE); the curve is within `error` of
    slope x + shift (slope over 2**FINE, shift and error over 2**PLACES)."""

    least: int
    most: int
    slope: int
    shift: int
    error: int


def _up(top: int, bottom: int) -> int:
    return -(-top // bottom)


@lru_cache(2**16)
def around(kind: str, a: int, b: int) -> Line:
    """A line for the interval from a to b, a <= b (C-28).

    On each piece the curve less slope x is within (greatest difference of slopes) (half a piece) of its value in the
    middle: the mean value theorem.
    """
    ends = [a + (b - a) * k // PIECES for k in range(PIECES + 1)]
    slopes = [_at(kind, x)[1] for x in ends]
    pieces = [_slopes(kind, ends[k], ends[k + 1], slopes[k], slopes[k + 1]) for k in range(PIECES)]
    middles = [(ends[k] + ends[k + 1]) // 2 for k in range(PIECES)]
    values = [_at(kind, x)[0] for x in middles]
    rise, run = values[-1][0] - values[0][0], middles[-1] - middles[0]
    unit, more = BITS - FINE, BITS - PLACES
    slope = (rise >> unit - PLACES) // run if run > 0 else pieces[0][0] >> unit
    low, high = [], []
    for k, (least, most) in enumerate(pieces):
        off = max(abs(least - (slope << unit)), abs(most - (slope << unit)))
        reach = max(ends[k + 1] - middles[k], middles[k] - ends[k])
        room = _up(off * reach, 1 << PLACES)
        line = slope * middles[k] << more - FINE
        low.append(values[k][0] - line - room)
        high.append(values[k][1] - line + room)
    lowest, highest = min(low) >> more, _up(max(high), 1 << more)
    shift = (lowest + highest) // 2
    least, most = min(p for p, _ in pieces), max(q for _, q in pieces)
    return Line(least >> unit, _up(most, 1 << unit), slope, shift, max(highest - shift, shift - lowest))


def _slopes(kind: str, a: int, b: int, first: Pair, last: Pair) -> Pair:
    """Of slopes from a to b, by those at both ends: between the places where they turn they are monotone (C-27)."""
    least, most = min(first[0], last[0]), max(first[1], last[1])
    if kind in EVEN and a < 0 < b:
        most = max(most, _at(kind, 0)[1][1])
    if kind in TURNS:
        inner, outer, top, bottom = TURNS[kind]
        if 10**4 * b >= inner << PLACES and 10**4 * a <= outer << PLACES:
            most = max(most, _up(top << BITS, 10**5))
        if 10**4 * a <= -inner << PLACES and 10**4 * b >= -outer << PLACES:
            least = min(least, (bottom << BITS) // 10**5)
    return least, most


def _at(kind: str, x: int) -> tuple[Pair, Pair]:
    """Value and slope at x; curves are known on one side, and continued by their symmetry."""
    y = abs(x)
    if kind == "softsign":
        under = (1 << PLACES) + y
        top, square = y << BITS, ONE << 2 * PLACES
        return _odd(x, (top // under, _up(top, under))), (square // under**2, _up(square, under**2))
    if kind in ("erf", "gelu"):
        return _normal(kind, x, y)
    w = _exp_minus(2 * y if kind == "tanh" else y)
    plus = ONE + w[0], ONE + w[1]
    bump = (w[0] << 2 * BITS) // plus[0] ** 2, _up(w[1] << 2 * BITS, plus[1] ** 2)  # w/(1 + w)^2 rises for w <= 1
    if kind == "tanh":
        value = ((ONE - w[1]) << BITS) // plus[1], _up((ONE - w[0]) << BITS, plus[0])
        return _odd(x, value), (4 * bump[0], 4 * bump[1])
    share = (ONE << BITS) // plus[1], _up(ONE << BITS, plus[0])  # the sigmoid at |x|
    if x < 0:
        share = ONE - share[1], ONE - share[0]
    if kind == "sigmoid":
        return share, bump
    if kind == "softplus":
        log, linear = _log_plus(w), max(x, 0) << (BITS - PLACES)
        return (log[0] + linear, log[1] + linear), share
    return _scaled(x, share), _sum(share, _scaled(x, bump))  # silu


def _normal(kind: str, x: int, y: int) -> tuple[Pair, Pair]:
    """erf, and gelu: x times the normal distribution function. Of both the density times the series of `_odd_series` is
    what they are more than in the middle, for y = |x|; far out exp(-x^2) is more than what is left of 1 - erf(x)."""
    square = y * y if kind == "gelu" else 2 * y * y  # over 2**(2 * PLACES)
    factor, top = (DENSITY, HALF) if kind == "gelu" else (TWICE, ONE)
    decay = _exp_minus(_up(square, 2 << PLACES))[0], _exp_minus(square // (2 << PLACES))[1]
    density = (decay[0] * factor) >> BITS, _up(decay[1] * (factor + 2), ONE)
    part = top - decay[1], top
    if square < NORMAL << 2 * PLACES:
        series = _odd_series(y, square)
        part = (density[0] * series[0]) >> BITS, min(top, _up(density[1] * series[1], ONE))
    if kind == "erf":
        return _odd(x, part), density
    share = _sum((HALF, HALF), _odd(x, part))
    return _scaled(x, share), _sum(share, _scaled(x, density))


def _odd_series(y: int, square: int) -> Pair:
    """y (1 + u/3 + u^2/(3 5) + u^3/(3 5 7) + …) for u = square / 2**(2 PLACES)."""
    low = high = down = up = y << (BITS - PLACES)
    n = 3
    while up > 1 or 2 * square > n << 2 * PLACES:
        down, up = (down * square) // (n << 2 * PLACES), _up(up * square, n << 2 * PLACES)
        low, high, n = low + down, high + up, n + 2
    return low, high + 2  # what is left is less than the last term, for each is at most half of the one before


def _exp_minus(y: int) -> Pair:
    """exp(-y), y >= 0 over 2**PLACES: a power of two of the reciprocal of exp(y / 2**j), y / 2**j < 1/2 (C-26)."""
    if y >= FAR << PLACES:
        return 0, 1
    halvings = max(0, y.bit_length() - PLACES + 1)
    r = (y << BITS) >> (PLACES + halvings)  # less than 1 unit too small
    total, term, n = 0, ONE, 0
    while term:
        total, n = total + term, n + 1
        term = term * r // (n << BITS)
    low, high = (ONE << BITS) // (total + 2 * n + 10), _up(ONE << BITS, total)
    for _ in range(halvings):
        low, high = (low * low) >> BITS, _up(high * high, ONE)
    return low, high


def _log_plus(w: Pair) -> Pair:
    """log(1 + w), 0 <= w <= 1: twice the area hyperbolic tangent of w/(2 + w) <= 1/3 (C-26)."""
    found = []
    for y in ((w[0] << BITS) // (2 * ONE + w[0]), _up(w[1] << BITS, 2 * ONE + w[1])):
        square, total, power, n = (y * y) >> BITS, 0, y, 1
        while power:
            total, power, n = total + power // n, (power * square) >> BITS, n + 2
        found.append((2 * total, 2 * (total + 3 * n)))
    return found[0][0], found[1][1]


def _odd(x: int, value: Pair) -> Pair:
    return value if x >= 0 else (-value[1], -value[0])


def _sum(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def _scaled(x: int, value: Pair) -> Pair:
    """x times a pair."""
    low, high = (value[0] * x, value[1] * x) if x >= 0 else (value[1] * x, value[0] * x)
    return low >> PLACES, _up(high, 1 << PLACES)
