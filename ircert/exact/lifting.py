"""Square systems of integers, solved exactly by p-adic lifting (Dixon).

With the inverse of A modulo a prime q, A x = b gives one digit of x in base q after the other. The vector x is rational
with numerators and denominator below the product of the lengths of A's rows (Hadamard, Cramer), so that enough digits
determine it. Short solutions are tried after few of them. Whatever is found is checked: A x = b in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat, nmod_mat

from ircert.exact.dyadics import as_integers, as_matrix
from ircert.ir.rational import Integers
from ircert.limits import Undecided, checkpoint

PRIMES = (2**61 - 1, 2**62 - 57, 2**63 - 25)
EARLY = (4, 16, 64)
"""Digits after which a short solution is looked for."""
MARGIN = 40
"""Bits that a short solution leaves unused, where chance would leave none."""
PIECE = 60
MASK = (1 << PIECE) - 1
MOST_WORK = 1_500_000_000
"""Products of words: some seconds, in which the clock is looked at for every digit."""


@dataclass(frozen=True)
class Solution:
    """The matrix numerators / denominator, denominator > 0."""

    numerators: Integers
    denominator: Any


def too_long(size: int, bits: int) -> bool:
    """Whether the solution of a system of that size, with numbers of so many bits, may have too many digits."""
    return size**2 * -(-bits // PIECE) * (2 * size * bits // PIECE) > MOST_WORK


def solve(left: Integers, right: Integers) -> Solution | None:
    """X with left X = right, for a square matrix that is regular modulo a prime; None if it is not.

    Undecided where the numbers would become too long.
    """
    needed, pieces = _digits_needed(left, right), _Pieces(left)
    for prime in PRIMES:
        checkpoint()
        try:
            inverse = nmod_mat(as_matrix(left), prime).inv()
        except ZeroDivisionError:
            continue
        return _lifted(pieces, as_matrix(right), inverse, prime, needed)
    return None


class _Pieces:
    """A matrix of integers in pieces that fit into words, which python-flint multiplies several times faster."""

    def __init__(self, matrix: Integers) -> None:
        self.size = matrix.size
        self.parts: list[fmpz_mat] = []
        rest = [int(v) for v in matrix.ravel()]
        while any(rest):
            checkpoint()
            low = [v & MASK if v >= 0 else -(-v & MASK) for v in rest]
            self.parts.append(fmpz_mat(*matrix.shape, low))
            rest = [(v - piece) >> PIECE for v, piece in zip(rest, low, strict=True)]

    def times(self, vectors: fmpz_mat) -> fmpz_mat:
        """The matrix times others."""
        total = fmpz_mat(vectors.nrows(), vectors.ncols())
        for k, part in enumerate(self.parts):
            total += part * vectors * fmpz(1 << (PIECE * k))
        return total


def _digits_needed(left: Integers, right: Integers) -> int:
    """So many that the numerators and denominators of any solution are determined."""
    rows = np.concatenate([left, right], axis=1)
    squares = (int(sum(v * v for v in row)).bit_length() for row in rows)
    # |minor| <= product of the lengths of the rows; twice, for numerator and denominator, and a sign
    return (sum(squares) + len(rows) + 4) // (PRIMES[0].bit_length() - 1) + 1


def _lifted(left: _Pieces, right: fmpz_mat, inverse: nmod_mat, prime: int, needed: int) -> Solution:
    shape, size, rest = (right.nrows(), right.ncols()), fmpz(prime), right
    digits: list[list[fmpz]] = []
    most = MOST_WORK // (left.size * len(left.parts) * shape[1])
    for look in [*(count for count in EARLY if count < min(needed, most)), needed]:
        if look > most:
            raise Undecided
        while len(digits) < look:
            checkpoint()
            digits.append([fmpz(int(v)) for v in (inverse * nmod_mat(rest, prime)).entries()])
            rest = fmpz_mat(*shape, [v // size for v in (rest - left.times(fmpz_mat(*shape, digits[-1]))).entries()])
        found = _rational(digits, size, last=look == needed)
        if found is not None and left.times(fmpz_mat(*shape, found[0])) == right * found[1]:
            return Solution(as_integers(found[0], shape), found[1])
    raise ArithmeticError("the digits of a rational solution determine it")


def _rational(digits: list[list[fmpz]], prime: fmpz, *, last: bool) -> tuple[list[fmpz], fmpz] | None:
    """Numerators over one denominator that have these digits; None if there is no sign of short ones."""
    modulus = prime ** len(digits)
    if not last and _quotient(_joined([d[:1] for d in digits], prime)[0], modulus, margin=MARGIN) is None:
        return None
    half, limit = modulus // 2, (modulus // 2).isqrt()
    below = fmpz(1)
    numerators: list[fmpz] = []
    for value in _joined(digits, prime):
        top = _centred(value * below, modulus, half)
        if abs(top) > limit:
            more = _quotient(top % modulus, modulus, margin=0 if last else MARGIN)
            if more is None:
                return None
            top, factor = more
            below *= factor
            numerators = [v * factor for v in numerators]
        numerators.append(top)
    return numerators, below


def _centred(value: fmpz, modulus: fmpz, half: fmpz) -> fmpz:
    rest = value % modulus
    return rest - modulus if rest > half else rest


def _quotient(value: fmpz, modulus: fmpz, margin: int) -> tuple[fmpz, fmpz] | None:
    """(a, b) with a = b value modulo the modulus and |a|, b at most about its root, by Euclid's algorithm.

    None if they leave fewer than `margin` bits of the modulus unused.
    """
    limit = (modulus // 2).isqrt()
    before, now, old, new = modulus, value, fmpz(0), fmpz(1)
    while now > limit:
        times, rest = divmod(before, now)
        before, now = now, rest
        old, new = new, old - times * new
    if int(now.height_bits()) + int(new.height_bits()) + margin > int(modulus.height_bits()):
        return None
    return (now, new) if new > 0 else (-now, -new)


def _joined(digits: list[list[fmpz]], prime: fmpz) -> list[fmpz]:
    """The numbers with these digits, lowest first, in halves."""
    level, base = digits, prime
    while len(level) > 1:
        pairs = [[a + base * b for a, b in zip(*level[i : i + 2], strict=True)] for i in range(0, len(level) - 1, 2)]
        level, base = pairs + level[len(pairs) * 2 :], base * base
    return level[0]
