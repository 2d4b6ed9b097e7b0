"""Sums and products that claim to be exact, against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ircert.ir import dyadic
from ircert.ir.arrays import Array, Matrix

MIXED = st.one_of(
    st.integers(-32, 32).map(lambda k: k / 8),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, 1.0, -1.0, 2.0**-1074, 2.0**1023, 1e16, 0.1]),
)


@st.composite
def matrices(draw: st.DrawFn, rows: int, columns: int) -> tuple[Matrix, Array]:
    """A matrix as it is given to the code (dense or sparse), and dense."""
    flat = draw(st.lists(MIXED, min_size=rows * columns, max_size=rows * columns))
    dense = np.array(flat).reshape(rows, columns) + 0.0
    return (csr_array(dense) if draw(st.booleans()) else dense), dense


def dense(matrix: Matrix) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def rational_product(a: Array, b: Array) -> list[list[Fraction]]:
    left = [[Fraction(v) for v in row] for row in a.tolist()]
    right = [[Fraction(v) for v in row] for row in b.tolist()]
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*right, strict=True)]
        for row in left
    ]


def as_fractions(matrix: Matrix) -> list[list[Fraction]]:
    return [[Fraction(v) for v in row] for row in dense(matrix).tolist()]


@pytest.mark.rule("P-1")
@given(st.data(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_a_product_that_is_given_is_exact(data: st.DataObject, m: int, k: int, n: int) -> None:
    a, a_dense = data.draw(matrices(m, k))
    b, b_dense = data.draw(matrices(k, n))
    product = dyadic.multiply(a, b)
    if product is not None:
        assert as_fractions(product) == rational_product(a_dense, b_dense)


@pytest.mark.rule("P-1")
@given(st.data(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))
def test_a_product_with_few_numbers_is_given_where_it_is_exact(data: st.DataObject, m: int, k: int, n: int) -> None:
    a, a_dense = data.draw(matrices(m, k))
    b, b_dense = data.draw(matrices(k, n))
    product, wanted = dyadic.multiply_entrywise(a, b), rational_product(a_dense, b_dense)
    assert (product is not None) == all(dyadic.is_float(value) for row in wanted for value in row)
    if product is not None:
        assert as_fractions(product) == wanted


def test_terms_that_cancel_do_not_round() -> None:
    a, b = np.array([[0.3, -0.3], [0.1, 0.7]]), np.array([[1.0, 0.0], [1.0, -1.0]])
    assert dyadic.multiply(a[:1], b) is None
    product = dyadic.multiply_entrywise(a[:1], b)
    assert product is not None
    assert dense(product).tolist() == [[0.0, 0.3]]
    assert dyadic.multiply_entrywise(a, b) is None  # 0.1 + 0.7


@pytest.mark.rule("P-1")
@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_a_sum_that_is_given_is_exact(data: st.DataObject, m: int, n: int) -> None:
    a, a_dense = data.draw(matrices(m, n))
    b, b_dense = data.draw(matrices(m, n))
    total = dyadic.add_matrices(a, b)
    wanted = [
        [Fraction(x) + Fraction(y) for x, y in zip(r, s, strict=True)]
        for r, s in zip(a_dense.tolist(), b_dense.tolist(), strict=True)
    ]
    if total is not None:
        assert as_fractions(total) == wanted


@given(st.lists(st.lists(st.integers(-99, 99), min_size=3, max_size=3), min_size=3, max_size=3), st.data())
def test_products_of_small_integers_are_always_given(rows: list[list[int]], data: st.DataObject) -> None:
    a = np.array(rows, dtype=float)
    other, _ = data.draw(st.sampled_from([(a.T, a.T), (csr_array(a.T), a.T)]))
    product = dyadic.multiply(a, other)
    assert product is not None
    assert (dense(product) == a @ a.T).all()


@given(st.data(), st.integers(1, 4), st.integers(1, 4))
def test_selecting_negating_and_scaling_by_powers_of_two_is_always_given(data: st.DataObject, m: int, n: int) -> None:
    """These never round, whatever the numbers: the passes rely on it."""
    moderate = st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 1e-100)
    full = np.array(data.draw(st.lists(moderate, min_size=m * n, max_size=m * n))).reshape(m, n) + 0.0
    scale = np.array(data.draw(st.lists(st.sampled_from([1.0, -1.0, 0.5, -8.0]), min_size=m, max_size=m)))
    for left in (np.diag(scale), csr_array(np.diag(scale))):
        product = dyadic.multiply(left, full)
        assert product is not None
        assert (dense(product) == scale[:, None] * full).all()


def test_rounding_is_noticed() -> None:
    assert dyadic.add(np.array([1.0]), np.array([2.0**-53])) is None
    assert dyadic.add(np.array([1.0]), np.array([2.0**-52])) is not None
    assert dyadic.multiply(np.array([[0.1]]), np.array([[0.1]])) is None
    assert dyadic.multiply(np.array([[2.0**600]]), np.array([[2.0**600]])) is None
    assert dyadic.multiply(np.array([[2.0**-600]]), np.array([[2.0**-600]])) is None
    assert dyadic.compose(np.array([[1.0]]), np.array([0.1]), np.array([[1.0]]), np.array([0.2])) is None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_integers_over_a_power_of_two(numbers: list[float]) -> None:
    integers, scale = dyadic.integers(np.array(numbers))
    assert [Fraction(n, 2**scale) for n in integers] == [Fraction(v) for v in numbers]
