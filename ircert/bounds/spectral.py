"""Upper bounds on spectral norms of stacks of float matrices, real or complex: a guess that Cholesky factors prove.

For s I - B B^H = L L^H + R, with any L, the largest eigenvalue of B B^H is at most s + |R|. So L and the guess s may
come from anywhere; only the rest R has to be bounded. Its real and imaginary parts are sums of products of floats that
are computed without complex arithmetic: what rounding changes of them is known (`rounding`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, eigsh

from ircert.bounds.rounding import TINY, UNIT
from ircert.exact.rounding import near_root, rounded_up
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

Complex: TypeAlias = NDArray[np.complex128]

MARGINS = (2.0**-30, 2.0**-20, 2.0**-14, 2.0**-10, 2.0**-7, 2.0**-4)
"""How far above the guess the bound begins, until the factors exist."""
STEPS = 12
"""Of the power iteration that chooses the matrices whose eigenvalues are computed."""
CHOSEN = 4
SMALL = 128
"""Rows of matrices all of whose eigenvalues are computed, rather than one."""
CHUNK = 1 << 19
"""Entries of matrices that are handled at once."""


@dataclass(frozen=True)
class Parts:
    """A stack of complex matrices (count, rows, columns) by its real and its imaginary part; None if that is 0."""

    real: Array
    imaginary: Array | None = None

    @property
    def joined(self) -> Array | Complex:
        """The same as one array."""
        return self.real if self.imaginary is None else np.asarray(self.real + 1j * self.imaginary)

    @property
    def adjoint(self) -> Parts:
        """Each matrix transposed and conjugated."""
        imaginary = None if self.imaginary is None else -self.imaginary.swapaxes(1, 2)
        return Parts(self.real.swapaxes(1, 2), imaginary)

    @property
    def absolute(self) -> Array:
        """Bounds on the absolute values of both parts together, up to a rounding."""
        return np.asarray(np.abs(self.real) + (0 if self.imaginary is None else np.abs(self.imaginary)))

    def gram(self) -> Parts:
        """B B^H in floats: each part of an entry is a sum of at most two products a column."""
        real = self.real @ self.real.swapaxes(1, 2)
        if self.imaginary is None:
            return Parts(real)
        crossed = self.imaginary @ self.real.swapaxes(1, 2)
        return Parts(
            real + self.imaginary @ self.imaginary.swapaxes(1, 2), np.asarray(crossed - crossed.swapaxes(1, 2))
        )

    def taken(self, part: slice) -> Parts:
        """Some of the matrices."""
        return Parts(self.real[part], None if self.imaginary is None else self.imaginary[part])

    def scaled(self, exponent: int) -> Parts:
        """Divided by a power of two, which changes numbers by less than the smallest subnormal."""
        imaginary = None if self.imaginary is None else np.ldexp(self.imaginary, -exponent)
        return Parts(np.ldexp(self.real, -exponent), imaginary)


def spectral_bound(stack: Parts) -> Fraction | None:
    """A number that no matrix of the stack exceeds in the spectral norm; None where floats find none."""
    count, rows, columns = stack.real.shape
    if rows > columns:
        stack, rows, columns = stack.adjoint, columns, rows
    with np.errstate(all="ignore"):
        sums = stack.absolute.sum(axis=2)
        largest = float(sums.max(initial=0.0))
        if largest == 0.0 or not math.isfinite(largest):
            return Fraction(0) if largest == 0.0 else None
        exponent = math.frexp(largest)[1]
        each = max(1, CHUNK // (rows * columns))
        squares = [_square(stack.taken(slice(i, i + each)).scaled(exponent)) for i in range(0, count, each)]
    if any(square is None for square in squares):
        return None
    root = near_root(max(square for square in squares if square is not None), up=1)
    underflow = Fraction(TINY) * 2 * rows * columns
    return Fraction(rounded_up((root + underflow) * Fraction(2) ** exponent))


def _square(stack: Parts) -> Fraction | None:
    """A number that no largest eigenvalue of B B^H exceeds, for entries of about 1 and less."""
    checkpoint()
    gram = stack.gram()
    guess = _largest(gram.joined)
    for margin in MARGINS if math.isfinite(guess) else ():
        level = guess * (1 + margin)
        factors = _factors(gram, level)
        if factors is not None:
            rest = _rest(stack, gram, factors, level)
            return Fraction(level) + Fraction(rest) if math.isfinite(rest) else None
    return None


def _largest(gram: Array | Complex) -> float:
    """About the largest eigenvalue of all: the power iteration chooses matrices, whose eigenvalues are computed."""
    start = np.linspace(1.0, 1.5, gram.shape[1], dtype=gram.dtype)
    vectors = np.broadcast_to(start[:, None], (*gram.shape[:2], 1))
    values = np.ones(len(gram))
    for _ in range(STEPS):
        vectors = gram @ vectors
        values = np.linalg.norm(vectors, axis=(1, 2))
        vectors = vectors / np.maximum(values, 1e-150)[:, None, None]
    chosen = np.argsort(values)[-CHOSEN:].tolist()
    try:
        return max(float(values.max()), *(_top(gram[i]) for i in chosen))
    except (np.linalg.LinAlgError, ArpackError):
        return math.nan


def _top(gram: Array | Complex) -> float:
    """About the largest eigenvalue of one matrix."""
    if len(gram) <= SMALL:
        return float(np.linalg.eigvalsh(gram)[-1])
    start = np.linspace(1.0, 1.5, len(gram), dtype=gram.dtype)
    return float(eigsh(gram, k=1, v0=start, tol=MARGINS[0], return_eigenvectors=False)[0])


def _factors(gram: Parts, level: float) -> Parts | None:
    """L with L L^H = level I - B B^H, about; None where there is none."""
    try:
        found = np.linalg.cholesky(level * np.eye(gram.real.shape[1]) - gram.joined)
    except np.linalg.LinAlgError:
        return None
    if gram.imaginary is None:
        return Parts(np.asarray(found.real))
    return Parts(np.ascontiguousarray(found.real), np.ascontiguousarray(found.imag))


def _rest(stack: Parts, gram: Parts, factors: Parts, level: float) -> float:
    """A bound on |R| for all matrices: its largest row sum, with room for rounding.

    Each part of an entry of R is a sum of 2 (rows + columns) + 1 products, whose absolute values add up to an entry of
    |B| |B|^T + |L| |L|^T + level I at most; the row sums of these are products with a vector of ones.
    """
    _, rows, columns = stack.real.shape
    other = factors.gram()
    real = level * np.eye(rows) - gram.real - other.real
    found = Parts(real, None if gram.imaginary is None or other.imaginary is None else gram.imaginary + other.imaginary)
    sizes = [a @ a.sum(axis=1)[:, :, None] for a in (stack.absolute, factors.absolute)]
    most = float((found.absolute.sum(axis=2) * (1 + 4 * (rows + 2) * UNIT)).max())
    terms = 2 * (rows + columns) + 3
    room = 8.0 * terms * UNIT * (level + float((sizes[0] + sizes[1]).max())) + 8.0 * terms * rows * TINY
    return (most + room) * (1 + 8 * UNIT)
