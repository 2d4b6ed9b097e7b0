"""What is attained at a point, for sure: both networks evaluated exactly, or enclosed where they have curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve, Square

if TYPE_CHECKING:
    from flint import arb

SHRINK = [2.0**-k for k in range(52, 8, -2)]
"""Shares by which a point that rounding moved out of the ball is moved towards its centre, until it is inside."""
BITS = (128, 512)


@dataclass(frozen=True, eq=False)
class Attained:
    """What two networks do at a point of the ball.

    value:   the norm of f(x) - g(x), rounded down; exact: its measure (the square in norm 2) where it is rational
    outputs: |f_j(x) - g_j(x)|, rounded down
    """

    point: Array
    value: float
    exact: Fraction | None
    outputs: Array


def inside(ball: Ball, x: Array) -> Array:
    """A float point of the ball near one that is there but for rounding."""
    if ball.contains(x.tolist()):
        return x
    for share in SHRINK:
        nearer = np.clip(ball.center + (x - ball.center) * (1 - share), ball.low, ball.high)
        if ball.contains(nearer.tolist()):
            return nearer
    return ball.center


class Evaluation:
    """Both networks, as they were loaded, at points of a ball."""

    def __init__(self, first: Graph, second: Graph, ball: Ball, norm: Norm) -> None:
        self.first, self.second, self.ball, self.norm = first, second, ball, norm
        ops = (node.op for graph in (first, second) for node in graph.nodes)
        self.curved = any(isinstance(op, Curve) and not isinstance(op, Square) for op in ops)

    def at(self, x: Array) -> Attained:
        """What is attained at a point near this one."""
        point = inside(self.ball, x)
        return self._enclosed(point) if self.curved else self._exact(point)

    def _exact(self, point: Array) -> Attained:
        gaps = [a - b for a, b in zip(self.first.exact(point), self.second.exact(point), strict=True)]
        measure = self.norm.measure(gaps)
        outputs = np.array([Norm.INF.length_down(abs(gap)) for gap in gaps])
        return Attained(point, self.norm.length_down(measure), measure, outputs)

    def _enclosed(self, point: Array) -> Attained:
        from flint import arb, ctx

        first, second = (graph.enclosure(point, BITS[0]) for graph in (self.first, self.second))
        with ctx.workprec(BITS[0]):
            sizes = [abs(a - b) for a, b in zip(first, second, strict=True)]
            outputs = np.array([_down(size) for size in sizes])
            if self.norm is Norm.INF:
                value = float(outputs.max(initial=0.0))
            elif self.norm is Norm.ONE:
                value = _down(sum(sizes, arb(0)))
            else:
                value = _down(sum((size * size for size in sizes), arb(0)).sqrt())
        return Attained(point, value, None, outputs)

    def classes(self, x: Array) -> tuple[Array, tuple[list[int], list[int]]] | None:
        """A point near this one, and the classes that are surely all largest outputs of each network; None where
        enclosures do not tell."""
        point = inside(self.ball, x)
        if not self.curved:
            tops = [_largest(list(graph.exact(point))) for graph in (self.first, self.second)]
            return point, (tops[0], tops[1])
        for bits in BITS:
            found = [_candidates(list(graph.enclosure(point, bits))) for graph in (self.first, self.second)]
            if not set(found[0]) & set(found[1]):
                return point, (found[0], found[1])
        return None


def _largest(values: list[Fraction]) -> list[int]:
    most = max(values)
    return [k for k, value in enumerate(values) if value == most]


def _candidates(values: list[arb]) -> list[int]:
    """The outputs that may be largest."""
    return [k for k, value in enumerate(values) if not any(other > value for other in values)]


def _down(value: arb) -> float:
    """A float that a ball's numbers are surely not below, at least 0."""
    least = float(value.lower())
    return max(0.0, math.nextafter(least, -math.inf)) if math.isfinite(least) else 0.0
