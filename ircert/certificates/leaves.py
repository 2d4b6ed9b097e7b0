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

from ircert.certificates.floats import Enclosed, FloatNetwork, Slopes, Tangents
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

ROOM = 1e-7
"""Taken off the diagonal of H, which is 1."""
FLAT = 1e-6
"""Eigenvalues of M are taken to be at least this part of the largest."""
LEAST = 0.01
"""The part of the largest effect on outputs that each curve is taken to have."""
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


@dataclass(frozen=True)
class Middle:
    """Derivatives at slopes in the middle, from which open neurons are off by p, |p| <= δ|g| (nodes first): v C J v is
    v center v + v above p, the derivatives below are g = B v + D p, with `below` = [B, D], and delta = δ."""

    center: Array
    above: Array
    below: Array
    delta: Array
    used: Mask

    def take(self, chosen: Indices) -> Middle:
        """Those of some nodes."""
        center, above, below = self.center[chosen], self.above[chosen], self.below[chosen]
        return Middle(center, above, below, self.delta[chosen], self.used[chosen])


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
            closed[chosen], codes[:, chosen], weights[:, chosen] = self._tested(enclosed.slopes.take(chosen))
        return Tested(closed, codes, weights, enclosed)

    def everywhere(self, given: Array) -> Indices | None:
        """Codes of the open neurons of one node that has no bounds, in order; None where they do not close it."""
        closed, codes, _ = self._tested(self.network.everywhere(given))
        return codes[codes[:, 0] >= 0, 0] if closed[0] else None

    def corners(self, slopes: Slopes) -> Array:
        """A Jacobian (nodes, outputs, free inputs) of each node: at slopes that make v C J v small, v the direction in
        which H is least."""
        n = len(self.free)
        tangents = self.network.tangents(slopes, self.free)
        middle = self._middle(tangents)
        table = _table(middle, _alone(middle)[0])
        scale = _scale(table)
        vectors = np.linalg.eigh(table / scale[:, :, None] / scale[:, None, :])[1][:, :, 0] / scale
        v = vectors[:, :n]
        signs = np.einsum("bik,bi->bk", middle.above, v) * np.einsum("bki,bi->bk", middle.below[:, :, :n], v)
        chosen = np.where(signs > 0, tangents.least, tangents.most)
        filled = slopes.least.copy()
        neurons, nodes = np.nonzero(tangents.places >= 0)
        filled[neurons, nodes] = chosen[nodes, tangents.places[neurons, nodes]]
        closed = Slopes(filled, filled, np.zeros(filled.shape, dtype=bool))
        return self.network.tangents(closed, self.free).output

    @np.errstate(all="ignore")  # what overflows closes nothing
    def _tested(self, slopes: Slopes) -> tuple[Mask, Indices, Array]:
        tangents = self.network.tangents(slopes, self.free)
        middle = self._middle(tangents)
        tau, taken = _alone(middle)
        coded = _codes(tau)
        table = _table(middle, _weights(coded))
        good = _definite(table)
        for _ in range(STEPS if tau.shape[1] else 0):
            bad = np.flatnonzero(~good)
            if not len(bad):
                break
            part = middle.take(bad)
            tau[bad] *= _stride(part, table[bad], tau[bad])
            coded[bad] = _codes(tau[bad])
            table[bad] = _table(part, _weights(coded[bad]))
            good[bad] = _definite(table[bad])
        opened = tangents.places >= 0
        nodes = np.arange(opened.shape[1])
        spread = (tangents.places, nodes)
        if not tau.shape[1]:
            return good, np.full(opened.shape, -1), np.zeros(opened.shape)
        codes = np.where(opened, coded.T[spread], -1)
        return good, codes, np.where(opened, taken.T[spread], 0.0)

    def _middle(self, tangents: Tangents) -> Middle:
        """With q = m g + p and g = B v + D q: (I - D m) g = B v + D p."""
        n, count = len(self.free), tangents.below.shape[1]
        slopes = tangents.middle[:, None, :]
        solved = np.linalg.solve(np.eye(count) - tangents.below[:, :, n:] * slopes, tangents.below)
        product = np.matmul(self.matrix, tangents.output)
        moved = np.matmul(product[:, :, n:] * slopes, solved)
        center, above = product[:, :, :n] + moved[:, :, :n], product[:, :, n:] + moved[:, :, n:]
        below, delta = np.asarray(solved, dtype=np.float64), (tangents.most - tangents.least) / 2
        return Middle(center, above, below, delta, tangents.used)


def _alone(middle: Middle) -> tuple[Array, Array]:
    """The best weight for each neuron alone, |a| / 2 δ|w| with lengths in the metric of M, and what it takes away."""
    n = middle.center.shape[1]
    values, vectors = np.linalg.eigh((middle.center + middle.center.transpose(0, 2, 1)) / 2)
    least = FLAT * np.maximum(np.abs(values).max(axis=1), 1e-300)[:, None]
    root = vectors / np.sqrt(np.maximum(values, least))[:, None, :]
    first = np.sqrt((np.matmul(root.transpose(0, 2, 1), middle.above) ** 2).sum(axis=1))
    if not (middle.delta == middle.delta[:, :1]).all():  # curves: what cancels above may count below
        first = np.maximum(first, LEAST * first.max(axis=1, initial=0.0, keepdims=True))
    second = 2 * middle.delta * np.sqrt((np.matmul(middle.below[:, :, :n], root) ** 2).sum(axis=2))
    tau = np.where(middle.used & (first > 0) & (second > 0), first / np.maximum(second, 1e-300), 1.0)
    return np.asarray(tau), np.asarray(first * second)


def _table(middle: Middle, tau: Array) -> Array:
    """2 H in v and p, which is definite where H is; variables that no neuron of a node has are alone, with 1."""
    n, size = middle.center.shape[1], middle.below.shape[2]
    table = np.zeros((len(tau), size, size))
    table[:, :n, :n] = middle.center + middle.center.transpose(0, 2, 1)
    table[:, :n, n:] = middle.above
    table[:, n:, :n] = middle.above.transpose(0, 2, 1)
    diagonal = np.arange(n, size)
    table[:, diagonal, diagonal] = np.where(middle.used, 2 * tau, 1.0)
    scaled = middle.below * (np.where(middle.used, np.sqrt(2 * tau), 0.0) * middle.delta)[:, :, None]
    return np.asarray(table - np.matmul(scaled.transpose(0, 2, 1), scaled))


def _stride(middle: Middle, table: Array, tau: Array) -> Array:
    """Factors along the gradient of the least eigenvalues of H, of unit diagonal, by the logarithms of weights."""
    scale = _scale(table)
    values, vectors = np.linalg.eigh(table / scale[:, :, None] / scale[:, None, :])
    share = np.exp(-(values - values[:, :1]) / SHARP)
    share /= share.sum(axis=1, keepdims=True)
    points = vectors / scale[:, :, None]
    below, off = np.matmul(middle.below, points), points[:, middle.center.shape[1] :]
    slope = -(tau[:, :, None] * ((middle.delta[:, :, None] * below) ** 2 - off**2) * share[:, None, :]).sum(axis=2)
    slope = np.where(middle.used, slope, 0.0)
    return np.exp(STRIDE * slope / np.maximum(np.abs(slope).max(axis=1, keepdims=True, initial=0.0), 1e-300))


def _scale(table: Array) -> Array:
    """What variables are divided by, so that the diagonal is about 1."""
    sizes = np.abs(np.einsum("bii->bi", table))
    return np.asarray(np.sqrt(np.maximum(sizes, FLAT * sizes.max(axis=1, keepdims=True) + 1e-300)))


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
