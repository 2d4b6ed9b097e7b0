"""Certificates that balls of networks with curves are not good: boxes that hold a collision, and points of opposite
orientation, by interval arithmetic (C-16, C-17)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ircert.checker.collision import Collision, Integer
from ircert.checker.limits import MOST_WEIGHTS, require_few_weights
from ircert.errors import IrcertError
from ircert.ir.cost import is_affordable
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine

MOST_WORK, MOST_UNKNOWNS = 2**29, 2**9
"""Entries of all matrices of a network times the columns of a Jacobian, and unknowns: minutes (C-18)."""
MOST_ENTRIES, MOST_SLOPES, LONGEST = 2**22, 2**25, 2**14
"""Entries of all nodes, these times the columns, and bits of a number over the common denominator."""
BITS = (128, 512)
"""Of determinants: more where the first do not tell."""


@dataclass(frozen=True)
class Boxes(Collision):
    """A claim: boxes of these radii around x and y, in the ball, hold a collision."""

    x_radii: list[Integer]
    y_radii: list[Integer]


@dataclass(frozen=True)
class Turned(Collision):
    """A claim: x and y, inside the ball, have determinants of opposite signs."""


def fault_of(claim: Boxes | Turned) -> str | None:
    """None if the claim is proved; else the first thing that is wrong. ValueError if that would take too long."""
    try:
        from ircert.ir import boxed_pair, enclosure
    except ImportError as error:  # the checker needs it for these claims alone
        raise IrcertError(f"interval arithmetic is missing ({error})", remedy="pip install python-flint") from None
    try:
        _require_effort(claim, enclosure.lowered)
        if isinstance(claim, Boxes):
            return _boxes_fault(claim, boxed_pair)
        return _turned_fault(claim, enclosure.enclosed_determinant)
    except IrcertError as error:  # a network without an enclosure
        return str(error)


def _require_effort(claim: Boxes | Turned, lowered: Callable[[Graph], Graph]) -> None:
    """Refuse what would take too long, or fill the memory."""
    columns = len(claim.x)
    if isinstance(claim, Boxes):
        columns = max(1, sum(r != 0 for r in claim.x_radii + claim.y_radii))
    numbers = [claim.unit, claim.radius, *claim.center, *claim.x, *claim.y]
    numbers += [*claim.x_radii, *claim.y_radii] if isinstance(claim, Boxes) else []
    if max(number.bit_length() for number in numbers) > LONGEST or columns > MOST_UNKNOWNS:
        raise ValueError("its numbers are too long, or too many, for interval arithmetic")
    if isinstance(claim, Boxes) and not any(claim.x_radii + claim.y_radii):
        _require_exact_effort(claim)
    for graph in (claim.model, claim.other):
        if graph is None:
            continue
        require_few_weights(graph)
        core = lowered(graph)
        maps = (node.op for node in core.nodes if isinstance(node.op, Affine))
        weights, entries = sum(math.prod(op.weight.shape) for op in maps), sum(core.sizes.values())
        if weights > MOST_WEIGHTS or weights * columns > MOST_WORK:
            raise ValueError("interval arithmetic with its network is too long to be checked")
        if entries > MOST_ENTRIES or entries * columns > MOST_SLOPES:
            raise ValueError("interval arithmetic with its network takes too much room to be checked")


def _require_exact_effort(claim: Boxes) -> None:
    """Points are evaluated exactly, as far as the first curves."""
    from ircert.ir.stem import stem

    require_few_weights(claim.model)
    front = stem(claim.model)
    size = max(0, max(v.bit_length() for v in claim.x + claim.y) - claim.unit.bit_length() + 1)
    if front is not None and not is_affordable(front, claim.unit, size):
        raise ValueError("exact evaluation of its network at these points is too long to be checked")


def _boxes_fault(claim: Boxes, arithmetic: Any) -> str | None:
    sides = {"x": (claim.x, claim.x_radii), "y": (claim.y, claim.y_radii)}
    for name, (middle, radii) in sides.items():
        if any(r < 0 for r in radii):
            return f"a radius of {name} is negative"
        reach = [abs(v - c) + r for v, c, r in zip(middle, claim.center, radii, strict=True)]
        if not _length_is(claim, reach, strictly=False):
            return f"the box of {name} does not lie in the ball"
        places = zip(middle, radii, claim.low, claim.high, strict=True)
        if not all((a is None or a <= v - r) and (b is None or v + r <= b) for v, r, a, b in places):
            return f"the box of {name} does not lie in the domain"
    if claim.problem == "pseudo" and (claim.y != claim.center or any(claim.y_radii)):
        return "y is not the centre"
    parts = ([_fraction(v, claim.unit) for v in values] for values in (claim.x, claim.y, claim.x_radii, claim.y_radii))
    found: str | None = arithmetic.fault_of(claim.model, arithmetic.BoxedPair(*parts), claim.other)
    return found


def _turned_fault(claim: Turned, enclosed_determinant: Callable[..., Any]) -> str | None:
    free = [j for j, (a, b) in enumerate(zip(claim.low, claim.high, strict=True)) if a is None or b is None or a < b]
    if claim.problem != "local" or claim.model.output_dim != len(free):
        return "orientations say nothing here: they are for `local`, with as many outputs as free inputs"
    for name, point in (("x", claim.x), ("y", claim.y)):
        if not _length_is(claim, [abs(v - c) for v, c in zip(point, claim.center, strict=True)], strictly=True):
            return f"{name} does not lie in the interior of the ball"
        places = zip(point, claim.low, claim.high, strict=True)
        if not all(((a is None or a < v) and (b is None or v < b)) or a == v == b for v, a, b in places):
            return f"{name} does not lie in the interior of the domain"
    points = [[_fraction(v, claim.unit) for v in point] for point in (claim.x, claim.y)]
    for bits in BITS:
        first, second = (enclosed_determinant(claim.model, point, bits, free) for point in points)
        if (first > 0 and second < 0) or (first < 0 and second > 0):
            return None
    return "interval arithmetic does not show determinants of opposite signs"


def _length_is(claim: Collision, sizes: list[Integer], *, strictly: bool) -> bool:
    """Whether a vector with these absolute values is at most as long as the radius, or shorter."""
    if claim.norm == "2":
        length, limit = sum(d * d for d in sizes), claim.radius**2
    else:
        length, limit = (max(sizes) if claim.norm == "inf" else sum(sizes)), claim.radius
    return bool(length < limit if strictly else length <= limit)


def _fraction(value: Integer, unit: Integer) -> Fraction:
    return Fraction(int(value), int(unit))
