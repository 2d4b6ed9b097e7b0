"""Certificates of collisions: two points that a network does not tell apart, by exact evaluation (C-4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ircert.errors import IrcertError
from ircert.ir.cost import is_affordable
from ircert.ir.evaluate import exact_values
from ircert.ir.graph import Graph
from ircert.ir.rational import Rationals, integer_array

Integer = Any  # of `integer_type`: products of long ones are quick


@dataclass(frozen=True)
class Collision:
    """A certificate's claim: a collision x, y in the closed ball of `radius` around `center`, cut with a box.

    Numbers are integers over one denominator, `unit`; None is a side of the box that does not bind.
    """

    problem: str
    norm: str
    unit: Integer
    center: list[Integer]
    radius: Integer
    low: list[Integer | None]
    high: list[Integer | None]
    x: list[Integer]
    y: list[Integer]
    model: Graph
    other: Graph | None


def fault_of(claim: Collision) -> str | None:
    """None if the collision is one, in exact arithmetic; else the first thing that is wrong."""
    for name, point in (("x", claim.x), ("y", claim.y)):
        if not _in_ball(point, claim):
            return f"{name} lies outside the ball"
        if not _in_box(point, claim):
            return f"{name} lies outside the domain"
    if claim.problem == "pseudo" and claim.y != claim.center:
        return "y is not the centre"
    if claim.other is None and claim.x == claim.y:
        return "x and y are the same point"
    try:
        if not _agree(claim.model, claim):
            return "the outputs differ"
        if claim.other is not None and _agree(claim.other, claim):
            return "the other network does not tell the points apart"
    except IrcertError as error:  # a network without exact evaluation
        return str(error)
    return None


def _in_ball(point: list[Integer], claim: Collision) -> bool:
    offsets = [abs(v - c) for v, c in zip(point, claim.center, strict=True)]
    if claim.norm == "2":
        return bool(sum(d * d for d in offsets) <= claim.radius**2)
    return bool((max(offsets) if claim.norm == "inf" else sum(offsets)) <= claim.radius)


def _in_box(point: list[Integer], claim: Collision) -> bool:
    sides = zip(point, claim.low, claim.high, strict=True)
    return all((a is None or a <= v) and (b is None or v <= b) for v, a, b in sides)


def _agree(graph: Graph, claim: Collision) -> bool:
    """Whether a network has the same output at x and y."""
    p, q = (exact_values(graph, Rationals(integer_array(v), claim.unit)) for v in (claim.x, claim.y))
    pairs = zip(p.numerators, q.numerators, strict=True)
    return all(a * q.denominator == b * p.denominator for a, b in pairs)


def require_effort(claim: Collision) -> None:
    """Refuse networks whose exact evaluation at x and y would be endless, or fill the memory."""
    size = max(0, max(v.bit_length() for v in claim.x + claim.y) - claim.unit.bit_length() + 1)
    for graph in (claim.model, claim.other):
        if graph is not None and not is_affordable(graph, claim.unit, size):
            raise ValueError("exact evaluation of its network at these points is too long to be checked")
