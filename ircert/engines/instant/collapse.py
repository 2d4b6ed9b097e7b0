"""Radius 0: directions in which the network does not change, at the centre or next to it.

Next to c lies a full-dimensional linear region R with c in its closure. If f has a kernel direction v on R, then f(x) =
f(x + t v) for points x of R arbitrarily close to c and small t > 0: no ball around c is good. For `pseudo` the
segment has to start in c itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np

from ircert.bounds.center_region import center_region
from ircert.engines.base import Question, free_inputs
from ircert.engines.instant.cones import cone_direction
from ircert.engines.instant.derivatives import work
from ircert.engines.instant.directions import Direction, Neighbourhood, Vector
from ircert.engines.instant.reach import reach_exponent
from ircert.engines.instant.still import still_direction
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Mask
from ircert.ir.graph import Graph

Pair = tuple[Vector, Vector]

TRIES = 3
"""Linear regions next to the centre that are looked at, where it lies on a kink …"""
LARGE = 10_000_000
"""… but one of networks with that many weights times inputs, in floats first."""


def collision_next_to_center(question: Question, graph: Graph, other: Graph | None) -> Pair | None:
    """A collision on a linear region at the centre (`local`, `transform`), or None if none was found cheaply."""
    center = exact_center(question)
    places = [Neighbourhood(g, center) for g in (graph, other) if g is not None]
    smooth = not any(len(kinks) for place in places for kinks in place.kinks.values())
    size = work(graph, len(free_inputs(question)))
    for attempt in range(1 if smooth or size >= LARGE else TRIES):
        near = places
        if not (smooth and _is_inside(question)):
            x = _inner_point(question, places, Random(question.seed + attempt))
            near = [Neighbourhood(place.graph, x) for place in places]
        if size >= LARGE and _is_regular(near[0], free_inputs(question)):
            continue
        direction = still_direction(near[0], near[1] if other is not None else None, free_inputs(question))
        if direction is not None:
            step = _step(question, near, direction)
            if step > 0:
                return near[0].x, _moved(near[0].x, direction, step)
    return None


def _is_regular(place: Neighbourhood, inputs: list[int]) -> bool:
    """Whether floats show that the network tells directions apart on the linear region of a point."""
    point = np.array([float(v) for v in place.x])
    if any(Fraction(p) != v for p, v in zip(point.tolist(), place.x, strict=True)):
        return False
    region = center_region(place.graph, point, Norm.INF, np.array(inputs))
    return region is not None and region.is_injective()


def collision_at_center(question: Question, graph: Graph) -> Pair | None:
    """A segment from the centre on which the network does not change (`pseudo`), or None if none was found cheaply."""
    center = exact_center(question)
    here = Neighbourhood(graph, center)
    sides = _sides(question)
    inside = [j for j, side in sides.items() if side == 0]
    direction = still_direction(here, None, inside) if inside else None
    found = cone_direction(here, sides, question.seed) if direction is None else (direction, here.on)
    if found is None:
        return None
    step = _step(question, [here], *found)
    return _moved(center, found[0], step), center


def exact_center(question: Question) -> Vector:
    """The centre in rationals."""
    return [Fraction(v) for v in question.center.tolist()]


def _sides(question: Question) -> dict[int, int]:
    """For each input that may move, where the centre leaves it only one way: 1 for up, -1 for down, else 0."""
    bounds = list(zip(question.center.tolist(), question.low.tolist(), question.high.tolist(), strict=True))
    return {j: int(bounds[j][0] == bounds[j][1]) - int(bounds[j][0] == bounds[j][2]) for j in free_inputs(question)}


def _is_inside(question: Question) -> bool:
    return not any(_sides(question).values())


def _inner_point(question: Question, places: Sequence[Neighbourhood], random: Random) -> Vector:
    """A point inside a linear region that has the centre in its closure, off the domain's sides."""
    center = exact_center(question)
    direction = [Fraction(0)] * len(center)
    for j, side in _sides(question).items():
        size, toss = random.randrange(1, 1024), random.random()
        direction[j] = Fraction(size if side > 0 or (side == 0 and toss < 0.5) else -size, 1024)
    limits = [r / 2 for place in places if (r := place.along(direction).reach) is not None]
    limits.append(Fraction(min(question.reach, 1.0)) / 4 / sum(abs(a) for a in direction))
    limits += [_room(question, j, a, center[j]) for j, a in enumerate(direction) if a]
    step = _power_below(min(limits))
    return [p + step * a for p, a in zip(center, direction, strict=True)]


def _step(
    question: Question, places: Sequence[Neighbourhood], direction: Direction, on: dict[str, Mask] | None = None
) -> Fraction:
    """A power of two t with x + t v well inside regions, domain and half of the ball's size."""
    x = places[0].x
    limits = [_reach(place, direction, place.on if on is None else on) for place in places]
    limits.append(Fraction(min(question.reach, 1.0)) / 4 / len(direction.inputs))
    limits += [_room(question, j, v, x[j]) for j, v in zip(direction.inputs, direction.numbers, strict=True)]
    return _power_below(min(limits))


def _reach(place: Neighbourhood, direction: Direction, on: dict[str, Mask]) -> Fraction:
    """Some t > 0 such that all neurons that are not at 0 keep their signs on [x, x + t v]."""
    exponent = reach_exponent(place, direction, on)
    if exponent is not None:
        return Fraction(2) ** exponent
    exact = place.along(direction.fractions(place.graph.input_dim)).reach
    return Fraction(1) if exact is None else exact / 2


def _room(question: Question, j: int, way: Fraction | int, at: Fraction) -> Fraction:
    """Half of what the domain leaves for steps of at most 1, in this input and to this side; at most 1."""
    side = float(question.high[j] if way > 0 else question.low[j])
    return Fraction(1) if math.isinf(side) or not way else abs(Fraction(side) - at) / 2


def _power_below(limit: Fraction) -> Fraction:
    if limit <= 0:
        return Fraction(0)
    power = Fraction(2) ** (limit.numerator.bit_length() - limit.denominator.bit_length())
    return power if power <= limit else power / 2


def _moved(x: Vector, direction: Direction, step: Fraction) -> Vector:
    moved, below = list(x), step.denominator << direction.bits
    for j, number in zip(direction.inputs, direction.numbers, strict=True):
        common = math.lcm(below, x[j].denominator)  # both are powers of two: no gcd of long numbers but one
        moved[j] = Fraction(
            step.numerator * number * (common // below) + x[j].numerator * (common // x[j].denominator), common
        )
    return moved
