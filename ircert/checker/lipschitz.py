"""Lipschitz constants of what is added to a node, as functions of that node, in exact fractions (C-23)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from ircert.checker.definite import positive_definite
from ircert.checker.walking import LinearMap, Step, Steps
from ircert.ir.ops import LeakyRelu, Select
from ircert.ir.ops.curves import Elu

INF, TWO = "inf", "2"
STEEPEST = {
    **dict.fromkeys(("relu", "abs", "clip", "tanh", "softplus", "softsign", "sin", "cos"), Fraction(1)),
    "sigmoid": Fraction(1, 4),
    **dict.fromkeys(("erf", "gelu", "gelu_erf", "gelu_tanh"), Fraction(113, 100)),
    **dict.fromkeys(("silu", "swish"), Fraction(11, 10)),
    "mish": Fraction(109, 100),
}
"""Bounds on slopes."""
LARGEST = 2**11
"""Rows of a matrix that is shown to be positive definite."""
FINE = 64
"""Bits of roots."""
LONGEST = 2**12
"""Constants are less than 2 to this."""


def contracts(steps: Steps, total: int, start: int, constant: set[int], norm: str, bounds: dict[int, Fraction]) -> bool:
    """Whether a sum adds to k times the node `start` a function of it with a Lipschitz constant below k.

    constant: nodes that do not change; bounds: on spectral norms of affine maps (norm 2), by their numbers
    """
    growth = _Growth(steps, norm, bounds)
    found: dict[int, Fraction | None] = {**dict.fromkeys(constant, Fraction(0)), start: Fraction(1)}
    operands = steps.steps[total].operands
    sums = [steps.resolve(found, k, _reads, growth.step) for k in operands if k != start]
    known = [value for value in sums if value is not None]
    return len(known) == len(sums) and sum(known) < operands.count(start)


def _reads(step: Step) -> tuple[int, ...]:
    return step.operands


class _Growth:
    """Lipschitz constants of nodes from those of their operands; None where there is none."""

    def __init__(self, steps: Steps, norm: str, bounds: dict[int, Fraction]) -> None:
        self.steps, self.norm, self.bounds = steps, norm, bounds

    def step(self, number: int, given: list[Fraction | None]) -> Fraction | None:
        """The constant of a node."""
        found = self._constant(number, given)
        return None if found is None else _short_up(found)

    def _constant(self, number: int, given: list[Fraction | None]) -> Fraction | None:
        step = self.steps.steps[number]
        self.steps.spend(8 * step.size)  # slopes are fractions
        operands = [value for value in given if value is not None]
        if len(operands) < len(given) or not given:  # the input is not computed from the start
            return None
        if not any(operands):
            return Fraction(0)
        if step.map is not None:
            bound = self._of_map(step.map, self.bounds.get(number))
            return None if bound is None else bound * operands[0]
        if step.kind == "add":
            return sum(operands, Fraction(0))
        if step.kind == "concat":
            if self.norm == TWO:
                return root_up(sum((value * value for value in operands), Fraction(0)))
            return max(operands) if self.norm == INF else sum(operands, Fraction(0))
        if isinstance(step.op, Select):
            repeats = max(Counter(step.op.indices.tolist()).values())
            return operands[0] * (1 if self.norm == INF else repeats)
        slope = _slope(step)
        return None if slope is None else slope * operands[0]

    def _of_map(self, given: LinearMap, bound: Fraction | None) -> Fraction | None:
        unit = 1 << given.exponent
        rows = [sum(abs(given.integers[k]) for k in given.row(i)) for i in range(given.height)]
        columns = [0] * given.width
        for j, value in zip(given.columns, given.integers, strict=True):
            columns[j] += abs(value)
        by_rows, by_columns = Fraction(max(rows), unit), Fraction(max(columns), unit)
        if self.norm != TWO:
            return by_rows if self.norm == INF else by_columns
        if bound is None:  # |A|_2^2 <= |A|_1 |A|_inf
            return root_up(by_rows * by_columns)
        return bound if self._spectral(given, bound) else None

    def _spectral(self, given: LinearMap, bound: Fraction) -> bool:
        """Whether |A|_2 <= bound: sums of absolute values of a row of the Gram matrix G say so, or b^2 I - G is
        positive definite."""
        vectors: list[dict[int, int]] = [{} for _ in range(min(given.height, given.width))]
        for i in range(given.height):
            for k in given.row(i):
                at, along = (i, given.columns[k]) if given.height <= given.width else (given.columns[k], i)
                vectors[at][along] = given.integers[k]
        readers: dict[int, list[int]] = {}
        for at, vector in enumerate(vectors):
            for along in vector:
                readers.setdefault(along, []).append(at)
        self.steps.spend(sum(len(found) ** 2 for found in readers.values()) * (1 + given.bits // 64) ** 2)
        gram: list[dict[int, int]] = [{} for _ in vectors]
        for at, vector in enumerate(vectors):
            for along, value in vector.items():
                for other in readers[along]:
                    gram[at][other] = gram[at].get(other, 0) + value * vectors[other][along]
        top, bottom = (bound * bound).numerator << 2 * given.exponent, (bound * bound).denominator
        if all(bottom * sum(map(abs, row.values())) <= top for row in gram):
            return True
        if len(gram) > LARGEST:
            return False
        self.steps.spend(len(gram) ** 3)
        table = [[-bottom * row.get(j, 0) for j in range(i + 1)] for i, row in enumerate(gram)]
        for i, row in enumerate(table):
            row[i] += top
        return positive_definite(table)


def _slope(step: Step) -> Fraction | None:
    if isinstance(step.op, LeakyRelu):
        return max(Fraction(1), *(abs(Fraction(v)) for v in step.op.slope.ravel().tolist()))
    if isinstance(step.op, Elu):
        return max(Fraction(1), abs(Fraction(step.op.alpha)))
    return STEEPEST.get(step.kind)


def root_up(value: Fraction) -> Fraction:
    """A number that the root does not exceed."""
    top = -(-(value.numerator << 2 * FINE) // value.denominator)
    return Fraction(math.isqrt(top) + 1, 1 << FINE)


def _short_up(value: Fraction) -> Fraction | None:
    """A number of few bits that is not less; None where it is huge."""
    size = value.numerator.bit_length() - value.denominator.bit_length()
    if size > LONGEST:
        return None
    if value and size < -LONGEST:
        return Fraction(1, 1 << LONGEST)
    more = 2 * FINE - size if value else 0
    return Fraction(-((-value.numerator << max(0, more)) // (value.denominator << max(0, -more)))) / Fraction(2) ** more
