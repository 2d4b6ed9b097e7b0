"""Networks with curves: derivatives at points by interval arithmetic, constants of their parts, and one matrix.

A derivative along a direction at a point inside the ball is a limit of quotients, so that it bounds L below and L'
above; at a kink the enclosure holds all one-sided slopes. Norms of affine maps times slopes bound L (ST-6).
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx

from ircert.analysis.lipschitz import one_matrix
from ircert.analysis.lipschitz.bracket import Bracket
from ircert.analysis.lipschitz.enclosures import (
    FLAT,
    NOTHING,
    ONE_MATRIX,
    Enclosure,
    by_parts,
    inner_points,
    long_direction,
    short_direction,
    size_between,
)
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.setting import Setting
from ircert.errors import UnsupportedModel
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.enclosure import enclosed_jacobian, enclosed_on_box
from ircert.ir.graph import Graph
from ircert.limits import Deadline, OutOfTime, checkpoint, until
from ircert.questions.network import first_uncertifiable, lowered
from ircert.result.radius import End

BITS, MOST_INPUTS, FEW = 128, 128, 4
"""Of interval arithmetic, of networks whose derivatives are looked at by it, and points that it alone looks at."""
SECANTS = "secants on parts of the ball, by interval arithmetic"
DERIVATIVE = "a derivative at one point, by interval arithmetic"


def bounds(graph: Graph, ball: Ball, norm: Norm, deadline: Deadline, seed: int) -> tuple[Bracket, Bracket]:
    """(L, L') of a network with curves, between bounds."""
    most, least = _derivatives(graph, ball, norm, seed)
    upper = Bracket(most, End(np.inf, NOTHING))
    if graph.output_dim < graph.input_dim:
        flat = End(0.0, FLAT, Fraction(0))
        return upper, Bracket(flat, flat)
    nothing = End(0.0, NOTHING)
    if first_uncertifiable(graph) is not None:
        return _by_secants(graph, ball, norm, (most, least), deadline)
    found = one_matrix.at_least(lowered(graph), ball, norm, nothing, deadline, seed, definite=True)
    return upper, Bracket(min(found, End(float(least), found.evidence)), least)


def _by_secants(
    graph: Graph, ball: Ball, norm: Norm, ends: tuple[End, End], deadline: Deadline
) -> tuple[Bracket, Bracket]:
    """(L, L') of a network that no search takes: secants by interval arithmetic, on parts of the ball."""
    most, least = ends
    above, below = np.inf, 0.0
    columns = list(range(graph.input_dim))

    def enclosure(low: Array, high: Array) -> Enclosure:
        checkpoint()
        with ctx.workprec(BITS):
            box = [arb(a).union(arb(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
            found = _ends(enclosed_on_box(graph, box, columns)[1])
        return Enclosure(*found, _halves(low, high), size_between(*found, norm))

    if graph.input_dim <= MOST_INPUTS:
        with suppress(OutOfTime, UnsupportedModel), until(deadline):
            above, below = by_parts(ball.box, enclosure, lambda *_: True, norm, Deadline(deadline.left() / 2))
    upper = Bracket(most, End(max(above, float(most)), SECANTS if above < np.inf else NOTHING))
    return upper, Bracket(End(min(below, float(least)), ONE_MATRIX if below > 0 else NOTHING), least)


def _ends(matrix: arb_mat) -> tuple[Array, Array]:
    """Floats below and above; what is no number says nothing."""
    rows = matrix.tolist()
    low, high = (np.array([[float(getattr(v, name)()) for v in row] for row in rows]) for name in ("lower", "upper"))
    low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _halves(low: Array, high: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    i = int((high - low).argmax())
    left, right = high.copy(), low.copy()
    left[i] = right[i] = low[i] / 2 + high[i] / 2
    return (low, left), (right, high)


def _derivatives(graph: Graph, ball: Ball, norm: Norm, seed: int) -> tuple[End, End]:
    """A bound below of L and one above of L', at the points that floats like best."""
    if graph.input_dim > MOST_INPUTS:
        return End(0.0, NOTHING), End(np.inf, NOTHING)
    simple = lowered(graph) if first_uncertifiable(graph) is None else graph
    points = inner_points(ball, seed)
    points, matrices = _jacobians(simple, ball, points, seed)
    usable = np.isfinite(matrices).all(axis=(1, 2))
    low, high = 0.0, np.inf
    for pick, direction in ((np.argmax, long_direction), (np.argmin, short_direction)):
        tried = [(*direction(m, norm), x) for m, x in zip(matrices[usable], points[usable], strict=True)]
        if tried:
            _, v, x = tried[int(pick([size for size, _, _ in tried]))]
            below, above = _quotient(simple, x, v, norm)
            low, high = max(low, below), min(high, above)
    return End(low, DERIVATIVE if low else NOTHING), End(high, DERIVATIVE if high < np.inf else NOTHING)


def _jacobians(graph: Graph, ball: Ball, points: Array, seed: int) -> tuple[Array, Array]:
    """Points and their Jacobians in floats; by interval arithmetic, at a few, where a search has no derivatives."""
    if first_uncertifiable(graph) is None:
        setting = Setting(graph, "local", graph.output_dim, Place.of(ball))
        with np.errstate(all="ignore"):
            return points, Points(setting, seed).jacobians(points)
    try:
        found = [_middles(enclosed_jacobian(graph, x.tolist(), BITS)) for x in points[:FEW]]
    except UnsupportedModel:
        found = []
    return points[: len(found)], np.array(found).reshape(-1, graph.output_dim, graph.input_dim)


def _middles(matrix: arb_mat) -> list[list[float]]:
    return [[float(value.mid()) for value in row] for row in matrix.tolist()]


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
