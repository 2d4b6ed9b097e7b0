"""Boxes on which determinants have one sign, by slopes that move with the point, in the singular basis of the middle.

J at the middle is U S V^T in floats; with C = S^-1 U^T, C J V is I at the middle, and at a point of the box with slopes
middle + G t + r (`tilts`)

    C J V - I  =  sum over j of t_j T_j + …,   T_j = sum over neurons of G_j (C u) (w V),

with u the column above a neuron at the middle slopes and w the row below it at any; what is left is of second order.
So |C J V - I| <= E, entry by entry, and if E w < w for a w > 0 then all matrices on the way from I to C J V are regular
and det(C J V) is positive. Close to a fold, S has one small entry, and E one large row; only its entry on the diagonal,
which is what the determinant itself changes by, must be less than 1 then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.bounds.contraction import BELOW_ONE
from ircert.bounds.rounding import UNIT
from ircert.engines.boxes.cutting.chords import Chords
from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.tilts import tilted
from ircert.engines.boxes.linear_regions.exact_signs import signs_of_floats
from ircert.ir.arrays import Array, Mask

ITERATIONS = 4
"""Steps to the vectors that say which entries of E matter."""


@dataclass(frozen=True)
class Turning:
    """What was found about each box.

    regular: no J of the box has a kernel, nor a mean of some of them; signs: of their determinants there, for sure
    gains:   how much of E moves with each coordinate (inputs, boxes); weights: with each neuron by itself
    excess:  the spectral radius of E, about: boxes are regular below 1
    """

    regular: Mask
    signs: Array
    gains: Array
    weights: Array
    excess: Array


def turning(network: Batches, slopes: Slopes, chords: Chords | None = None) -> Turning:
    """Try every box; slopes have tilts, and there are as many constrained outputs as inputs.

    chords: rows that J gets besides; what is regular then has no signs
    """
    n, tilts = network.size, slopes.tilts
    assert tilts is not None
    assert network.constrained == n
    with np.errstate(all="ignore"):
        jacobian, below, wide = _ahead(network, slopes)
        walked = network.doubt
        if chords is not None:
            chords = chords.scaled(np.abs(jacobian).max(axis=(0, 1)))
            jacobian = np.concatenate([jacobian, chords.middle[None]])
            walked = np.concatenate([walked, np.zeros((1, n))])
        good = np.isfinite(jacobian).all(axis=(0, 1))
        stacked = np.moveaxis(np.where(good, jacobian, 0.0), 2, 0)
        left, values, right = np.linalg.svd(stacked, full_matrices=False)
        good &= values[:, -1] > 1e-200
        basis = np.moveaxis(right, 0, 2).swapaxes(0, 1)  # V (inputs, columns, boxes)
        fixed = np.moveaxis(left.transpose(0, 2, 1) / np.where(good[:, None], values, 1.0)[:, :, None], 0, 2)
        above = _back(network, slopes.middle, np.ascontiguousarray(fixed[:, :n].swapaxes(0, 1)))
        turned = np.einsum("kib,ijb->kjb", below, basis)
        parts = np.abs(turned) * tilts.rests[:, None]
        parts += np.einsum("kib,ijb->kjb", wide * slopes.spare[:, None], np.abs(basis))
        moving = tilted(above, turned, tilts.rates)  # (inputs, boxes, rows, columns)
        if chords is not None:
            moving += np.einsum("ib,ljb,lkb->jbik", fixed[:, n], chords.rates, basis, optimize=True)
        moving = np.abs(moving)
        sizes = np.ascontiguousarray(np.moveaxis(np.abs(above), 2, 0)).transpose(0, 2, 1)
        rest = np.matmul(sizes, np.ascontiguousarray(np.moveaxis(parts, 2, 0)))
        if chords is not None:
            rest += np.einsum("ib,jb,jkb->bik", np.abs(fixed[:, n]), chords.spare, np.abs(basis))
        middle = np.einsum("imb,mjb->ijb", fixed, jacobian)
        middle = np.moveaxis(np.einsum("ijb,jkb->ikb", middle, basis), 2, 0)
        bounds = np.abs(middle - np.eye(n)) + moving.sum(axis=0) + rest
        absolute, turns = np.abs(fixed), np.abs(basis)
        # what walks get wrong in J and in the terms of all neurons, and the products and sums here
        doubt = 8.0 * np.einsum("imb,mj->ijb", absolute, walked) + 8.0 * network.underflow
        size = np.einsum("imb,mjb->ijb", absolute, np.abs(jacobian)) + doubt
        wrong = np.einsum("ijb,jkb->ikb", doubt + 16.0 * (2 * n + 4) * UNIT * size, turns)
        bounds = (bounds + np.moveaxis(wrong, 2, 0)) * (1 + 64 * (network.setting.neurons + n) * UNIT)
        regular = _shrinks(bounds) & good
        signs = np.zeros(len(good))
        if chords is None:
            signs = signs_of_floats(fixed) * signs_of_floats(basis) * regular
        excess, gains, weights = _shares(bounds, moving, above, parts)
    excess[~np.isfinite(excess)] = np.inf
    return Turning(regular, signs, np.nan_to_num(gains), np.nan_to_num(weights), excess)


def _ahead(network: Batches, slopes: Slopes) -> tuple[Array, Array, Array]:
    """J at the middle, and the rows below neurons there, with what other slopes below may change in them."""
    n, count = network.size, slopes.middle.shape[1]
    below, wide = (np.zeros((len(slopes.middle), n, count)) for _ in range(2))

    def affine(name: str, state: Array) -> Array:
        ahead = times(network.weights[name], np.ascontiguousarray(state[:, :n]))
        return np.concatenate([ahead, times(network.absolute[name], np.ascontiguousarray(state[:, n:]))], axis=1)

    def neuron(name: str, state: Array) -> Array:
        where = network.setting.relus[name]
        below[where], wide[where] = state[:, :n], state[:, n:]
        middle, spare = slopes.middle[where][:, None], slopes.spare[where][:, None]
        radius = np.abs(state[:, :n]) * spare + state[:, n:] * (np.abs(middle) + spare)
        return np.concatenate([state[:, :n] * middle, radius], axis=1)

    start = np.zeros((n, 2 * n, count))
    start[np.arange(n), np.arange(n)] = 1.0
    return network.output(network.forward(start, affine, neuron))[:, :n], below, wide


def _back(network: Batches, middle: Array, rows: Array) -> Array:
    """C u of every neuron (neurons, rows, boxes) at the middle slopes."""
    above = np.zeros((len(middle), network.size, middle.shape[1]))

    def neuron(name: str, given: Array) -> Array:
        where = network.setting.relus[name]
        above[where] = given
        return given * middle[where][:, None]

    network.backward(rows, lambda name, given: times(network.transposed[name], given), neuron)
    return above


def _shrinks(bounds: Array) -> Mask:
    """Whether E w < w for a w > 0: (I - E)^-1 1, if that is positive, checked in floats with room."""
    n = bounds.shape[1]
    finite: Mask = np.asarray(np.isfinite(bounds).all(axis=(1, 2)))
    table = np.eye(n) - np.where(finite[:, None, None], bounds, 0.5 * np.eye(n))
    good = finite & (np.abs(np.linalg.det(table)) > 1e-250)
    found = np.linalg.solve(np.where(good[:, None, None], table, np.eye(n)), np.ones((len(bounds), n, 1)))[:, :, 0]
    good &= (found > 0).all(axis=1)
    w = np.where(good[:, None], found, 1.0)
    good &= (np.matmul(bounds, w[:, :, None])[:, :, 0] < w * BELOW_ONE).all(axis=1)
    return np.asarray(good)


def _shares(bounds: Array, moving: Array, above: Array, parts: Array) -> tuple[Array, Array, Array]:
    """The spectral radius of E, and how much coordinates and neurons add to it, about."""
    left = right = np.ones(bounds.shape[:2])
    for _ in range(ITERATIONS):
        left, right = np.einsum("bi,bij->bj", left, bounds), np.einsum("bij,bj->bi", bounds, right)
        excess = right.max(axis=1)
        left, right = (v / np.maximum(v.max(axis=1, keepdims=True), 1e-300) for v in (left, right))
    gains = np.einsum("jbik,bi,bk->jb", moving, left, right)
    weights = np.einsum("kib,bi->kb", np.abs(above), left) * np.einsum("kib,bi->kb", parts, right)
    return excess, gains, weights
