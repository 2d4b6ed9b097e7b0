"""Witnesses: float pairs repaired into exact ones (`ircert.witnesses.repair`), and judged on the network itself.

A pair is believed only after the network was evaluated exactly at both points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ircert.ir.fractions_text import short
from ircert.ir.graph import Graph
from ircert.questions.query import Query
from ircert.witnesses.agreement import outputs_agree
from ircert.witnesses.repair import repaired


@dataclass(frozen=True)
class Witness:
    """Two points of the ball, exactly: f(x) = f(y) while x != y (or, for `transform`, g(x) != g(y))."""

    x: list[Fraction]
    y: list[Fraction]

    def __repr__(self) -> str:
        return f"<exact pair near x = {short(self.x)}, y = {short(self.y)}>"


def judge(graph: Graph, query: Query, x: Sequence[Any], y: Sequence[Any]) -> tuple[Witness | None, str]:
    """A witness near a float pair, or None, and a sentence that says why. The graph must be canonical."""
    reasons = []
    for pair in repaired(graph, query, [Fraction(v) for v in x], [Fraction(v) for v in y]):
        fault = refutes(graph, query, *pair)
        if fault is None:
            return Witness(*pair), "an exact collision lies at the pair or near it"
        reasons.append(fault)
    return None, "; ".join(dict.fromkeys(reasons)) or "no exact collision on these linear regions"


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
    if any(not node.op.piecewise_linear for node in graph.nodes):
        return None if outputs_agree(graph, x, y) else "the outputs are not shown to agree"
    return None if list(graph.exact(x)) == list(graph.exact(y)) else "the outputs differ"
