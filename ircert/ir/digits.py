"""W v for a float matrix W and long integers v, exactly and without an object for every weight.

Both are cut into digits: the numbers into 16 bits, the weights into so many that products of digits, summed along the
longest row, stay below 2^52. Then floats compute these sums without rounding, all digits of all rows in a few matrix
products, whatever the exponents of the weights and however long the numbers are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Indices, Matrix, nonzeros
from ircert.ir.dyadic import PRECISION, decompose

SHORT = 16
EXACT = 52
WIDEST = 26
DENSE = 0.1
"""The share of nonzeros from which on a digit of all weights is stored dense."""
ENTRIES, FEWEST = 2**21, 64
"""So many digits of the numbers, and of their products, are held at once, to bound the memory; of each number at least
the fewest, because a block of digits is carried into its neighbours by as many bits as the weights are apart."""


@dataclass(frozen=True)
class _Part:
    """Digits of one place, in the rows that have any."""

    place: int
    rows: Indices
    digits: Matrix


class DigitMatrix:
    """A matrix of floats, times 2^scale, as integer digits: the sum of digit matrices times powers of two."""

    def __init__(self, weight: Matrix, scale: int) -> None:
        sparse = nonzeros(weight)
        self.rows = sparse.shape[0]
        self.columns = np.unique(sparse.indices)
        longest = int(np.diff(sparse.indptr).max(initial=0))
        self.width = max(1, min(WIDEST, EXACT - SHORT - longest.bit_length()))
        columns = np.searchsorted(self.columns, sparse.indices)
        self.parts = [
            _part(self.width * place, sparse.indptr, columns, where, digits)
            for place, where, digits in _digits(sparse.data, scale, self.width)
        ]

    def times(self, numbers: Sequence[Any]) -> list[int]:
        """The integers sum_j weight_ij 2^scale numbers_j."""
        if not len(self.columns):
            return [0] * self.rows
        digits, signs, shift = _columns([numbers[j] for j in self.columns.tolist()])
        count = max(FEWEST, ENTRIES // len(self.columns) // 4 * 4)
        blocks = [
            self._times_block(digits[:, start : start + count] * signs[:, None])
            for start in range(0, digits.shape[1], count)
        ]
        return [value << shift for value in _carried(blocks, SHORT * count)]

    def _times_block(self, block: Array) -> list[int]:
        totals = [0] * self.rows
        few = max(1, ENTRIES // block.shape[1])
        for part in self.parts:
            rows = part.rows.tolist()
            for start in range(0, len(rows), few):
                for i, value in zip(rows[start:], _joined(part.digits[start : start + few] @ block), strict=False):
                    totals[i] += value << part.place
        return totals


def _carried(blocks: list[list[int]], bits: int) -> list[int]:
    """The sum of the blocks, each `bits` higher than the one before: neighbours first, so that long sums are few."""
    while len(blocks) > 1:
        pairs = [
            [a + (b << bits) for a, b in zip(low, high, strict=True)]
            for low, high in zip(blocks[::2], blocks[1::2], strict=False)
        ]
        blocks, bits = pairs + blocks[len(blocks) // 2 * 2 :], 2 * bits
    return blocks[0]


def _digits(data: Array, scale: int, width: int) -> Iterator[tuple[int, Indices, Array]]:
    """Places, the entries that have a digit there, and these: data * 2^scale is the sum of digits * 2^(width place)."""
    mantissa, exponent = decompose(data)
    first, offset = np.divmod(exponent + scale, width)
    found: dict[int, list[tuple[Indices, Array]]] = {}
    order = np.argsort(first, kind="stable")
    places, starts = np.unique(first[order], return_index=True)
    for place, chosen in zip(places.tolist(), np.split(order, starts)[1:], strict=True):
        for higher, digits in enumerate(_own_digits(mantissa[chosen], offset[chosen], width)):
            there = np.flatnonzero(digits)
            if len(there):
                found.setdefault(place + higher, []).append((chosen[there], digits[there]))
    for place, pieces in found.items():
        where, digits = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        upwards = np.argsort(where)
        yield place, where[upwards], digits[upwards]


def _own_digits(mantissa: Indices, offset: Indices, width: int) -> list[Array]:
    """The signed digits of mantissa * 2^offset, lowest first."""
    size, sign, mask = np.abs(mantissa), np.sign(mantissa).astype(np.float64), (1 << width) - 1
    pieces = [((size >> (k * width)) & mask) << offset for k in range(-(-PRECISION // width))]
    none = np.zeros_like(size)
    low, high = [*(piece & mask for piece in pieces), none], [none, *(piece >> width for piece in pieces)]
    return [(a + b) * sign for a, b in zip(low, high, strict=True)]


def _part(place: int, starts: Indices, columns: Indices, where: Indices, digits: Array) -> _Part:
    """The digits of some entries of a sparse matrix as a matrix of their own rows, dense where many are there."""
    of_row = np.searchsorted(starts, where, side="right") - 1
    rows, first = np.unique(of_row, return_index=True)
    shape = (len(rows), int(columns.max()) + 1)
    sparse = csr_array((digits, columns[where], np.append(first, len(where))), shape=shape)
    return _Part(place, rows, sparse.toarray() if len(where) >= DENSE * shape[0] * shape[1] else sparse)


def _columns(numbers: Sequence[Any]) -> tuple[NDArray[np.uint16], Array, int]:
    """Digits of 16 bits, a row for each number, lowest first, their signs, and by how many bits all are shifted."""
    plain = [int(v) for v in numbers]
    size = -(-max(abs(v) for v in plain).bit_length() // SHORT) or 1
    raw = b"".join(abs(v).to_bytes(2 * size, "little") for v in plain)
    digits = np.frombuffer(raw, dtype="<u2").reshape(len(plain), size)
    lowest = int(np.argmax(digits.any(axis=0)))
    signs = np.array([-1.0 if v < 0 else 1.0 for v in plain])
    return digits[:, lowest:], signs, SHORT * lowest


def _joined(sums: Array) -> Iterator[int]:
    """sum_k sums_ik 2^(16 k) for each row: every fourth entry, made positive, is a digit of 64 bits."""
    count = -(-sums.shape[1] // 4) * 4
    positive: NDArray[np.int64] = np.full((len(sums), count), 1 << EXACT)
    positive[:, : sums.shape[1]] += sums.astype(np.int64)
    added = int.from_bytes(b"\1\0" * count, "little") << EXACT
    quarters = [np.ascontiguousarray(positive[:, k::4], dtype="<i8") for k in range(4)]
    for i in range(len(sums)):
        yield sum(int.from_bytes(q[i].tobytes(), "little") << (SHORT * k) for k, q in enumerate(quarters)) - added
