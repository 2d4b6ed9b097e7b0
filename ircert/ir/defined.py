"""Where a network has values: a reciprocal has none at 0, and logarithms, roots and powers have none somewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ircert.errors import UnsupportedModel
from ircert.ir.enclosure import enclosed_on_box
from ircert.ir.ops.smooth import Log, Power, Reciprocal, Sqrt
from ircert.ir.stem import joined

if TYPE_CHECKING:
    from flint import arb

    from ircert.ir.graph import Graph


def is_defined_on(graph: Graph, box: list[arb]) -> bool:
    """Whether all nodes of a network have values at all points of a box of balls, for sure.

    There is no logarithm, root or power, and what each reciprocal reads is enclosed without 0. It works in the
    precision that is set.
    """
    if any(isinstance(node.op, Log | Sqrt | Power) for node in graph.nodes):
        return False
    divisors = list(dict.fromkeys(node.operands[0] for node in graph.nodes if isinstance(node.op, Reciprocal)))
    if not divisors:
        return True
    try:
        values, _ = enclosed_on_box(joined(graph, divisors), box, [])
    except UnsupportedModel:  # an operation without an enclosure
        return False
    return all(value > 0 or value < 0 for value in values)
