"""How many boxes a cover will take: random ways down its tree (Knuth's estimate), before the work is done.

A point is drawn, and the box that holds it is cut until it is closed. A way that ends at a box cut k times stands for
2^k such boxes; the mean over all ways is what a cover is expected to have. What fails on the way fails at the size of
boxes that matters, and teaches a better matrix more than the large boxes that a cover begins with.
"""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.one_matrix.cover import Cover, Frontier
from ircert.engines.boxes.problem.boxes import Boxes
from ircert.ir.arrays import Array, Mask
from ircert.limits import checkpoint

DEEPEST = 48
"""Cuts after which a way is given up."""


def expected_boxes(
    cover: Cover, radius: float, shares: Array, roots: Frontier | None = None, most: float = np.inf
) -> float:
    """How many boxes a cover of the ball has, about, with all that were cut; the cover learns what fails.

    shares: where points lie in the root box, between 0 and 1 (ways, inputs); several roots share them
    roots:  other boxes to begin with, at most as many as ways
    most:   more than that is not told apart
    Raises MatrixFails where C is wrong.
    """
    here = cover.roots_of(radius) if roots is None else roots
    which = np.arange(len(shares)) % len(here.keys)
    points = here.boxes.low[which] + shares * here.boxes.widths[which]
    stands_for = 1.0 / np.bincount(which, minlength=len(here.keys))[which]
    leaves = 0.0
    for _ in range(DEEPEST):
        checkpoint()
        met = ((here.keys < radius) & cover.matters(here))[which]
        points, which, stands_for = points[met], which[met], stands_for[met]
        used, which = np.unique(which, return_inverse=True)
        if not len(used) or leaves + float(stands_for.sum()) > most:
            break
        here = here.take(used)
        closed, halves = cover.cut(here, radius)
        done = closed[which]
        leaves += float(stands_for[done].sum())
        points, which, stands_for = points[~done], which[~done], 2 * stands_for[~done]
        which = (np.cumsum(~closed) - 1)[which]
        second = which + len(halves.keys) // 2
        which, here = np.where(_in(points, halves.boxes.take(which)), which, second), halves
        kept = _in(points, here.boxes.take(which))  # else outside of the ball
        points, which, stands_for = points[kept], which[kept], stands_for[kept]
    return 2 * (leaves + float(stands_for.sum()))


def _in(points: Array, boxes: Boxes) -> Mask:
    """Which points lie in their boxes."""
    return np.asarray(((points >= boxes.low) & (points <= boxes.high)).all(axis=1))
