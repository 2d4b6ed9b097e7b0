"""W v for a float matrix W and long integers v, exactly and without an object for every weight.

Both are cut into digits: the numbers into 16 bits, the weights into so many that products of digits, summed along the
longest row, stay below 2^52. Then floats compute these sums without rounding, all digits of all rows in a few matrix
products, whatever the exponents of the weights and however long the numbers are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Matrix, nonzeros
from ircert.ir.dyadic import PRECISION, decompose

SHORT = 16
EXACT = 52
WIDEST = 26
DENSE = 0.1
"""The share of nonzeros from which on a digit of all weights is stored dense."""
BLOCK = 512
"""So many digits of the numbers are multiplied at once, to bound the memory."""


class DigitMatrix:
    """A matrix of floats, times 2^scale, as integer digits: the sum of digit matrices times powers of two."""

    def __init__(self, weight: Matrix, scale: int) -> None:
        sparse = nonzeros(weight)
        self.rows = sparse.shape[0]
        longest = int(np.diff(sparse.indptr).max(initial=0))
        self.width = max(1, min(WIDEST, EXACT - SHORT - longest.bit_length()))
        self.parts = [
            (self.width * place, _stored(sparse, values))
            for place, values in _digits(sparse.data, scale, self.width).items()
        ]

    def times(self, numbers: Sequence[Any]) -> list[int]:
        """The integers sum_j weight_ij 2^scale numbers_j."""
        digits, shift = _columns(numbers)
        totals = [0] * self.rows
        for start in range(0, digits.shape[1], BLOCK):
            block = np.ascontiguousarray(digits[:, start : start + BLOCK])
            for place, part in self.parts:
                below = shift + SHORT * start + place
                for i, value in enumerate(_joined(part @ block)):
                    totals[i] += value << below
        return totals


def _digits(data: Array, scale: int, width: int) -> dict[int, Array]:
    """Digits by their place: data * 2^scale is the sum of digits times 2^(width place)."""
    mantissa, exponent = decompose(data)
    first, offset = np.divmod(exponent + scale, width)
    first[mantissa == 0] = 0
    size, sign, mask = np.abs(mantissa), np.sign(mantissa).astype(np.float64), (1 << width) - 1
    groups = [(place, np.flatnonzero(first == place)) for place in np.unique(first).tolist()]
    found: dict[int, Array] = {}
    for k in range(-(-PRECISION // width)):
        piece = ((size >> (k * width)) & mask) << offset
        for higher, digit in ((k, piece & mask), (k + 1, piece >> width)):
            signed = digit * sign
            for place, chosen in groups:
                if signed[chosen].any():
                    found.setdefault(place + higher, np.zeros(len(data)))[chosen] += signed[chosen]
    return found


def _stored(pattern: csr_array, data: Array) -> Matrix:
    whole = csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)
    if np.count_nonzero(data) >= DENSE * pattern.shape[0] * pattern.shape[1]:
        return whole.toarray()
    whole = whole.copy()
    whole.eliminate_zeros()
    return whole


def _columns(numbers: Sequence[Any]) -> tuple[Array, int]:
    """Signed digits of 16 bits, a row for each number, lowest first, and by how many bits all of them are shifted."""
    plain = [int(v) for v in numbers]
    size = -(-max(abs(v) for v in plain).bit_length() // SHORT) or 1
    raw = b"".join(abs(v).to_bytes(2 * size, "little") for v in plain)
    digits = np.frombuffer(raw, dtype="<u2").reshape(len(plain), size)
    lowest = int(np.argmax(digits.any(axis=0)))
    signs = np.array([-1.0 if v < 0 else 1.0 for v in plain])
    return digits[:, lowest:] * signs[:, None], SHORT * lowest


def _joined(sums: Array) -> Iterator[int]:
    """sum_k sums_ik 2^(16 k) for each row: every fourth entry, made positive, is a digit of 64 bits."""
    count = -(-sums.shape[1] // 4) * 4
    positive: NDArray[np.int64] = np.full((len(sums), count), 1 << EXACT)
    positive[:, : sums.shape[1]] += sums.astype(np.int64)
    added = sum(1 << (EXACT + SHORT * k) for k in range(count))
    quarters = [np.ascontiguousarray(positive[:, k::4], dtype="<i8") for k in range(4)]
    for i in range(len(sums)):
        yield sum(int.from_bytes(q[i].tobytes(), "little") << (SHORT * k) for k, q in enumerate(quarters)) - added
