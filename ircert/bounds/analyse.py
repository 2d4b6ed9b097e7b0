"""Choosing an analysis by name."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ircert.bounds.bounds import Bounds
from ircert.bounds.interval import interval_bounds
from ircert.bounds.symbolic import symbolic_bounds
from ircert.ir.graph import Graph
from ircert.query import Ball

Method: TypeAlias = Literal["interval", "symbolic"]


def analyse(graph: Graph, ball: Ball, method: Method = "symbolic") -> Bounds:
    """Bounds of a canonical graph on a ball."""
    return interval_bounds(graph, ball) if method == "interval" else symbolic_bounds(graph, ball)
