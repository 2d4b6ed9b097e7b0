"""The rules of `spec/ir.md`, enforced where a graph is born and again between passes."""

from __future__ import annotations

import re
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING

from ircert.errors import GraphError
from ircert.ir.arrays import LARGEST, LARGEST_TOTAL
from ircert.ir.ops import Input, Op, SizeMismatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ircert.ir.graph import Graph, Node

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,199}")
SHOWN = 12


def verify(graph: Graph) -> None:
    """Raise GraphError unless the graph obeys every rule."""
    verified(graph.nodes, graph.output)
    if graph.bounds is not None:
        graph.bounds.check(graph)


def verified(nodes: tuple[Node, ...], output: str) -> tuple[tuple[Node, ...], Mapping[str, int]]:
    """The nodes in an order in which operands come first, and the size of each."""
    by_name = _named(nodes)
    _one_input(nodes)
    _operands_exist(nodes, by_name, output)
    ordered = _sorted(nodes, by_name)
    _all_needed(ordered, output)
    sizes: dict[str, int] = {}
    for node in ordered:
        sizes[node.name] = derived_size(node, sizes)
    require_total(sum(sizes.values()))
    return ordered, MappingProxyType(sizes)


def require_total(total: int) -> None:
    """Refuse graphs whose vectors together are longer than memory should hold (IR-6)."""
    if total > LARGEST_TOTAL:
        raise GraphError(
            f"its vectors have {total} entries together", rule="IR-6", remedy=f"at most {LARGEST_TOTAL} are accepted"
        )


def derived_size(node: Node, sizes: Mapping[str, int]) -> int:
    """The size of a node whose operands' sizes are known (IR-5, IR-6)."""
    count, arity = len(node.operands), node.op.arity
    if count != arity if arity is not None else count < 1:
        wanted = "at least one operand" if arity is None else f"{arity} operand{'s' * (arity != 1)}"
        raise GraphError(f"{node.op.kind} takes {wanted}, got {count}", rule="IR-5", node=node.name)
    try:
        size = node.op.size(*(sizes[operand] for operand in node.operands))
    except SizeMismatch as mismatch:
        listed = [f"`{name}` ({sizes[name]})" for name in node.operands[:SHOWN]]
        operands = ", ".join(listed) + (", …" if count > SHOWN else "")
        raise GraphError(
            f"{node.op.kind}: {mismatch}", rule="IR-6", node=node.name, remedy=f"its operands are {operands}"
        ) from None
    if size > LARGEST:
        raise GraphError(
            f"{node.op.kind}: its result has {size} entries",
            rule="IR-6",
            node=node.name,
            remedy=f"a vector has at most {LARGEST}",
        )
    return size


def _named(nodes: tuple[Node, ...]) -> dict[str, Node]:
    if not nodes:
        raise GraphError("the graph has no nodes", rule="IR-1", remedy="start with an input node")
    for node in nodes:
        if not isinstance(node.name, str) or not NAME.fullmatch(node.name):
            raise GraphError(
                f"{str(node.name)[:60]!r} is not a name",
                rule="IR-2",
                remedy="use at most 200 letters, digits, `_` and `.`, starting with a letter or `_`",
            )
        if not isinstance(node.op, Op):
            raise GraphError(f"{node.op!r} is not an operation", rule="IR-1", node=node.name)
    repeated = [name for name, count in Counter(node.name for node in nodes).items() if count > 1]
    if repeated:
        raise GraphError(
            "two nodes have this name", rule="IR-2", node=repeated[0], remedy="give every node a name of its own"
        )
    return {node.name: node for node in nodes}


def _one_input(nodes: tuple[Node, ...]) -> None:
    inputs = [node.name for node in nodes if isinstance(node.op, Input)]
    if len(inputs) != 1:
        listed = ", ".join(f"`{name}`" for name in inputs) or "none"
        raise GraphError(
            f"a graph has exactly one input node, got {listed}",
            rule="IR-1",
            remedy="join several inputs into one vector and `select` its parts",
        )


def _operands_exist(nodes: tuple[Node, ...], by_name: Mapping[str, Node], output: str) -> None:
    if output not in by_name:
        raise GraphError(f"the output `{output}` is not a node", rule="IR-3", remedy=_known(by_name))
    for node in nodes:
        for operand in node.operands:
            if operand not in by_name:
                raise GraphError(
                    f"operand `{operand}` is not a node", rule="IR-3", node=node.name, remedy=_known(by_name)
                )


def _sorted(nodes: tuple[Node, ...], by_name: Mapping[str, Node]) -> tuple[Node, ...]:
    """The given order where operands already come first; otherwise a topological order."""
    seen: set[str] = set()
    for node in nodes:
        if not seen.issuperset(node.operands):
            break
        seen.add(node.name)
    else:
        return nodes
    import networkx as nx  # only here: most graphs come sorted, and the import takes its time

    edges: nx.DiGraph = nx.DiGraph()
    edges.add_nodes_from(node.name for node in nodes)
    edges.add_edges_from((operand, node.name) for node in nodes for operand in node.operands)
    try:
        return tuple(by_name[name] for name in nx.topological_sort(edges))
    except nx.NetworkXUnfeasible:
        cycle = [str(edge[0]) for edge in nx.find_cycle(edges)]
        raise GraphError(
            f"the nodes {' -> '.join([*cycle, cycle[0]])} form a cycle",
            rule="IR-4",
            node=cycle[0],
            remedy="a graph is evaluated once; unroll recurrences",
        ) from None


def _all_needed(nodes: tuple[Node, ...], output: str) -> None:
    needed = {output}
    for node in reversed(nodes):
        if node.name in needed:
            needed.update(node.operands)
    for node in nodes:
        if node.name not in needed and not isinstance(node.op, Input):
            raise GraphError(
                "the output does not depend on it",
                rule="IR-7",
                node=node.name,
                remedy="remove it, or build the graph with `Builder`, which leaves such nodes out",
            )


def _known(by_name: Mapping[str, Node]) -> str:
    names = list(by_name)
    return "the nodes are " + ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
