"""The forms H of `sectors` for any weights, and weights that make them positive definite.

The first weights suit one neuron at a time. Where they fail, H is made better as a whole: with X the inverse of H and
a little more than what it lacks, the determinant of that grows with the weight of a neuron as X_pp - spare² (g X g)
does, so that the weight is raised where the quotient of the two is above 1. Any weights are sound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.one_matrix.remainder import finite
from ircert.ir.arrays import Array, Indices

LARGEST = 2.0**150
"""Roots of weights, and their inverses."""
MORE, AT_LEAST = 1.02, 0.002
"""What is added to H in place of what it lacks: hardly more, so that the directions count in which it fails."""
POWER = 0.1
"""Of the quotient, by which roots are multiplied: larger steps do not settle."""


@dataclass(frozen=True)
class Forms:
    """Of some cubes: M (cubes, n, n), a and w of the free neurons (cubes, rank, n), D (cubes, rank, rank).

    scale: that of M, a power of 4 with an exact root. p is measured in 1 / root, so that all weights τ are the scale.
    """

    center: Array
    above: Array
    below: Array
    spare: Array
    couplings: Array
    inverse: Array
    scale: Array

    @staticmethod
    def of(center: Array, above: Array, below: Array, spare: Array, couplings: Array, inverse: Array) -> Forms:
        """inverse: of about M."""
        scale = _power_of_four(np.trace(center, axis1=1, axis2=2) / center.shape[1])
        return Forms(center, above, below, spare, couplings, inverse, scale)

    def take(self, chosen: Indices) -> Forms:
        """Those of some cubes."""
        parts = self.center, self.above, self.below, self.spare, self.couplings, self.inverse, self.scale
        return Forms(*(part[chosen] for part in parts))

    def first_roots(self) -> Array:
        """Square roots of weights τ = |a| / (2 spare |w|), lengths in the metric of M; 1 for what is not free."""
        first, second = (
            np.maximum((np.matmul(v, self.inverse) * v).sum(axis=2), 1e-300) for v in (self.above, self.below)
        )
        found = np.sqrt(np.sqrt(first / second) / np.where(self.spare > 0, 2 * self.spare, 1.0))
        return self.usable(found) / np.sqrt(self.scale)[:, None]

    def tables(self, root: Array) -> Tables:
        """H with some weights."""
        n, most = self.center.shape[1], root.shape[1]
        heavy = self.spare * root * np.sqrt(self.scale)[:, None]
        rows = heavy[:, :, None] * np.concatenate([self.below, self.couplings / root[:, None, :]], axis=2)
        side = self.above / (2 * root)[:, :, None]
        tables = -np.matmul(rows.transpose(0, 2, 1), rows)
        outer = np.arange(n, n + most)
        tables[:, :n, :n] += self.center
        tables[:, n:, :n] += side
        tables[:, outer, outer] += self.scale[:, None]
        return Tables(root, heavy, rows, side, tables)

    def better_roots(self, tables: Tables) -> Array:
        """Other roots for forms that fail."""
        n = self.center.shape[1]
        rows = self._in_units(tables.rows)
        inside = self._in_units(self._in_units(_symmetric(tables.tables, n)).transpose(0, 2, 1))
        values, vectors = np.linalg.eigh(finite(inside))
        lacks = np.maximum(-values[:, 0], 0.0)
        shares = 1 / np.sqrt(values + (MORE * lacks + AT_LEAST)[:, None])
        vectors *= shares[:, None, :]
        inner, outer = (vectors[:, n:] ** 2).sum(axis=2), (np.matmul(rows, vectors) ** 2).sum(axis=2)
        step = np.where(self.spare > 0, inner / outer, 1.0) ** POWER
        return self.usable(tables.root * np.nan_to_num(step, nan=1.0, posinf=1.0))

    def _in_units(self, rows: Array) -> Array:
        """Rows for (v, p) in units in which M and the weights are about 1."""
        n = self.center.shape[1]
        first = np.matmul(rows[:, :, :n], np.linalg.cholesky(self.inverse))
        return np.concatenate([first, rows[:, :, n:] / np.sqrt(self.scale)[:, None, None]], axis=2)

    def usable(self, roots: Array) -> Array:
        """Kept away from 0 and infinity; 1 for what is not free."""
        return np.where(self.spare > 0, np.clip(np.where(np.isnan(roots), 1.0, roots), 1 / LARGEST, LARGEST), 1.0)


@dataclass(frozen=True)
class Tables:
    """H with some weights (lower triangles), and what it is made of."""

    root: Array
    heavy: Array
    rows: Array
    side: Array
    tables: Array

    def take(self, chosen: Indices) -> Tables:
        """Those of some cubes."""
        parts = self.root, self.heavy, self.rows, self.side, self.tables
        return Tables(*(part[chosen] for part in parts))


def _symmetric(tables: Array, n: int) -> Array:
    found = tables.copy()
    found[:, :n, n:] = tables[:, n:, :n].transpose(0, 2, 1)
    return found


def _power_of_four(values: Array) -> Array:
    """The nearest powers of 4, whose roots are exact."""
    exponents = np.round(np.log2(np.clip(np.nan_to_num(values, nan=1.0), 1e-100, 1e100)) / 2)
    return np.asarray(np.exp2(2 * exponents))
