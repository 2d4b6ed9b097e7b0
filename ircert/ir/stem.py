"""The stem of a network with curves: what is computed before the first of them, piecewise linear and exact.

Its outputs are all vectors that a curve, a product or what is computed from these reads, and the network's output where
no curve comes before it. Where the stem has one value at two points, so has the network: it computes all else from it.
"""

from __future__ import annotations

from fractions import Fraction

from ircert.ir.build import needed_nodes
from ircert.ir.enclosure import lowered
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Concat, Relu


def stem(graph: Graph) -> Graph | None:
    """The stem, or None where it holds the input itself, so that it tells all points apart."""
    graph = lowered(graph)
    parts, _ = _ends(graph)
    return None if not parts or graph.input in parts else joined(graph, parts)


def agrees(graph: Graph, x: list[Fraction], y: list[Fraction]) -> bool:
    """Whether the stem has one value at two points, exactly: then f(x) = f(y)."""
    front = stem(graph)
    return front is not None and front.exact(x).tolist() == front.exact(y).tolist()


def shares_region(graph: Graph, points: list[list[Fraction]]) -> bool:
    """Whether the stem is affine on the hull of some points: no relu of it reads numbers of both signs there."""
    graph = lowered(graph)
    _, relus = _ends(graph)
    if not relus:
        return True
    values = [joined(graph, relus).exact(point).tolist() for point in points]
    return all(min(column) >= 0 or max(column) <= 0 for column in zip(*values, strict=True))


def _ends(graph: Graph) -> tuple[list[str], list[str]]:
    """The nodes that are the outputs of the stem, and those that its relus read, without repetition."""
    late: set[str] = set()
    ends, relus = dict.fromkeys([graph.output]), dict.fromkeys("")
    for node in graph.nodes:
        if not node.op.piecewise_linear or any(name in late for name in node.operands):
            late.add(node.name)
            ends.update(dict.fromkeys(node.operands))
        elif isinstance(node.op, Relu):
            relus[node.operands[0]] = None
    return [name for name in ends if name not in late], list(relus)


def joined(graph: Graph, names: list[str]) -> Graph:
    """The graph of some nodes of a network, one after the other."""
    if len(names) == 1:
        return Graph(needed_nodes({node.name: node for node in graph.nodes}, names[0]), names[0])
    name = "stem"
    while name in graph.sizes:
        name += "_"
    nodes = {**{node.name: node for node in graph.nodes}, name: Node(name, Concat(), tuple(names))}
    return Graph(needed_nodes(nodes, name), name)
