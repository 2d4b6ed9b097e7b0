"""How much the inverse of a network that is injective by structure may stretch, on the whole space or on a ball.

With each entry e that is known goes a number k_e: |e(x) - e(x')| <= k_e d for all x and x' of the ball, where d is the
norm inf of f(x) - f(x'). The rules of `known` give these numbers step by step (spec/lipschitz.md, L-9), with the ranges
and slopes that nodes have on the ball. For the inputs they say

    |x - x'| <= |k| d <= |k| |f(x) - f(x')|    in each of the norms 1, 2 and inf,

so that L' >= 1/|k|. All terms are at least 0, so that a sum of n products in floats is off by less than a factor of
1 + (n + 4) u; every result is made larger by four times that.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from ircert.bounds.operator_norms import Unbounded
from ircert.bounds.rounding import UNIT
from ircert.exact.rounding import rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, nonzeros
from ircert.ir.graph import Node
from ircert.ir.ops import Add, Affine, Concat, LinearImageOp, MaxPool, Select
from ircert.ir.ops.piecewise import Max, Min
from ircert.ir.ops.smooth import Product
from ircert.limits import checkpoint
from ircert.structure.contraction import Growth
from ircert.structure.known import CONTRACTION, FORWARD, OUTPUT, Knowledge
from ircert.structure.left_inverses import changes, larger, weighted
from ircert.structure.linear_maps import affine
from ircert.structure.range import Range
from ircert.structure.ranges import ranges
from ircert.structure.slopes import Slopes, slopes_on


def stretches(knowledge: Knowledge, ball: Range | None = None) -> Array:
    """k of the inputs, for inputs in a range; infinite where no bound is found."""
    return _Inverse(knowledge, ball).run()


class _Inverse:
    """k of all entries, by node; infinite where it is not known."""

    def __init__(self, knowledge: Knowledge, ball: Range | None) -> None:
        self.knowledge, self.graph, self.ball = knowledge, knowledge.graph, ball
        self.k = {name: np.full(size, np.inf) for name, size in self.graph.sizes.items()}

    @cached_property
    def values(self) -> dict[str, Range]:
        """Of all nodes, for these inputs."""
        return ranges(self.graph, self.ball)

    def run(self) -> Array:
        with np.errstate(all="ignore"):
            for step in self.knowledge.steps:
                checkpoint()
                if step.rule == OUTPUT:
                    self.k[step.node] = np.ones(self.graph.output_dim)
                elif step.rule == FORWARD:
                    self._take(step.node, self._forward(self.graph[step.node]))
                elif step.rule == CONTRACTION:
                    self._take(step.node, self._contracted(self.graph[step.source], step.node))
                else:
                    self._backward(self.graph[step.source], step.node)
        return self.k[self.graph.input]

    def _take(self, name: str, found: Array) -> None:
        self.k[name] = np.fmin(self.k[name], found)

    # --- forwards ----------------------------------------------------------------------------------------------------

    def _forward(self, node: Node) -> Array:
        op, given = node.op, [self.k[name] for name in node.operands]
        if isinstance(op, Affine | LinearImageOp):
            written = affine(op)
            if written is None:
                return np.full(self.graph.sizes[node.name], np.inf)
            return weighted(nonzeros(written.weight), given[0])
        if type(op) is Add:
            return larger(np.sum(given, axis=0), len(given))
        if type(op) is Concat:
            return np.concatenate(given)
        if type(op) is Select:
            return given[0][op.indices]
        if type(op) is Product:
            return self._product(node, given)
        if isinstance(op, Max | Min):
            return np.max(given, axis=0)
        if type(op) is MaxPool:
            return np.max(given[0][op.members], axis=0)
        if not op.elementwise or len(given) != 1:
            return np.full(self.graph.sizes[node.name], np.inf)
        return larger(self._slopes(node)[1] * given[0], 1)

    def _slopes(self, node: Node) -> Slopes:
        return slopes_on(node.op, self.values[node.operands[0]])

    def _product(self, node: Node, given: list[Array]) -> Array:
        """a b - a' b' = a (b - b') + (a - a') b'."""
        a, b = (self.values[name].greatest for name in node.operands)
        return larger(a * given[1] + b * given[0], 3)

    # --- backwards ---------------------------------------------------------------------------------------------------

    def _backward(self, node: Node, name: str) -> None:
        op, k = node.op, self.k[node.name]
        if isinstance(op, Affine | LinearImageOp):
            written = affine(op)
            if written is not None:
                self._take(name, changes(csr_array(nonzeros(written.weight)), k, self.k[name]))
        elif type(op) is Add:
            times = node.operands.count(name)
            others = [self.k[other] for other in node.operands if other != name]
            self._take(name, larger(np.sum([k, *others], axis=0) / times, len(others) + 2))
        elif type(op) is Concat:
            parts = Concat.slices([self.graph.sizes[other] for other in node.operands])
            for other, part in zip(node.operands, parts, strict=True):
                if other == name:
                    self._take(name, k[part])
        elif type(op) in (Select, MaxPool):
            self._take(name, self._passed(node, k))
        elif type(op) is Product:
            self._take(name, self._factor(node, name, k))
        else:
            self._take(name, larger(k / self._slopes(node)[0], 2))

    def _passed(self, node: Node, k: Array) -> Array:
        """Of entries that are passed on; of a pool, those of windows that hold one entry."""
        found = np.full(self.graph.sizes[node.operands[0]], np.inf)
        if isinstance(node.op, Select):
            np.minimum.at(found, node.op.indices, k)
        else:
            assert isinstance(node.op, MaxPool)
            single = (node.op.members == node.op.members[0]).all(axis=0)
            np.minimum.at(found, node.op.members[0][single], k[single])
        return found

    def _factor(self, node: Node, name: str, k: Array) -> Array:
        """b from p = a b: a (b - b') = (p - p') - (a - a') b'."""
        factor = next(other for other in node.operands if other != name)
        moved = larger(k + self.values[name].greatest * self.k[factor], 3)
        return larger(moved / self.values[factor].least, 2)

    def _contracted(self, total: Node, start: str) -> Array:
        """k s + g(s) with g of s alone: |total| >= (k - L) |s|, in the norm that gives least."""
        times, rest = total.operands.count(start), [name for name in total.operands if name != start]
        best, size = np.inf, self.graph.sizes[start]
        for norm in Norm:
            try:
                room = times - Growth(self.graph, start, frozenset(), norm).of_sum(rest)
            except Unbounded:
                continue
            if room > 0:
                best = min(best, length_up(self.k[total.name], norm) * rounded_up(1 / room) * (1 + 4 * UNIT))
        return np.full(size, best)


def length_up(k: Array, norm: Norm) -> float:
    """The norm of numbers that are at least 0, rounded up; in units in which no square is too small for floats."""
    size = float(k.max(initial=0.0))
    if not 0.0 < size < np.inf:
        return size
    unit = float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1))
    with np.errstate(all="ignore"):
        length = float(larger(np.array(np.linalg.norm(k / unit, ord=norm.order)), len(k) + 8))
        return float(np.nextafter(length * unit, np.inf))
