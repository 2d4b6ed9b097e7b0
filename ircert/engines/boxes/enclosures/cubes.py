"""Cubes of slopes cut until every piece is contracted.

With as many constrained outputs as inputs a free slope is set to both of its ends: det(C J(λ)) is affine in it, so that
what is positive on both faces is positive between them. With more constrained outputs its range is halved, and each
half may have a C of its own.
"""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches, inverses, times
from ircert.engines.boxes.enclosures.contractions import MOST_INPUTS, Contractions, Slopes, contractions, preconditioned
from ircert.ir.arrays import Array, Mask

BUDGET, MOST_OPEN = 64, 4
"""Cubes that a pair may be cut into, and how many of them may be open at once: where most are, boxes are better cut."""
MOST_FREE = 14
LOOKS = 4
"""Steps on the way to the least determinant of a cube."""


def kernel_free(network: Batches, slopes: Slopes, known: Contractions) -> Mask:
    """Whether no J of a cube has a kernel, by cutting it until every piece is contracted."""
    count = slopes.middle.shape[1]
    faces = network.constrained == network.size
    cut = slopes.free.any(axis=0)
    # where nothing is free there is nothing to cut
    good: Mask = cut | (known.proved & known.positive if faces else known.proved)
    if network.size > MOST_INPUTS:
        return np.zeros(count, dtype=bool)
    used = np.zeros(count, dtype=np.int64)
    pair = np.flatnonzero(cut)
    if faces and len(pair):
        good[pair] = ~_flipped_vertex(network, slopes.take(pair), known.fixed[..., pair])
        pair = np.flatnonzero(cut & good)
    slopes, weights = slopes.take(pair), known.weights[:, pair]
    while len(pair):
        slopes = slopes.cut(slopes.heaviest(weights), faces=faces)
        pair = np.concatenate([pair, pair])
        found = contractions(network, slopes, known.fixed[..., pair] if faces else None)
        np.add.at(used, pair, 1)
        undecided = ~slopes.free.any(axis=0) & ~found.proved
        if faces:
            good[pair[found.negative | undecided | (found.proved & ~found.positive)]] = False
        open_ = np.bincount(pair[~found.proved], minlength=count)
        good &= (open_ <= MOST_OPEN) & ((used <= BUDGET) | (open_ == 0))
        rest = np.flatnonzero(~found.proved & good[pair])
        slopes, pair, weights = slopes.take(rest), pair[rest], found.weights[:, rest]
    return good


def _flipped_vertex(network: Batches, slopes: Slopes, fixed: Array) -> Mask:
    """Whether det(C J) seems to change its sign in a cube, so that cutting the cube proves nothing.

    det(C J) is affine in every slope: moving slope i by t multiplies it by 1 + t h_i. So a vertex where it is least is
    looked for: first against all h_i at the middle, then by the best single steps.
    """
    count = slopes.middle.shape[1]
    low, high = slopes.middle - slopes.spare, slopes.middle + slopes.spare
    places, turned = slopes.middle, np.zeros(count, dtype=bool)
    alive = np.arange(count)
    with np.errstate(all="ignore"):
        for turn in range(LOOKS):
            values, gains = _derivatives(network, places, fixed[..., alive], slopes.still[:, alive])
            up, down = high[:, alive] - places, places - low[:, alive]
            factors = 1 + np.where(gains > 0, -down * gains, up * gains)
            wrong = ~((values > 0) & (factors.min(axis=0) > 0))
            turned[alive[wrong]] = True
            kept = np.flatnonzero(~wrong)
            alive, gains, factors, places = alive[kept], gains[:, kept], factors[:, kept], places[:, kept]
            if not len(alive):
                break
            lowest = np.where(gains > 0, low[:, alive], high[:, alive])
            if turn == 0:
                places = lowest
            else:
                where = np.argmin(factors, axis=0), np.arange(len(alive))
                places[where] = lowest[where]
    return turned


def _derivatives(network: Batches, slopes: Array, fixed: Array, still: Mask) -> tuple[Array, Array]:
    """det(C J), and by how much it grows with each slope, relative to itself (in floats, for choices only)."""
    n, count = network.size, slopes.shape[1]
    lines = np.zeros((len(slopes), n, count))

    def relu(name: str, state: Array) -> Array:
        where = network.setting.relus[name]
        lines[where] = state
        return state * slopes[where][:, None]

    start = np.zeros((n, n, count))
    start[np.arange(n), np.arange(n)] = 1.0
    jacobian = network.output(network.forward(start, lambda name, v: times(network.weights[name], v), relu))
    matrix, _ = preconditioned(network, fixed, jacobian, still)
    inner, good = inverses(matrix)
    values = np.where(good, np.linalg.det(np.moveaxis(np.where(np.isfinite(matrix), matrix, 0.0), 2, 0)), 0.0)
    rows = np.einsum("ikb,kmb->mib", inner, fixed) * ~still[None]
    gains = np.zeros(slopes.shape)

    def back(name: str, given: Array) -> Array:
        where = network.setting.relus[name]
        gains[where] = (given * lines[where] * ~still[None]).sum(axis=1)
        return given * slopes[where][:, None]

    network.backward(rows, lambda name, given: times(network.transposed[name], given), back)
    return values, np.nan_to_num(gains)
