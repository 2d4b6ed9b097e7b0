"""Where to begin in a round ball: the pair that is furthest apart if the region of the centre went on everywhere.

On that region x = c + r u and y = c - r u have one output where A u = 0. With P the projection onto the kernel of A,
the largest |G u| over |u| <= 1, A u = 0 is looked for by u <- P G' w / |P G' w|, w the gradient of the norm at G u,
which never lessens it. All in floats: a start, and no more.
"""

from __future__ import annotations

import numpy as np

from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array

ROUNDS = 20
RANK = 1e-10
RIM = 1 - 1e-6
"""Starts stay inside the ball by this factor."""


def round_start(rows: Array, measured: Array, norm: Norm, axis: tuple[int, float] | None) -> Array | None:
    """u of length about 1 with rows @ u = 0 and a large measured @ u; None where there is none."""
    _, sizes, basis = np.linalg.svd(rows, full_matrices=True)
    kernel = basis[int((sizes > RANK * max(sizes.max(initial=0.0), 1e-300)).sum()) :]
    if not len(kernel):
        return None
    inside = measured @ kernel.T
    if axis is not None:
        way = axis[1] * inside[axis[0]]
        return _unit(way @ kernel)
    way = inside[int(np.argmax(np.linalg.norm(inside, axis=1)))]
    for _ in range(ROUNDS if norm != "inf" else 0):
        way = way / max(float(np.linalg.norm(way)), 1e-300)
        gap = inside @ way
        way = (np.where(gap < 0, -1.0, 1.0) if norm == "1" else gap) @ inside
    return _unit(way @ kernel)


def _unit(way: Array) -> Array | None:
    length = float(np.linalg.norm(way))
    return way * (RIM / length) if 0 < length < np.inf else None
