"""Sides of neurons that no point of a box takes together: multipliers for the checker, found in floats."""

from __future__ import annotations

import numpy as np

from ircert.ir.arrays import Array

SCALE = 2**16
"""The larger of two multipliers: they are rounded to integers."""
LARGEST = 2.0**60


def excluding(rows: Array, given: Array, neuron: int, noise: Array) -> tuple[str, bool] | None:
    """A token that shows that a node is empty: the side of one neuron against those of the others; None if none does.

    rows:  what neurons read (neurons, columns), the first column being the value in the middle
    given: their sides, nan where there is none
    noise: what floats may get wrong in rows; the answer says whether it is more than that
    For multipliers (1, κ) the largest value of s_i z_i + κ s_j z_j is convex and piecewise linear in κ, with kinks
    where a coefficient changes its sign.
    """
    others = np.flatnonzero(~np.isnan(given))
    signed = rows * np.where(given > 0, 1.0, -1.0)[:, None]
    own = signed[neuron]
    top = own[0] + np.abs(own[1:]).sum()
    if top < 0:
        return f"!{neuron}:1", bool(top < -noise[neuron])
    for j in others[others != neuron].tolist():
        with np.errstate(all="ignore"):
            kinks = -own[1:] / signed[j, 1:]
        kinks = kinks[(kinks > 1 / SCALE / SCALE) & (kinks < SCALE * SCALE)]
        if not len(kinks):
            continue
        first, second = _integers(kinks)
        sums = first[:, None] * own + second[:, None] * signed[j]
        tops = (sums[:, 0] + np.abs(sums[:, 1:]).sum(axis=1)) / (first + second)
        best = int(np.argmin(tops))
        if tops[best] < 0:
            sure = tops[best] < -noise[neuron] - noise[j]
            return f"!{neuron}:{int(first[best])},{j}:{int(second[best])}", bool(sure)
    return None


def _integers(ratios: Array) -> tuple[Array, Array]:
    """Multipliers in about these ratios, second to first."""
    small = ratios < 1
    first = np.where(small, np.round(SCALE / np.maximum(ratios, 1 / LARGEST)), SCALE)
    second = np.where(small, SCALE, np.round(SCALE * ratios))
    return first, second
