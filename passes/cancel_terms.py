"""cancel-terms: affine maps read what their operands are made of, and what cancels there is computed no more.

relu(x) - relu(-x) is x; with relu(-x) written as relu(x) - x (merge-multiples) it is relu(x) - (relu(x) - x), and the
coefficients of relu(x) add up to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from ircert.ir.arrays import Array, Mask, Matrix, Sparse, diagonal, economical, freeze, identity, nonzeros, take_columns
from ircert.ir.build import Builder
from ircert.ir.dyadic import multiply_entrywise, shifted
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Concat, Select
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.rebuilding import kept_if_identical, rebuild
from ircert.passes.shrinking import Shrinker

Term: TypeAlias = tuple[str, Sparse]
"""A node and the matrix that it is multiplied by."""


@dataclass(frozen=True)
class CancelTerms(GraphPass):
    """Let affine maps read through concatenations, selections and affine maps where that takes no more numbers.

    Only if no number of the result rounds. Entries that nobody reads afterwards are dropped.
    """

    name = "cancel-terms"
    requires = ("canonical",)
    ensures = ("canonical",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """One walk over the graph, then only what the output still depends on."""
        changed = rebuild(source, _read_through)
        if changed is source:
            return Rewrite(source)
        return Rewrite(kept_if_identical(source, Shrinker(changed, merge=False).run()))


def _read_through(build: Builder, node: Node, operands: tuple[str, ...]) -> str | None:
    (operand, *_) = operands
    if not isinstance(node.op, Affine) or not isinstance(build.nodes[operand].op, Affine | Concat | Select):
        return None
    weight = nonzeros(node.op.weight)
    total = _Sum(build, operand, weight, node.op.bias)
    same = _counts([(operand, weight)]), _counts(_parts(build, operand, weight))
    if not total.read or _counts(total.read) in same:
        return None
    names, blocks = zip(*total.read, strict=True)
    joined = freeze(hstack(blocks, format="csr"))
    return build.affine(build.concat(*names), economical(joined), total.bias, name=node.name)


def _counts(terms: list[Term]) -> list[tuple[str, int]]:
    """How many numbers each node is multiplied by: every step takes some away, or moves them to an earlier node."""
    return sorted((name, block.nnz) for name, block in terms)


class _Sum:
    """bias + the sum of block @ node over the terms `read`, made of an affine map by expanding the latest node first.

    pending: the terms that may still be expanded, by their nodes
    """

    def __init__(self, build: Builder, operand: str, weight: Sparse, bias: Array) -> None:
        self.build, self.bias = build, bias
        self.pending = {operand: weight}
        self.read: list[Term] = []
        place = {name: k for k, name in enumerate(build.nodes)}
        while self.pending:
            name = max(self.pending, key=place.__getitem__)
            block = self.pending.pop(name)
            rest = self._expanded(name, block)
            if rest.nnz:
                self.read.append((name, rest))

    def _expanded(self, name: str, block: Sparse) -> Sparse:
        """Let the node's operands take its place; the columns for which they do not."""
        node, nothing = self.build.nodes[name], csr_array(block.shape)
        if isinstance(node.op, Concat):
            return nothing if self._take(_parts(self.build, name, block), self.bias) else block
        if not isinstance(node.op, Select | Affine):
            return block
        operand = node.operands[0]
        inner = _map(node.op, self.build.size(operand))
        if self._mapped(operand, block, *inner):
            return nothing
        simple = _signed_sums(*inner)
        part, others = _columns(block, simple), _columns(block, ~simple)
        return others if part.nnz and self._mapped(operand, part, *inner) else block

    def _mapped(self, operand: str, block: Sparse, weight: Matrix, shift: Array) -> bool:
        """Read block @ (weight @ operand + shift) from the operand, if that is exact and takes no more numbers."""
        product = multiply_entrywise(block, weight)
        bias = None if product is None else shifted(block, shift, self.bias)
        if product is None or bias is None or nonzeros(product).nnz > block.nnz:
            return False
        return self._take([(operand, nonzeros(product))], bias)

    def _take(self, terms: list[Term], bias: Array) -> bool:
        """Add terms to those that are pending, or none of them if a sum of numbers might round."""
        pending = dict(self.pending)
        for name, block in terms:
            total = _added(pending[name], block) if name in pending else block
            if total is None:
                return False
            pending[name] = total
        self.pending = {name: block for name, block in pending.items() if block.nnz}
        self.bias = bias
        return True


def _parts(build: Builder, name: str, block: Sparse) -> list[Term]:
    """The node, or the operands of a concatenation, with the columns that belong to each."""
    node = build.nodes[name]
    if not isinstance(node.op, Concat):
        return [(name, block)]
    slices = Concat.slices([build.size(operand) for operand in node.operands])
    columns = np.arange(block.shape[1])
    blocks = [nonzeros(take_columns(block, columns[place])) for place in slices]
    return list(zip(node.operands, blocks, strict=True))


def _columns(block: Sparse, chosen: Mask) -> Sparse:
    """The block with zeros in all columns that are not chosen."""
    return nonzeros(freeze(csr_array(block @ diagonal(chosen.astype(np.float64)))))


def _signed_sums(weight: Matrix, bias: Array) -> Mask:
    """Which entries of weight @ x + bias only add and subtract entries of x."""
    sparse = nonzeros(weight)
    found: Mask = bias == 0
    rows = np.repeat(np.arange(len(bias)), np.diff(sparse.indptr))
    found[rows[np.abs(sparse.data) != 1.0]] = False
    return found


def _map(op: Affine | Select, size: int) -> tuple[Matrix, Array]:
    if isinstance(op, Affine):
        return op.weight, op.bias
    return freeze(identity(size)[op.indices, :]), np.zeros(len(op.indices))


def _added(a: Sparse, b: Sparse) -> Sparse | None:
    eye = identity(a.shape[1])
    total = multiply_entrywise(freeze(hstack([a, b], format="csr")), freeze(vstack([eye, eye], format="csr")))
    return None if total is None else nonzeros(total)
