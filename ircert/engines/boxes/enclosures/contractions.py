"""Secants of many pairs at once: J(λ) = sum over neurons of u_i λ_i g_i, without a kernel for any slopes λ in a cube.

f(x) - f(y) = J(λ) (x - y) with λ_i = 1 where both points are on, 0 where both are off, and λ_i in [0, 1] where it is
*free*. For any matrix C, with λ within `spare` of `middle`,

    |I - C J(λ)|  <=  E  =  |I - C J(middle)| + sum over free i of spare_i |C u_i| |g_i|,

where u_i goes on with the middle slopes and g_i is any row that the slopes before it allow. If E w < w for a w > 0,
then J(λ) d = 0 forces d = 0, because |d| <= E |d|. Where that fails, the cube is cut (`cubes.py`). Coordinates in which
x and y are equal for sure are *still*: d is 0 there, and only the rest must be contracted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.bounds.contraction import shrinks
from ircert.bounds.rounding import TINY, UNIT
from ircert.engines.boxes.enclosures.batches import Batches, inverses, left_inverses, times
from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.engines.boxes.enclosures.tilts import Tilts, tilted
from ircert.ir.arrays import Array, Indices, Mask

MOST_INPUTS = 8
"""Signs of larger determinants in floats are not relied on."""
DETERMINANT = 1e-9
"""What elimination may get wrong in a determinant of that size, relative to the product of its rows' lengths, which are
about equal: n^3 2^(n - 1) u and more."""
NARROW = 0.02
"""Slopes that are not worth a cut."""


@dataclass(frozen=True)
class Slopes:
    """Cubes of slopes, middle ± spare for every neuron, and coordinates that are still (…, cubes).

    tilts: how they move together with the points of a box, where that is known; around the same middles
    """

    middle: Array
    spare: Array
    still: Mask
    tilts: Tilts | None = None

    @staticmethod
    def of(on: Mask, free: Mask, still: Mask) -> Slopes:
        """1 where a neuron is on, 0 to 1 where it is free, else 0."""
        spare = np.where(free, 0.5, 0.0)
        return Slopes(np.where(on, 1.0, spare), spare, still)

    @staticmethod
    def within(least: Array, most: Array, curved: Mask, still: Mask) -> Slopes:
        """From bounds on slopes; those of relus are 0 or 1, and nothing is rounded."""
        middle, spare = (least + most) / 2, (most - least) / 2
        room = 8 * UNIT * (np.abs(least) + np.abs(most)) + TINY
        return Slopes(middle, np.where(curved[:, None], spare + room, spare), still)

    @staticmethod
    def on_boxes(known: Enclosures, still: Mask) -> Slopes:
        """All slopes that points of boxes have."""
        curved = known.place.curved
        found = Slopes.within(known.least, known.most, curved, still)
        if known.tilts is None:
            return found
        middle, spare, tilts = known.tilts.within(known.least, known.most)
        relus = ~curved[:, None]
        middle, spare = np.where(relus, found.middle, middle), np.where(relus, found.spare, spare)
        return Slopes(middle, spare, still, Tilts(middle, tilts.rates, np.where(relus, spare, tilts.rests)))

    @staticmethod
    def between(low: tuple[Array, Array], high: tuple[Array, Array], matter: Mask, still: Mask) -> Slopes:
        """The slopes of secants, from bounds on z at both points: they grow with both, because relu is convex."""
        on, off = (low[0] >= 0) & (low[1] >= 0), (high[0] <= 0) & (high[1] <= 0)
        # a slope that floats round to 0 or 1 is neither
        least = np.where(on, 1.0, np.maximum(_secant(*low, or_else=0.0) * (1 - 8 * UNIT) - TINY, 0.0))
        most = np.where(off, 0.0, np.minimum(_secant(*high, or_else=1.0) * (1 + 8 * UNIT) + TINY, 1.0))
        least = np.minimum(least, most) * matter  # z = 0 at both points allows any slope
        most = most * matter
        spare = np.where(most > least, (most - least) / 2 + 4 * UNIT, 0.0)
        return Slopes((least + most) / 2, spare, still)

    @property
    def free(self) -> Mask:
        """Neurons whose slope is not a single number."""
        return np.asarray(self.spare > 0)

    @property
    def wide(self) -> Indices:
        """How many neurons have slopes that differ much."""
        return np.asarray((self.spare > NARROW).sum(axis=0))

    def take(self, chosen: Indices | Mask) -> Slopes:
        """Some of them."""
        tilts = None if self.tilts is None else self.tilts.take(chosen)
        return Slopes(self.middle[:, chosen], self.spare[:, chosen], self.still[:, chosen], tilts)

    @staticmethod
    def joined(parts: list[Slopes]) -> Slopes:
        """All of them; how they move together is forgotten."""
        middle, spare = (np.concatenate([getattr(p, name) for p in parts], axis=1) for name in ("middle", "spare"))
        return Slopes(middle, spare, np.concatenate([p.still for p in parts], axis=1))

    def moving(self) -> Slopes:
        """The same without still coordinates."""
        return Slopes(self.middle, self.spare, np.zeros_like(self.still), self.tilts)

    def heaviest(self, weights: Array) -> Indices:
        """The free neuron of every cube whose weight is largest."""
        return np.argmax(np.where(self.free, weights, -1.0), axis=0)

    def cut(self, neurons: Indices, *, faces: bool) -> Slopes:
        """Every cube twice, cut across one of its neurons: its two faces, or its two halves. How slopes move together
        is forgotten."""
        where = neurons, np.arange(len(neurons))
        low, high, spare = self.middle.copy(), self.middle.copy(), self.spare.copy()
        step = self.spare[where] * (1.0 if faces else 0.5)
        low[where] -= step
        high[where] += step
        spare[where] = 0.0 if faces else step
        still = np.concatenate([self.still, self.still], axis=1)
        return Slopes(np.concatenate([low, high], axis=1), np.concatenate([spare, spare], axis=1), still)


def _secant(a: Array, b: Array, *, or_else: float) -> Array:
    """(relu(a) - relu(b)) / (a - b), rounded, or something else where floats do not hold a - b."""
    most, least = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(all="ignore"):
        gap = most - least
        across = np.where(np.isfinite(gap), most / gap, or_else)
    return np.where(least >= 0, 1.0, np.where(most <= 0, 0.0, across))


@dataclass(frozen=True)
class Contractions:
    """What was found about each cube.

    bounds:    E (rows, columns, cubes)
    proved:    no J of the cube has a kernel, for sure
    fixed:     C (inputs, constrained, cubes)
    weights:   how much each free neuron adds to E
    positive, negative: the sign of det(C J) at the middle, for sure
    """

    bounds: Array
    proved: Mask
    fixed: Array
    weights: Array
    positive: Mask
    negative: Mask

    def take(self, chosen: Indices | Mask) -> Contractions:
        """Some of them."""
        names = ("bounds", "proved", "fixed", "weights", "positive", "negative")
        return Contractions(*(getattr(self, name)[..., chosen] for name in names))


def contractions(network: Batches, slopes: Slopes, fixed: Array | None = None) -> Contractions:
    """Try to contract every cube; with `fixed`, signs are those of det(fixed J)."""
    n, neurons = network.size, network.setting.neurons
    count = slopes.middle.shape[1]
    middle, spare = slopes.middle, slopes.spare
    spread = np.zeros((neurons, n, count))
    tilts = slopes.tilts
    below = np.zeros((neurons if tilts is not None else 0, n, count))

    def affine(name: str, state: Array) -> Array:
        ahead = times(network.weights[name], np.ascontiguousarray(state[:, :n]))
        return np.concatenate([ahead, times(network.absolute[name], np.ascontiguousarray(state[:, n:]))], axis=1)

    def relu(name: str, state: Array) -> Array:
        where = network.setting.relus[name]
        size, wide = np.abs(state[:, :n]), state[:, n:] * spare[where][:, None]
        spread[where] = radius = size * spare[where][:, None] + wide
        if tilts is not None:
            below[where], spread[where] = state[:, :n], size * tilts.rests[where][:, None] + wide
        radius = radius + state[:, n:] * np.abs(middle[where])[:, None]
        return np.concatenate([state[:, :n] * middle[where][:, None], radius], axis=1)

    start = np.zeros((n, 2 * n, count))
    start[np.arange(n), np.arange(n)] = 1.0
    with np.errstate(all="ignore"):
        jacobian = network.output(network.forward(start, affine, relu))[:, :n]
        good = np.ones(count, dtype=bool)
        if fixed is None and slopes.still.any():
            fixed, good = left_inverses(jacobian, slopes.still)
        elif fixed is None:
            fixed, good = inverses(jacobian)
        matrix, doubt = preconditioned(network, fixed, jacobian, slopes.still)
        positive, negative = _signs(matrix, doubt)
        inner, fine = inverses(matrix)
        rows = np.einsum("ikb,kmb->mib", inner, fixed) * ~slopes.still[None]
        moving = None if tilts is None else (below, tilts.rates)
        bounds, weights = _deviations(network, rows, middle, spread, moving)
        # what is off in J, and in the product of both matrices
        sizes = np.einsum("ikb,kmb->mib", np.abs(inner), np.abs(fixed))
        bounds = bounds + np.einsum("mib,mj->ijb", sizes, network.doubt) + network.underflow
        bounds = bounds * (1 + 64 * (neurons + n) * UNIT)
        bounds = np.where(slopes.still[None] | slopes.still[:, None], 0.0, bounds)
        proved = good & fine & shrinks(bounds)
    return Contractions(bounds, proved, fixed, weights, positive & good, negative & good)


def preconditioned(network: Batches, fixed: Array, jacobian: Array, still: Mask) -> tuple[Array, Array]:
    """C J at the middle, with units in the still coordinates, and what each row may be off by."""
    n = len(fixed)
    matrix = np.einsum("imb,mjb->ijb", fixed, jacobian)
    size = np.einsum("imb,mjb->ijb", np.abs(fixed), np.abs(jacobian))
    doubt = np.einsum("imb,mj->ijb", np.abs(fixed), network.doubt) + 8 * (network.constrained + 2) * UNIT * size
    gone = still[None] | still[:, None]
    matrix = np.where(gone, np.eye(n)[:, :, None], matrix)
    return matrix, np.where(gone, 0.0, doubt).sum(axis=1)


def _signs(matrix: Array, doubt: Array) -> tuple[Mask, Mask]:
    """Where a determinant is positive or negative for sure; doubt: what the entries of each row are off by, in all."""
    if len(matrix) > MOST_INPUTS:
        nothing = np.zeros(matrix.shape[2], dtype=bool)
        return nothing, nothing
    # rows of about the same length: otherwise elimination may lose a short one
    scale = np.abs(matrix).max(axis=1)
    scale = np.exp2(-np.round(np.log2(np.where(scale > 0, scale, 1.0))))
    matrix, doubt = matrix * scale[:, None], doubt * scale
    rows = np.abs(matrix).sum(axis=1) + doubt
    good = np.isfinite(rows).all(axis=0) & (rows > 0).all(axis=0)
    values = np.linalg.det(np.moveaxis(np.where(good, matrix, 0.0), 2, 0))
    margin = (DETERMINANT + 2 * (doubt / rows).sum(axis=0)) * rows.prod(axis=0)
    return good & (values > margin), good & (values < -margin)


def _deviations(
    network: Batches, rows: Array, middle: Array, spread: Array, moving: tuple[Array, Array] | None
) -> tuple[Array, Array]:
    """E without rounding, from the rows of C, and what each neuron adds to it.

    moving: rows below the neurons, and how slopes move with the points: with t_j, by the matrix T_j = sum over neurons
    of G_j a w, so that |T_j| is added and only the rest of every neuron
    """
    n, count = network.size, middle.shape[1]
    bounds = np.zeros((n, n, count))
    weights = np.zeros(middle.shape)
    together = np.zeros((n, count, n, n))

    def relu(name: str, given: Array) -> Array:
        where = network.setting.relus[name]
        size, parts = np.abs(given), spread[where]
        for i in range(n):
            for j in range(n):
                bounds[i, j] += np.einsum("wb,wb->b", size[:, i], parts[:, j])
        weights[where] += size.sum(axis=1) * parts.sum(axis=1)
        if moving is not None:
            below, rates = (part[where] for part in moving)
            weights[where] += (size.sum(axis=1) * np.abs(below).sum(axis=1)) * np.abs(rates).sum(axis=1)
            together[:] += tilted(given, below, rates)
        return given * middle[where][:, None]

    last = network.backward(rows, lambda name, given: times(network.transposed[name], given), relu)
    bounds += np.moveaxis(np.abs(together).sum(axis=0), 0, 2)
    return bounds + np.abs(np.eye(n)[:, :, None] - np.swapaxes(last, 0, 1)), weights


def orientation(matrices: Array) -> Array:
    """The signs of the determinants of square float matrices (rows, columns, batch); 0 where floats cannot tell."""
    with np.errstate(all="ignore"):
        positive, negative = _signs(matrices, np.zeros(matrices.shape[1:]))
    return positive.astype(np.float64) - negative
