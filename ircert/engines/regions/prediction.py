"""How many linear regions a ball holds, before they are counted: from the signs of the neurons on a grid.

A neuron with both signs at the corners of a small square has its line through it. Two random lines that meet a convex
set of area A and perimeter P cross inside it with probability 2 pi A / P^2, which is pi / 8 for a square. Lines cut a
ball into 1 + (lines) + (crossings) regions, so that

    regions = 1 + sum over neurons (has both signs) + pi / 8 sum over squares m (m - 1) / 2

where m neurons have both signs at a square's corners; on a segment it is 1 + the number of changes of sign.
"""

from __future__ import annotations

import math

import numpy as np

from ircert.engines.base import Question, farthest
from ircert.engines.pinned import without_pinned
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Mask
from ircert.ir.evaluate import preactivations

ACROSS = 32
"""Squares along a side of the grid."""
ALONG = 2048
"""Pieces of a segment."""
CROSSING = math.pi / 8


@np.errstate(all="ignore")  # what is not a number changes no sign
def predicted_regions(question: Question, radius: float) -> float:
    """About how many linear regions the ball of this radius holds (infinite: of the largest that is searched without
    a limit), for one or two free inputs."""
    radius = min(radius, farthest(question.center, question.norm)) if radius == math.inf else radius
    question = without_pinned(question)
    graph = question.networks.both.lowered
    inputs = len(question.center)
    # on a line all norms are one
    norm = question.norm.on(inputs)
    ball = Ball(question.center, radius, norm, question.low, question.high)
    axes = _axes(ball, ALONG if inputs == 1 else ACROSS)
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    on = (preactivations(graph, points) > 0).T.reshape(-1, *(len(axis) for axis in axes))
    if inputs == 1:
        return 1.0 + float((on[:, 1:] != on[:, :-1]).sum())
    mixed = _mixed(on) & _meets(ball, axes)
    counts = mixed.sum(axis=0, dtype=float)
    return 1.0 + float(mixed.any(axis=(1, 2)).sum()) + CROSSING * float((counts * (counts - 1) / 2).sum())


def _axes(ball: Ball, pieces: int) -> list[Array]:
    low, high = ball.box
    return [np.linspace(a, b, pieces + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def _mixed(on: Mask) -> Mask:
    """(neurons, squares, squares): which neurons have both signs at the corners of a square."""
    corners = on[:, :-1, :-1], on[:, 1:, :-1], on[:, :-1, 1:], on[:, 1:, 1:]
    return np.logical_or.reduce(corners) & ~np.logical_and.reduce(corners)


def _meets(ball: Ball, axes: list[Array]) -> Mask:
    """Which squares have their centre in the ball (norm 2: all, because cells are cut to the square around it)."""
    offsets = [np.abs((axis[1:] + axis[:-1]) / 2 - c) for axis, c in zip(axes, ball.center.tolist(), strict=True)]
    if ball.norm != "1":
        return np.ones([len(offset) for offset in offsets], dtype=bool)
    return np.asarray(np.add.outer(*offsets) <= ball.radius)
