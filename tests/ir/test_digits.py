"""Products by digits, against integers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ircert.ir import digits
from ircert.ir.arrays import Matrix
from ircert.ir.digits import DigitMatrix
from ircert.ir.dyadic import scaled, shift
from ircert.ir.ops import Affine
from ircert.ir.ops import core as operations
from ircert.ir.rational import Rationals
from ircert.limits import until
from tests.ir.test_dyadic import dense, matrices
from tests.test_files import at_most

LONG = st.one_of(st.integers(-3, 3), st.integers(-(2**70), 2**70), st.integers(-(2**900), 2**900))
SHIFTED = st.builds(lambda v, k: v << k, LONG, st.integers(0, 200))


@given(st.data(), st.integers(1, 4), st.integers(1, 4))
def test_products_are_those_of_the_integers(data: st.DataObject, m: int, n: int) -> None:
    weight, _ = data.draw(matrices(m, n))
    numbers = data.draw(st.lists(st.one_of(LONG, SHIFTED), min_size=n, max_size=n))
    scale = shift(dense(weight))
    rows = [scaled(row, scale) for row in dense(weight)]
    expected = [sum(a * b for a, b in zip(row, numbers, strict=True)) for row in rows]
    assert DigitMatrix(weight, scale).times(numbers) == expected


@pytest.mark.parametrize("size", [1023, 1024, 5000])
def test_the_largest_digits_of_long_rows_do_not_round(size: int) -> None:
    weight = np.full((2, size), 2.0 - 2.0**-52)
    weight[1] *= -1
    numbers = [2**64 - 1] * size
    total = size * (2**53 - 1) * (2**64 - 1)
    assert DigitMatrix(weight, 52).times(numbers) == [total, -total]


@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_large_layers_are_evaluated_as_small_ones_are(data: st.DataObject, m: int, n: int) -> None:
    weight, _ = data.draw(matrices(m, n))
    bias = data.draw(st.lists(st.floats(-1e9, 1e9), min_size=m, max_size=m))
    point = data.draw(st.lists(st.fractions(max_denominator=10**20), min_size=n, max_size=n))
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for many in (0, 10**9):
            patch.setattr(operations, "MANY", many)
            found.append(_values(weight, bias, point))
    assert found[0] == found[1]


@pytest.mark.rule("C-6")
def test_sums_of_many_blocks_in_many_places() -> None:
    """Rows that share no digit's place, over numbers that are cut into blocks."""
    weight = np.diag([2.0 ** (100 * k) * (1 + 2.0**-50) for k in range(9)]) + np.eye(9, k=1) - np.eye(9, k=-2)
    numbers = [(-1) ** k * (3 ** (500 * k) + k) for k in range(9)]
    rows = [scaled(row, 60) for row in weight]
    expected = [sum(a * b for a, b in zip(row, numbers, strict=True)) for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        for entries, fewest in ((1, 4), (64, 8), (2**21, 64)):
            patch.setattr(digits, "ENTRIES", entries)
            patch.setattr(digits, "FEWEST", fewest)
            for stored in (weight, csr_array(weight)):
                assert DigitMatrix(stored, 60).times(numbers) == expected


@pytest.mark.rule("C-6")
def test_rows_without_a_digit_of_a_place_take_no_part_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a few weights of all sizes would take every row through a hundred places."""
    rows, joined = 0, digits._joined

    def counted(sums: Any) -> Any:
        nonlocal rows
        rows += len(sums)
        return joined(sums)

    monkeypatch.setattr(digits, "_joined", counted)
    sizes = 2.0 ** np.arange(-1000, 1000, 40)
    weight = csr_array((sizes, (np.arange(50) * 100, np.zeros(50, dtype=int))), shape=(5000, 1))
    found = DigitMatrix(weight, 1000).times([1])
    assert [v for v in found if v] == [2 ** (40 * k) for k in range(50)]
    assert rows <= 5 * 50


@pytest.mark.rule("C-6")
def test_products_with_many_rows_take_little_memory() -> None:
    count = 40_000
    weight = csr_array((np.ones(count), (np.arange(count), np.arange(count) % 8)), shape=(count, 8))
    layer = DigitMatrix(weight, 0)
    with at_most(300):  # all digits of all rows are 160 MB, and there are four such arrays
        layer.times([2**8_000 + k for k in range(8)])


def _values(weight: Matrix, bias: list[float], point: list[Fraction]) -> list[list[Fraction]]:
    op, x = Affine(weight, bias), Rationals.of_fractions(point)
    return [op.exact(x).fractions(), op.exact_product(x).fractions()]


def test_a_large_layer_makes_no_integer_of_each_weight() -> None:
    """Times a witness of 15,000 bits they would fill the memory."""
    op = Affine(np.random.default_rng(0).normal(size=(64, 64)))
    op.exact(Rationals.of_fractions([Fraction(2 * k + 1, 2**15_000) for k in range(64)]))
    assert "_integer_rows" not in vars(op)


def test_evaluation_knows_no_deadline() -> None:
    """A value is a value: who is in a hurry asks between layers."""
    with until(lambda: True):
        assert DigitMatrix(np.ones((3, 3)), 0).times([1, 2, 3]) == [6, 6, 6]
