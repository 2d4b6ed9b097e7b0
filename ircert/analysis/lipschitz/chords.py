"""The least quotient |f(x) - f(y)| / |x - y| of points of different pieces, in a bracket: branch and bound.

The differences (x - y, f(x) - f(y)) of two segments of piecewise linear f fill a parallelogram. Whatever the norm, if
d = Σ a_k d_k and e = Σ a_k e_k with a_k >= 0, then for any w of dual norm at most 1

    |e| >= w · e = Σ a_k w · e_k >= ρ Σ a_k |d_k| >= ρ |d|,    ρ = min_k w · e_k / |d_k|,

so the corners bound the quotient below, and each corner, being a pair, bounds it above. Segments that touch need the
cone of two generators only, which is cut along its middle; others are halved. Floats with bounds on their errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ircert.analysis.lipschitz.pieces import Pieces
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Mask

SAFE = 2.0**-40
TOLERANCE = 1e-9
"""A part whose bounds are this close (relative) is not cut further."""
MOST = 100_000
"""Parts looked at together; beyond that the bounds at hand are the answer."""
ROUNDS = 200


@dataclass(frozen=True)
class Bounds:
    """The least quotient lies between low and high; `clear` says that no pair comes below the number asked about."""

    low: float
    high: float
    clear: bool


@dataclass(frozen=True, eq=False)
class _Parts:
    """Generators of sets of pairs: differences d (N, K, n), images e (N, K, m), and bounds of their errors (N, K)."""

    d: Array
    e: Array
    d_error: Array
    e_error: Array

    def __len__(self) -> int:
        return len(self.d)

    def quotients(self, norm: Norm) -> tuple[Array, Array]:
        """Bounds below and above of the least quotient of each part."""
        with np.errstate(all="ignore"):
            size = norm.lengths(self.d)
            longest, shortest = size * (1 + SAFE) + self.d_error, size * (1 - SAFE) - self.d_error
            image = norm.lengths(self.e) * (1 + SAFE) + self.e_error
            above = np.where(shortest > 0, image / shortest * (1 + SAFE), np.inf).min(axis=1)
            rounding = SAFE * np.abs(self.e).sum(axis=2) + self.e_error
            below = np.full(len(self), -np.inf)
            for w in _duals(self.e / size[:, :, None], norm):
                along = (np.einsum("nkm,nm->nk", self.e, w) * (1 - SAFE) - rounding) / longest
                below = np.fmax(below, along.min(axis=1))
        return np.maximum(np.nan_to_num(below, nan=0.0), 0.0) * (1 - SAFE), np.nan_to_num(above, nan=np.inf)


def least_quotient(pieces: Pieces, norm: Norm, least: float) -> Bounds:
    """The least quotient of pairs of pieces with different maps, as far as it is below `least`."""
    if not pieces.finite:
        return Bounds(0.0, np.inf, False)
    search = _ChordSearch(norm, least)
    first, second = np.triu_indices(len(pieces), 1)
    apart = pieces.maps[first] != pieces.maps[second]
    first, second = first[apart], second[apart]
    touching = (pieces.ends[first][:, :, None] == pieces.ends[second][:, None, :]).any(axis=(1, 2))
    search.cones(_cones(pieces, first[touching], second[touching]))
    search.boxes(_Boxes.of(pieces, first[~touching], second[~touching]))
    return Bounds(search.low, search.high, search.clear)


class _ChordSearch:
    """What is known of the least quotient while parts are cut."""

    def __init__(self, norm: Norm, least: float) -> None:
        self.norm = norm
        self.least = least
        self.low = self.high = np.inf
        self.clear = True

    def cones(self, parts: _Parts) -> None:
        """Cones of two generators, cut along their middles."""
        for last in (False,) * ROUNDS + (True,):
            parts = _taken(parts, self._open(parts, last))
            if not len(parts):
                return
            parts = _halved(parts, self.norm)

    def boxes(self, boxes: _Boxes) -> None:
        """Parallelograms, halved along the longer side."""
        for last in (False,) * ROUNDS + (True,):
            boxes = boxes.taken(self._open(boxes.parts(), last))
            if not len(boxes.first):
                return
            boxes = boxes.halved()

    def _open(self, parts: _Parts, last: bool) -> Mask:
        """Which parts must be cut; what is not cut enters the bounds."""
        if not len(parts):
            return np.zeros(0, dtype=bool)
        below, above = parts.quotients(self.norm)
        self.high = min(self.high, float(above.min()))
        doubtful = below < self.least
        best = min(self.high, self.least)
        settled = doubtful & (below >= best * (1 - TOLERANCE))
        open_ = doubtful & ~settled
        hopeless = self.high <= 2.0**-40 * self.least  # as good as a collision: another argument must decide
        if last or hopeless or int(open_.sum()) > MOST:
            settled, open_ = doubtful, np.zeros_like(open_)
        if settled.any():
            self.low = min(self.low, float(below[settled].min()))
            self.clear = False
        return open_


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Parts s0..s1 and t0..t1 of two pieces, as shares of their lengths."""

    pieces: Pieces
    first: Array
    second: Array
    shares: Array
    """(N, 4): s0, s1, t0, t1"""

    @staticmethod
    def of(pieces: Pieces, first: Array, second: Array) -> _Boxes:
        return _Boxes(pieces, first, second, np.tile([0.0, 1.0, 0.0, 1.0], (len(first), 1)))

    def parts(self) -> _Parts:
        """Their four corners."""
        p = self.pieces
        value = {"tails": p.values(p.tails), "heads": p.values(p.heads)}
        doubt = p.doubt()

        def at(which: Array, share: Array) -> tuple[Array, Array]:
            s = share[:, None]
            x = p.tails[which] * (1 - s) + p.heads[which] * s
            return x, value["tails"][which] * (1 - s) + value["heads"][which] * s

        corners = [(at(self.first, self.shares[:, i]), at(self.second, self.shares[:, j])) for i, j in _CORNERS]
        d = np.stack([x - y for (x, _), (y, _) in corners], axis=1)
        e = np.stack([f - g for (_, f), (_, g) in corners], axis=1)
        reach = np.abs(p.tails).sum(axis=1) + np.abs(p.heads).sum(axis=1)
        blur = 2 * p.blur + SAFE * 2.0**-6 * reach + 1e-300
        inputs = p.tails.shape[1]
        d_error = inputs * (blur[self.first] + blur[self.second])
        e_error = 2 * (doubt[self.first] + doubt[self.second])
        wide = np.ones((1, len(_CORNERS)))
        return _Parts(d, e, d_error[:, None] * wide, e_error[:, None] * wide)

    def taken(self, which: Mask) -> _Boxes:
        return _Boxes(self.pieces, self.first[which], self.second[which], self.shares[which])

    def halved(self) -> _Boxes:
        """Two boxes of each."""
        size = np.abs(self.pieces.heads - self.pieces.tails).max(axis=1)
        s0, s1, t0, t1 = self.shares.T
        along_first = size[self.first] * (s1 - s0) >= size[self.second] * (t1 - t0)
        low, high = self.shares.copy(), self.shares.copy()
        middle = np.where(along_first, (s0 + s1) / 2, (t0 + t1) / 2)
        low[along_first, 1] = high[along_first, 0] = middle[along_first]
        low[~along_first, 3] = high[~along_first, 2] = middle[~along_first]
        twice = [np.concatenate([side, side]) for side in (self.first, self.second)]
        return _Boxes(self.pieces, twice[0], twice[1], np.concatenate([low, high]))


_CORNERS = list(product((0, 1), (2, 3)))


def _cones(p: Pieces, first: Array, second: Array) -> _Parts:
    """x = v + s u and y = v + t w with s, t >= 0: the differences are the cone of (u, A u) and (-w, -B w)."""
    sides = []
    for mine, other, sign in ((first, second, 1.0), (second, first, -1.0)):
        shared = (p.ends[mine][:, :1] == p.ends[other]).any(axis=1)  # the tail is the common point
        u = np.where(shared[:, None], 1.0, -1.0) * (p.heads[mine] - p.tails[mine])
        sides.append((sign * u, sign * np.einsum("pmn,pn->pm", p.matrices[mine], u), mine))
    d, e = (np.stack([side[k] for side in sides], axis=1) for k in (0, 1))
    blur = np.stack([2 * p.blur[mine] for _, _, mine in sides], axis=1)
    reach = np.abs(p.tails).sum(axis=1) + np.abs(p.heads).sum(axis=1)
    d_error = d.shape[2] * (blur + SAFE * 2.0**-8 * np.stack([reach[mine] for _, _, mine in sides], axis=1))
    size = np.stack([np.abs(p.matrices[mine]).sum(axis=(1, 2)) for _, _, mine in sides], axis=1)
    wrong = np.stack([p.wrong[mine] for _, _, mine in sides], axis=1)
    length = np.abs(d).sum(axis=2)
    return _Parts(d, e, d_error, size * d_error + (wrong + SAFE * 2.0**-6 * size) * (length + d_error) + 1e-300)


def _halved(parts: _Parts, norm: Norm) -> _Parts:
    """Each cone as two: the middle generator is the sum of both, scaled to equal length."""
    scale = 1 / norm.lengths(parts.d)
    d, e = parts.d * scale[:, :, None], parts.e * scale[:, :, None]
    d_error = parts.d_error * scale * (1 + SAFE) + SAFE * 2.0**-8
    e_error = parts.e_error * scale * (1 + SAFE) + SAFE * 2.0**-8 * np.abs(e).sum(axis=2)
    both = [np.stack([a[:, 0], a[:, 0] + a[:, 1]], axis=1) for a in (d, e, d_error, e_error)]
    more = [np.stack([a[:, 0] + a[:, 1], a[:, 1]], axis=1) for a in (d, e, d_error, e_error)]
    return _Parts(*(np.concatenate([a, b]) for a, b in zip(both, more, strict=True)))


def _taken(parts: _Parts, which: Mask) -> _Parts:
    return _Parts(parts.d[which], parts.e[which], parts.d_error[which], parts.e_error[which])


def _duals(directions: Array, norm: Norm) -> list[Array]:
    """Vectors w (N, m) of dual norm at most 1 that have large products with the directions (N, K, m)."""
    mean = directions.mean(axis=1)
    found = [mean / norm.dual.lengths(mean)[:, None] * (1 - SAFE)]
    if norm == "1":
        found.append(np.sign(mean))
    if norm == "inf":
        at = np.abs(directions).min(axis=1).argmax(axis=1)
        unit = np.zeros_like(mean)
        rows = np.arange(len(mean))
        unit[rows, at] = np.sign(mean[rows, at])
        found.append(unit)
    return [np.nan_to_num(w, nan=0.0, posinf=0.0, neginf=0.0) for w in found]
