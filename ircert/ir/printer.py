"""Graphs as text: one statement per node, arrays in JSON, every float by its shortest exact decimal."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Matrix, Sparse
from ircert.ir.ops import Op

if TYPE_CHECKING:
    from ircert.ir.graph import Graph, Node
    from ircert.ir.node_bounds import NodeBounds

HEADER = "ircert.ir/1"
WIDTH = 100
INDENT = "  "

# Given a node, an attribute's name and its array: the text to stand for the array, or None to write it in full.
Abbreviate: TypeAlias = "Callable[[Node, str, Matrix], str | None]"


def to_text(graph: Graph, abbreviate: Abbreviate | None = None, *, sha256: bool = False) -> str:
    """The graph's text; `abbreviate` may replace arrays (by a reference, or for display)."""
    seal = [f'sha256 "{graph.sha256}"'] if sha256 else []
    statements = [_bounded(_statement(node, abbreviate), node, graph.bounds, abbreviate) for node in graph.nodes]
    where = [] if graph.bounds is None else [_region(graph.bounds)]
    return "\n".join([HEADER, *seal, *where, "", *statements, f"return {graph.output}", ""])


def outline(graph: Graph, limit: int = 400) -> str:
    """The text with arrays of more than `limit` numbers summarised: for reading, not for parsing."""

    def shorten(node: Node, name: str, array: Matrix) -> str | None:
        stored = array.nnz if isinstance(array, csr_array) else array.size
        if stored <= limit:
            return None
        shape = "x".join(str(n) for n in array.shape)
        kind = f"sparse, {stored} nonzeros" if isinstance(array, csr_array) else "dense"
        return f"<{shape} {kind}>"

    return to_text(graph, shorten)


def _region(bounds: NodeBounds) -> str:
    """The line that says where bounds hold, with what differs from the defaults."""
    shown = {f.name: getattr(bounds.region, f.name) for f in fields(bounds.region)}
    shown = {name: value for name, value in shown.items() if value is not None and (name, value) != ("copies", 1)}
    written = ", ".join(f"{name}={json.dumps(value)}" for name, value in shown.items())
    return f"bounds on ball({written}) by {json.dumps(bounds.method)}"


def _bounded(statement: str, node: Node, bounds: NodeBounds | None, abbreviate: Abbreviate | None) -> str:
    """The statement with the node's bounds behind it, on the same line if that is not too long."""
    if bounds is None or node.name not in bounds.low:
        return statement
    sides = (("low", bounds.low[node.name]), ("high", bounds.high[node.name]))
    low, high = (_value(node, f"bounds.{side}", values, abbreviate) for side, values in sides)
    line = f"{statement} in [{low}, {high}]"
    fits = len(line) - line.rfind("\n") <= WIDTH + 1 and "\n" not in low + high
    return line if fits else f"{statement} in [\n{INDENT}{low},\n{INDENT}{high}]"


def _statement(node: Node, abbreviate: Abbreviate | None) -> str:
    arguments = [*node.operands]
    for name, value in node.op.attributes().items():
        if value is not None and not _is_default(node.op, name, value):
            arguments.append(f"{name}={_value(node, name, value, abbreviate)}")
    line = f"{node.name} = {node.op.kind}({', '.join(arguments)})"
    if "\n" not in line and len(line) <= WIDTH:
        return line
    operands = ", ".join(node.operands)
    rest = arguments[len(node.operands) :]
    first = (
        [f"{node.name} = {node.op.kind}({operands}"] if operands else [f"{node.name} = {node.op.kind}({rest.pop(0)}"]
    )
    return f",\n{INDENT}".join(first + rest) + ")"


def _is_default(op: Op, name: str, value: object) -> bool:
    """A zero bias is left out; it is what the parser puts there."""
    return name == "bias" and isinstance(value, np.ndarray) and not value.any()


def _value(node: Node, name: str, value: object, abbreviate: Abbreviate | None) -> str:
    if isinstance(value, np.ndarray | csr_array):
        short = abbreviate(node, name, value) if abbreviate else None
        return short or (_sparse(value) if isinstance(value, csr_array) else _dense(value.tolist()))
    return json.dumps(value)


def _dense(values: list[object], depth: int = 1) -> str:
    if not isinstance(values[0], list):
        return _wrapped([json.dumps(value) for value in values], depth)
    rows = [_dense(row, depth + 1) for row in values]  # type: ignore[arg-type]
    return f"[{rows[0]}]" if len(rows) == 1 and "\n" not in rows[0] else _block(rows, depth)


def _sparse(value: Sparse) -> str:
    rows, columns = value.nonzero()
    triplets = zip(rows.tolist(), columns.tolist(), value.data.tolist(), strict=True)
    return f"sparse {list(value.shape)} {_wrapped([json.dumps(triplet) for triplet in triplets], 1)}"


def _wrapped(items: list[str], depth: int) -> str:
    """[a, b, …] on one line if it fits, else filled to the width."""
    line = f"[{', '.join(items)}]"
    if len(line) <= WIDTH - len(INDENT) * depth - 10:
        return line
    lines, current = [], ""
    for item in items:
        if current and len(current) + len(item) + 2 > WIDTH - len(INDENT) * (depth + 1):
            lines.append(current)
            current = item
        else:
            current = f"{current}, {item}" if current else item
    return _block([*lines, current], depth)


def _block(lines: list[str], depth: int) -> str:
    margin = "\n" + INDENT * (depth + 1)
    return f"[{margin}{f',{margin}'.join(lines)}]"
