"""Floats as integers times powers of two, and sums and products that are taken only where they are exact.

Every finite float is m * 2**e with an integer m. A float result is *exact* when all its terms are multiples of
2**lowest and their absolute values add up to at most 2**(lowest + 53): then no partial sum rounds, in any order.
That condition is sufficient, not necessary; where it fails the callers keep the terms apart.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Indices, Matrix, diagonal, entries, freeze, nonzeros
from ircert.limits import checkpoint

PRECISION = 53
LOWEST_EXPONENT = -1074
PROBE = 4
"""Rows that are multiplied first: where one product rounds most do, and the answer is known without the others."""
FEW = 2
MOST = 2**17
"""A product is computed entry by entry if its right side has so few numbers a row, on average, and the left so many."""
_NO_BIT = 1 << 20  # the lowest bit of zero: higher than any real one


def decompose(values: Array) -> tuple[Indices, Indices]:
    """(m, e) with values == m * 2.0**e, m odd or zero."""
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, PRECISION).astype(np.int64)
    lowest = mantissa & -mantissa
    shift = np.where(mantissa == 0, 0, np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1)
    return mantissa >> shift, np.where(mantissa == 0, 0, exponent.astype(np.int64) - PRECISION + shift)


def integers(values: Array) -> tuple[list[int], int]:
    """(n, k) with values == n / 2**k exactly, n a list of Python integers and k >= 0."""
    scale = shift(values)
    return scaled(values, scale), scale


def shift(values: Array) -> int:
    """The least k >= 0 such that all values times 2**k are integers."""
    return max(0, -int(decompose(values)[1].min(initial=0)))


def scaled(values: Array, scale: int) -> list[int]:
    """The values times 2**scale, which are integers."""
    mantissa, exponent = decompose(values)
    return [m << s for m, s in zip(mantissa.tolist(), (exponent + scale).tolist(), strict=True)]


def add(*terms: Array) -> Array | None:
    """The elementwise sum, or None where it might round."""
    lowest: Indices = np.stack([_lowest_bit(t) for t in terms]).min(axis=0)
    with np.errstate(over="ignore"):
        size = np.sum([np.abs(t) for t in terms], axis=0)
    return np.sum(terms, axis=0) if _fits(size, lowest) else None


def add_matrices(a: Matrix, b: Matrix) -> Matrix | None:
    """a + b, or None where an entry might round; sparse if either is."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return add(a, b)
    left, right = nonzeros(a), nonzeros(b)
    overlap = csr_array(left.astype(bool).multiply(right.astype(bool)))
    rows, columns = overlap.nonzero()
    if add(entries(left, rows, columns), entries(right, rows, columns)) is None:
        return None
    return freeze(csr_array(left + right))


def compose(outer: Matrix, outer_bias: Array, inner: Matrix, inner_bias: Array) -> tuple[Matrix, Array] | None:
    """(W, b) with W x + b == outer (inner x + inner_bias) + outer_bias for every real x, or None where a number of
    W or b might round."""
    bias = shifted(outer, inner_bias, outer_bias)
    weight = None if bias is None else multiply(outer, inner)
    return None if weight is None or bias is None else (weight, bias)


def shifted(weight: Matrix, vector: Array, bias: Array) -> Array | None:
    """weight @ vector + bias, or None where that might round."""
    product = multiply(weight, vector[:, None])
    if product is None:
        return None
    dense = product if isinstance(product, np.ndarray) else product.toarray()
    return add(dense[:, 0], bias)


def multiply(a: Matrix, b: Matrix) -> Matrix | None:
    """a @ b, or None where an entry might round; sparse if both are.

    An entry with one term is a single product and exact if its two mantissas fit together. Entries with more terms
    are judged by the lowest bits and sums of absolute values of the row of a and the column of b they come from.
    """
    if 0 in (*a.shape, *b.shape):
        return np.zeros((a.shape[0], b.shape[1]))
    if a.shape[0] > PROBE and multiply(a[:PROBE, :], b) is None:
        return None
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        product = a @ b
        size = abs(a) @ abs(b)
    terms = _pattern(a) @ _pattern(b)
    rows, columns = terms.nonzero()
    suspicious = ~_fitting(entries(size, rows, columns), _row_bits(a)[rows] + _column_bits(b)[columns])
    if np.any(suspicious) and not _single_products_fit(a, b, terms, rows[suspicious], columns[suspicious]):
        return None
    return freeze(product) if isinstance(product, np.ndarray) else freeze(csr_array(product))


def multiply_entrywise(a: Matrix, b: Matrix) -> Matrix | None:
    """a @ b, or None where an entry rounds; where b has few numbers, entries whose terms cancel are exact as well."""
    known = multiply(a, b)
    left, right = nonzeros(a), nonzeros(b)
    if known is not None or right.nnz > FEW * right.shape[0] or left.nnz > MOST:
        return known
    data, columns, starts = list[float](), list[int](), [0]
    for i in range(left.shape[0]):
        checkpoint()
        row = slice(left.indptr[i], left.indptr[i + 1])
        for j, value in _combined_rows(left.indices[row], left.data[row], right).items():
            if not is_float(value):
                return None
            columns.append(j)
            data.append(float(value))
        starts.append(len(data))
    return freeze(csr_array((np.array(data), np.array(columns, int), np.array(starts)), shape=(a.shape[0], b.shape[1])))


def _combined_rows(places: Indices, factors: Array, rows: csr_array) -> dict[int, Fraction]:
    """The nonzero entries of the sum of factors[i] * rows[places[i]]."""
    found: dict[int, Fraction] = {}
    for k, factor in zip(places.tolist(), factors.tolist(), strict=True):
        part = slice(rows.indptr[k], rows.indptr[k + 1])
        for j, value in zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True):
            found[j] = found.get(j, Fraction(0)) + Fraction(factor) * Fraction(value)
    return {j: value for j, value in found.items() if value}


def is_float(number: Fraction) -> bool:
    """Whether float64 holds the number."""
    try:
        return Fraction(float(number)) == number
    except OverflowError:
        return False


def _lowest_bit(values: Array) -> Indices:
    mantissa, exponent = decompose(values)
    return np.where(mantissa == 0, _NO_BIT, exponent)


def _fitting(size: Array, lowest: Indices) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    # `size` was itself summed in floats. It is exact while below T = 2**(lowest + 53), and rounding is monotone: once
    # a true partial sum exceeds T the computed one is at least T. So "computed size < T" proves "true size < T".
    highest = np.frexp(size)[1].astype(np.int64)
    representable = np.isfinite(size) & (lowest >= LOWEST_EXPONENT)
    return representable & ((size == 0) | (highest - lowest <= PRECISION))


def _fits(size: Array, lowest: Indices) -> bool:
    return bool(np.all(_fitting(size, lowest)))


def _pattern(a: Matrix) -> Matrix:
    """Ones at the nonzeros: a product of patterns counts the terms of each entry."""
    return (a != 0).astype(np.float64)


def _row_bits(a: Matrix) -> Indices:
    if isinstance(a, np.ndarray):
        return _lowest_bit(a).min(axis=1)
    bits = np.full(a.shape[0], _NO_BIT)
    np.minimum.at(bits, np.repeat(np.arange(a.shape[0]), np.diff(a.indptr)), _lowest_bit(a.data))
    return bits


def _column_bits(b: Matrix) -> Indices:
    if isinstance(b, np.ndarray):
        return _lowest_bit(b).min(axis=0)
    bits = np.full(b.shape[1], _NO_BIT)
    np.minimum.at(bits, b.indices, _lowest_bit(b.data))
    return bits


def _single_products_fit(a: Matrix, b: Matrix, terms: Matrix, rows: Indices, columns: Indices) -> bool:
    """Whether the entries at `rows`, `columns` have one term each, and that product is exact."""
    if np.any(entries(terms, rows, columns) != 1.0):
        return False
    # The index of the only common k of row i and column j is the sum of all common k.
    ramp = np.arange(a.shape[1], dtype=np.float64)
    weighted = _pattern(a) @ diagonal(ramp)
    inner = entries(weighted @ _pattern(b), rows, columns).astype(np.int64)
    left, right = entries(a, rows, inner), entries(b, inner, columns)
    bits = _lowest_bit(left) + _lowest_bit(right)
    with np.errstate(over="ignore", under="ignore"):
        return _fits(np.abs(left * right), bits)
