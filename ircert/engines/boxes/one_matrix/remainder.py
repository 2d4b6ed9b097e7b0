"""What free neurons may take away from sym(C J) at the middle slopes: the matrix R of `domination`.

Any weights t and θ give a bound. Good ones make R small where M - R is small: lengths are taken in the metric of the
inverse of M first, and of M - R where that does not do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.ir.arrays import Array, Indices, Mask

LARGEST, LARGEST_SHARE = 1e150, 1e9
"""Weights t and θ, and their inverses; any positive ones will do. A neuron in other units asks for another t."""
FLAT, FLATTER = 1e-6, 0.03
"""Eigenvalues are taken to be at least this part of the largest: of M, and of M - R."""


@dataclass(frozen=True)
class Terms:
    """The free neurons of each cube in a row, and nothing after the last (cubes, rank, inputs).

    share: half of how far slopes may be from the middle (cubes, rank)
    neurons, cubes, ranks: where each free neuron stands
    """

    above: Array
    below: Array
    reach: Array
    share: Array
    neurons: Indices
    cubes: Indices
    ranks: Indices

    @staticmethod
    def of(spare: Array, above: Array, reach: Array, below: Array) -> Terms:
        """From (neurons, cubes) and (neurons, inputs, cubes)."""
        free = spare > 0
        cubes, neurons = np.nonzero(free.T)
        ranks = (np.cumsum(free, axis=0) - 1)[neurons, cubes]
        most = int(ranks.max(initial=-1)) + 1
        shape = free.shape[1], most, above.shape[1]

        def gathered(part: Array) -> Array:
            found = np.zeros(shape)
            found[cubes, ranks] = part[neurons, :, cubes]
            return found

        share = np.zeros(shape[:2])
        share[cubes, ranks] = spare[neurons, cubes] / 2
        return Terms(gathered(above), gathered(below), gathered(reach), share, neurons, cubes, ranks)

    def take(self, chosen: Indices) -> Terms:
        """Those of some cubes; where their neurons stand is not kept."""
        none = np.zeros(0, dtype=np.int64)
        above, below, reach, share = (part[chosen] for part in (self.above, self.below, self.reach, self.share))
        return Terms(above, below, reach, share, none, none, none)

    def taken(self, inverse: Array) -> tuple[Array, Array]:
        """R of every cube (cubes, n, n) with weights for a metric, and what each neuron adds to it (cubes, rank)."""
        a, w, rho, share = self.above, self.below, self.reach, self.share
        diagonal = np.arange(a.shape[2])
        sums = rho.sum(axis=2)
        first = np.maximum((np.matmul(a, inverse) * a).sum(axis=2), 0.0)
        second = sums * (rho * inverse[:, diagonal, diagonal][:, None]).sum(axis=2)
        other = np.maximum((np.matmul(w, inverse) * w).sum(axis=2), 0.0)
        theta = _weight(second, first, LARGEST_SHARE)
        whole = (np.sqrt(first) + np.sqrt(np.maximum(second, 0.0))) ** 2
        t = _weight(other, whole, LARGEST)
        left = np.sqrt(share * t * (1 + theta))[:, :, None] * a
        right = np.sqrt(share / t)[:, :, None] * w
        found = np.matmul(left.transpose(0, 2, 1), left) + np.matmul(right.transpose(0, 2, 1), right)
        round_ = (share * t * (1 + 1 / theta) * sums)[:, :, None] * rho
        found[:, diagonal, diagonal] += round_.sum(axis=1)
        return found, 2 * share * np.sqrt(whole * other)

    def spread(self, numbers: Array, neurons: int) -> Array:
        """Numbers of free neurons (cubes, rank) as those of all neurons (neurons, cubes)."""
        found = np.zeros((neurons, len(numbers)))
        found[self.neurons, self.cubes] = numbers[self.cubes, self.ranks]
        return np.nan_to_num(found)


@dataclass(frozen=True)
class Metric:
    """Matrices that are about positive definite: their inverses, and roots G of these (G G^T); for choices only."""

    inverse: Array
    root: Array
    definite: Mask

    @staticmethod
    def of(matrices: Array, flat: float) -> Metric:
        """Eigenvalues that are too small, or negative, are replaced."""
        values, vectors = np.linalg.eigh(finite(matrices))
        least = flat * np.maximum(np.abs(values).max(axis=1, initial=0.0), 1e-300)[:, None]
        root = vectors / np.sqrt(np.maximum(values, least))[:, None, :]
        return Metric(np.matmul(root, root.transpose(0, 2, 1)), root, np.asarray(values[:, 0] > 0))

    def take(self, chosen: Indices) -> Metric:
        """Those of some matrices."""
        return Metric(self.inverse[chosen], self.root[chosen], self.definite[chosen])

    def excess(self, rest: Array) -> Array:
        """How much more than M its remainder takes away in some direction, in parts of M: positive where it fails."""
        with np.errstate(all="ignore"):
            inside = np.matmul(self.root.transpose(0, 2, 1), np.matmul(finite(rest), self.root))
        return np.asarray(-np.linalg.eigvalsh(finite(inside))[:, 0], dtype=np.float64)


def finite(matrices: Array) -> Array:
    """0 in place of matrices that are not finite."""
    good: Mask = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    return np.where(good[:, None, None], matrices, 0.0)


def _weight(above: Array, below: Array, largest: float) -> Array:
    """The root of a quotient, kept away from 0 and infinity."""
    found = np.sqrt(np.maximum(above, 1e-300) / np.maximum(below, 1e-300))
    return np.clip(np.where(np.isnan(found), 1.0, found), 1 / largest, largest)
