"""Global injectivity without search: the network as a chain of blocks, each close to a linear map.

On a block write relu(z) = z/2 + |z|/2. Then f(x) = L x + sum_k G_k a_k(x) + constant with a_k = |z_k|/2, which is
Lipschitz with a constant r_k that follows from the same expansion of z_k. If some C has

    |I - C L| + sum_k |C G_k| r_k < 1

in one operator norm, then |C (f(x) - f(y))| >= (1 - q) |x - y|: the block is injective on the whole space. For x + g(x)
with Lip(g) < 1 (residual networks) this always holds. All matrices are floats that carry a bound on their error.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ircert.bounds.operator_norms import Unbounded, any_norm_bound, norm_bound, norm_estimate, product, rough_product
from ircert.bounds.rounding import TINY, pseudo_inverse, slack
from ircert.engines.instant.cuts import between, cuts
from ircert.engines.instant.derivatives import dense, entries
from ircert.exact.residues import has_full_rank
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Graph
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine
from ircert.limits import checkpoint

Term: TypeAlias = tuple[Array, Fraction]
"""A matrix, and a bound on the norm of its error."""
Expansion: TypeAlias = dict[str, Term]
"""A node's value: terms by what they multiply, the block's input or the residual |z|/2 of a relu."""

WIDEST = 192
LARGEST = 1 << 22
"""Numbers of a matrix whose rank is found at once."""
LONGEST_BLOCK = 6
"""How many cuts one block may span."""


def is_injective(graph: Graph) -> bool:
    """Whether a canonical graph is injective on the whole space, by this argument; False says nothing."""
    marks = cuts(graph)
    possible = _possible_blocks(graph, marks)
    return _is_joined(len(marks), lambda i, j: (i, j) in possible) and _is_joined(
        len(marks), lambda i, j: (i, j) in possible and _block_is_injective(graph, marks[i], marks[j])
    )


def _is_joined(count: int, is_good: Callable[[int, int], bool]) -> bool:
    """Whether good blocks lead from the first of so many cuts to the last one."""
    last = count - 1
    reached, pending = {0}, [(0, 1)]
    while pending and last not in reached:
        i, j = pending.pop()
        if j < min(i + LONGEST_BLOCK, last):
            pending.append((i, j + 1))
        if j not in reached and is_good(i, j):
            reached.add(j)
            pending.append((j, j + 1))
    return last in reached


def _possible_blocks(graph: Graph, marks: list[str]) -> set[tuple[int, int]]:
    """From which cut to which one blocks are small enough, and do not lose entries."""
    sizes = np.array([graph.sizes[node.name] for node in graph.nodes])
    place = {node.name: k for k, node in enumerate(graph.nodes)}
    found = set()
    for i, start in enumerate(marks):
        for j in range(i + 1, min(i + LONGEST_BLOCK + 1, len(marks))):
            end = marks[j]
            width = sizes[place[start] : place[end] + 1].max()
            if graph.sizes[end] >= graph.sizes[start] and (width <= WIDEST or _affine_between(graph, start, end)):
                found.add((i, j))
    return found


def _affine_between(graph: Graph, start: str, end: str) -> Affine | None:
    """The only operation of a block, if it is an affine map whose rank is found at once."""
    node = graph[end]
    one = isinstance(node.op, Affine) and node.operands == (start,) and entries(node.op.weight) <= LARGEST
    return node.op if one and isinstance(node.op, Affine) else None


def _block_is_injective(graph: Graph, start: str, end: str) -> bool:
    """Of a block that is possible."""
    op = _affine_between(graph, start, end)
    if op is not None and _has_full_rank(op):
        return True
    if max(graph.sizes[n.name] for n in between(graph, start, end)) > WIDEST:
        return False
    return any(_is_near_linear(graph, start, end, norm) for norm in Norm)


def _has_full_rank(op: Affine) -> bool:
    return has_full_rank(dense(op.weight))


def _is_near_linear(graph: Graph, start: str, end: str, norm: Norm) -> bool:
    try:
        # Without error bounds it is quick, and most blocks are far from linear.
        return all(_Block(graph, start, norm, rough=rough).distance_to_linear(end) < 1 for rough in (True, False))
    except (Unbounded, np.linalg.LinAlgError):
        return False


class _Block(Forward[Expansion]):
    """The expansions of the nodes behind `start`, in one norm; if rough, norms are estimates that prove nothing."""

    def __init__(self, graph: Graph, start: str, norm: Norm, *, rough: bool) -> None:
        self.graph = graph
        self.norm = norm
        self.norm_of = norm_estimate if rough else norm_bound
        self.product = rough_product if rough else product
        self.start = start
        self.lipschitz: dict[str, Fraction] = {start: Fraction(1)}
        self.expansions: dict[str, Expansion] = {start: {start: (np.eye(graph.sizes[start]), Fraction(0))}}

    def distance_to_linear(self, end: str) -> Fraction:
        """q as above, with C the inverse of the linear part in floats."""
        terms = self._expansion(end)
        if self.start not in terms:
            return Fraction(1)
        linear = terms[self.start][0]
        inverse = pseudo_inverse(linear)
        if not np.isfinite(inverse).all():
            raise Unbounded
        size = self.norm_of(inverse, self.norm)
        near_identity, rounding = self.product(inverse, linear)
        rest = near_identity - np.eye(len(near_identity))
        total = self.norm_of(rest, self.norm) + any_norm_bound(slack(2, np.abs(near_identity) + 1.0)) + rounding
        total += size * terms[self.start][1]
        for name, (matrix, error) in terms.items():
            checkpoint()
            if name != self.start:
                scaled, rounding = self.product(inverse, matrix)
                total += (self.norm_of(scaled, self.norm) + rounding + size * error) * self.lipschitz[name]
        return total

    def _expansion(self, name: str) -> Expansion:
        """The node's expansion; its operands first (a loop: graphs are deeper than Python's stack)."""
        pending = [name]
        while pending:
            node = self.graph[pending[-1]]
            missing = [operand for operand in node.operands if operand not in self.expansions]
            if node.name in self.expansions or not missing:
                pending.pop()
                if node.name not in self.expansions:
                    checkpoint()
                    self.expansions[node.name] = self.step(node, [self.expansions[n] for n in node.operands])
            pending += missing if node.name not in self.expansions else []
        return self.expansions[name]

    def affine(self, name: str, op: Affine, x: Expansion) -> Expansion:
        weight = dense(op.weight)
        return {key: self._times(weight, term) for key, term in x.items()}

    def select(self, name: str, indices: Indices, x: Expansion) -> Expansion:
        repeats = int(np.bincount(indices).max())
        return {key: (matrix[indices], error * repeats) for key, (matrix, error) in x.items()}

    def add(self, name: str, parts: list[Expansion]) -> Expansion:
        keys = dict.fromkeys(key for part in parts for key in part)
        return {key: _sum([part[key] for part in parts if key in part]) for key in keys}

    def _times(self, weight: Array, term: Term) -> Term:
        matrix, error = term
        result, rounding = self.product(weight, matrix)
        return result, rounding + (self.norm_of(weight, self.norm) * error if error else Fraction(0))

    def relu(self, name: str, x: Expansion) -> Expansion:
        terms = {key: (matrix / 2, error / 2 + _lost(matrix)) for key, (matrix, error) in x.items()}
        growth = ((self.norm_of(m, self.norm) + e) * self.lipschitz[key] for key, (m, e) in x.items())
        self.lipschitz[name] = sum(growth, Fraction(0)) / 2
        size = self.graph.sizes[name]
        return {**terms, name: (np.eye(size), Fraction(0))}

    def concat(self, name: str, parts: list[Expansion]) -> Expansion:
        sizes = [self.graph.sizes[operand] for operand in self.graph[name].operands]
        widths = {key: term[0].shape[1] for part in parts for key, term in part.items()}
        result = {}
        for key, width in widths.items():
            terms = [
                part[key] if key in part else (np.zeros((size, width)), Fraction(0))
                for size, part in zip(sizes, parts, strict=True)
            ]
            result[key] = (np.concatenate([matrix for matrix, _ in terms]), sum((e for _, e in terms), Fraction(0)))
        return result


def _sum(terms: list[Term]) -> Term:
    total = np.sum([matrix for matrix, _ in terms], axis=0)
    absolute = np.sum([np.abs(matrix) for matrix, _ in terms], axis=0)
    rounding = any_norm_bound(slack(len(terms), absolute)) if len(terms) > 1 else Fraction(0)
    return total, rounding + sum((error for _, error in terms), Fraction(0))


def _lost(matrix: Array) -> Fraction:
    """What halving can lose: the last bit of the smallest floats."""
    return Fraction(TINY) * max(matrix.shape)
