"""The walk that most graph passes are: copy a graph node by node, replacing what a rule says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node

# Given the new graph so far, an old node and its operands' new names: the node's new name, or None to copy it.
Rule: TypeAlias = Callable[[Builder, Node, tuple[str, ...]], str | None]


def rebuild(graph: Graph, rule: Rule) -> Graph:
    """A copy of the graph in which `rule` had its say at every node; the graph itself if nothing changed.

    Nodes that a rule adds without a name are called after the node they replace.
    """
    build = Builder(graph.input_dim, name=graph.input)
    here = {graph.input: build.input}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = tuple(here[operand] for operand in node.operands)
        build.prefix = f"{node.name}."
        replaced = rule(build, node, operands)
        here[node.name] = build.node(node.op, *operands, name=node.name) if replaced is None else replaced
    return kept_if_identical(graph, build.graph(here[graph.output]))


def kept_if_identical(before: Graph, after: Graph) -> Graph:
    """`before` itself, with its bounds, if `after` says the same with the same names, order and storage."""
    same = _same_nodes(before, after) if after.bounds is None else identical(before, after)
    return before if same else after


def identical(a: Graph, b: Graph) -> bool:
    """Whether two graphs agree in everything, names, order, storage and bounds included."""
    if a.bounds is None or b.bounds is None:
        return a.bounds is b.bounds and _same_nodes(a, b)
    return a.bounds.same_as(b.bounds) and _same_nodes(a, b)


def _same_nodes(a: Graph, b: Graph) -> bool:
    if len(a) != len(b) or a.output != b.output:
        return False
    return all(
        left.name == right.name
        and left.operands == right.operands
        and (left.op is right.op or (left.op == right.op and _storage(left) == _storage(right)))
        for left, right in zip(a.nodes, b.nodes, strict=True)
    )


def _storage(node: Node) -> list[type]:
    return [np.ndarray if isinstance(value, np.ndarray) else type(value) for value in node.op.attributes().values()]
