"""How much one linear map stretches at most and at least: exact for norms 1 and inf, a tight bracket for norm 2.

For a matrix A with one or two columns

    most(A) = max |A v| / |v|,    least(A) = min |A v| / |v|.

In norms 1 and inf |A v| is piecewise linear along the unit ball's sides, so its minimum is at an end or at a kink. In
norm 2 the squares are the eigenvalues of AᵀA.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from ircert.exact.rounding import near_root
from ircert.geometry.norm import Norm

Rows = list[list[Fraction]]

SIDES: dict[Norm, list[tuple[tuple[int, int], tuple[int, int]]]] = {
    Norm.INF: [((1, -1), (1, 1)), ((1, 1), (-1, 1))],
    Norm.ONE: [((1, 0), (0, 1)), ((0, 1), (-1, 0))],
}
"""Half of the unit ball's border; the other half is its mirror image."""


@dataclass(frozen=True)
class Span:
    """A number between two rationals, which are equal where it is known exactly."""

    low: Fraction
    high: Fraction

    @staticmethod
    def root(square: Fraction) -> Span:
        """The square root of a rational number."""
        return Span(near_root(square, up=0), near_root(square, up=1))


def most(matrix: Rows, norm: Norm) -> Span:
    """The operator norm."""
    if norm == "2":
        return _root_of(_eigenvalues(matrix)[1])
    lines = matrix if norm == "inf" else list(zip(*matrix, strict=True))
    value = max(sum((abs(t) for t in line), Fraction(0)) for line in lines)
    return Span(value, value)


def least(matrix: Rows, norm: Norm) -> Span:
    """The smallest stretch of a direction; 0 if the columns are dependent."""
    if norm == "2":
        return _root_of(_eigenvalues(matrix)[0])
    if len(matrix[0]) == 1:
        return most(matrix, norm)
    value = min(_least_on_side(matrix, norm, *side) for side in SIDES[norm])
    return Span(value, value)


def _least_on_side(matrix: Rows, norm: Norm, start: tuple[int, int], end: tuple[int, int]) -> Fraction:
    tail, head = ([row[0] * v[0] + row[1] * v[1] for row in matrix] for v in (start, end))
    forms = list(zip(tail, head, strict=True))
    kinks = list(forms)
    if norm == "inf":
        kinks += [(a + s * c, b + s * d) for (a, b), (c, d) in combinations(forms, 2) for s in (1, -1)]
    shares = [Fraction(0), Fraction(1), *(a / (a - b) for a, b in kinks if a * b < 0)]
    return min(norm.measure(a + t * (b - a) for a, b in forms) for t in shares)


def _eigenvalues(matrix: Rows) -> tuple[Span, Span]:
    """Those of AᵀA: the roots of λ² - trace λ + determinant."""
    columns = [list(column) for column in zip(*matrix, strict=True)]
    gram = [[sum((a * b for a, b in zip(p, q, strict=True)), Fraction(0)) for q in columns] for p in columns]
    if len(columns) == 1:
        return Span(gram[0][0], gram[0][0]), Span(gram[0][0], gram[0][0])
    trace, determinant = gram[0][0] + gram[1][1], gram[0][0] * gram[1][1] - gram[0][1] ** 2
    root = Span.root(trace * trace - 4 * determinant)
    larger = Span((trace + root.low) / 2, (trace + root.high) / 2)
    if not larger.high:
        return larger, larger
    return Span(determinant / larger.high, determinant / larger.low), larger


def _root_of(square: Span) -> Span:
    return Span(near_root(square.low, up=0), near_root(square.high, up=1))
