"""Certificates by structure: layers one after the other that are injective each (C-20)."""

from __future__ import annotations

import numpy as np

from ircert.checker.injective import Injective
from ircert.checker.limits import MOST_WEIGHTS, TooLong
from ircert.checker.walking import PRIME
from ircert.ir.arrays import Matrix
from ircert.ir.dyadic import decompose
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, LeakyRelu, Select

MOST_PRODUCTS = 2**31
"""Of the eliminations of all layers together: minutes."""
INCREASING = frozenset({"tanh", "sigmoid", "softplus", "softsign", "erf"})
"""Functions of each entry that are strictly increasing on the whole line."""


class Layers(Injective):
    """The claim that a network is injective on a ball, or everywhere, by its layers alone."""


def fault_of(claim: Layers) -> str | None:
    """None if every layer is injective; else the first that is not known to be."""
    graph = claim.model
    _require_few_products(graph)
    before = graph.input
    for node in graph.nodes:
        if node.operands:
            if tuple(node.operands) != (before,):
                return f"`{node.name}` does not read the layer before it alone"
            if not _injective(node, graph.sizes[before]):
                return f"the layer `{node.name}` is not seen to be injective"
            before = node.name
    return None if before == graph.output else "the output is not the last layer"


def _require_few_products(graph: Graph) -> None:
    shapes = [node.op.weight.shape for node in graph.nodes if isinstance(node.op, Affine)]
    if sum(h * w for h, w in shapes) > MOST_WEIGHTS or sum(h * w * w for h, w in shapes) > MOST_PRODUCTS:
        raise TooLong("its layers are too large, or too many, to be checked")


def _injective(node: Node, size: int) -> bool:
    op = node.op
    if isinstance(op, Affine):
        return full_column_rank(op.weight)
    if isinstance(op, LeakyRelu):
        return bool((op.slope > 0).all())
    if isinstance(op, Select):
        return set(op.indices.tolist()) == set(range(size))
    return op.kind in INCREASING


def full_column_rank(matrix: Matrix) -> bool:
    """Whether elimination modulo a prime finds a pivot for each column; then there is one over the rationals."""
    height, width = matrix.shape
    dense = matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())
    mantissas, exponents = decompose(dense.ravel())
    powers = {e: pow(2, e, PRIME) for e in set(exponents.tolist())}  # 2 has an inverse: halves are numbers there, too
    flat = [m * powers[e] % PRIME for m, e in zip(mantissas.tolist(), exponents.tolist(), strict=True)]
    return independent([flat[k : k + width] for k in range(0, height * width, width)], width)


def independent(rows: list[list[int]], width: int) -> bool:
    """Whether the columns of a matrix modulo the prime are independent there."""
    for column in range(width):
        at = next((i for i, row in enumerate(rows) if row[column]), None)
        if at is None:
            return False
        pivot = rows.pop(at)
        inverse = pow(pivot[column], -1, PRIME)
        for i, row in enumerate(rows):
            if row[column]:
                factor = row[column] * inverse % PRIME
                rows[i] = [(a - factor * b) % PRIME for a, b in zip(row, pivot, strict=True)]
    return True
