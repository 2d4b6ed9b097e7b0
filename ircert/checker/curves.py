"""Curves in integers: values and slopes at points, slopes on intervals, and a line with its error (C-26 to C-28).

x is an integer over 2**PLACES, all values and slopes are pairs of integers over 2**BITS, the first too small, the
second too large, or both right. Every floor and ceiling below is on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from ircert.checker.limits import TooLong

PLACES, BITS, FINE = 48, 80, 24
"""Bits after the point: of numbers that go in, of what is computed with, and of slopes that come out."""
PIECES = 4
"""Of an interval, each with a value and slopes of its own."""
ONE, HALF = 1 << BITS, 1 << (BITS - 1)
Pair: TypeAlias = tuple[int, int]
FAR, FARTHEST = 64, 1024
"""exp(-64) is less than 2**-BITS, and exp(1024) too long."""
DENSITY, TWICE = (
    (3989422804014326779399460599343 << BITS) // 10**31,
    (1128379167095512573896158903121 << BITS) // 10**30,
)
"""1/√(2π) and 2/√π, less than 2 units too small."""
NORMAL = 56
"""From here on, u is far out for the normal distribution."""
TURNS = {
    "silu": ((-23994, -23993, -9984), (23993, 23994, 109984)),
    "gelu": ((-14143, -14142, -12891), (14142, 14143, 112891)),
    "mish": ((-22564, -22563, -11253), (14905, 14906, 108850)),
}
"""Between which numbers (in 1/10000) the slope is least, and a bound on it (in 1/100000); then where it is greatest."""
ZERO = Fraction(0)
STEEPEST = {
    **dict.fromkeys(("tanh", "softplus", "softsign"), (ZERO, Fraction(1))),
    "sigmoid": (ZERO, Fraction(1, 4)),
    "erf": (ZERO, Fraction(113, 100)),
    "hard_swish": (Fraction(-1, 2), Fraction(3, 2)),
    **{kind: (Fraction(least, 10**5), Fraction(most, 10**5)) for kind, ((*_, least), (*_, most)) in TURNS.items()},
}
"""Between which numbers all slopes lie."""
STEEP = frozenset({"square", "exp"})
"""Curves whose slopes have no bounds."""
KINDS = frozenset({*STEEPEST, *STEEP, "elu"})


@dataclass(frozen=True)
class Curve:
    """A function of one number, by its word; alpha: of an elu."""

    kind: str
    alpha: Fraction = Fraction(1)

    @property
    def whole(self) -> Pair | None:
        """The slopes on the whole line, over 2**FINE; None where they have no bounds."""
        if self.kind in STEEP:
            return None
        least, most = STEEPEST.get(self.kind) or (min(self.alpha, ZERO), max(self.alpha, Fraction(1)))
        return int(least * (1 << FINE) // 1), -int(-most * (1 << FINE) // 1)

    @property
    def marks(self) -> list[tuple[int, int, Pair]]:
        """Places (over 2**PLACES, between two numbers) between which slopes are monotone, and those at each (C-27)."""
        if self.kind in TURNS:
            unit, turns = 1 << PLACES, TURNS[self.kind]
            return [(unit * a // 10**4, _up(unit * b, 10**4), _pair(Fraction(v, 10**5))) for a, b, v in turns]
        if self.kind == "hard_swish":
            return [(-3 << PLACES, -3 << PLACES, (-HALF, 0)), (3 << PLACES, 3 << PLACES, (ONE, ONE + HALF))]
        return [] if self.kind in ("softplus", *STEEP) else [(0, 0, _at(self, 0)[1])]


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


def _pair(value: Fraction) -> Pair:
    """A number, between two."""
    return int(value * ONE // 1), -int(-value * ONE // 1)


@lru_cache(2**16)
def around(curve: Curve, a: int, b: int) -> Line:
    """A line for the interval from a to b, a <= b (C-28).

    On each piece the curve less slope x is within (greatest difference of slopes) (half a piece) of its value in the
    middle: the mean value theorem.
    """
    ends = [a + (b - a) * k // PIECES for k in range(PIECES + 1)]
    slopes, marks = [_at(curve, x)[1] for x in ends], curve.marks
    pieces = [_slopes(marks, ends[k], ends[k + 1], slopes[k], slopes[k + 1]) for k in range(PIECES)]
    middles = [(ends[k] + ends[k + 1]) // 2 for k in range(PIECES)]
    values = [_at(curve, x)[0] for x in middles]
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


def _slopes(marks: list[tuple[int, int, Pair]], a: int, b: int, first: Pair, last: Pair) -> Pair:
    """Of slopes from a to b, by those at both ends and at the marks between: elsewhere they are monotone (C-27)."""
    found = [first, last, *(slopes for left, right, slopes in marks if a <= right and left <= b)]
    return min(low for low, _ in found), max(high for _, high in found)


def _at(curve: Curve, x: int) -> tuple[Pair, Pair]:
    """Value and slope at x (at a kink, the slopes of both sides); curves are known on one side, and continued by their
    symmetry."""
    kind, y = curve.kind, abs(x)
    if kind in ("square", "hard_swish"):
        return _polynomial(kind, x)
    if kind == "softsign":
        under = (1 << PLACES) + y
        top, square = y << BITS, ONE << 2 * PLACES
        return _odd(x, (top // under, _up(top, under))), (square // under**2, _up(square, under**2))
    if kind in ("erf", "gelu"):
        return _normal(kind, x, y)
    if kind == "exp" and x > 0:
        return (_exp_plus(x),) * 2
    w = _exp_minus(2 * y if kind == "tanh" else y)
    if kind == "exp":
        return w, w
    if kind == "elu":
        return _elu(_pair(curve.alpha), x, w)
    if kind == "mish":
        return _mish(x, w)
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


def _polynomial(kind: str, x: int) -> tuple[Pair, Pair]:
    """The square, and hard_swish, which is one in the middle."""
    if kind == "square":
        return _scaled(x, _scaled(x, (ONE, ONE))), _scaled(2 * x, (ONE, ONE))
    three = 3 << PLACES
    if abs(x) < three:
        sixth = Fraction(1, 6 << PLACES)
        return _scaled(x, _pair((x + three) * sixth)), _pair((2 * x + three) * sixth)
    slopes = (ONE, ONE + HALF * (x == three)) if x > 0 else (-HALF * (x == -three), 0)
    return _scaled(max(x, 0), (ONE, ONE)), slopes


def _elu(alpha: Pair, x: int, w: Pair) -> tuple[Pair, Pair]:
    """x, or alpha (exp(x) - 1) below 0, where the slope is alpha exp(x); both at 0."""
    slope = _times(alpha, w)
    if x < 0:
        return _times(alpha, (w[0] - ONE, w[1] - ONE)), slope
    return _scaled(x, (ONE, ONE)), (ONE if x else min(ONE, slope[0]), ONE if x else max(ONE, slope[1]))


def _mish(x: int, w: Pair) -> tuple[Pair, Pair]:
    """x t with t = 1 - 2/d, d = 1 + (1 + e)^2 for e = exp(x), and its slope t + x 4 e (1 + e)/d^2; by w = exp(-|x|)."""
    squares, sums = _times(w, w), (ONE + w[0], ONE + w[1])
    if x < 0:
        more = squares[0] + 2 * w[0], squares[1] + 2 * w[1]
        under, top = (2 * ONE + more[0], 2 * ONE + more[1]), _times(w, sums)
        share = _over(more, under)
    else:  # all divided by e^2, or e^4
        under = ONE + 2 * w[0] + 2 * squares[0], ONE + 2 * w[1] + 2 * squares[1]
        share, top = _over((ONE + 2 * w[0], ONE + 2 * w[1]), under), _times(squares, sums)
    bump = _over(_over((4 * top[0], 4 * top[1]), under), under)
    return _scaled(x, share), _sum(share, _scaled(x, bump))


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
    (less, more), halvings = _exp_of_part(y)
    return _squared((ONE << BITS) // more, _up(ONE << BITS, less), halvings)


def _exp_plus(y: int) -> Pair:
    """exp(y), y >= 0 over 2**PLACES: a power of two of exp(y / 2**j) (C-26)."""
    if y >= FARTHEST << PLACES:
        raise TooLong(f"exp reads numbers of {FARTHEST} and more: too long to be checked")
    (less, more), halvings = _exp_of_part(y)
    return _squared(less, more, halvings)


def _exp_of_part(y: int) -> tuple[Pair, int]:
    """exp(y / 2**j) for y >= 0 and the least j with y / 2**j < 1/2, or one more; and j."""
    halvings = max(0, y.bit_length() - PLACES + 1)
    r = (y << BITS) >> (PLACES + halvings)  # less than 1 unit too small
    total, term, n = 0, ONE, 0
    while term:
        total, n = total + term, n + 1
        term = term * r // (n << BITS)
    return (total, total + 2 * n + 10), halvings


def _squared(low: int, high: int, times: int) -> Pair:
    """Squares of squares."""
    for _ in range(times):
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


def _times(a: Pair, b: Pair) -> Pair:
    """A product."""
    products = [p * q for p in a for q in b]
    return min(products) >> BITS, _up(max(products), ONE)


def _over(a: Pair, b: Pair) -> Pair:
    """A quotient of positive numbers."""
    return (a[0] << BITS) // b[1], _up(a[1] << BITS, b[0])
