"""Whether all principal minors of a matrix are positive, for sure: a branch for each row, taken or left out.

Let N be known up to errors. Eliminating by the pivot N_ii takes i; deleting row and column i leaves it out. What is
left after S was taken and others were left out is the Schur complement of N_SS, whose first entry is the quotient of
two minors, det N_S+i / det N_S. So all principal minors are positive if and only if all these pivots are.

A branch ends early where what is left has positive entries in its diagonal and is dominated by them: a_i w_i > sum over
j != i of |a_ij| w_j for a w > 0. Then so are all its principal submatrices, whose determinants are positive: they have
one sign while the other entries go to 0. Every error is bounded, step by step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ircert.bounds.rounding import TINY, UNIT
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

SignTable: TypeAlias = NDArray[np.int8]

ROUNDING = 32.0
"""More units than the few operations on an entry, and on the bound of its error, may lose."""
MOST = 1 << 22
"""Numbers in the branches that are open at once."""
ROUNDS = 6
"""In which the weights w are improved."""


@dataclass(frozen=True)
class Enclosed:
    """A stack of square matrices (count, size, size), each entry within its error of a float."""

    values: Array
    errors: Array

    @property
    def size(self) -> int:
        """Rows of each matrix."""
        return self.values.shape[-1]

    def take(self, chosen: Indices | Mask) -> Enclosed:
        """Some matrices of the stack."""
        return Enclosed(self.values[chosen], self.errors[chosen])

    def among(self, rows: Indices) -> Enclosed:
        """Some rows, and the columns of the same numbers, in this order."""
        return Enclosed(self.values[:, rows][:, :, rows], self.errors[:, rows][:, :, rows])

    def plus(self, other: Enclosed) -> Enclosed:
        """Both stacks."""
        return Enclosed(np.concatenate([self.values, other.values]), np.concatenate([self.errors, other.errors]))

    def without_first(self) -> Enclosed:
        """The first row and column left out."""
        return Enclosed(self.values[:, 1:, 1:], self.errors[:, 1:, 1:])

    def eliminated(self) -> Enclosed:
        """Schur complements of the first entries, which are not 0 for sure: a - c r / p, entry by entry."""
        (p, c, r, a), (ep, ec, er, ea) = _parts(np.abs(self.values)), _parts(self.errors)
        least = (p - ep) * (1 - 4 * UNIT)
        quotients = c * (r / p)
        wrong = (c * er + ec * r + ec * er) / least + quotients * (ep / least)
        values = _parts(self.values)
        lost = UNIT * (a + quotients + wrong + ea) + TINY * (1 + c * (1 + ep / least) + quotients + 1 / least)
        errors = ea + wrong + ROUNDING * lost
        return Enclosed(values[3] - values[1] * (values[2] / values[0]), errors)


def _parts(table: Array) -> tuple[Array, Array, Array, Array]:
    """The first entry, and the rest of its column, of its row and of the matrix."""
    return table[:, :1, :1], table[:, 1:, :1], table[:, :1, 1:], table[:, 1:, 1:]


def taken(matrix: Enclosed, rows: int) -> Enclosed | None:
    """What is left of one matrix when its first rows are taken, whatever the signs of their minors; None where one may
    be 0. The largest pivots come first."""
    for left in range(rows, 0, -1):
        diagonal = np.abs(np.diagonal(matrix.values[0])[:left]) - np.diagonal(matrix.errors[0])[:left]
        best = int(np.argmax(diagonal))
        if not diagonal[best] > 0:
            return None
        order = np.r_[best, np.delete(np.arange(matrix.size), best)]
        matrix = matrix.among(order).eliminated()
    return matrix


def signs(matrix: Enclosed) -> SignTable:
    """The signs of all principal minors of one matrix, 0 where one is not known; 2 entries along the axis of each row:
    left out, or taken. Where a pivot may be 0, nothing is known behind it."""
    found = np.ones(1, dtype=np.int8)
    with np.errstate(all="ignore"):
        for _ in range(matrix.size):
            checkpoint()
            pivots, errors = matrix.values[:, 0, 0], matrix.errors[:, 0, 0]
            sides = np.where(np.abs(pivots) > errors, np.sign(pivots), 0.0).astype(np.int8)
            found = np.concatenate([found, found * sides])
            matrix = matrix.without_first().plus(matrix.eliminated())
        rows = found.size.bit_length() - 1
    return found.reshape((2,) * rows).transpose()  # the bit of the first row changes fastest


def are_positive(matrix: Enclosed) -> bool:
    """Whether all principal minors of all matrices of a stack are, for sure; with too many branches False."""
    with np.errstate(all="ignore"):
        while matrix.size and len(matrix.values):
            checkpoint()
            if not (np.diagonal(matrix.values - matrix.errors, axis1=1, axis2=2) > 0).all():
                return False
            matrix = matrix.take(~_are_dominated(matrix))
            if matrix.values.size > MOST:
                return False
            matrix = matrix.without_first().plus(matrix.eliminated())
    return True


def _are_dominated(matrix: Enclosed) -> Mask:
    """Which matrices with a positive diagonal are dominated by it, for sure, with weights that are looked for."""
    least = np.diagonal(matrix.values - matrix.errors, axis1=1, axis2=2)
    others = np.abs(matrix.values) + matrix.errors
    diagonal = np.arange(matrix.size)
    others[:, diagonal, diagonal] = 0.0
    weights: Array = np.ones(least.shape)
    for _ in range(ROUNDS):
        sums = (others @ weights[:, :, None])[:, :, 0]
        good = np.all(sums * (1 + ROUNDING * matrix.size * UNIT) + TINY * matrix.size < least * weights, axis=1)
        if good.all():
            break
        weights = np.where(good[:, None], weights, 0.5 * weights + 0.5 * sums / least)
    return np.asarray(good)
