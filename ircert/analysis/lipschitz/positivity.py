"""How positive C J is in a norm: the largest μ for which |C J d| >= μ |d| follows from it, and boxes that show μ.

    norm 2:    the least eigenvalue of sym(C J);  |A d| |d| >= d · A d
    norm inf:  the least (C J)_ii - sum over j != i of |(C J)_ij|;  |A d| >= |(A d)_i| where |d_i| is largest
    norm 1:    the same along columns;  |A d| >= sum over i of sign(d_i) (A d)_i

These are concave in J: what holds for the linear parts of f holds for their means, and f(x) - f(y) = J (x - y) with a
mean J of those along the segment. Along every slope J is affine, so that what holds on two faces of a cube of slopes
holds between them.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import UNIT
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.one_matrix.domination import Dominations, OneMatrix
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array

LEAST = 1e-290
"""Below this digits may be lost to underflow."""


def positivity(products: Array, norm: Norm) -> Array:
    """About that number for each of (count, n, n) products C J: one for norm 2, else one for each row or column.

    LinAlgError where there is none in floats.
    """
    if norm == "2":
        return np.asarray(np.linalg.eigvalsh(symmetric(products))[:, :1])
    diagonal = np.einsum("sii->si", products)
    return np.asarray(diagonal + np.abs(diagonal) - np.abs(products).sum(axis=2 if norm == "inf" else 1))


def symmetric(products: Array) -> Array:
    """The symmetric parts of (count, n, n) matrices; LinAlgError where they are not finite (LAPACK might never end)."""
    if not np.isfinite(products).all():
        raise np.linalg.LinAlgError("a product is not finite")
    return np.asarray((products + products.transpose(0, 2, 1)) / 2)


def one_matrix(network: Batches, matrix: Array, norm: Norm, least: float) -> OneMatrix:
    """What closes boxes on which C J is more positive than `least`."""
    return OneMatrix(network, matrix, least) if norm == "2" else Dominant(network, matrix, norm, least)


class Dominant(OneMatrix):
    """Closes cubes on which the diagonal of C J outweighs the rest of every row (norm inf) or column (norm 1)."""

    def __init__(self, network: Batches, matrix: Array, norm: Norm, least: float = 0.0) -> None:
        super().__init__(network, matrix, least)
        self.norm = norm

    def _dominations(self, slopes: Slopes) -> Dominations:
        """J(λ) = J(middle) + sum of δ_i u_i w_i: entries of C J(λ) change by at most the sum of |δ_i| |a_i| |w_i|."""
        network, n, neurons = self.network, self.network.size, len(slopes.spare)
        jacobian, below = self._ahead(slopes)
        above, reach = self._back(slopes)
        parts = np.ascontiguousarray(jacobian.transpose(2, 0, 1))
        size = np.matmul(np.abs(self.matrix), np.abs(parts))
        middle = positivity(np.matmul(self.matrix, parts), self.norm)
        taken = self._taken(slopes.spare, np.abs(above) + reach, np.abs(below))
        worst = middle - taken.sum(axis=0).T
        less = 8.0 * (network.constrained + n + 4) * UNIT * (size.sum(axis=2) + size.sum(axis=1)).max(axis=1)
        less = less + 16.0 * (2 * neurons + 2 * n + 32) * UNIT * taken.sum(axis=0).max(axis=0)
        # `doubt` has the sums of a row and of a column of what walks get wrong
        less = (self.least + self.doubt + less) * (1 + 1e-12) + LEAST
        closed = (worst > less[:, None]).all(axis=1) & np.isfinite(worst).all(axis=1)
        room = middle - self.least
        weights = (taken / np.maximum(room, LEAST).T).max(axis=1)
        excess = ((self.least - worst) / np.maximum(room, LEAST)).max(axis=1)
        definite = np.asarray((room > 0).all(axis=1))
        return Dominations(
            closed, _diagonal(room), _diagonal(worst - self.least), definite, excess, weights, above, below
        )

    def _taken(self, spare: Array, above: Array, below: Array) -> Array:
        """What each neuron takes off each row or column, at most (neurons, inputs, cubes)."""
        if self.norm == "inf":
            return above * (below.sum(axis=1) * spare)[:, None]
        return below * (above.sum(axis=1) * spare)[:, None]


def _diagonal(entries: Array) -> Array:
    return np.asarray(entries[:, :, None] * np.eye(entries.shape[1]))
