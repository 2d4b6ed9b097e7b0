"""Queries answered: `sat` with points, `unsat`, `unknown` or `timed-out`.

A box whose sides are no floats is rounded outward: what holds on the larger box holds on it, and points are checked
against the sides as they are written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ircert.certification import certify, check_limits
from ircert.errors import IrcertError
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.ir.graph import Graph
from ircert.limits import Deadline
from ircert.result.result import Result
from ircert.result.stop import Cause
from ircert.vnnlib.queries import Asked, Bounds, Tensor

LEAST = 1e-3
"""Seconds for the second box, where the first took all of them."""
SMALLEST = 2.0**-1000
"""A radius for boxes that are single points."""
Values = dict[str, list[Any]]
"""The numbers of each tensor, row by row."""


@dataclass(frozen=True)
class Verdict:
    """The first line of the answer, and for `sat` the tensors with their values, as they were declared."""

    word: str
    tensors: list[Tensor]
    values: Values


def verified(asked: Asked, networks: dict[str, Graph], seconds: float | None = None) -> Verdict:
    """The answer; `networks` has those that are copies of no other, by name."""
    _fit(asked, networks)
    box = asked.box(0)
    if any(_is_empty(entry) for entry in [*box, *asked.box(1)]):
        return Verdict("unsat", [], {})
    graph = networks[asked.copies[0].root]
    other = networks[asked.copies[2].root] if asked.problem == "transform" else None
    deadline = Deadline(math.inf if seconds is None else seconds)
    check_limits(seconds, 0)
    found = Verdict("unknown", [], {})
    for low, high in _boxes(box):
        left = None if seconds is None else max(deadline.left(), LEAST)
        ball = _ball(asked, low, high)
        result = certify(graph, problem=asked.problem, other=other, time_limit=left, **ball)
        found = _verdict(asked, networks, result)
        if found.word in ("sat", "timed-out"):
            return found
        if found.word == "unsat":  # the first box holds all of the query's
            return found if (low, high) == _boxes(box)[0] else Verdict("unknown", [], {})
    return found


def _boxes(box: list[Bounds]) -> list[tuple[list[float], list[float]]]:
    """The box rounded outward and, where that is another one that is not empty, inward."""
    sides = [(Fraction(entry.low[0]), Fraction(entry.high[0])) for entry in box]
    outer = [rounded_down(low) for low, _ in sides], [rounded_up(high) for _, high in sides]
    inner = [rounded_up(low) for low, _ in sides], [rounded_down(high) for _, high in sides]
    fits = outer != inner and all(low <= high for low, high in zip(*inner, strict=True))
    return [outer, inner] if fits else [outer]


def _fit(asked: Asked, networks: dict[str, Graph]) -> None:
    wanted = {copy.root for copy in asked.copies}
    if wanted != networks.keys():
        missing, strange = sorted(wanted - networks.keys()), sorted(networks.keys() - wanted)
        what = f"the network `{missing[0]}` has no file" if missing else f"the query has no network `{strange[0]}`"
        raise IrcertError(
            what, remedy=f"give --network {' --network '.join(f'{name}=FILE' for name in sorted(wanted))}"
        )
    for copy in asked.copies:
        graph = networks[copy.root]
        for tensor, size, what in ((copy.input, graph.input_dim, "inputs"), (copy.output, graph.output_dim, "outputs")):
            if tensor.size != size:
                raise IrcertError(
                    f"`{tensor.name}` has {tensor.size} entries, but the model of `{copy.root}` {size} {what}"
                )


def _is_empty(entry: Bounds) -> bool:
    (low, has_low), (high, has_high) = entry.low, entry.high
    return low > high or (low == high and not (has_low and has_high))


def _ball(asked: Asked, low: list[float], high: list[float]) -> dict[str, Any]:
    """The box as the domain of a ball that holds it, around the single point of `pseudo`, or the middle."""
    if asked.problem == "pseudo":
        point = [Fraction(entry.low[0]) for entry in asked.box(1)]
        center = [float(value) for value in point]
        if [Fraction(value) for value in center] != point:
            raise IrcertError("the given point is no float64", remedy="write its coordinates in full")
    else:
        center = [min(max(a / 2 + b / 2, a), b) for a, b in zip(low, high, strict=True)]
    if any(not a <= c <= b for a, c, b in zip(low, center, high, strict=True)):
        raise IrcertError("the single point lies outside the box of the other")
    reach = max(max(c - a, b - c) for a, c, b in zip(low, center, high, strict=True))
    if not math.isfinite(2 * reach):
        raise IrcertError("the box is wider than floats can say", remedy="narrow it")
    return {
        "center": center,
        "radius": max(2 * reach, SMALLEST),
        "domain": {"low": low, "high": high},
        "require": "exact",
        "optimum": asked.separation is not None,
    }


def _verdict(asked: Asked, networks: dict[str, Graph], result: Result) -> Verdict:
    if result.verdict == "certified" or _is_never_so_far(asked, result):
        return Verdict("unsat", [], {})
    if result.witness is not None and (values := _assignment(asked, networks, result)) is not None:
        return Verdict("sat", asked.tensors, values)
    late = result.verdict == "unresolved" and result.stop is not None and result.stop.cause is Cause.TIME
    return Verdict("timed-out" if late else "unknown", [], {})


def _is_never_so_far(asked: Asked, result: Result) -> bool:
    """Whether no two points of the box that share an output are as far apart as is asked for."""
    found = result.optimum
    if asked.separation is None or found is None:
        return False
    bound = found.bound if found.trust == "exact" else found.proved
    return bound is not None and math.isfinite(bound) and Fraction(bound) < asked.separation


def _assignment(asked: Asked, networks: dict[str, Graph], result: Result) -> Values | None:
    """The values of all tensors, if the witness is what the query asks for, as it is written."""
    witness = result.witness
    if witness is None or witness.radii is not None:  # points that are known up to boxes alone
        return None
    points = witness.exact.x, witness.exact.y
    if not all(b.admits(v) for k, point in enumerate(points) for b, v in zip(asked.box(k), point, strict=True)):
        return None
    values: Values = {}
    for k, copy in enumerate(asked.copies):
        point = list(points[k % 2])
        values[copy.input.name], values[copy.output.name] = point, list(networks[copy.root].exact(point))
    first, second = asked.copies[-2:]
    tensors = (first.input, second.input) if asked.problem != "transform" else (first.output, second.output)
    one, other = (values[tensor.name] for tensor in tensors)
    far = max(abs(a - b) for a, b in zip(one, other, strict=True))
    return values if far > 0 and (asked.separation is None or far >= asked.separation) else None
