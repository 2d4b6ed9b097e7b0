"""How much the inverse of a network may stretch, by lengths of whole nodes in one norm.

A node has a number K: |u(x) - u(x')| <= K |f(x) - f(x')| for all x and x' of the ball, in one norm for both. It says
more than numbers of single entries (`inverse`) where parts keep lengths: residual blocks that contract in norm 2,
permutations, orthogonal maps (spec/lipschitz.md, L-12).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from ircert.bounds.contraction import residual
from ircert.bounds.operator_norms import Unbounded, norm_bound
from ircert.bounds.rounding import UNIT, pseudo_inverse
from ircert.exact.rounding import rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, nonzeros
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, LinearImageOp, Select
from ircert.ir.ops.smooth import Product
from ircert.limits import checkpoint
from ircert.structure.contraction import Growth
from ircert.structure.growth import GrowthInRanges
from ircert.structure.known import CONTRACTION, FORWARD, OUTPUT, Knowledge
from ircert.structure.left_inverses import groups
from ircert.structure.linear_maps import affine
from ircert.structure.range import Range
from ircert.structure.slopes import slopes_on

UP = 1 + 64 * UNIT
"""More than what a few operations on floats get wrong."""
MOST_BLOCKS = 64
"""Different blocks of a map whose spectral norms are found one by one."""


def inverse_length(knowledge: Knowledge, values: Mapping[str, Range], norm: Norm) -> float:
    """K of the input, where nodes have these ranges; infinite where none is found."""
    return _Lengths(knowledge.graph, values, norm).run(knowledge)


class _Lengths:
    """K of nodes in one norm; each rule is an inequality that holds whatever else is known."""

    def __init__(self, graph: Graph, values: Mapping[str, Range], norm: Norm) -> None:
        self.graph, self.values, self.norm = graph, values, norm
        self.found = dict.fromkeys(graph.sizes, math.inf)

    def run(self, knowledge: Knowledge) -> float:
        self.found[self.graph.output] = 1.0
        with np.errstate(all="ignore"):
            for step in knowledge.steps:
                checkpoint()
                if step.rule == OUTPUT or step.rule == FORWARD:  # what is computed forwards is bounded when it is read
                    continue
                source = self.graph[step.source]
                rule = self._contracted if step.rule == CONTRACTION else self._backward
                found = rule(source, step.node)
                if found < self.found[step.node]:
                    self.found[step.node] = found
        return self.found[self.graph.input]

    def _of(self, name: str) -> float:
        """K of a node, where it has none from those of nodes that it is computed from."""
        if self.found[name] == math.inf:
            known = {k: Fraction(value) for k, value in self.found.items() if value < math.inf}
            try:
                self.found[name] = rounded_up(GrowthInRanges(self.graph, self.values, self.norm, known).of_sum([name]))
            except Unbounded:
                return math.inf
        return self.found[name]

    def _contracted(self, total: Node, start: str) -> float:
        """k s + g(s) with g of s alone: |total| >= (k - L) |s|."""
        times, rest = total.operands.count(start), [name for name in total.operands if name != start]
        try:
            room = times - Growth(self.graph, start, frozenset(), self.norm).of_sum(rest)
        except Unbounded:
            return math.inf
        return self._of(total.name) * rounded_up(1 / room) * UP if room > 0 else math.inf

    def _backward(self, node: Node, name: str) -> float:
        op, size = node.op, self._of(node.name)
        if size == math.inf:
            return math.inf
        if isinstance(op, Affine | LinearImageOp):
            written = affine(op)
            return math.inf if written is None else size * self._left_inverse(csr_array(nonzeros(written.weight))) * UP
        if type(op) is Add:
            others = [self._of(other) for other in node.operands if other != name]
            return (size + sum(others)) / node.operands.count(name) * UP * (1 + len(others) * UNIT)
        if type(op) is Concat:
            return size
        if type(op) is Select:
            return size if len(np.unique(op.indices)) == self.graph.sizes[name] else math.inf
        if type(op) is Product:
            factor = next(other for other in node.operands if other != name)
            greatest, least = float(self.values[name].greatest.max()), float(self.values[factor].least.min())
            return (size + greatest * self._of(factor)) / least * UP if least > 0 else math.inf
        if not op.elementwise or len(node.operands) != 1:
            return math.inf
        least = float(slopes_on(op, self.values[name])[0].min())
        return size / least * UP if least > 0 else math.inf

    def _left_inverse(self, weight: csr_array) -> float:
        """A bound of the norm of a left inverse: the largest of the groups'; infinite where one has none."""
        weight = csr_array(weight, copy=True)
        weight.eliminate_zeros()
        found, columns = 0.0, 0
        for _, own, blocks in groups(weight):
            columns += own.size
            found = max(found, self._of_blocks(np.unique(blocks, axis=0)))
        return found if columns == weight.shape[1] else math.inf

    def _of_blocks(self, blocks: Array) -> float:
        """|P| / (1 - |I - P W|): d = P W d + (I - P W) d."""
        try:
            left = pseudo_inverse(blocks)
        except np.linalg.LinAlgError:
            return math.inf
        rest = residual(left, blocks, np.zeros_like(blocks))
        off = _largest(np.abs(rest.center) + rest.radius, self.norm)
        return _largest(left, self.norm) / (1 - off) * UP if off < 0.5 else math.inf


def _largest(blocks: Array, norm: Norm) -> float:
    """What no operator norm of several matrices exceeds."""
    sizes = np.abs(blocks)
    terms = 1 + 4 * max(blocks.shape[1:]) * UNIT
    rows, columns = (float(sizes.sum(axis=axis).max(initial=0.0)) * terms for axis in (2, 1))
    if norm != Norm.TWO:
        return rows if norm == Norm.INF else columns
    if len(blocks) > MOST_BLOCKS:
        return math.sqrt(rows) * math.sqrt(columns) * UP  # their product may be too small for floats, or too large
    try:
        return rounded_up(max(norm_bound(block, norm) for block in blocks))
    except Unbounded:
        return math.inf
