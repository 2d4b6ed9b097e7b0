"""Which nodes of a cover one matrix closes, and with which weights; in floats, with room for what these get wrong.

H is the checker's: for derivatives g_i below open neurons and q_i above them, v C J v less the sum of
τ_i q_i (g_i - q_i), as a form in (v, q). Any weights τ > 0 are sound; good ones make H positive definite. At slopes 1/2
each neuron has a row w_i below it and a column a_i = C u_i above it: τ_i = |a_i| / |w_i| with lengths in the metric of
M = sym(C J) is the best one for a neuron alone, and a few steps along the gradient of H's least eigenvalues make them
better together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.certificates.floats import Enclosed, FloatNetwork, Tangents
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

ROOM = 1e-7
"""Taken off the diagonal of H, which is 1."""
FLAT = 1e-6
"""Eigenvalues of M are taken to be at least this part of the largest."""
STEPS, STRIDE, SHARP = 2, 0.7, 0.05
"""How often weights are made better, by how much at most (logarithms), and how far the least eigenvalues count."""
LARGEST_CODE = 999
AT_ONCE = 2_000_000
"""Numbers in the tables of a batch."""


@dataclass(frozen=True)
class Tested:
    """What is known of nodes: which are closed, by which codes (neurons, nodes; -1 where a neuron is not open), and how
    much each open neuron takes away (neurons, nodes)."""

    closed: Mask
    codes: Indices
    weights: Array
    enclosed: Enclosed


class Leaves:
    """The test for one matrix C of integers; noise: what floats may get wrong in what each neuron reads."""

    def __init__(self, network: FloatNetwork, matrix: Array, free: Indices, noise: Array) -> None:
        self.network, self.matrix, self.free, self.noise = network, matrix, free, noise

    def test(self, low: Array, high: Array, given: Array) -> Tested:
        """Boxes (nodes, inputs) with given sides (neurons, nodes)."""
        enclosed = self.network.enclose(low, high, given, self.noise)
        counts = enclosed.open.sum(axis=0)
        closed = np.zeros(len(low), dtype=bool)
        codes = np.full(given.shape, -1)
        weights = np.zeros(given.shape)
        order = np.argsort(counts, kind="stable")
        start = 0
        while start < len(order):
            checkpoint()
            size = int(counts[order[start]]) + 4 + len(self.free)
            chosen = order[start : start + max(1, AT_ONCE // (8 * size * size))]
            start += len(chosen)
            closed[chosen], codes[:, chosen], weights[:, chosen] = self._tested(enclosed.sides[:, chosen])
        return Tested(closed, codes, weights, enclosed)

    def everywhere(self, given: Array) -> Indices | None:
        """Codes of the open neurons of one node that has no bounds, in order; None where they do not close it."""
        closed, codes, _ = self._tested(given)
        return codes[codes[:, 0] >= 0, 0] if closed[0] else None

    def corners(self, sides: Array) -> Array:
        """A Jacobian (nodes, outputs, free inputs) of each node: at slopes that make v C J v small, v the direction in
        which H is least."""
        n = len(self.free)
        tangents = self.network.tangents(sides, self.free)
        tau, _, above, below = self._at_half(tangents)
        table = self._table(tangents, tau)
        scale = _scale(table)
        vectors = np.linalg.eigh(table / scale[:, :, None] / scale[:, None, :])[1][:, :, 0] / scale
        v = vectors[:, :n]
        slopes = np.where(np.einsum("bik,bi->bk", above, v) * np.einsum("bki,bi->bk", below, v) > 0, 0.0, 1.0)
        filled = np.nan_to_num(sides)
        neurons, nodes = np.nonzero(tangents.places >= 0)
        filled[neurons, nodes] = slopes[nodes, tangents.places[neurons, nodes]]
        return self.network.tangents(filled, self.free).output

    @np.errstate(all="ignore")  # what overflows closes nothing
    def _tested(self, sides: Array) -> tuple[Mask, Indices, Array]:
        tangents = self.network.tangents(sides, self.free)
        tau, taken, _, _ = self._at_half(tangents)
        coded = _codes(tau)
        table = self._table(tangents, _weights(coded))
        good = _definite(table)
        for _ in range(STEPS if tau.shape[1] else 0):
            bad = np.flatnonzero(~good)
            if not len(bad):
                break
            part = _part(tangents, bad)
            tau[bad] *= self._stride(part, table[bad], tau[bad])
            coded[bad] = _codes(tau[bad])
            table[bad] = self._table(part, _weights(coded[bad]))
            good[bad] = _definite(table[bad])
        opened = tangents.places >= 0
        nodes = np.arange(sides.shape[1])
        spread = (tangents.places, nodes)
        if not tau.shape[1]:
            return good, np.full(sides.shape, -1), np.zeros(sides.shape)
        codes = np.where(opened, coded.T[spread], -1)
        return good, codes, np.where(opened, taken.T[spread], 0.0)

    def _at_half(self, tangents: Tangents) -> tuple[Array, Array, Array, Array]:
        """|a| / |w|, |a| |w|, a and w of every open neuron, at slopes 1/2: q = g/2 + p, g = B v + D p."""
        n, count = len(self.free), tangents.below.shape[1]
        inverse = np.eye(count) - tangents.below[:, :, n:] / 2
        solved = np.linalg.solve(inverse, tangents.below)
        product = np.matmul(self.matrix, tangents.output)
        middle = product[:, :, :n] + np.matmul(product[:, :, n:], solved[:, :, :n]) / 2
        above = np.matmul(product[:, :, n:], np.eye(count) + solved[:, :, n:] / 2)
        values, vectors = np.linalg.eigh((middle + middle.transpose(0, 2, 1)) / 2)
        least = FLAT * np.maximum(np.abs(values).max(axis=1), 1e-300)[:, None]
        root = vectors / np.sqrt(np.maximum(values, least))[:, None, :]
        first = np.sqrt((np.matmul(root.transpose(0, 2, 1), above) ** 2).sum(axis=1))
        second = np.sqrt((np.matmul(solved[:, :, :n], root) ** 2).sum(axis=2))
        tau = np.where(tangents.used & (first > 0) & (second > 0), first / np.maximum(second, 1e-300), 1.0)
        return np.asarray(tau), np.asarray(first * second), np.asarray(above), np.asarray(solved[:, :, :n])

    def _table(self, tangents: Tangents, tau: Array) -> Array:
        """2 H; variables that no neuron of a node has are alone, with 1."""
        n = len(self.free)
        form = np.concatenate([np.matmul(self.matrix, tangents.output), -tau[:, :, None] * tangents.below], axis=1)
        diagonal = np.arange(n, form.shape[1])
        form[:, diagonal, diagonal] += np.where(tangents.used, tau, 1.0)
        return np.asarray(form + form.transpose(0, 2, 1))

    def _stride(self, tangents: Tangents, table: Array, tau: Array) -> Array:
        """Factors along the gradient of the least eigenvalues of H, of unit diagonal, by the logarithms of weights."""
        n = len(self.free)
        scale = _scale(table)
        values, vectors = np.linalg.eigh(table / scale[:, :, None] / scale[:, None, :])
        share = np.exp(-(values - values[:, :1]) / SHARP)
        share /= share.sum(axis=1, keepdims=True)
        points = vectors / scale[:, :, None]
        below, above = np.matmul(tangents.below, points), points[:, n:]
        slope = -(tau[:, :, None] * above * (below - above) * share[:, None, :]).sum(axis=2)
        slope = np.where(tangents.used, slope, 0.0)
        return np.exp(STRIDE * slope / np.maximum(np.abs(slope).max(axis=1, keepdims=True, initial=0.0), 1e-300))


def _scale(table: Array) -> Array:
    """What variables are divided by, so that the diagonal is about 1."""
    sizes = np.abs(np.einsum("bii->bi", table))
    return np.asarray(np.sqrt(np.maximum(sizes, FLAT * sizes.max(axis=1, keepdims=True) + 1e-300)))


def _part(tangents: Tangents, chosen: Indices) -> Tangents:
    return Tangents(tangents.below[chosen], tangents.output[chosen], tangents.places[:, chosen], tangents.used[chosen])


def _codes(tau: Array) -> Indices:
    """The checker's codes of about these weights: an even one 2k means 2^(k + 1), an odd one half as much again."""
    logs = np.log2(np.clip(tau, 1e-300, 1e300))
    power = np.floor(logs)
    rest = logs - power
    half = np.log2(1.5)
    step = np.where(rest < half / 2, 0, np.where(rest < (1 + half) / 2, 1, 2))
    return np.clip(2 * (power.astype(np.int64) - 1) + step, 0, LARGEST_CODE)


def _weights(codes: Indices) -> Array:
    return np.asarray(np.ldexp(2.0 + codes % 2, codes // 2))


def _definite(tables: Array) -> Mask:
    """Which tables are positive definite, with room."""
    from scipy.linalg.lapack import dpotrf

    diagonal = np.einsum("bii->bi", tables)
    good: Mask = np.isfinite(tables).all(axis=(1, 2)) & (diagonal > 0).all(axis=1)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = tables / scale[:, :, None] / scale[:, None, :]
    each = np.arange(tables.shape[1])
    scaled[:, each, each] -= ROOM
    for k in np.flatnonzero(good).tolist():
        good[k] = dpotrf(scaled[k], lower=1, clean=0)[1] == 0
    return good
