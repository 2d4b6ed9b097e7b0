"""Rows on differences h(x) - h(y) of both copies of a network, beside those of the copies themselves.

A relu at both points has D = relu(z(x)) - relu(z(y)) = λ (z(x) - z(y)) with 0 <= λ <= 1. So with d = z(x) - z(y)
between low <= 0 <= high, and the phases t of x and s of y,

    D <= high t,   D <= d - low (1 - t),   D >= low s,   D >= d - high (1 - s).

*Proof.* t = 0: relu(z(x)) = 0, so D <= 0, and D <= max(d, 0) <= d - low. t = 1: relu(z(x)) = z(x), so D <= z(x) - z(y)
= d, and D <= max(d, 0) <= high. The other two are these for y and x. Without phases they say that D lies between the
chords. Bounds of differences are propagated directly, so that what both copies have in common cancels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.interval import Intervals
from ircert.bounds.rounding import affine_interval
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Graph, Node
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine
from ircert.limits import checkpoint
from ircert.passes.copies import COPIES, copy_of
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form, exact_sum
from ircert.programs.encodings.network import LONGEST
from ircert.programs.formulations.pair import PairRows
from ircert.programs.program import Block, Origin, Sense

Interval: TypeAlias = tuple[Array, Array]
Differential: TypeAlias = Mapping[str, Interval]
"""Bounds on h(x) - h(y), by the name of the node h.x."""
LEAST = 2.0**-24
"""Bounds of differences closer to zero than this are widened to it: solvers drop coefficients that are too small."""


def twin(name: str) -> str:
    """The node of y that belongs to one of x."""
    return f"{name.removesuffix(COPIES[0])}{COPIES[1]}"


def nodes_of_x(graph: Graph) -> list[Node]:
    """The nodes of the copy at x, in order; the point itself is the first of them."""
    return [node for node in graph.nodes if copy_of(node.name)[1] == COPIES[0]]


def compared_nodes(graph: Graph) -> tuple[str, str]:
    """The nodes of x whose differences are the outputs of both points' graph: what must agree, what is measured."""
    both = (graph[graph[gap].operands[0]] for gap in graph[graph.output].operands)
    first, second = (node.operands[0] for node in both)
    return first, second


def differential_bounds(bounds: Bounds, known: Differential | None = None) -> dict[str, Interval]:
    """Bounds on the differences of all nodes of both points' graph, within those that are known."""
    walk, found = _Differential(bounds), dict[str, Interval]()
    for node in nodes_of_x(bounds.graph):
        checkpoint()
        widest = _apart(bounds, node.name)
        if node.operands != (bounds.graph.input,):
            widest = _both(widest, walk.step(node, [found[name] for name in node.operands]))
        found[node.name] = widest if known is None or node.name not in known else _both(widest, known[node.name])
    return found


def _apart(bounds: Bounds, name: str) -> Interval:
    here, there = name, twin(name)
    low = np.nextafter(bounds.low[here] - bounds.high[there], -np.inf)
    return low, np.nextafter(bounds.high[here] - bounds.low[there], np.inf)


def _both(a: Interval, b: Interval) -> Interval:
    return np.maximum(a[0], b[0]), np.minimum(a[1], b[1])


class _Differential(Intervals):
    """Bounds on differences: affine maps have no constants, and relus at most take some of a difference away."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds

    def affine(self, name: str, op: Affine, x: Interval) -> Interval:
        return affine_interval(op.weight, np.zeros(len(op.bias)), *x)

    def relu(self, name: str, x: Interval) -> Interval:
        on, off = phases(self.bounds, name)
        low, high = np.where(on, x[0], np.minimum(x[0], 0.0)), np.where(on, x[1], np.maximum(x[1], 0.0))
        return np.where(off, 0.0, low), np.where(off, 0.0, high)


def phases(bounds: Bounds, relu: str) -> tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], ...]:
    """Which neurons of a relu of x are on at both points, and which are off at both."""
    ends = [bounds.graph[name].operands[0] for name in (relu, twin(relu))]
    on = np.logical_and.reduce([bounds.low[name] >= 0 for name in ends])
    off = np.logical_and.reduce([bounds.high[name] <= 0 for name in ends])
    return on & ~off, off


class DifferenceRows(Forward[Form]):
    """Variables for differences, with the rows that tie them to both copies; `forms` has those of the nodes of x.

    read: what each relu of x reads at x less what it reads at y, in variables of their own where neurons are open
    """

    def __init__(self, build: ProgramBuilder, rows: PairRows, differential: Differential) -> None:
        self.build, self.rows, self.differential = build, rows, differential
        self.graph = rows.graph
        self.forms: dict[str, Form] = {}
        self.read: dict[str, Form] = {}
        for node in nodes_of_x(self.graph):
            checkpoint()
            if node.operands == (self.graph.input,):
                self.forms[node.name] = self._gap(node.name)
            else:
                self.forms[node.name] = self.step(node, [self.forms[name] for name in node.operands])

    def outputs(self) -> tuple[Form, Form]:
        """What must vanish, and what is measured."""
        first, second = compared_nodes(self.graph)
        return self.forms[first], self.forms[second]

    def affine(self, name: str, op: Affine, x: Form) -> Form:
        return self._variables(self.graph[name].operands[0]).mapped(op.weight, np.zeros(len(op.bias)))

    def select(self, name: str, indices: Indices, x: Form) -> Form:
        return x.take(indices)

    def concat(self, name: str, parts: list[Form]) -> Form:
        return Form.stacked(parts)

    def add(self, name: str, parts: list[Form]) -> Form:
        total = exact_sum(parts)
        if total is None:
            made = [self._variables(operand) for operand in self.graph[name].operands]
            total = made[0]
            for form in made[1:]:
                total = total.plus(form)
        return total

    def relu(self, name: str, x: Form) -> Form:
        """D between 0 and d; D = d or 0 where both phases are known."""
        difference = self._gap(name)
        on, off = phases(self.rows.bounds, name)
        fixed = np.flatnonzero(on)
        x.take(fixed).plus(difference.take(fixed), -1.0).rows(
            self.build, self._name("same", name), "=", np.zeros(len(fixed)), labels=fixed
        )
        open_ = np.flatnonzero(~(on | off))
        if len(open_):
            read = self._variables(self.graph[name].operands[0])
            self.read[name] = read
            self._open(name, read.take(open_), difference.take(open_), open_)
        return difference

    def _open(self, name: str, d: Form, difference: Form, labels: Indices) -> None:
        low, high = (side[labels] for side in self.differential[self.graph[name].operands[0]])
        low, high, zero = np.minimum(low, -LEAST), np.maximum(high, LEAST), np.zeros(len(labels))
        (t,), (s,) = self.rows.phases[name], self.rows.phases[twin(name)]
        less = difference.plus(d, -1.0)
        for kind, form, sense, rest, phase, slope in (
            ("toward.x", difference, "<=", zero, t, -high),
            ("along.x", less, "<=", -low, t, -low),
            ("toward.y", difference, ">=", zero, s, -low),
            ("along.y", less, ">=", -high, s, -high),
        ):
            tag, origin = self._name(kind, name), self._origin(name)
            form.rows(self.build, tag, cast(Sense, sense), rest, (phase, slope), origin=origin, labels=labels)

    def _variables(self, name: str) -> Form:
        """A difference in variables of its own, if it is not already made of variables that occur once."""
        form = self.forms[name]
        if not form.only_moves():
            block = self._block(name)
            form.rows(self.build, self._name("differ", name), "=", np.zeros(len(form)), (block, -1.0))
            self.forms[name] = Form.of(block)
        return self.forms[name]

    def _gap(self, name: str) -> Form:
        """What a node is at x less what it is at y, in variables of its own."""
        block, (here, there) = self._block(name), (self.rows.forms[n] for n in (name, twin(name)))
        here.plus(there, -1.0).rows(
            self.build, self._name("gap", name), "=", np.zeros(len(here)), (block, -1.0), origin=self._origin(name)
        )
        return Form.of(block)

    def _block(self, name: str) -> Block:
        low, high = self.differential[name]
        return self.build.variables(self._name("d", name), len(low), low, high, origin=self._origin(name))

    def _name(self, kind: str, name: str) -> str:
        return f"{kind}.{copy_of(name)[0][-LONGEST:]}"

    def _origin(self, name: str) -> Origin:
        return Origin(copy_of(name)[0])
