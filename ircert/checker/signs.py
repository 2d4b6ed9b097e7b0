"""Between which numbers entries of nodes lie on the whole space: exact, with ends that may never be attained (C-24)."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from ircert.checker.walking import Step, Steps
from ircert.ir.ops import Select

Range: TypeAlias = tuple[Fraction | None, Fraction | None, bool]
"""Least and greatest value, None where there is none known, and whether neither is ever attained."""
VALUES: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("exp", "softplus"), (0, None)),
    "sigmoid": (0, 1),
    **dict.fromkeys(("tanh", "erf", "softsign"), (-1, 1)),
}
"""Functions that take all values between these numbers, and not these."""
LONGEST = 2**12
"""Bits of an end."""
WEIGHT = 64
"""How many times as long as others the work of a weight takes: sums of fractions."""
ANY: Range = (None, None, False)
POSITIVE: Range = (Fraction(0), None, True)
NEGATIVE: Range = (None, Fraction(0), True)


def never_zero(steps: Steps, at: int, known: dict[int, list[Range]]) -> list[bool]:
    """Which entries of a node are certainly never 0; what is found of others is kept."""

    def act(number: int, operands: list[list[Range]]) -> list[Range]:
        step = steps.steps[number]
        steps.spend(WEIGHT * len(step.map.columns) if step.map else 0)
        return _ranges(step, operands)

    return [_sign(entry) != 0 for entry in steps.resolve(known, at, _reads, act)]


def _sign(x: Range) -> int:
    """1: positive, -1: negative, 0: not known."""
    low, high, strictly = x
    if low is not None and (low > 0 or (low == 0 and strictly)):
        return 1
    return -1 if high is not None and (high < 0 or (high == 0 and strictly)) else 0


def _reads(step: Step) -> tuple[int, ...]:
    known = step.map is not None or step.kind in ("select", "concat", "relu", "abs", "product", "reciprocal")
    return step.operands if known else ()


def _ranges(step: Step, operands: list[list[Range]]) -> list[Range]:
    if step.kind in VALUES:
        low, high = VALUES[step.kind]
        return [(Fraction(low), None if high is None else Fraction(high), True)] * step.size
    if step.map is not None:
        return [_combined(step, i, operands[0]) for i in range(step.size)]
    if isinstance(step.op, Select):
        return [operands[0][j] for j in step.op.indices.tolist()]
    if step.kind == "concat":
        return [entry for part in operands for entry in part]
    if step.kind in ("relu", "abs"):
        at_least = {1: POSITIVE, -1: POSITIVE if step.kind == "abs" else (Fraction(0), Fraction(0), False)}
        return [at_least.get(_sign(entry), (Fraction(0), None, False)) for entry in operands[0]]
    if step.kind == "product":
        signs = (_sign(a) * _sign(b) for a, b in zip(*operands, strict=True))
    elif step.kind == "reciprocal":
        signs = (_sign(entry) for entry in operands[0])
    else:
        return [ANY] * step.size
    return [POSITIVE if sign > 0 else NEGATIVE if sign < 0 else ANY for sign in signs]


def _combined(step: Step, i: int, x: list[Range]) -> Range:
    """A row of an affine map: a term that never attains its ends keeps the sum from its own."""
    assert step.map is not None
    unit = 1 << step.map.exponent
    low: Fraction | None = Fraction(step.map.biases[i], unit)
    high, strictly = low, False
    for k in step.map.row(i):
        weight, (a, b, inside) = Fraction(step.map.integers[k], unit), x[step.map.columns[k]]
        a, b = (a, b) if weight > 0 else (b, a)
        low = None if low is None or a is None else low + weight * a
        high = None if high is None or b is None else high + weight * b
        strictly |= inside
        if low is None and high is None:
            return ANY
    return _short(low), _short(high), strictly


def _short(end: Fraction | None) -> Fraction | None:
    """An end, unless it is long: what is not known takes no time."""
    if end is None or end.numerator.bit_length() + end.denominator.bit_length() > LONGEST:
        return None
    return end
