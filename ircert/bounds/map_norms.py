"""Upper bounds on operator norms of affine maps of graphs: dense, sparse, or convolutions that are not written out."""

from __future__ import annotations

from fractions import Fraction
from weakref import WeakKeyDictionary

import numpy as np

from ircert.bounds.convolutions import convolution_bound, unrolled
from ircert.bounds.operator_norms import Unbounded, norm_bound
from ircert.bounds.sparse_norms import sparse_norm_bound
from ircert.bounds.spectral import Parts, spectral_bound
from ircert.exact.rounding import near_root, rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Matrix
from ircert.ir.ops import Affine, Conv, LinearImageOp

WRITTEN = 1 << 18
"""Entries of convolutions that are written out as matrices: their norms are known better."""
SQUARED = 64
"""Rows or columns, the fewer of them, of matrices whose powers are computed; factors of larger ones."""

_FOUND: WeakKeyDictionary[Affine | LinearImageOp, dict[Norm, Fraction]] = WeakKeyDictionary()


def map_norm_bound(op: Affine | LinearImageOp, norm: Norm) -> Fraction:
    """A number that the operator norm of the linear part does not exceed; Unbounded where floats hold none."""
    found = _FOUND.setdefault(op, {})
    if norm not in found:
        found[norm] = _bound(op, norm)
    return found[norm]


def _bound(op: Affine | LinearImageOp, norm: Norm) -> Fraction:
    if not isinstance(op, Conv):
        return _of_matrix(op.weight if isinstance(op, Affine) else op.affine.weight, norm)
    channels, positions = op.weight.shape[0], op.windows.positions
    if channels * positions * int(np.prod(op.image)) <= WRITTEN:
        return _of_matrix(op.affine.weight, norm)
    if norm == Norm.TWO:
        found = convolution_bound(op)
        if found is not None:
            return found
        return Fraction(rounded_up(near_root(_window_sums(op, Norm.INF) * _window_sums(op, Norm.ONE), up=1)))
    return _window_sums(op, norm)


def _of_matrix(weight: Matrix, norm: Norm) -> Fraction:
    if not isinstance(weight, np.ndarray):
        return sparse_norm_bound(weight, norm)
    if norm != Norm.TWO or min(weight.shape) <= SQUARED:
        return norm_bound(weight, norm)
    found = spectral_bound(Parts(weight[None]))
    if found is None:
        raise Unbounded
    return found


def _window_sums(op: Conv, norm: Norm) -> Fraction:
    """The largest sum of absolute weights of one output, or of one input, as if no window met the padding."""
    weight = unrolled(op).weight
    groups, rows, columns, taps = weight.shape
    if norm == Norm.INF:
        return norm_bound(weight.reshape(groups * rows, columns * taps), norm)
    return norm_bound(weight.transpose(1, 3, 0, 2).reshape(rows * taps, groups * columns), norm)
