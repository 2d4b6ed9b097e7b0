"""Any number of inputs: bounds from enclosures of the slopes, and quotients along directions that bound them back.

For x, y in a convex body f(x) - f(y) = J (x - y), where J is a mean of the linear parts along the segment. If every
linear part lies in an interval matrix, so does J, and

    |J| bounds L,    (1 - max |I - C J|) / |C| <= L'    for any matrix C.

A derivative along a direction at one point is a limit of quotients: it bounds L below and L' above.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

import numpy as np

from ircert.analysis.lipschitz.bracket import Bracket
from ircert.analysis.lipschitz.seeing import regions_seen
from ircert.analysis.lipschitz.stretch import Span
from ircert.bounds.contraction import residual
from ircert.bounds.operator_norms import Unbounded, norm_bound, norm_estimate
from ircert.bounds.rounding import midpoint, pseudo_inverse
from ircert.engines.boxes.enclosures.secants import Secants, SlopePattern
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.trees.parts import misses, part_of
from ircert.engines.instant.directions import Neighbourhood
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import Deadline, OutOfTime, until
from ircert.questions.network import lowered
from ircert.result.radius import End

PARTS = 64
"""Into how many parts a ball is cut for its slopes, if time allows."""
POINTS = 64
"""Where derivatives are looked at in floats; the best ones are computed exactly."""

SLOPES = "an enclosure of the slopes on parts of the ball"
ONE_MATRIX = "one matrix C with |I - C J| < 1 for the slopes J of every part of the ball"
DERIVATIVE = "an exact derivative at one point"
FLAT = "fewer outputs than inputs: every linear region has a kernel"
NOTHING = "nothing is known"


def bounds(graph: Graph, ball: Ball, norm: Norm, deadline: Deadline, seed: int) -> tuple[Bracket, Bracket]:
    """(L, L') of any network, between bounds."""
    graph = lowered(graph)
    most, least = _derivatives(graph, ball, norm, deadline, seed)
    above, below = _enclosed(graph, ball, norm, deadline)
    upper = Bracket(most, End(max(above, float(most)), SLOPES))
    if graph.output_dim < graph.input_dim:
        flat = End(0.0, FLAT, Fraction(0))
        return upper, Bracket(flat, flat)
    return upper, Bracket(End(min(below, float(least)), ONE_MATRIX if below > 0 else NOTHING), least)


# --- enclosures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Enclosure:
    """An interval matrix that holds the slopes on a part of the ball, its size, and both halves of the part."""

    low: Array
    high: Array
    halves: tuple[tuple[Array, Array], tuple[Array, Array]]
    size: float
    linear: bool = False


def _enclosed(graph: Graph, ball: Ball, norm: Norm, deadline: Deadline) -> tuple[float, float]:
    setting = Setting(graph, "local", graph.output_dim, Place.of(ball))
    secants = Secants(setting)

    def enclosure(low: Array, high: Array) -> Enclosure:
        part = part_of(setting, ball.radius, low, high)
        with np.errstate(all="ignore"):
            found = secants.interval(SlopePattern(part.phases > 0, part.phases == 0))
        return Enclosure(*found, part.split(), size_between(*found, norm), not part.open)

    def is_met(low: Array, high: Array) -> bool:
        return not misses(setting, ball.radius, low, high)

    return by_parts(ball.box, enclosure, is_met, norm, deadline)


def by_parts(
    box: tuple[Array, Array],
    enclosure: Callable[[Array, Array], Enclosure],
    is_met: Callable[[Array, Array], bool],
    norm: Norm,
    deadline: Deadline,
) -> tuple[float, float]:
    """A bound above of L and one below of L': the part with the largest slopes is cut first, but no linear one."""
    order = count()
    first = enclosure(*box)
    queue = [(-first.size, next(order), first)]
    parts: list[Enclosure] = []
    while queue and len(queue) + len(parts) < PARTS and not deadline.passed():
        _, _, widest = heapq.heappop(queue)
        if widest.linear:
            parts.append(widest)
            continue
        for low, high in widest.halves:
            if is_met(low, high):
                part = enclosure(low, high)
                heapq.heappush(queue, (-part.size, next(order), part))
    parts += [part for _, _, part in queue]
    pairs = np.stack([np.stack([part.low, part.high]) for part in parts])
    below = _below(pairs, pairs.mean(axis=(0, 1)), norm) if np.isfinite(pairs).all() else 0.0
    return max(part.size for part in parts), below


def size_between(low: Array, high: Array, norm: Norm) -> float:
    """A bound of the operator norm of all matrices between two."""
    ways = [midpoint(low, high), (np.maximum(np.abs(low), np.abs(high)),)]
    try:
        # both are bounds, which take longer than an estimate of which is the smaller one
        better = min(ways, key=lambda terms: sum(norm_estimate(term, norm) for term in terms))
        return rounded_up(sum((norm_bound(term, norm) for term in better), Fraction(0)))
    except Unbounded:
        return np.inf


def _below(pairs: Array, typical: Array, norm: Norm) -> float:
    """(1 - max |I - C J|) / |C| for interval matrices (N, 2, m, n), C the pseudo-inverse of a typical one."""
    size = typical.shape[1]
    if typical.shape[0] < size:
        return 0.0
    try:
        inverse = pseudo_inverse(typical)
        worst = max(residual(inverse, *midpoint(low, high)).size(norm) for low, high in pairs)
        return 0.0 if worst >= 1 else rounded_down((1 - worst) / norm_bound(inverse, norm))
    except (np.linalg.LinAlgError, Unbounded):
        return 0.0


# --- derivatives -----------------------------------------------------------------------------------------------------


def _derivatives(graph: Graph, ball: Ball, norm: Norm, deadline: Deadline, seed: int) -> tuple[End, End]:
    """A bound below of L and one above of L', from exact derivatives at points inside the ball."""
    setting = Setting(graph, "local", graph.output_dim, Place.of(ball))
    points = inner_points(ball, seed)
    with np.errstate(all="ignore"):
        if graph.output_dim >= graph.input_dim:
            points = np.concatenate([points, _inside(ball, _shrinking(setting, ball, deadline, seed))])
        slopes = (setting.preactivations(points) > 0).astype(np.float64)
        matrices = Secants(setting).jacobians(slopes)
    usable = np.isfinite(matrices).all(axis=(1, 2))
    low, high = Fraction(0), None
    for pick, direction in ((np.argmax, long_direction), (np.argmin, short_direction)):
        tried = [(*direction(m, norm), x) for m, x in zip(matrices[usable], points[usable], strict=True)]
        if tried:
            _, v, x = tried[int(pick([size for size, _, _ in tried]))]
            found = _quotient(graph, x, v, norm)
            low, high = max(low, found.low), found.high if high is None else min(high, found.high)
    if high is None:
        return End(0.0, NOTHING), End(np.inf, NOTHING)
    return End(rounded_down(low), DERIVATIVE), End(rounded_up(high), DERIVATIVE)


def inner_points(ball: Ball, seed: int) -> Array:
    """Points inside the ball and the domain, off their borders: every direction stays inside for a while."""
    random = np.random.default_rng(seed)
    steps = random.standard_normal((POINTS, len(ball.center)))
    lengths = np.linalg.norm(steps, ord=ball.norm.order, axis=1)
    share = random.random(POINTS) ** (1 / len(ball.center))
    low, high = ball.box
    points = np.clip(ball.center + ball.radius * (share / lengths)[:, None] * steps, low, high)
    most = ball.radius / (4 * len(ball.center))
    inner = ball.center + np.clip((low / 2 + high / 2) - ball.center, -most, most)
    points = 0.875 * points + 0.125 * inner
    return _inside(ball, points)


def _shrinking(setting: Setting, ball: Ball, deadline: Deadline, seed: int) -> Array:
    """Points of linear regions that shrink most; none where time is over."""
    try:
        with until(deadline):
            return regions_seen(Points(setting, seed), ball.radius).points[:POINTS]
    except OutOfTime:
        return np.zeros((0, setting.size))


def _inside(ball: Ball, points: Array) -> Array:
    """Those that lie off the borders, for sure."""
    smaller = replace(ball, radius=ball.radius * (1 - 2.0**-20))
    off = np.asarray(((points > ball.low) & (points < ball.high)).all(axis=1))
    return points[[bool(o) and smaller.contains(p) for o, p in zip(off, points.tolist(), strict=True)]]


def long_direction(matrix: Array, norm: Norm) -> tuple[float, Array]:
    """About the largest quotient of a matrix, and a direction that has it."""
    if norm == "2":
        _, sizes, rows = np.linalg.svd(matrix)
        return float(sizes[0]), rows[0]
    sums = np.abs(matrix).sum(axis=1 if norm == "inf" else 0)
    i = int(sums.argmax())
    return float(sums[i]), np.where(matrix[i] < 0, -1.0, 1.0) if norm == "inf" else np.eye(matrix.shape[1])[i]


def short_direction(matrix: Array, norm: Norm) -> tuple[float, Array]:
    """About the smallest quotient of a matrix, and a direction that has it: a long one of its inverse."""
    _, _, rows = np.linalg.svd(matrix)
    directions = [rows[-1]]
    if norm != "2":
        inverse = pseudo_inverse(matrix)
        directions.append(inverse @ long_direction(inverse, norm)[1])
    lengths = [float(np.linalg.norm(v, ord=norm.order)) for v in directions]
    images = [float(np.linalg.norm(matrix @ v, ord=norm.order)) for v in directions]
    sizes = [image / length if length > 0 else np.inf for image, length in zip(images, lengths, strict=True)]
    i = int(np.argmin(sizes))
    return float(sizes[i]), directions[i]


def _quotient(graph: Graph, x: Array, v: Array, norm: Norm) -> Span:
    """|f'(x; v)| / |v|."""
    direction = [Fraction(t) for t in v.tolist()]
    change = Neighbourhood(graph, [Fraction(t) for t in x.tolist()]).along(direction).change
    quotient = norm.measure(change) / norm.measure(direction)
    return Span.root(quotient) if norm == "2" else Span(quotient, quotient)
