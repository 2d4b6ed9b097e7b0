"""Upper bounds on operator norms of sparse matrices, which stay sparse.

Rows and columns that share no weight with others are blocks of their own, and the spectral norm is the largest of
theirs: small blocks are written out. Of a large block A, G = A A^T (or A^T A) and its powers stay sparse for a while:

    |A|_2^(2k) = |G^k|_2 <= the spectral radius of |G^k|, entry by entry, <= max_i (|G^k| v)_i / v_i   for every v > 0,

with k a power of two, and v by the power iteration (Perron, Collatz, Wielandt; Schur's test). What rounding changes of
the powers is carried along.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ircert.bounds.operator_norms import Unbounded, norm_bound
from ircert.bounds.rounding import TINY, UNIT
from ircert.bounds.spectral import Parts, spectral_bound
from ircert.exact.rounding import near_root, rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Sparse
from ircert.limits import checkpoint

SMALL = 1_024
"""Rows or columns, the fewer of them, of blocks that are written out …"""
WRITTEN = 1 << 22
"""… and entries."""
SQUARINGS = 6
MOST_PRODUCTS = 60_000_000
"""Multiplications of one squaring: about a second."""
STEPS = 30
"""Of the power iteration that looks for v."""


def sparse_norm_bound(matrix: Sparse, norm: Norm) -> Fraction:
    """A number that the operator norm does not exceed; Unbounded where floats hold none."""
    sides = {side: norm_bound(matrix, side) for side in (Norm.INF, Norm.ONE)}
    if norm != Norm.TWO:
        return sides[norm]
    # |A|_2^2 <= |A|_1 |A|_inf
    rough = Fraction(rounded_up(near_root(sides[Norm.INF] * sides[Norm.ONE], up=1)))
    return min(rough, max((_block_bound(blocks) for blocks in _blocks(matrix)), default=Fraction(0)))


def _blocks(matrix: Sparse) -> list[Array | Sparse]:
    """Blocks that share no row or column: small ones of one shape in a stack, each of them once, and large ones."""
    coordinates = matrix.tocoo()
    kept = coordinates.data != 0
    rows, columns, data = coordinates.row[kept], coordinates.col[kept], coordinates.data[kept]
    labels = _labels(rows, columns, matrix.shape)
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(np.diff(labels[order])) + 1
    small: dict[tuple[int, int], dict[bytes, Array]] = defaultdict(dict)
    large: list[Array | Sparse] = []
    for entries in np.split(order, ends) if len(order) else []:
        block = csr_array((data[entries], (_dense(rows[entries]), _dense(columns[entries]))))
        if min(block.shape) <= SMALL and block.shape[0] * block.shape[1] <= WRITTEN:
            dense = block.toarray()
            small[dense.shape][dense.tobytes()] = dense
        else:
            large.append(block)
    return [*(np.array(list(group.values())) for group in small.values()), *large]


def _labels(rows: Indices, columns: Indices, shape: tuple[int, int]) -> Indices:
    """The block of each entry."""
    total = shape[0] + shape[1]
    pattern = csr_array((np.ones(len(rows)), (rows, columns + shape[0])), shape=(total, total))
    return np.asarray(connected_components(pattern, directed=False)[1][rows])


def _dense(indices: Indices) -> Indices:
    """The same order, counted without gaps."""
    return np.asarray(np.unique(indices, return_inverse=True)[1])


def _block_bound(blocks: Array | Sparse) -> Fraction:
    """Of a stack of small blocks, or of one large block."""
    checkpoint()
    if isinstance(blocks, np.ndarray):
        found = spectral_bound(Parts(blocks))
        if found is None:
            raise Unbounded
        return found
    return _by_powers(blocks)


def _by_powers(block: Sparse) -> Fraction:
    """By powers of the smaller Gram matrix; in the end the best of the bounds that each power gives."""
    side = block if block.shape[0] <= block.shape[1] else csr_array(block.T)
    exponent = _exponent(side)
    side = csr_array((np.ldexp(side.data, -exponent), side.indices, side.indptr), shape=side.shape)
    lost = Fraction(TINY) * side.nnz  # of the norm, by underflow
    power, error = _product(side, csr_array(side.T), Fraction(0))
    scale, roots = Fraction(1), 1  # |A|^(2^roots) = scale * |power + what is off by error|
    best = _root(_perron(power) + error, roots)
    while roots <= SQUARINGS and _products(power, power) <= MOST_PRODUCTS:
        checkpoint()
        step = _exponent(power)
        factor = Fraction(2) ** step
        power = csr_array((np.ldexp(power.data, -step), power.indices, power.indptr), shape=power.shape)
        error = error / factor + Fraction(TINY) * power.nnz
        power, error = _product(power, power, error)
        scale, roots = (scale * factor) ** 2, roots + 1
        best = min(best, _root((_perron(power) + error) * scale, roots))
    return Fraction(rounded_up((best + lost) * Fraction(2) ** exponent))


def _root(value: Fraction, times: int) -> Fraction:
    for _ in range(times):
        value = near_root(value, up=1)
    return value


def _exponent(matrix: Sparse) -> int:
    """Of a power of two above all row sums."""
    largest = float(abs(matrix).sum(axis=1).max())
    if not math.isfinite(largest):
        raise Unbounded
    return math.frexp(largest)[1] + 1


def _product(a: Sparse, b: Sparse, error: Fraction) -> tuple[Sparse, Fraction]:
    """a b in floats, and a bound on the spectral norm of its error: by rounding, and as both are off by `error`.

    |(a + E)(b + F) - a b| <= (|a| + |b|) |E| + |E|^2, and the spectral norm is at most the larger of both sums; the
    rounding of an entry is at most 4 (k + 2) u times that of |a| |b|, for the k terms that its row of a has.
    """
    found = csr_array(a @ b)
    terms = int(np.diff(a.indptr).max()) + 2
    sizes = [max(norm_bound(x, Norm.INF), norm_bound(x, Norm.ONE)) for x in (a, b)]
    rounding = Fraction(8 * terms) * (Fraction(UNIT) * sizes[0] * sizes[1] + Fraction(TINY) * found.shape[0])
    return found, Fraction(rounded_up(rounding + (sizes[0] + sizes[1]) * error + error * error))


def _products(a: Sparse, b: Sparse) -> int:
    return int(np.diff(b.indptr)[a.indices].sum())


def _perron(matrix: Sparse) -> Fraction:
    """A bound on the spectral norm, with room for rounding: the least a that was found for Schur's test.

    |M| v <= a v and |M|^T v <= a v for some v > 0, entry by entry, make |M|_2 <= a. M is symmetric but for
    rounding, so that both sides are nearly the same.
    """
    size = abs(matrix)
    other = csr_array(size.T)
    v = np.ones(size.shape[0])
    for _ in range(STEPS):
        v = size @ v
        v = np.maximum(v / v.max(), 2.0**-40)
    terms = int(max(np.diff(size.indptr).max(), np.diff(other.indptr).max())) + 2
    ratio = float(max((size @ v / v).max(), (other @ v / v).max()))
    if not math.isfinite(ratio):
        raise Unbounded
    underflow = Fraction(8 * terms * TINY) * 2**41  # v >= 2^-40
    return Fraction(rounded_up(Fraction(ratio) * (1 + Fraction(8 * terms) * Fraction(UNIT)) + underflow))
