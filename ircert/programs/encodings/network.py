"""A copy of a network as rows: affine maps move coefficients, each open relu takes one binary.

For a relu y = max(0, z) with l <= z <= u (bounds that hold on the ball):

    u <= 0         y = 0
    0 <= l         y = z
    l < 0 < u      y >= z,  y <= z - l (1 - t),  y <= u t,  y >= 0,  t in {0, 1}

t = 1 leaves y = z >= 0 and t = 0 leaves y = 0 >= z. A missing or infinite bound is an error, never a default big-M.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.errors import ProgramError
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Graph, Node
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine
from ircert.limits import checkpoint
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form, exact_sum
from ircert.programs.program import Block, Origin

MARGIN = 2.0**-16
"""Bounds closer to zero than this are widened to it: solvers drop coefficients that are too small."""


LONGEST = 40
"""Longer names of nodes are cut: names in files may have 100 characters."""


class NetworkRows(Forward[Form]):
    """Writes a canonical graph into a program; `forms` holds every node's value afterwards.

    preactivations: what each relu reads; phases: the binaries of its open neurons (their numbers are the labels)

    Coefficients are copies of the graph's numbers: nothing is multiplied out, and sums that would round get variables
    of their own. Right-hand sides that must round do so outward.
    """

    def __init__(self, build: ProgramBuilder, bounds: Bounds, x: Form, *, relaxed: bool = False) -> None:
        self.build = build
        self.bounds = bounds
        self.graph: Graph = bounds.graph
        self.relaxed = relaxed
        self.forms: dict[str, Form] = {self.graph.input: x}
        self.preactivations: dict[str, Form] = {}
        self.phases: dict[str, tuple[Block, ...]] = {}
        for node in self.graph.nodes:
            checkpoint()
            if node.name != self.graph.input:
                self.forms[node.name] = self.step(node, self._read(node))

    def _read(self, node: Node) -> list[Form]:
        """The values of a node's operands."""
        return [self.forms[name] for name in node.operands]

    @property
    def output(self) -> Form:
        """The network's output."""
        return self.forms[self.graph.output]

    def affine(self, name: str, op: Affine, x: Form) -> Form:
        return self._variables(self.graph[name].operands[0]).mapped(op.weight, op.bias)

    def select(self, name: str, indices: Indices, x: Form) -> Form:
        return x.take(indices)

    def concat(self, name: str, parts: list[Form]) -> Form:
        return Form.stacked(parts)

    def add(self, name: str, parts: list[Form]) -> Form:
        return exact_sum(parts) or _sum([self._variables(operand) for operand in self.graph[name].operands])

    def _variables(self, name: str) -> Form:
        """A node's value in variables of its own, if it is not already made of variables that occur once.

        Multiplying two matrices would round and fill in; new variables v with the rows v = form do neither.
        """
        form = self.forms[name]
        if form.only_moves():
            return form
        low, high = self._finite(name)
        block = self.build.variables(self._name("v", name), len(form), low, high, origin=self._origin(name))
        form.rows(
            self.build, self._name("def", name), "=", np.zeros(len(form)), (block, -1.0), origin=self._origin(name)
        )
        self.forms[name] = Form.of(block)
        return self.forms[name]

    def relu(self, name: str, x: Form) -> Form:
        low, high = self._finite(self.graph[name].operands[0])
        origin, tag, z = self._origin(name), name, x
        y = self.build.variables(
            self._name("relu", tag), len(low), np.maximum(low, 0.0), np.maximum(high, 0.0), origin=origin
        )
        self.preactivations[name] = z
        value = Form.of(y)
        active = np.flatnonzero((low >= 0) & (high > 0))
        if len(active):
            z.take(active).plus(value.take(active), -1.0).rows(
                self.build, self._name("active", tag), "=", np.zeros(len(active)), origin=origin, labels=active
            )
        open_ = np.flatnonzero((low < 0) & (high > 0))
        if len(open_):
            self._open(z.take(open_), value.take(open_), low[open_], high[open_], open_, tag, origin)
        return value

    def _open(self, z: Form, y: Form, low: Array, high: Array, labels: Indices, tag: str, origin: Origin) -> None:
        """The rows of relus whose phase is open; right-hand sides are rounded outward."""
        low, high = np.minimum(low, -MARGIN), np.maximum(high, MARGIN)
        t = self.build.variables(
            self._name("t", tag), len(low), 0.0, 1.0, integer=not self.relaxed, origin=origin, labels=labels
        )
        self.phases[tag] = (t,)
        above, zero = y.plus(z, -1.0), np.zeros(len(low))
        above.rows(self.build, self._name("above", tag), ">=", zero, origin=origin, labels=labels)
        limit = Form(above.terms, np.nextafter(above.constant + low, -np.inf))
        limit.rows(self.build, self._name("phase", tag), "<=", zero, (t, -low), origin=origin, labels=labels)
        y.rows(self.build, self._name("off", tag), "<=", zero, (t, -high), origin=origin, labels=labels)

    def _finite(self, name: str) -> tuple[Array, Array]:
        low, high = self.bounds.low[name], self.bounds.high[name]
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ProgramError(
                f"node `{name}` has no finite bounds on this ball",
                remedy="use a smaller ball; big-M values are never guessed",
            )
        return low, high

    @abstractmethod
    def _copy_of(self, name: str) -> tuple[str, str, str]:
        """What a node's blocks are called after: a prefix, the node of the network, and the copy."""

    def _name(self, kind: str, name: str) -> str:
        """A block's name: kind, node and copy; long node names are cut, and told apart by the node's number."""
        prefix, node, copy = self._copy_of(name)
        if len(node) > LONGEST:
            number = [n.name for n in self.graph.nodes].index(name)
            node = f"{node[:LONGEST]}.{number}"
        return f"{prefix}{kind}.{node}.{copy}"

    def _origin(self, name: str) -> Origin:
        _, node, copy = self._copy_of(name)
        return Origin(node, copy)


class NetworkCopy(NetworkRows):
    """Writes the graph of a network at one point, whose name `copy` is in the names of its blocks."""

    def __init__(
        self, build: ProgramBuilder, bounds: Bounds, x: Block, copy: str, *, prefix: str = "", relaxed: bool = False
    ) -> None:
        self.copy = copy
        self.prefix = prefix
        super().__init__(build, bounds, Form.of(x), relaxed=relaxed)

    def _copy_of(self, name: str) -> tuple[str, str, str]:
        return self.prefix, name, self.copy


def _sum(forms: list[Form]) -> Form:
    total = forms[0]
    for form in forms[1:]:
        total = total.plus(form)
    return total
