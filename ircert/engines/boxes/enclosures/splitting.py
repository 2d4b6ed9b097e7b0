"""Which side of a box to cut: where the open neurons that matter most are widest, or simply the longest side."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.ir.arrays import Array

LENGTH = 0.5
"""How much the length of a side counts beside its share in the open neurons."""


def scores(boxes: Enclosures, weights: Array) -> Array:
    """How much is gained by cutting each side (inputs, boxes); weights: how much each free neuron costs."""
    with np.errstate(all="ignore"):
        shares = np.abs(boxes.lines) * boxes.half
        shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        open_ = ~boxes.on & ~boxes.off
        gains = (shares * (np.nan_to_num(weights) * open_)[:, None]).sum(axis=0)
    return np.nan_to_num(gains)


def sides(gains: Array, half: Array) -> Array:
    """Gains and lengths together, both relative to their sums."""
    total = np.maximum(gains.sum(axis=0), 1e-300)
    flat = half <= 0
    lengths = half / np.maximum(half.sum(axis=0), 1e-300)
    return np.where(flat, -1.0, gains / total + LENGTH * lengths)
