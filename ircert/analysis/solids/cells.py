"""The linear regions of a network of three inputs in a box, as polyhedra; in floats.

From layer to layer: every region of the layers before is cut where a neuron of the next one changes its sign on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.analysis.solids.polyhedron import FLAT, Polyhedron
from ircert.engines.boxes.linear_regions.exact_signs import determinant_sign
from ircert.errors import QueryError
from ircert.exact.linear_regions import Pattern, exact_rows
from ircert.ir.arrays import Array, Mask
from ircert.ir.graph import Graph
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine, Relu
from ircert.limits import checkpoint

MOST = 20_000
"""Regions; a picture of more shows nothing."""
CLEAR = 1e-9
"""Determinants above this share of what the rows would allow have the sign that floats give them."""


@dataclass(frozen=True, eq=False)
class Cell:
    """A linear region: f(middle + scale u) = forms @ (u, 1) for u in the solid."""

    solid: Polyhedron
    values: dict[str, Array]
    pattern: Pattern


class _Forms(Forward[Array]):
    """Affine forms over (u, 1), by rows."""

    def affine(self, name: str, op: Affine, x: Array) -> Array:
        found = np.asarray(op.weight @ x)
        found[:, -1] += op.bias
        return found


def cells(graph: Graph, start: Polyhedron, middle: Array, scale: float) -> list[Cell]:
    """The regions of a lowered graph in a polyhedron of numbers u, which stand for inputs middle + scale u."""
    walk = _Forms()
    found = [Cell(start, {graph.input: np.column_stack([scale * np.eye(3), middle])}, {})]
    first = 0
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        if isinstance(node.op, Relu):
            found = [part for cell in found for part in _cut(cell, node.name, node.operands[0], first)]
            first += graph.sizes[node.name]
            if len(found) > MOST:
                raise QueryError(
                    f"there are more than {MOST} linear regions", remedy="ask about a smaller ball, or fix an input"
                )
        else:
            for cell in found:
                cell.values[node.name] = walk.step(node, [cell.values[name] for name in node.operands])
        checkpoint()
    return found


def _cut(cell: Cell, name: str, read: str, first: int) -> list[Cell]:
    """The regions of a layer in one of the layers before it; neurons are numbered from `first`."""
    forms = cell.values[read]
    heights = cell.solid.vertices @ forms[:, :3].T + forms[:, 3]
    flat = FLAT * np.abs(forms[:, :3]).sum(axis=1)
    open_ = np.flatnonzero((heights.min(axis=0) < -flat) & (heights.max(axis=0) > flat))
    parts = [cell.solid]
    for neuron in open_.tolist():
        sides = [side for part in parts for side in part.split(forms[neuron], first + neuron)]
        parts = [side for side in sides if side is not None]
    return [_on_one_side(cell, part, name, forms) for part in parts]


def _on_one_side(cell: Cell, part: Polyhedron, name: str, forms: Array) -> Cell:
    on: Mask = part.vertices.mean(axis=0) @ forms[:, :3].T + forms[:, 3] > 0
    return Cell(part, {**cell.values, name: np.where(on[:, None], forms, 0.0)}, {**cell.pattern, name: on})


def signs(graph: Graph, found: list[Cell]) -> tuple[Array, Array]:
    """The determinants of regions (as many outputs as inputs) in floats, and their signs; exact ones where small."""
    matrices = np.array([cell.values[graph.output][:, :3] for cell in found]).reshape(-1, 3, 3)
    values = np.linalg.det(matrices)
    most = np.linalg.norm(matrices, axis=2).prod(axis=1)
    known = np.sign(values)
    for k in np.flatnonzero(np.abs(values) <= CLEAR * most).tolist():
        known[k] = determinant_sign(exact_rows(graph, found[k].pattern, graph.output).coefficients)
    return values, known
