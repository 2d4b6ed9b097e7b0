"""Ranges of affine maps: sums of their terms' ends, exact where their sign depends on it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ircert.bounds.directed import product_down, sum_down
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.ir.arrays import Array, Mask, nonzeros
from ircert.ir.ops import Affine
from ircert.structure.linear_maps import Linear, affine, bias, least, reads_signed
from ircert.structure.range import Range

MOST_EXACT = 50_000
"""Terms that are added up exactly: a tenth of a second."""


def of_affine(op: Linear, x: Range) -> Range:
    """An end is not attained if one term does not attain its own."""
    added = bias(op)
    low, above = _lower_ends(op, x, added)
    high, below = _lower_ends(op, -x, -added)
    return Range(low, -high, above, below)


def _lower_ends(op: Linear, x: Range, added: Array) -> tuple[Array, Mask]:
    """Of W x + b, from the lower ends of terms with positive weights and the upper ends of the others."""
    ends = [np.where(np.isfinite(end), end, 0.0) for end in (x.low, x.high)]
    value, error = least(op, *ends)
    error = np.where(reads_signed(op, ends[0] != 0, ends[1] != 0), error, 0.0)  # a sum of zeros has no error
    low, high = sum_down(sum_down(value, -error), added), -sum_down(-sum_down(value, error), -added)
    unclear = (low <= 0) & (high >= 0) & (error > 0)
    infinite = reads_signed(op, x.low == -np.inf, x.high == np.inf)
    low = np.where(infinite, -np.inf, low)
    _replace_single(op, ends, added, low, ~infinite)
    _replace_by_exact(op, ends, added, low, unclear & ~infinite)
    return np.where(np.isnan(low), -np.inf, low), reads_signed(op, x.above, x.below)


def _replace_single(op: Linear, ends: list[Array], added: Array, low: Array, finite: Mask) -> None:
    """Rows of one weight, as diagonal maps have them: one product and one sum."""
    if not isinstance(op, Affine):
        return
    weight = nonzeros(op.weight)
    rows = np.flatnonzero((np.diff(weight.indptr) == 1) & finite)
    places = weight.indptr[rows]
    weights, columns = weight.data[places], weight.indices[places]
    chosen = np.where(weights > 0, ends[0][columns], ends[1][columns])
    low[rows] = sum_down(product_down(weights, chosen), added[rows])


def _replace_by_exact(op: Linear, ends: list[Array], added: Array, low: Array, unclear: Mask) -> None:
    """Entries whose sign rounding leaves open: their sums in fractions, rounded down; too many of them stay."""
    written = affine(op) if unclear.any() else None
    if written is None:
        return
    weight = nonzeros(written.weight)
    if int(np.diff(weight.indptr)[unclear].sum()) > MOST_EXACT:
        return
    for i in np.flatnonzero(unclear).tolist():
        terms = slice(int(weight.indptr[i]), int(weight.indptr[i + 1]))
        weights, columns = weight.data[terms], weight.indices[terms]
        chosen = np.where(weights > 0, ends[0][columns], ends[1][columns])
        pairs = zip(weights.tolist(), chosen.tolist(), strict=True)
        low[i] = _down(sum((Fraction(w) * Fraction(v) for w, v in pairs), Fraction(float(added[i]))))


def _down(exact: Fraction) -> float:
    return rounded_down(exact) if exact >= 0 else -rounded_up(-exact)
