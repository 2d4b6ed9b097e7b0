"""Choosing an analysis by name."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ircert.bounds.bounds import Bounds
from ircert.bounds.interval import interval_bounds
from ircert.bounds.symbolic import symbolic_bounds
from ircert.geometry.ball import Ball
from ircert.ir.graph import Graph
from ircert.programs.encodings.lp_bounds import lp_bounds

Method: TypeAlias = Literal["interval", "symbolic", "lp"]


def analyse(graph: Graph, ball: Ball, method: Method = "symbolic", *, time_limit: float | None = None) -> Bounds:
    """Bounds of a canonical graph on a ball; the time limit is for `lp`, which keeps what it has when it ends."""
    if method == "interval":
        return interval_bounds(graph, ball)
    symbolic = symbolic_bounds(graph, ball)
    return symbolic if method == "symbolic" else lp_bounds(symbolic, ball, time_limit=time_limit)
