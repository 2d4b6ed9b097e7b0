"""Witnesses: float pairs repaired into exact ones, and judged on the network itself.

A solver's pair (x, y) collides only up to its tolerance. Where both points keep their linear regions, f(x) = A x + a
and f(y) = B y + b are known exactly, and A x + a = B y + b is a linear system for an exact pair close by. Some
coordinates are moved to solve it in rationals; the result is believed only after the network was evaluated exactly at
both points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import nonzeros
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Relu, Select
from ircert.query import Query

Row = tuple[list[Fraction], Fraction]
"""One entry of an affine map: coefficients and constant."""


@dataclass(frozen=True)
class Witness:
    """Two points of the ball, exactly: f(x) = f(y) while x != y (or, for `transform`, g(x) != g(y))."""

    x: list[Fraction]
    y: list[Fraction]


SHRINKS = (Fraction(1), 1 - Fraction(1, 2**40), 1 - Fraction(1, 2**20), 1 - Fraction(1, 2**10))
"""Solvers return points on the ball's rim, or a little outside: pairs pulled towards the centre are tried too."""


def judge(graph: Graph, query: Query, x: Sequence[Any], y: Sequence[Any]) -> tuple[Witness | None, str]:
    """A witness near a float pair, or None, and a sentence that says why. The graph must be canonical."""
    center = [Fraction(v) for v in query.center.tolist()]
    fixed_y = query.problem == "pseudo"
    reasons = []
    for shrink in SHRINKS:
        near_x = [c + shrink * (Fraction(v) - c) for v, c in zip(x, center, strict=True)]
        near_y = center if fixed_y else [c + shrink * (Fraction(v) - c) for v, c in zip(y, center, strict=True)]
        for moving in ("x",) if fixed_y else ("x", "y", "xy"):
            pair = repaired_pair(graph, near_x, near_y, moving)
            fault = "no exact collision on these linear regions" if pair is None else refutes(graph, query, *pair)
            if pair is not None and fault is None:
                return Witness(*pair), "an exact collision lies at the pair or near it"
            reasons.append(str(fault))
    return None, "; ".join(dict.fromkeys(reasons))


def refutes(graph: Graph, query: Query, x: list[Fraction], y: list[Fraction]) -> str | None:
    """None if the pair is a counterexample in exact arithmetic; else what is missing."""
    if not query.ball.contains(x) or not query.ball.contains(y):
        return "a point lies outside the ball"
    if query.problem == "pseudo" and y != [Fraction(v) for v in query.center.tolist()]:
        return "the second point is not the centre"
    if query.problem == "transform":
        assert query.other is not None
        if list(query.other.exact(x)) == list(query.other.exact(y)):
            return "the other network does not tell the points apart"
    elif x == y:
        return "the points are equal"
    return None if list(graph.exact(x)) == list(graph.exact(y)) else "the outputs differ"


def repaired_pair(
    graph: Graph, x: list[Fraction], y: list[Fraction], moving: str
) -> tuple[list[Fraction], list[Fraction]] | None:
    """The pair with x, y or both (`moving`) moved so that the affine maps of its regions agree exactly, if they can."""
    rows, rest = [], []
    for (a, alpha), (b, beta) in zip(region_map(graph, x), region_map(graph, y), strict=True):
        rest.append(_dot(b, y) + beta - _dot(a, x) - alpha)
        rows.append((a if "x" in moving else []) + ([-v for v in b] if "y" in moving else []))
    step = solve(rows, rest)
    if step is None:
        return None
    step_x = step[: len(x)] if "x" in moving else [Fraction(0)] * len(x)
    step_y = step[-len(y) :] if "y" in moving else [Fraction(0)] * len(y)
    return [v + d for v, d in zip(x, step_x, strict=True)], [v + d for v, d in zip(y, step_y, strict=True)]


def solve(rows: list[list[Fraction]], rest: list[Fraction]) -> list[Fraction] | None:
    """Some d with rows @ d = rest, zero at all but the pivots; None if there is none.

    The largest coefficient of each row is its pivot, so that small residuals give small steps.
    """
    work = [[*row, right] for row, right in zip(rows, rest, strict=True)]
    pivots: list[tuple[int, int]] = []
    for i, row in enumerate(work):
        j = max(range(len(row) - 1), key=lambda k: abs(row[k]))
        if row[j] == 0:
            if row[-1] != 0:
                return None
            continue
        scaled = [v / row[j] for v in row]
        for k, other in enumerate(work):
            if k != i and other[j] != 0:
                work[k] = [v - other[j] * s for v, s in zip(other, scaled, strict=True)]
        work[i] = scaled
        pivots.append((i, j))
    step = [Fraction(0)] * (len(rows[0]) if rows else 0)
    for i, j in pivots:
        step[j] = work[i][-1]
    return step


def region_map(graph: Graph, x: list[Fraction]) -> list[Row]:
    """The affine map of a canonical graph on a linear region that holds x (where z = 0, the side where relu is on)."""
    size = graph.input_dim
    unit = [([Fraction(int(i == j)) for j in range(size)], Fraction(0)) for i in range(size)]
    maps: dict[str, list[Row]] = {graph.input: unit}
    for node in graph.nodes:
        if node.name != graph.input:
            maps[node.name] = _mapped(node, [maps[name] for name in node.operands], x)
    return maps[graph.output]


def _mapped(node: Node, operands: list[list[Row]], x: list[Fraction]) -> list[Row]:
    if isinstance(node.op, Affine):
        return _affine(node.op, operands[0], len(x))
    if isinstance(node.op, Relu):
        zero = ([Fraction(0)] * len(x), Fraction(0))
        return [row if _dot(row[0], x) + row[1] >= 0 else zero for row in operands[0]]
    if isinstance(node.op, Select):
        return [operands[0][i] for i in node.op.indices]
    if isinstance(node.op, Concat):
        return [row for operand in operands for row in operand]
    if isinstance(node.op, Add):
        return [_sum(list(rows)) for rows in zip(*operands, strict=True)]
    raise UnsupportedModel(f"{node.op.kind} has no linear regions here", remedy="run the pass `canonicalize` before")


def _affine(op: Affine, operand: list[Row], size: int) -> list[Row]:
    weight = nonzeros(op.weight)
    result = []
    for i, bias in enumerate(op.bias.tolist()):
        coefficients, constant = [Fraction(0)] * size, Fraction(bias)
        for k in range(weight.indptr[i], weight.indptr[i + 1]):
            w, (a, alpha) = Fraction(float(weight.data[k])), operand[weight.indices[k]]
            coefficients = [c + w * v for c, v in zip(coefficients, a, strict=True)]
            constant += w * alpha
        result.append((coefficients, constant))
    return result


def _sum(rows: list[Row]) -> Row:
    coefficients = [sum(values, Fraction(0)) for values in zip(*(row[0] for row in rows), strict=True)]
    return coefficients, sum((row[1] for row in rows), Fraction(0))


def _dot(a: list[Fraction], x: list[Fraction]) -> Fraction:
    return sum((v * w for v, w in zip(a, x, strict=True)), Fraction(0))
