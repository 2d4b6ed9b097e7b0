"""Which nodes of two graphs correspond: those whose difference is worth following."""

from __future__ import annotations

from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine


def matching(first: Graph, second: Graph) -> dict[str, str]:
    """Nodes of the first graph, each with one of the second that does the same to corresponding nodes.

    Affine maps correspond whatever their numbers are, other operations if they are equal. Any matching of nodes of one
    size is sound; this one takes the first that fits, in order, and matches a graph with itself node by node.
    """
    found = {first.input: second.input}
    free = [node for node in second.nodes if node.operands]
    for node in first.nodes:
        if not node.operands or any(name not in found for name in node.operands):
            continue
        partner = next((other for other in free if _corresponds(first, second, node, other, found)), None)
        if partner is not None:
            found[node.name] = partner.name
            free.remove(partner)
    return found


def _corresponds(first: Graph, second: Graph, node: Node, other: Node, found: dict[str, str]) -> bool:
    if type(node.op) is not type(other.op) or first.sizes[node.name] != second.sizes[other.name]:
        return False
    if tuple(found[name] for name in node.operands) != other.operands:
        return False
    return isinstance(node.op, Affine) or node.op == other.op
