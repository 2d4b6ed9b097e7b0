"""The graph of both points of a question (`dual-copy`) as rows of a program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.ir.arrays import same_bits
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Relu, Select
from ircert.passes.copies import COPIES, OTHER, copy_of, difference
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form, signed_sum
from ircert.programs.encodings.network import NetworkRows
from ircert.programs.program import Block


class PairRows(NetworkRows):
    """Writes a graph whose input is x, then y; the blocks of its node `h.x` are called after `h` and the copy x.

    point: makes the variables of a point, by its name

    Differences of outputs, which no relu reads, are sums of what both copies are made of: they take no variables.
    """

    def __init__(
        self, build: ProgramBuilder, bounds: Bounds, point: Callable[[str], Block], *, relaxed: bool = False
    ) -> None:
        self.point = point
        self.points: list[Form] = []
        self.last = _behind_relus(bounds.graph)
        super().__init__(build, bounds, Form.fixed(np.zeros(0)), relaxed=relaxed)
        self._make_points(len(COPIES))

    def _read(self, node: Node) -> list[Form]:
        """Points are made when they are first read: the variables of each stand right before those of its copy."""
        if self.graph.input in node.operands:
            size = self.graph.input_dim // len(COPIES)
            ahead = isinstance(node.op, Select) and node.op.indices.max() < size
            self._make_points(1 if ahead else len(COPIES))
        return super()._read(node)

    def _make_points(self, count: int) -> None:
        if len(self.points) < count:
            self.points += [Form.of(self.point(name)) for name in COPIES[len(self.points) : count]]
            self.forms[self.graph.input] = Form.stacked(self.points)

    def affine(self, name: str, op: Affine, x: Form) -> Form:
        """As in any graph, but for differences of outputs."""
        rows = op.weight.shape[0]
        apart = name in self.last and same_bits(op.weight, difference(rows))
        found = signed_sum(x, op.weight, op.bias) if apart else None
        return super().affine(name, op, x) if found is None else found

    def _copy_of(self, name: str) -> tuple[str, str, str]:
        prefix = OTHER if name.startswith(OTHER) else ""
        return (prefix, *copy_of(name[len(prefix) :]))


def _behind_relus(graph: Graph) -> set[str]:
    """The nodes that no relu depends on."""
    read = set[str]()
    for node in reversed(graph.nodes):
        if isinstance(node.op, Relu) or node.name in read:
            read.update(node.operands)
    return {node.name for node in graph.nodes} - read
