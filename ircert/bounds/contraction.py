"""Matrices J between two bounds, without a kernel because |I - C J| < 1 for some C.

J d = 0 forces d = (I - C J) d, so |d| <= E |d| for every bound E >= |I - C J|, entry by entry. If E w < w for a w > 0,
or E has a norm below 1, then d = 0; else |d| <= E |d| shrinks a box of differences. Stacks of E count along the last
axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.bounds.operator_norms import norm_bound
from ircert.bounds.rounding import UNIT, left_inverse, magnitude, midpoint, slack
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Mask
from ircert.limits import checkpoint

ROUNDS = 6
"""Steps of the iteration that looks for w."""
BELOW_ONE = 1 - 1e-9
CONTRACTIONS = 32


@dataclass(frozen=True, eq=False)
class Residual:
    """I - C J for all J between two matrices: within `radius` of `center`, entry by entry."""

    center: Array
    radius: Array

    @property
    def bound(self) -> Array:
        """E, entry by entry."""
        return np.asarray((np.abs(self.center) + self.radius) * (1 + 4 * UNIT))

    def size(self, norm: Norm) -> Fraction:
        """A bound on |I - C J|; Unbounded where floats hold none."""
        return norm_bound(self.center, norm) + norm_bound(self.radius, norm)


def residual(inverse: Array, middle: Array, spread: Array) -> Residual:
    """I - C J for all J within `spread` of `middle` (or a stack of both), with room for all rounding."""
    absolute = np.abs(inverse)
    checkpoint()
    error = slack(middle.shape[-2] + 2, 1.0 + absolute @ (np.abs(middle) + spread))
    checkpoint()
    center = np.eye(middle.shape[-1]) - inverse @ middle
    checkpoint()
    return Residual(center, absolute @ spread + error)


def best_residual(low: Array, high: Array) -> Residual | None:
    """I - C J for all J between two matrices, C a left inverse of their middle; None if floats hold no such C."""
    if len(low) < low.shape[1] or not np.isfinite([low, high]).all():
        return None
    with np.errstate(all="ignore"):  # what is no number bounds nothing
        try:
            middle, spread = midpoint(low, high)
            return residual(left_inverse(middle), middle, spread)
        except np.linalg.LinAlgError:
            return None


def keeps_apart(low: Array, high: Array) -> bool:
    """Whether no matrix J between these has J d = 0 with d != 0, for sure: E has a norm below 1."""
    found = best_residual(low, high)
    if found is None:
        return False
    return bool(min(found.bound.sum(axis=0).max(), found.bound.sum(axis=1).max()) < BELOW_ONE)


def largest_kernel(low: Array, high: Array, box: tuple[Array, Array], rounds: int = CONTRACTIONS) -> Array | None:
    """A bound on |d|, entry by entry, for d in a box with J d = 0 for some J between these; None if there is no d."""
    found = best_residual(low, high)
    if found is None:
        return magnitude(*box)
    most, empty = kernels_within(found.bound[..., None], box[0][:, None], box[1][:, None], rounds)
    return None if empty[0] else most[:, 0]


def shrinks(bounds: Array) -> Mask:
    """Whether E w < w for some w > 0, found by iteration (rows, columns, count)."""
    w = np.ones(bounds.shape[1:])
    for _ in range(ROUNDS):
        w = np.einsum("ijb,jb->ib", bounds, w)
        w = np.maximum(w / np.maximum(w.max(axis=0), 1e-300), 1e-6)
    return np.asarray((np.einsum("ijb,jb->ib", bounds, w) < w * BELOW_ONE).all(axis=0))


def kernels_within(bounds: Array, low: Array, high: Array, rounds: int) -> tuple[Array, Mask]:
    """A bound on |d| for d between low and high (inputs, count) with |d| <= E |d|, and whether there is no such d."""
    least, most = np.maximum(np.maximum(low, -high), 0.0), magnitude(low, high)
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            most = np.fmin(most, np.einsum("ijb,jb->ib", bounds, most) * (1 + 1e-12) + 1e-300)
    return most, np.asarray((least > most).any(axis=0))
