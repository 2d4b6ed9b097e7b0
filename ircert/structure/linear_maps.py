"""What entries of affine maps read and between which numbers they lie; convolutions are not written out for that."""

from __future__ import annotations

import math

import numpy as np

from ircert.bounds.rounding import parts, slack
from ircert.ir.arrays import Array, Mask, Matrix, nonzeros
from ircert.ir.ops import Affine, Conv, LinearImageOp
from ircert.ir.ops.image import MOST_ENTRIES

Linear = Affine | LinearImageOp


def affine(op: Linear) -> Affine | None:
    """The map with its matrix; None where that is too large to be written out."""
    if isinstance(op, Affine):
        return op
    return op.affine if op.entries <= MOST_ENTRIES else None


def reads(op: Linear, where: Mask) -> Mask:
    """Which entries have a weight, other than 0, at an entry of this kind."""
    return reads_signed(op, where, where)


def reads_signed(op: Linear, where_positive: Mask, where_negative: Mask) -> Mask:
    """Which entries have a positive weight at an entry of the first kind, or a negative one at one of the second."""
    if isinstance(op, Conv):
        pairs = ((op.weight > 0, where_positive), (op.weight < 0, where_negative))
        counts = [correlated(op, weight.astype(np.float64), where.astype(np.float64)) for weight, where in pairs]
        return np.asarray(counts[0] + counts[1] > 0)
    sparse = nonzeros(_weight(op))
    entries = np.where(sparse.data > 0, where_positive[sparse.indices], where_negative[sparse.indices])
    entries &= sparse.data != 0
    rows = np.repeat(np.arange(sparse.shape[0]), np.diff(sparse.indptr))
    return np.asarray(np.bincount(rows[entries], minlength=sparse.shape[0]) > 0)


def least(op: Linear, low: Array, high: Array) -> tuple[Array, Array]:
    """The least values without the bias, for operands between two numbers each, in floats, and how far they are off."""
    if isinstance(op, Conv):
        positive, negative = np.maximum(op.weight, 0.0), np.minimum(op.weight, 0.0)
        found = correlated(op, positive, low) + correlated(op, negative, high)
        size = correlated(op, positive, np.abs(low)) - correlated(op, negative, np.abs(high))
        return found, slack(2 * math.prod(op.weight.shape[1:]) + 2, size)
    positive, negative = parts(_weight(op))
    size = positive @ np.abs(low) - negative @ np.abs(high)
    return positive @ low + negative @ high, slack(2 * positive.shape[1] + 2, size)


def bias(op: Linear) -> Array:
    """What is added, entry by entry."""
    if isinstance(op, Conv):
        assert op.bias is not None  # filled in when it was made
        return np.repeat(op.bias, op.windows.positions)
    found = (op if isinstance(op, Affine) else op.affine).bias
    assert found is not None
    return found


def correlated(op: Conv, weight: Array, x: Array) -> Array:
    """The convolution's result at x with other weights of the same shape, and no bias: sums of products in floats."""
    groups, (outputs, inputs) = op.groups, weight.shape[:2]
    taps = weight.reshape(groups, outputs // groups, inputs, -1)
    image = x.reshape(groups, inputs, -1)
    inside = op.windows.inside
    index = np.where(inside, op.windows.index, 0)
    total = np.zeros((groups, outputs // groups, op.windows.positions))
    for k in range(taps.shape[3]):
        total += taps[..., k] @ np.where(inside[:, k], image[:, :, index[:, k]], 0.0)
    return total.ravel()


def _weight(op: Linear) -> Matrix:
    return op.weight if isinstance(op, Affine) else op.affine.weight
