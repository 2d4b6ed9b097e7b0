"""The neck of a network: the narrowest vector on the way that the whole output is computed from.

Where a neck has one value at two points, so has the network; and a neck with fewer entries than inputs is a continuous
map into a space of less dimension, which is injective on no ball.
"""

from __future__ import annotations

from ircert.ir.build import needed_nodes
from ircert.ir.enclosure import lowered
from ircert.ir.graph import Graph


def neck(graph: Graph) -> Graph | None:
    """The graph that ends with the first of the narrowest nodes that all ways from the input to the output go through;
    None where none of them has fewer entries than the output."""
    graph = lowered(graph)
    nodes = {node.name: node for node in needed_nodes({node.name: node for node in graph.nodes}, graph.output)}
    places = {name: i for i, name in enumerate(nodes)}
    last = dict.fromkeys(nodes, -1)  # who reads a node last
    for name, node in nodes.items():
        for operand in node.operands:
            last[operand] = places[name]
    best, reach = graph.output, -1  # reach: the last reader of all nodes before this one
    for name, place in places.items():
        if reach <= place and graph.sizes[name] < graph.sizes[best] and name != graph.input:
            best = name
        reach = max(reach, last[name])
    return None if best == graph.output else Graph(needed_nodes(nodes, best), best)
