"""Between which numbers entries of nodes lie on the whole space: exact, with ends that may never be attained (C-24)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from ircert.checker.walking import Step, Steps
from ircert.ir.ops import LeakyRelu, Select
from ircert.ir.ops.curves import Elu
from ircert.ir.ops.piecewise import Clip

Range: TypeAlias = tuple[Fraction | None, Fraction | None, bool, bool]
"""Least and greatest value, None where there is none known, and whether each is never attained."""
ZERO, ONE = Fraction(0), Fraction(1)
POSITIVE: Range = (ZERO, None, True, False)
ANY: Range = (None, None, False, False)
VALUES: dict[str, Range] = {
    **dict.fromkeys(("exp", "softplus"), POSITIVE),
    "sigmoid": (ZERO, ONE, True, True),
    "softmax": (ZERO, ONE, True, False),
    **dict.fromkeys(("tanh", "erf", "softsign"), (-ONE, ONE, True, True)),
    **dict.fromkeys(("sin", "cos"), (-ONE, ONE, False, False)),
}
JOINED = ("add", "max", "min", "relu", "abs", "product", "square", "reciprocal")
READING = ("select", "concat", "clip", "leaky_relu", *JOINED)
LONGEST = 2**12
"""Bits of an end."""
WEIGHT = 64
"""How many times as long as others the work of a weight takes: sums of fractions."""


def never_zero(steps: Steps, at: int, known: dict[int, list[Range]]) -> list[bool]:
    """Which entries of a node are certainly never 0; what is found of others is kept."""

    def act(number: int, operands: list[list[Range]]) -> list[Range]:
        step = steps.steps[number]
        steps.spend(WEIGHT * (len(step.map.columns) if step.map else step.size * len(operands)))
        return _ranges(step, operands)

    return [_sign(entry) != 0 for entry in steps.resolve(known, at, _reads, act)]


def _sign(x: Range) -> int:
    """1: positive, -1: negative, 0: not known."""
    low, high, above, below = x
    if low is not None and (low > 0 or (low == 0 and above)):
        return 1
    return -1 if high is not None and (high < 0 or (high == 0 and below)) else 0


def _reads(step: Step) -> tuple[int, ...]:
    return step.operands if step.map is not None or step.kind in READING else ()


def _ranges(step: Step, operands: list[list[Range]]) -> list[Range]:
    if step.kind in VALUES:
        return [VALUES[step.kind]] * step.size
    if isinstance(step.op, Elu) and step.op.alpha > 0:
        return [(-Fraction(step.op.alpha), None, True, False)] * step.size
    if step.map is not None:
        return [_row(step, i, operands[0]) for i in range(step.size)]
    if isinstance(step.op, Select):
        return [operands[0][j] for j in step.op.indices.tolist()]
    if step.kind == "concat":
        return [entry for part in operands for entry in part]
    if isinstance(step.op, Clip):
        return [_clipped(step.op, i, x) for i, x in enumerate(operands[0])]
    if isinstance(step.op, LeakyRelu):
        slopes = step.op.slope.ravel().tolist()
        return [_leaky(Fraction(slopes[i % len(slopes)]), x) for i, x in enumerate(operands[0])]
    if step.kind not in JOINED:
        return [ANY] * step.size
    return [_joined(step.kind, entries) for entries in zip(*operands, strict=True)]


def _joined(kind: str, entries: tuple[Range, ...]) -> Range:
    """An operation on entries of one index."""
    x = entries[0]
    if kind == "add":
        return _sum(ZERO, [(ONE, entry) for entry in entries])
    if kind == "max":
        return _largest(entries)
    if kind == "min":
        return _minus(_largest([_minus(entry) for entry in entries]))
    if kind == "relu":
        return _largest([x, _at(ZERO)])
    if kind == "abs":
        return _largest([x, _minus(x), _at(ZERO)])
    if kind == "reciprocal":
        return _signed(_sign(x))
    return _product(x, entries[-1]) if kind == "product" else _square(_joined("abs", entries))


def _at(value: Fraction) -> Range:
    return value, value, False, False


def _signed(sign: int) -> Range:
    return POSITIVE if sign > 0 else _minus(POSITIVE) if sign < 0 else ANY


def _minus(x: Range) -> Range:
    low, high, above, below = x
    return None if high is None else -high, None if low is None else -low, below, above


def _clipped(op: Clip, i: int, x: Range) -> Range:
    """min(max(x, low), high)."""
    low, high = (None if end is None else Fraction(end.ravel().tolist()[i % end.size]) for end in (op.low, op.high))
    x = x if low is None else _largest([x, _at(low)])
    return x if high is None else _minus(_largest([_minus(x), _at(-high)]))


def _largest(parts: Sequence[Range]) -> Range:
    """One part whose lower end is the best and not attained is enough; upper ends must all be known."""
    low = max((a for a, _, _, _ in parts if a is not None), default=None)
    highs = [b for _, b, _, _ in parts if b is not None]
    high = max(highs) if len(highs) == len(parts) else None
    return low, high, any(s and a == low for a, _, s, _ in parts), all(s or b != high for _, b, _, s in parts)


def _leaky(slope: Fraction, x: Range) -> Range:
    """max(x, slope x) for slopes up to 0; others map ends to ends, in order."""
    if slope <= 0:
        return _largest([x, _sum(ZERO, [(slope, x)]) if slope else _at(ZERO)])
    low, high = (None if end is None else _short(end if end > 0 else slope * end) for end in x[:2])
    return low, high, *x[2:]


def _square(size: Range) -> Range:
    """Of what is at least 0: ends of the square are those of the number."""
    low, high = (None if end is None else _short(end * end) for end in size[:2])
    return ZERO if low is None else low, high, low is not None and size[2], size[3]


def _product(x: Range, y: Range) -> Range:
    """Corners; a factor that attains neither end keeps the product from ends that are not 0; signs for 0."""
    (a, b, *x_inside), (c, d, *y_inside) = x, y
    sign = _sign(x) * _sign(y)
    if a is None or b is None or c is None or d is None:
        return _signed(sign)
    corners, inside = (a * c, a * d, b * c, b * d), all(x_inside) or all(y_inside)
    low, high = min(corners), max(corners)
    return _short(low), _short(high), (inside if low else sign > 0), (inside if high else sign < 0)


def _row(step: Step, i: int, x: list[Range]) -> Range:
    """A row of an affine map."""
    assert step.map is not None
    unit, rest = 1 << step.map.exponent, step.map
    terms = [(Fraction(rest.integers[k], unit), x[rest.columns[k]]) for k in rest.row(i)]
    return _sum(Fraction(rest.biases[i], unit), terms)


def _sum(start: Fraction, terms: list[tuple[Fraction, Range]]) -> Range:
    """A term that does not attain an end keeps the sum from its own."""
    low: Fraction | None = start
    high, above, below = low, False, False
    for weight, x in terms:
        a, b, over, under = x if weight > 0 else _minus(x)
        low = None if low is None or a is None else low + abs(weight) * a
        high = None if high is None or b is None else high + abs(weight) * b
        above, below = above or over, below or under
        if low is None and high is None:
            return ANY
    return _short(low), _short(high), above, below


def _short(end: Fraction | None) -> Fraction | None:
    """An end, unless it is long: what is not known takes no time."""
    if end is None or end.numerator.bit_length() + end.denominator.bit_length() > LONGEST:
        return None
    return end
