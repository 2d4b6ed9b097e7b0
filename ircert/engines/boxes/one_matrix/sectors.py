"""Cubes that one matrix closes by quadratic constraints: every neuron in its sector, all layers together.

With p_i = (λ_i - middle_i) g_i, g_i the derivative below neuron i in a direction v, everything is linear in (v, p):
g = B v + D p, and v C J(λ) v = v M v + v A p, with B, D, M and A = C u at the middle slopes. All that is known of p is
p_i² <= spare_i² g_i². So for any weights τ > 0, if

    H = [[M, A/2], [A^T/2, diag(τ)]] - sum over i of τ_i spare_i² (B_i, D_i)^T (B_i, D_i)

is positive definite, v C J(λ) v = H(v, p) + sum of τ_i (spare_i² g_i² - p_i²) > 0 for all v != 0 and all slopes of the
cube. Domination bounds what neurons above may do to A entry by entry; here D knows it, so that networks with several
layers are closed with many more open neurons. Weights that fail are made better, and what closed a cube is learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ircert.bounds.rounding import TINY, UNIT
from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.one_matrix.couplings import Couplings
from ircert.engines.boxes.one_matrix.remainder import Terms
from ircert.engines.boxes.one_matrix.sector_forms import Forms, Tables
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

MOST_NEURONS = 2048
"""Of networks whose neurons are looked at in pairs."""
AT_ONCE = 250_000
"""Numbers in the tables of a batch: caches hold them, and what one batch teaches helps the next."""
LEAST = 1e-250
"""More than all that is lost where products are too small for floats, in units of about M."""


@dataclass(frozen=True)
class Middles:
    """What is known of some cubes at their middle slopes: M less the least eigenvalue wanted, and its rounding errors.

    terms: a and w of the free neurons; inverse: of about M; excess: how far domination was from closing each
    """

    slopes: Slopes
    matrices: Array
    errors: Array
    inverse: Array
    terms: Terms
    excess: Array


class Sectors:
    """The test for one matrix C; `serves` where there are not too many neurons."""

    def __init__(self, network: Batches, matrix: Array) -> None:
        self.network, self.columns = network, len(matrix)
        self.couplings = Couplings(network)
        neurons = network.setting.neurons
        self.serves = neurons <= MOST_NEURONS
        if self.serves:
            self._errors = _Errors.of(network, np.abs(matrix))

    def closed(self, middles: Middles) -> Mask:
        """Which cubes are closed, for sure."""
        counts = middles.slopes.free.sum(axis=0)  # shares of the smallest slopes are 0 in floats
        good = np.zeros(len(counts), dtype=bool)
        for chosen in _batches(counts, self.columns):
            checkpoint()
            good[chosen] = self._closed(middles, chosen, int(counts[chosen].max(initial=0)))
        self.network.learned.looked_at(middles.excess, good)
        return good

    def _closed(self, middles: Middles, chosen: Indices, most: int) -> Mask:
        terms, slopes = middles.terms.take(chosen), middles.slopes.take(chosen)
        a, w, spare = terms.above[:, :most], terms.below[:, :most], 2 * terms.share[:, :most]
        couplings = self.couplings.of(slopes, most)
        forms = Forms.of(middles.matrices[chosen], a, w, spare, couplings, middles.inverse[chosen])
        free, errors = slopes.spare > 0, middles.errors[chosen]
        tables = forms.tables(forms.usable(forms.first_roots() * self._factors(free, most)))
        good = self._definite(forms, tables, free, errors)
        failed = np.flatnonzero(~good)
        failed = failed[np.argsort(middles.excess[chosen][failed], kind="stable")]
        tried = failed[: self.network.learned.affordable(len(failed))]
        if len(tried):
            good[tried] = self._improved(forms.take(tried), tables.take(tried), free[:, tried], errors[tried])
        return good

    def closed_with(self, slopes: Slopes, center: tuple[Array, Array], terms: Terms, weights: Array) -> bool:
        """Whether one cube is closed with these weights τ of the neurons, for sure; center: M and its errors."""
        most = int(slopes.free.sum())
        a, w, spare = terms.above[:, :most], terms.below[:, :most], 2 * terms.share[:, :most]
        forms = Forms.of(center[0], a, w, spare, self.couplings.of(slopes, most), center[0])
        free = slopes.spare > 0
        cubes, neurons, ranks = _places(free)
        roots = np.ones((1, most))
        roots[cubes, ranks] = np.sqrt(weights[neurons] / forms.scale[0])
        return bool(self._definite(forms, forms.tables(forms.usable(roots)), free, center[1])[0])

    def _improved(self, forms: Forms, tables: Tables, free: Mask, errors: Array) -> Mask:
        """Which forms are positive definite with better weights, for sure; what made them better is learned."""
        roots = forms.better_roots(tables)
        good = self._definite(forms, forms.tables(roots), free, errors)
        cubes, neurons, ranks = _places(free)
        helped = good[cubes]
        self.network.learned.learn(neurons[helped], (roots / tables.root)[cubes, ranks][helped])
        self.network.learned.judge(len(good), int(good.sum()))
        return good

    def _factors(self, free: Mask, most: int) -> Array:
        """What was learned about the weights of free neurons (cubes, rank)."""
        cubes, neurons, ranks = _places(free)
        found = np.ones((free.shape[1], most))
        found[cubes, ranks] = self.network.learned.factors(neurons)
        return found

    def _definite(self, forms: Forms, tables: Tables, free: Mask, errors: Array) -> Mask:
        """Which forms are positive definite, for sure."""
        wrong = self._errors.of_tables(free, tables.root, tables.heavy, tables.rows, tables.side)
        n, most = forms.center.shape[1], tables.root.shape[1]
        sizes = n * np.abs(forms.center).max(axis=(1, 2)) + 2 * np.abs(tables.side).sum(axis=(1, 2))
        sizes += most * forms.scale + (tables.rows**2).sum(axis=(1, 2))
        return _positive_definite(tables.tables.copy(), errors + wrong, sizes)


def _places(free: Mask) -> tuple[Indices, Indices, Indices]:
    """The cubes, neurons and ranks of all that is free (neurons, cubes)."""
    cubes, neurons = np.nonzero(free.T)
    return cubes, neurons, (np.cumsum(free, axis=0) - 1)[neurons, cubes]


@dataclass(frozen=True)
class _Errors:
    """What floats may get wrong in A, B and D, for any slopes of the neurons, per neuron; in D per pair, squared.

    A walk in floats is off by at most `steps` units of the same walk with absolute values, and by underflow: by a few
    of the smallest floats wherever an entry is computed, times what absolute values make of that later (`lost`).
    """

    above: Array
    below: Array
    lost: Array
    between: Array

    @staticmethod
    def of(network: Batches, absolute: Array) -> _Errors:
        """Of a network and |C|."""
        n = len(absolute)
        below, between, lost = _ahead(network, n)
        above, lost_above = _back(network, absolute)
        steps = 16.0 * network.terms * (len(network.setting.graph.nodes) + 1)
        unit, tiny = steps * UNIT, steps * TINY
        return _Errors(
            unit * np.sqrt((above**2).sum(axis=1)) + n * tiny * lost_above,
            unit * np.sqrt((below**2).sum(axis=1)) + n * tiny * lost,
            tiny * lost,
            (unit * between) ** 2,
        )

    def of_tables(self, free: Mask, root: Array, heavy: Array, rows: Array, side: Array) -> Array:
        """How far H may be off by all that, in the spectral norm."""
        cubes, neurons, ranks = _places(free)
        inverse = np.zeros(free.shape)
        inverse[neurons, cubes] = 1 / root[cubes, ranks]
        wrong_side = np.sqrt(((self.above[:, None] * inverse) ** 2).sum(axis=0)) / 2
        squares = 2 * (self.below[:, None] ** 2 + self.between @ inverse**2)
        squares += 2 * (self.lost[:, None] * inverse.sum(axis=0)) ** 2
        wrong = np.zeros(root.shape)
        wrong[cubes, ranks] = heavy[cubes, ranks] ** 2 * squares[neurons, cubes]
        size = np.sqrt((rows**2).sum(axis=(1, 2)))
        wrong_rows = np.sqrt(wrong.sum(axis=1)) + 8 * UNIT * size
        return np.asarray(wrong_side + 8 * UNIT * np.abs(side).sum(axis=(1, 2)) + wrong_rows * (2 * size + wrong_rows))


def _ahead(network: Batches, n: int) -> tuple[Array, Array, Array]:
    """Products of absolute values from inputs to neurons, between neurons, and from all entries computed to neurons."""
    relus, neurons = network.setting.relus, network.setting.neurons
    below, between, lost = np.zeros((neurons, n)), np.zeros((neurons, neurons)), np.zeros(neurons)

    def affine(name: str, state: Array) -> Array:
        result = times(network.absolute[name], state)
        result[:, -1] += 1.0
        return result

    def relu(name: str, state: Array) -> Array:
        where = relus[name]
        below[where], between[where], lost[where] = state[:, :n, 0], state[:, n:-1, 0], state[:, -1, 0]
        result = network.steepest(name, state).copy()
        result[np.arange(len(state)), n + np.arange(where.start, where.stop)] = 1.0
        result[:, -1] += 1.0
        return result

    start = np.zeros((network.size, n + neurons + 1, 1))
    start[np.arange(n), np.arange(n)] = 1.0
    network.forward(start, affine, relu)
    return below, between, lost


def _back(network: Batches, absolute: Array) -> tuple[Array, Array]:
    """Products of absolute values from neurons to |C| f, and from neurons to all entries computed on the way back."""
    n, neurons = len(absolute), network.setting.neurons
    above, lost = np.zeros((neurons, n)), np.zeros(neurons)

    def affine(name: str, given: Array) -> Array:
        result = times(network.absolute[name].T, given)
        result[:, -1] += 1.0
        return result

    def relu(name: str, given: Array) -> Array:
        where = network.setting.relus[name]
        above[where], lost[where] = given[:, :n, 0], given[:, -1, 0]
        result = network.steepest(name, given).copy()
        result[:, -1] += 1.0
        return result

    start = np.zeros((network.constrained, n + 1, 1))
    start[:, :n, 0] = absolute.T
    network.backward(start, affine, relu)
    return above, lost


def _batches(counts: Indices, n: int) -> Iterator[Indices]:
    """Cubes with about as many free neurons, as many as memory should hold."""
    order = np.argsort(counts, kind="stable")
    start = 0
    while start < len(order):
        size = n + int(counts[order[start]])
        step = max(1, AT_ONCE // (4 * size * size))
        yield order[start : start + step]
        start += step


def _positive_definite(tables: Array, less: Array, sizes: Array) -> Mask:
    """Which symmetric matrices (lower triangles) stay positive definite when `less` is taken off their diagonals.

    sizes: at least their traces and the sums of what their entries were added up from, so that a unit for every term of
    these sums, and of Cholesky's elimination (see `definite`), is a bound on the rounding errors of both.
    """
    from scipy.linalg.lapack import dpotrf

    diagonal = np.arange(tables.shape[1])
    off = (less + 16.0 * (len(diagonal) + 16) * UNIT * (sizes + less)) * (1 + 1e-9) + LEAST
    tables[:, diagonal, diagonal] -= off[:, None]
    good: Mask = np.asarray(np.isfinite(tables).all(axis=(1, 2)))
    for k in np.flatnonzero(good).tolist():
        good[k] = dpotrf(tables[k], lower=1, clean=0)[1] == 0
    return good
