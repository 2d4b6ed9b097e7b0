"""fuse-affine: neighbouring linear nodes become one, wherever that is exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import vstack

from ircert.ir.arrays import Array, Matrix, freeze, identity, same_bits
from ircert.ir.build import Builder
from ircert.ir.dyadic import add, add_matrices, compose
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Select
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.rebuilding import rebuild


@dataclass(frozen=True)
class FuseAffine(GraphPass):
    """Fuse affine and select nodes with the affine or select before them, sums and concatenations of affine maps of
    one vector, nested sums and concatenations; drop identities.

    W2 (W1 x + b1) + b2 = (W2 W1) x + (W2 b1 + b2) is used only if no number of the result rounds; other pairs stay
    apart and are listed in the notes. A node with several readers is not copied into them.
    """

    name = "fuse-affine"

    def run(self, source: Graph) -> Rewrite[Graph]:
        """Repeat the walk until it changes nothing; the notes are those of the last walk."""
        current = source
        while True:
            walk = _Walk(current)
            fused = rebuild(current, walk.rule)
            if fused is current:
                return Rewrite(current, notes=tuple(walk.notes))
            current = fused


class _Walk:
    """One walk over the graph; `shared` are the new nodes with several readers, which stay as they are."""

    def __init__(self, graph: Graph) -> None:
        readers = graph.consumers
        self.shared_before = {name for name in readers if len(readers[name]) + (name == graph.output) > 1}
        self.shared: set[str] = set()
        self.notes: list[str] = []

    def rule(self, build: Builder, node: Node, operands: tuple[str, ...]) -> str:
        new = self._fused(build, node, operands) or build.node(node.op, *operands, name=node.name)
        if node.name in self.shared_before:
            self.shared.add(new)
        return new

    def _fused(self, build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
        if isinstance(node.op, Affine | Select):
            return self._chain(build, node, node.op, operands[0])
        if isinstance(node.op, Add | Concat):
            return self._gather(build, node, operands)
        return None

    def _chain(self, build: Builder, node: Node, outer: Affine | Select, operand: str) -> str | None:
        """outer(inner(x)) as one map of x."""
        if _is_identity(outer, build.size(operand)):
            return operand
        inner = build.nodes[operand]
        if operand in self.shared or not isinstance(inner.op, Affine | Select):
            return None
        (x,) = inner.operands
        if isinstance(outer, Select) and isinstance(inner.op, Select):
            return build.select(x, inner.op.indices[outer.indices], name=node.name)
        fused = compose(*_map(outer, build.size(operand)), *_map(inner.op, build.size(x)))
        if fused is None:
            self.notes.append(f"kept `{operand}` and `{node.name}` apart: their product might round")
            return None
        return build.affine(x, *fused, name=node.name)

    def _gather(self, build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
        """Flatten nested nodes of the same kind, then join affine maps of one vector."""
        flat: list[str] = []
        for operand in operands:
            inner = build.nodes[operand]
            nested = isinstance(inner.op, type(node.op)) and operand not in self.shared and operands.count(operand) == 1
            flat += inner.operands if nested else [operand]
        join = self._joined_sum if isinstance(node.op, Add) else self._joined_stack
        joined = join(build, flat)
        if len(joined) == 1:
            return joined[0]
        return None if tuple(joined) == operands else build.node(node.op, *joined, name=node.name)

    def _joined_sum(self, build: Builder, terms: list[str]) -> list[str]:
        """Affine maps of the same vector added up, each to the last one before it, where the sums are exact."""
        result: list[str] = []
        last: dict[tuple[str, ...], int] = {}
        for term in terms:
            operands = build.nodes[term].operands
            k = last.get(operands)
            pair = None if k is None else self._pair(build, result[k], term)
            total = None if pair is None else _sum(*pair)
            if k is not None and total is not None:
                result[k] = build.node(total, *operands)
            else:
                last[operands] = len(result)
                result.append(term)
        return result

    def _joined_stack(self, build: Builder, parts: list[str]) -> list[str]:
        """Neighbouring affine maps of the same vector stacked into one."""
        result = parts[:1]
        for part in parts[1:]:
            pair = self._pair(build, result[-1], part)
            if pair is None:
                result.append(part)
            else:
                result[-1] = build.node(_stack(*pair), *build.nodes[part].operands)
        return result

    def _pair(self, build: Builder, a: str, b: str) -> tuple[Affine, Affine] | None:
        """The maps of two affine nodes of the same vector that nobody else reads."""
        left, right = build.nodes[a], build.nodes[b]
        if a == b or not self.shared.isdisjoint((a, b)) or left.operands != right.operands:
            return None
        return (left.op, right.op) if isinstance(left.op, Affine) and isinstance(right.op, Affine) else None


def _sum(a: Affine, b: Affine) -> Affine | None:
    weight, bias = add_matrices(a.weight, b.weight), add(a.bias, b.bias)
    return None if weight is None or bias is None else Affine(weight, bias)


def _stack(above: Affine, below: Affine) -> Affine:
    bias = np.concatenate([above.bias, below.bias])
    if isinstance(above.weight, np.ndarray) and isinstance(below.weight, np.ndarray):
        return Affine(np.concatenate([above.weight, below.weight]), bias)
    return Affine(freeze(vstack([above.weight, below.weight], format="csr")), bias)


def _map(op: Affine | Select, size: int) -> tuple[Matrix, Array]:
    """The operation as (weight, bias)."""
    if isinstance(op, Affine):
        return op.weight, op.bias
    return identity(size)[op.indices, :], np.zeros(len(op.indices))


def _is_identity(op: Affine | Select, size: int) -> bool:
    if isinstance(op, Select):
        return len(op.indices) == size and bool(np.all(op.indices == np.arange(size)))
    return op.weight.shape == (size, size) and not op.bias.any() and same_bits(op.weight, identity(size))
