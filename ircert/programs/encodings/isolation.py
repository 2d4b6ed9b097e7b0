"""How far around the centre a network is homogeneous: f(c + t v) - f(c) = t (f(c + v) - f(c)) for 0 <= t <= 1.

A neuron with z(c) != 0 keeps its phase where |x - c| <= |z(c)| / L in the L-infinity norm, with L a Lipschitz constant
of z. Nearer than the least of these only neurons with z(c) = 0 turn, and everything is homogeneous. So if f(x) = f(c)
for some x there, then also for one as far away as that: for `pseudo`, looking at distances from there on is enough.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.slopes import slope_bounds
from ircert.geometry.ball import Ball
from ircert.ir.graph import Graph
from ircert.ir.rational import Rationals
from ircert.programs.encodings.tangent import unit_directions

SHARE = 1 / 16
"""The distance is at most this part of what fits into the ball, so that something is left beyond it."""


def isolation(bounds: Bounds, ball: Ball) -> float:
    """An L-infinity distance within which f is homogeneous around the centre, and stays in the ball when it grows.

    That is: every point of the domain nearer than it lies on a segment from the centre to one of the ball and the
    domain that is as far away as that. Rounded down; 0 if there is none.
    """
    slopes = slope_bounds(bounds, unit_directions(ball))
    least = SHARE * ball.radius / longest_in_box(ball)
    for name, values in _preactivations(bounds.graph, ball).items():
        lipschitz = np.maximum(-slopes.low[name], slopes.high[name])
        for z, limit in zip(values, lipschitz.tolist(), strict=True):
            if z and limit > 0:
                least = min(least, _down(abs(z) / Fraction(limit)) if math.isfinite(limit) else 0.0)
    for side in (ball.center - ball.low, ball.high - ball.center):
        least = min(least, float(np.min(side[side > 0], initial=math.inf)))
    return math.nextafter(least * (1 - 1e-15), 0.0)


def longest_in_box(ball: Ball) -> float:
    """How long a vector with entries up to 1 can be in the ball's norm, rounded up."""
    return ball.norm.length_up(ball.norm.measure([Fraction(1)] * len(ball.center)))


def _preactivations(graph: Graph, ball: Ball) -> dict[str, list[Fraction]]:
    """What the relus read at the centre, exactly."""
    wanted = {node.operands[0] for node in graph.nodes if node.op.kind == "relu"}
    values = {graph.input: Rationals.of_fractions([Fraction(v) for v in ball.center.tolist()])}
    for node in graph.nodes:
        if node.name != graph.input:
            values[node.name] = node.op.exact(*(values[name] for name in node.operands))
    return {name: values[name].fractions() for name in wanted}


def _down(value: Fraction) -> float:
    try:
        return math.nextafter(float(value), 0.0)
    except OverflowError:
        return math.inf
