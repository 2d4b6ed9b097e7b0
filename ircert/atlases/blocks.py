"""Centres in blocks: neighbours together, each block the work of one process, and the same in every run.

What a block finds depends on nothing but its own centres. So an atlas is the same however many processes work on it,
in whatever order they are ready, and wherever an interruption came between them.
"""

from __future__ import annotations

import numpy as np

from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices


def split(centers: Array, size: int) -> list[Indices]:
    """Blocks of at most so many centres: halves along the widest side, over and over (a k-d tree's leaves)."""
    done: list[Indices] = []
    left = [np.arange(len(centers))]
    while left:
        here = left.pop()
        if len(here) <= size:
            done.append(here)
            continue
        points = centers[here]
        widths = points.max(axis=0) - points.min(axis=0)
        order = np.argsort(points[:, int(np.argmax(widths))], kind="stable")
        # whole blocks on one side: else halves of odd sizes would make twice as many
        half = max(1, round(len(here) / 2 / size)) * size if len(here) > 2 * size else len(here) // 2
        left += [here[order[half:]], here[order[:half]]]
    return done


def chained(centers: Array, norm: Norm) -> list[int]:
    """An order in which each centre is followed by the nearest one that is left, from the first one on."""
    left = np.ones(len(centers), dtype=bool)
    order = [0]
    left[0] = False
    for _ in range(len(centers) - 1):
        away = np.where(left, norm.lengths(centers - centers[order[-1]]), np.inf)
        order.append(int(np.argmin(away)))
        left[order[-1]] = False
    return order


def shard(blocks: list[Indices], number: int, count: int) -> list[Indices]:
    """Every count-th block, beginning with the given one, from 0 on."""
    return blocks[number::count]
