"""Networks with curves: derivatives at points by interval arithmetic, constants of their parts, and one matrix.

A derivative along a direction at a point inside the ball is a limit of quotients, so that it bounds L below and L'
above; at a kink the enclosure holds all one-sided slopes. Norms of affine maps times slopes bound L (ST-6).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx

from ircert.analysis.lipschitz import one_matrix
from ircert.analysis.lipschitz.bracket import Bracket
from ircert.analysis.lipschitz.enclosures import FLAT, NOTHING, inner_points, long_direction, short_direction
from ircert.bounds.operator_norms import Unbounded
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.setting import Setting
from ircert.exact.rounding import rounded_up
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.enclosure import enclosed_jacobian
from ircert.ir.graph import Graph
from ircert.limits import Deadline
from ircert.questions.network import lowered
from ircert.result.radius import End
from ircert.structure.contraction import lipschitz_bound

BITS, MOST_INPUTS = 128, 128
"""Of interval arithmetic, and of networks whose derivatives are looked at by it."""
DERIVATIVE = "a derivative at one point, by interval arithmetic"
CONSTANTS = "norms of the affine maps times slopes of the functions"


def bounds(graph: Graph, ball: Ball, norm: Norm, deadline: Deadline, seed: int) -> tuple[Bracket, Bracket]:
    """(L, L') of a network with curves, between bounds."""
    most, least = _derivatives(graph, ball, norm, seed)
    upper = Bracket(most, End(np.inf, NOTHING))
    if graph.output_dim < graph.input_dim:
        flat = End(0.0, FLAT, Fraction(0))
        return upper, Bracket(flat, flat)
    nothing = End(0.0, NOTHING)
    found = one_matrix.at_least(lowered(graph), ball, norm, nothing, deadline, seed, definite=True)
    return upper, Bracket(min(found, End(float(least), found.evidence)), least)


def constant(graph: Graph, norm: Norm) -> End:
    """A bound of L on the whole space, infinite where none is found."""
    try:
        return End(rounded_up(lipschitz_bound(graph, norm)), CONSTANTS)
    except Unbounded:
        return End(np.inf, NOTHING)


def _derivatives(graph: Graph, ball: Ball, norm: Norm, seed: int) -> tuple[End, End]:
    """A bound below of L and one above of L', at the points that floats like best."""
    simple = lowered(graph)
    points = inner_points(ball, seed)
    with np.errstate(all="ignore"):
        matrices = Points(Setting(simple, "local", simple.output_dim, Place.of(ball)), seed).jacobians(points)
    usable = np.isfinite(matrices).all(axis=(1, 2))
    low, high = 0.0, np.inf
    if graph.input_dim > MOST_INPUTS:
        return End(low, NOTHING), End(high, NOTHING)
    for pick, direction in ((np.argmax, long_direction), (np.argmin, short_direction)):
        tried = [(*direction(m, norm), x) for m, x in zip(matrices[usable], points[usable], strict=True)]
        if tried:
            _, v, x = tried[int(pick([size for size, _, _ in tried]))]
            below, above = _quotient(simple, x, v, norm)
            low, high = max(low, below), min(high, above)
    return End(low, DERIVATIVE if low else NOTHING), End(high, DERIVATIVE if high < np.inf else NOTHING)


def _quotient(graph: Graph, x: Array, v: Array, norm: Norm) -> tuple[float, float]:
    """Floats around |J v| / |v|."""
    with ctx.workprec(BITS):
        direction = [arb(t) for t in v.tolist()]
        change = (enclosed_jacobian(graph, x.tolist(), BITS) * arb_mat(len(direction), 1, direction)).entries()
        found = _length(change, norm) / _length(direction, norm)
        if not found.is_finite():
            return 0.0, np.inf
        low, high = float(found.lower()), float(found.upper())
        return max(0.0, np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf))


def _length(vector: list[arb], norm: Norm) -> arb:
    sizes = [abs(t) for t in vector]
    if norm == Norm.TWO:
        return sum((t * t for t in sizes), arb(0)).sqrt()
    if norm == Norm.ONE:
        return sum(sizes, arb(0))
    best = sizes[0]
    for size in sizes[1:]:
        best = best.max(size)
    return best
