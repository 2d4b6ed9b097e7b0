"""How much a linear map stretches at most and at least."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.analysis.lipschitz.stretch import Span, least, most
from ircert.geometry.norm import Norm


def rows(*lines: list[int]) -> list[list[Fraction]]:
    return [[Fraction(v) for v in line] for line in lines]


@pytest.mark.parametrize(
    ("norm", "largest", "smallest"),
    [(Norm.INF, 7, Fraction(10, 6)), (Norm.ONE, 6, Fraction(10, 7)), (Norm.TWO, None, None)],
)
def test_a_matrix_by_hand(norm: Norm, largest: int | None, smallest: Fraction | None) -> None:
    """[[1, -2], [3, 4]], whose inverse is [[4, 2], [-3, 1]] / 10."""
    matrix = rows([1, -2], [3, 4])
    up, down = most(matrix, norm), least(matrix, norm)
    if largest is None:
        singular = np.linalg.svd([[1.0, -2.0], [3.0, 4.0]])[1]
        for span, value in ((up, singular[0]), (down, singular[1])):
            assert span.low < span.high
            assert float(span.low) == pytest.approx(value)
            assert span.high - span.low < Fraction(1, 10**12)
    else:
        assert up == Span(Fraction(largest), Fraction(largest))
        assert down.low == down.high == smallest


@pytest.mark.parametrize("norm", tuple(Norm))
def test_dependent_columns_are_not_stretched_somewhere(norm: Norm) -> None:
    assert least(rows([1, 2], [2, 4]), norm).low == 0


@pytest.mark.parametrize("norm", tuple(Norm))
def test_one_column_is_stretched_alike_everywhere(norm: Norm) -> None:
    matrix = rows([3], [-4])
    assert most(matrix, norm) == least(matrix, norm)
    assert most(matrix, norm).low == {"inf": 4, "1": 7, "2": 5}[norm]


@pytest.mark.parametrize("norm", tuple(Norm))
def test_no_direction_is_stretched_beyond_them(norm: Norm) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.integers(-5, 6, (3, 2))
    up, down = (float(f([[Fraction(int(v)) for v in row] for row in matrix], norm).high) for f in (most, least))
    for v in rng.standard_normal((200, 2)):
        quotient = float(norm.lengths(matrix @ v) / norm.lengths(v))
        assert down * (1 - 1e-12) <= quotient <= up * (1 + 1e-12)


def test_roots_lie_between_their_ends() -> None:
    root = Span.root(Fraction(2))
    assert root.low**2 <= 2 <= root.high**2
    assert Span.root(Fraction(9, 4)) == Span(Fraction(3, 2), Fraction(3, 2))
