"""How much the inverse of a network that is injective by structure may stretch, on the whole space.

With each entry e that is known goes a number k_e: |e(x) - e(x')| <= k_e d for all x and x', where d is the norm inf of
f(x) - f(x'). The rules of `known` give these numbers step by step (spec/lipschitz.md, L-9). For the inputs they say

    |x - x'| <= |k| d <= |k| |f(x) - f(x')|    in each of the norms 1, 2 and inf,

so that L' >= 1/|k|. All terms are at least 0, so that a sum of n products in floats is off by less than a factor of
1 + (n + 4) u; every result is made larger by four times that.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ircert.bounds.contraction import residual
from ircert.bounds.operator_norms import Unbounded
from ircert.bounds.rounding import UNIT, pseudo_inverse
from ircert.exact.rounding import rounded_up
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, nonzeros
from ircert.ir.graph import Node
from ircert.ir.ops import Add, Affine, Concat, LinearImageOp, Select
from ircert.ir.ops.piecewise import LeakyRelu
from ircert.limits import checkpoint
from ircert.structure.contraction import Growth, slope_bound
from ircert.structure.known import CONTRACTION, FORWARD, OUTPUT, Knowledge
from ircert.structure.linear_maps import affine
from ircert.structure.linear_systems import determined

MOST = 1_000
"""Unknowns of an affine map that is inverted."""
TINY = 1e-300


def stretches(knowledge: Knowledge) -> Array:
    """k of the inputs; infinite where no bound is found."""
    return _Inverse(knowledge).run()


class _Inverse:
    """k of all entries, by node; infinite where it is not known."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge, self.graph = knowledge, knowledge.graph
        self.k = {name: np.full(size, np.inf) for name, size in self.graph.sizes.items()}

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
            return _weighted(nonzeros(written.weight), given[0])
        if type(op) is Add:
            return _up(np.sum(given, axis=0), len(given))
        if type(op) is Concat:
            return np.concatenate(given)
        if type(op) is Select:
            return given[0][op.indices]
        try:
            return _up(rounded_up(slope_bound(op)) * given[0], 1)
        except Unbounded:
            return np.full(self.graph.sizes[node.name], np.inf)

    # --- backwards ---------------------------------------------------------------------------------------------------

    def _backward(self, node: Node, name: str) -> None:
        op, k = node.op, self.k[node.name]
        if isinstance(op, Affine | LinearImageOp):
            written = affine(op)
            if written is not None:
                self._take(name, self._solved(csr_array(nonzeros(written.weight)), k, self.k[name]))
        elif type(op) is Add:
            times = node.operands.count(name)
            others = [self.k[other] for other in node.operands if other != name]
            self._take(name, _up(np.sum([k, *others], axis=0) / times, len(others) + 2))
        elif type(op) is Concat:
            for other, part in zip(
                node.operands, Concat.slices([self.graph.sizes[o] for o in node.operands]), strict=True
            ):
                if other == name:
                    self._take(name, k[part])
        elif type(op) is Select:
            found = np.full(self.graph.sizes[name], np.inf)
            np.minimum.at(found, op.indices, k)
            self._take(name, found)
        elif type(op) is LeakyRelu:
            slope = np.broadcast_to(np.minimum(op.slope, 1.0), k.shape)
            self._take(name, np.where(slope > 0, _up(k / slope, 2), np.inf))

    def _solved(self, table: csr_array, result: Array, k: Array) -> Array:
        """Of u from W u: a left inverse P of the columns that follow, in the rows that read none that does not.

        d = P r + (I - P W) d with |r| <= k of the rows + |W| k of known columns; if |I - P W| <= E with row sums of at
        most ε < 1, max d <= max |P| r / (1 - ε), and d <= |P| r + E's row sums times that.
        """
        known = np.isfinite(k)
        follow = determined(table, np.isfinite(result), known) & ~known
        if not follow.any() or follow.sum() > MOST:
            return k
        strange = np.asarray(abs(table) @ (~known & ~follow).astype(np.float64) > 0)
        rows = np.flatnonzero(np.isfinite(result) & ~strange)
        weight = csr_array(table[rows])
        weight_of_known = csr_array(weight[:, np.flatnonzero(known)])
        right = _up(result[rows] + _weighted(weight_of_known, k[known]), 2)
        dense = np.asarray(weight[:, np.flatnonzero(follow)].toarray())
        try:
            left = pseudo_inverse(dense)
            rest = residual(left, dense[None], np.zeros_like(dense)[None])
        except np.linalg.LinAlgError:
            return k
        sums = _up((np.abs(rest.center) + rest.radius)[0].sum(axis=1), dense.shape[1])
        moved = _up(np.abs(left) @ right, dense.shape[0])
        most = float(sums.max())
        if not most < 0.5:
            return k
        found = k.copy()
        found[follow] = _up(moved + sums * (moved.max() / (1 - most)), 8)
        return found

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
    """The norm of numbers that are at least 0, rounded up."""
    with np.errstate(all="ignore"):
        return float(_up(np.array(np.linalg.norm(k, ord=norm.order)), len(k) + 8))


def _weighted(weight: csr_array, k: Array) -> Array:
    """|W| k, where entries without weight do not count."""
    weight = csr_array(abs(weight))
    weight.eliminate_zeros()
    bad = np.asarray(weight @ (~np.isfinite(k)).astype(np.float64) > 0)
    return _up(np.where(bad, np.inf, np.asarray(weight @ np.where(np.isfinite(k), k, 0.0))), weight.shape[1])


def _up(values: Array, terms: int) -> Array:
    return np.asarray(values * (1 + 4 * (terms + 4) * UNIT) + TINY)
