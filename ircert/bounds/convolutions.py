"""Upper bounds on spectral norms of convolutions, by their symbols: no matrix of the whole map is written.

A convolution with zero padding is a part (some rows and columns) of the circular one on a torus that is large enough
for no window to meet the image a second time around. The Fourier transform splits that into one small matrix for each
frequency t, the symbol Σ_q W_q exp(i q·t) with as many rows and columns as there are channels; its norm is the largest
of theirs. A stride s first becomes a stride of 1: the entries s u + r of an axis, for each r < s, are channels of their
own. So the bound is at most that of the convolution on an infinite image, and near the norm on large ones.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from ircert.bounds.operator_norms import any_norm_bound
from ircert.bounds.rounding import TINY, UNIT, slack
from ircert.bounds.spectral import Parts, spectral_bound
from ircert.exact.rounding import rounded_up
from ircert.ir.arrays import Array, Indices
from ircert.ir.ops import Conv

MOST_WORK = 4_000_000_000
"""Multiplications for the Gram matrices of all symbols: some seconds."""
MOST_FREQUENCIES = 1 << 18
BITS = 80
"""Of interval arithmetic for roots of unity."""
CHUNK = 1 << 20
"""Entries of symbols that are made at once."""


@dataclass(frozen=True)
class Circular:
    """A convolution of stride 1 on a torus: weights (groups, rows, columns, taps), taps (count, axes), extents."""

    weight: Array
    taps: Indices
    torus: tuple[int, ...]

    @property
    def frequencies(self) -> Indices:
        """All but those whose negative is there: the symbols of both are conjugates of each other."""
        points = np.array(list(itertools.product(*map(range, self.torus))), dtype=np.int64)
        negative = (-points) % np.array(self.torus)
        strides = np.array([math.prod(self.torus[axis + 1 :]) for axis in range(len(self.torus))])
        return np.asarray(points[points @ strides <= negative @ strides])

    @property
    def work(self) -> int:
        """About how many multiplications the Gram matrices of all symbols need."""
        groups, rows, columns, _ = self.weight.shape
        return math.prod(self.torus) * groups * rows * columns * min(rows, columns)


def convolution_bound(op: Conv) -> Fraction | None:
    """A number that the spectral norm of the convolution does not exceed; None where that would take too long."""
    circular = unrolled(op)
    if circular.work > MOST_WORK or math.prod(circular.torus) > MOST_FREQUENCIES:
        return None
    groups, rows, columns, count = circular.weight.shape
    frequencies = circular.frequencies
    each = max(1, CHUNK // (groups * rows * columns))
    largest = Fraction(0)
    for start in range(0, len(frequencies), each):
        bound = spectral_bound(_symbols(circular, frequencies[start : start + each]))
        if bound is None:
            return None
        largest = max(largest, bound)
    # each entry is a sum of `count` products of weights with sines, which are off by 2^-52 at most; both parts
    with np.errstate(all="ignore"):
        absolute = np.abs(circular.weight).sum(axis=3)
        error = 2 * (slack(count, absolute) + 4 * UNIT * absolute) * (1 + 4 * UNIT) + TINY
    if not np.isfinite(error).all():
        return None
    return Fraction(rounded_up(largest + max(any_norm_bound(part) for part in error)))


def unrolled(op: Conv) -> Circular:
    """The same convolution on a torus, with stride 1."""
    kernel, axes = op.weight.shape[2:], len(op.image) - 1
    shape = (op.groups, op.weight.shape[0] // op.groups, op.weight.shape[1], math.prod(kernel))
    weight = op.weight.reshape(shape)
    strides = np.array(op.stride)
    reach = np.array(list(itertools.product(*map(range, kernel)))) * np.array(op.dilation) - np.array(op.padding[:axes])
    taps, phase = np.floor_divide(reach, strides), np.mod(reach, strides)
    places, place = np.unique(taps, axis=0, return_inverse=True)
    phases, channel = np.unique(phase, axis=0, return_inverse=True)
    spread = np.zeros((*shape[:2], shape[2] * len(phases), len(places)))
    for k, (at, extra) in enumerate(zip(place.ravel().tolist(), channel.ravel().tolist(), strict=True)):
        spread[:, :, extra * shape[2] : (extra + 1) * shape[2], at] = weight[..., k]  # each k has its own place
    extents = [-(-n // s) for n, s in zip(op.image[1:], op.stride, strict=True)]
    torus = [
        _around(extent, out, int(q.min()), int(q.max()))
        for extent, out, q in zip(extents, op.windows.output, places.T, strict=True)
    ]
    return Circular(spread, places, tuple(torus))


def _around(extent: int, positions: int, first: int, last: int) -> int:
    """A length such that u = p + q, 0 <= p < positions, meets [0, extent) modulo it only where u itself lies there.

    u >= first; where u is negative, u + length >= extent. u <= positions - 1 + last; where that is not below extent,
    u - length < 0. And all p are different.
    """
    return max(extent, positions, extent - first, positions + last)


def _symbols(circular: Circular, frequencies: Indices) -> Parts:
    """The symbols at some frequencies, those of all groups one after the other."""
    groups, rows, columns, count = circular.weight.shape
    whole = math.lcm(*circular.torus)
    shares = np.array([whole // length for length in circular.torus])
    turns = (frequencies * shares) @ circular.taps.T % whole
    flat = circular.weight.reshape(-1, count).T
    shape = (len(frequencies) * groups, rows, columns)
    cosine, sine = (table[turns] for table in _roots(whole))
    with np.errstate(all="ignore"):  # what leaves the floats has no bound
        return Parts((cosine @ flat).reshape(shape), (sine @ flat).reshape(shape))


@lru_cache(maxsize=64)
def _roots(length: int) -> tuple[Array, Array]:
    """Cosines and sines of 2 pi k / length, each within 2^-52."""
    with ctx.workprec(BITS):
        angles = [arb(2 * k) / length for k in range(length)]
        both = [[angle.cos_pi(), angle.sin_pi()] for angle in angles]
        assert all(ball.rad() < UNIT / 2 for pair in both for ball in pair)
        found = np.array([[float(ball.mid()) for ball in pair] for pair in both])
    return found[:, 0].copy(), found[:, 1].copy()
