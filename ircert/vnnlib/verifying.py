"""Queries answered: `sat` with points, `unsat`, `unknown` or `timed-out`.

A box or ball that is none of floats is rounded outward: what holds on the larger one holds on it, and points are
checked against what is written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ircert.answering import check_limits
from ircert.certification import certify
from ircert.errors import IrcertError
from ircert.ir.graph import Graph
from ircert.limits import Deadline
from ircert.result.result import Result
from ircert.result.stop import Cause
from ircert.vnnlib.places import places
from ircert.vnnlib.queries import Asked, Bounds, Tensor

LEAST = 1e-3
"""Seconds for the second box, where the first took all of them."""
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
    if any(_is_empty(entry) for entry in [*asked.box(0), *asked.box(1)]):
        return Verdict("unsat", [], {})
    graph = networks[asked.copies[0].root]
    other = networks[asked.copies[2].root] if asked.problem == "transform" else None
    deadline = Deadline(math.inf if seconds is None else seconds)
    check_limits(seconds, 0)
    found = Verdict("unknown", [], {})
    for number, place in enumerate(places(asked)):
        left = None if seconds is None else max(deadline.left(), LEAST)
        result = certify(graph, problem=asked.problem, other=other, time_limit=left, require="exact", **place)
        found = _verdict(asked, networks, result)
        if found.word in ("sat", "timed-out"):
            return found
        if found.word == "unsat":  # the first place holds all of the query's
            return found if number == 0 else Verdict("unknown", [], {})
    return found


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
    if any(not ball.contains(points[k]) for k in (0, 1) if (ball := asked.ball(k)) is not None):
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
