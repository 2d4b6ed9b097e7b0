"""Bounds on f(x) - g(y), node by node, propagated directly and not from one bound for each network.

Both networks and their differences are walked at once, as forms of shared symbols (`forms`). For corresponding nodes

    affine maps:   (W z + b) - (W' z' + b')  =  W (z - z') + (W - W') z' + (b - b')
    activations:   a(z) - a(z')  =  λ (z - z'),  λ between the slopes of secants (`activations`)

and what cancels in them is never bounded from two sides. Each has a second form, the one of the first network minus the
one of the second; the tighter one is kept, entry by entry. Nodes without a partner are walked alone, so that networks
of different shapes have at least their symbols of the input in common.

Where points are looked at that keep to given phases, the bounds hold for those points alone; where that leaves an entry
no value, there are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.interval import Interval
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Mask, Matrix
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Curve, Relu, Select
from ircert.limits import checkpoint
from ircert.relational import intervals
from ircert.relational.activations import lines, secants, values
from ircert.relational.forms import Forms, Symbols
from ircert.relational.matching import matching
from ircert.relational.points import Points

Intervals = Mapping[str, Interval]
"""Bounds of nodes by their names: (entries,) or (boxes, entries)."""


@dataclass(frozen=True)
class Limits:
    """What is known besides: bounds of nodes of the first graph, of the second, and of differences (first's names)."""

    first: Intervals = field(default_factory=dict)
    second: Intervals = field(default_factory=dict)
    difference: Intervals = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class DifferentialBounds:
    """Low and high (boxes, entries) of what activations read and of the outputs.

    difference: by the names of the first graph's nodes; those of the outputs by that of its output
    forms:      of both outputs and of their difference
    empty:      boxes without a point that keeps to the limits
    """

    first: Intervals
    second: Intervals
    difference: Intervals
    forms: tuple[Forms, Forms, Forms]
    symbols: Symbols
    empty: Mask

    def combined(self, first: Array, second: Array, difference: Array) -> Forms:
        """Rows of linear combinations first @ f(x) + second @ g(y) + difference @ (f(x) - g(y))."""
        parts: list[tuple[Matrix, Forms]] = [
            (weight, forms)
            for weight, forms in zip((first, second, difference), self.forms, strict=True)
            if np.any(weight)
        ]
        if not parts:
            return self.symbols.numbers(np.zeros((self.symbols.points.count, len(difference))))
        return self.symbols.mapped(parts, np.zeros(len(difference)))

    def bound(self, first: Array, second: Array, difference: Array) -> Interval:
        """Bounds on such combinations, (boxes, rows)."""
        with np.errstate(all="ignore"):
            return self.symbols.ranges(self.combined(first, second, difference))


class Pair:
    """Two lowered graphs with their matching; `bounds` walks them for many boxes at once."""

    def __init__(self, first: Graph, second: Graph) -> None:
        self.first, self.second = first, second
        self.matching = matching(first, second)
        self.matched_outputs = self.matching.get(first.output) == second.output
        self._apart: dict[str, tuple[Matrix, Array]] = {}
        for name, other in self.matching.items():
            a, b = first[name].op, second[other].op
            if isinstance(a, Affine) and isinstance(b, Affine):
                self._apart[name] = _minus(a.weight, b.weight), a.bias - b.bias

    def apart(self, name: str) -> tuple[Matrix, Array]:
        """W - W' and b - b' of an affine map and its partner, each entry rounded once."""
        return self._apart[name]

    @cached_property
    def has_curves(self) -> bool:
        """Whether an activation is smooth."""
        return any(isinstance(node.op, Curve) for graph in (self.first, self.second) for node in graph.nodes)

    @cached_property
    def work(self) -> int:
        """Multiplications for one box and one symbol."""
        shapes = [n.op.weight.shape for g in (self.first, self.second) for n in g.nodes if isinstance(n.op, Affine)]
        return sum(2 * rows * columns for rows, columns in shapes)

    def bounds(self, points: Points, limits: Limits | None = None) -> DifferentialBounds:
        """The bounds at all points of boxes that keep to the limits."""
        with np.errstate(all="ignore"):
            return _Walk(self, points, limits or Limits()).run()


def differential_bounds(
    first: Graph, second: Graph, ball: Ball, *, shared: bool, limits: Limits | None = None
) -> tuple[Bounds, Bounds, dict[str, Interval]]:
    """Bounds of both lowered graphs on a ball, and of the differences of corresponding nodes, by the first's names.

    shared: both see the same point x; else the first sees x and the second y, both in the ball

    Only what activations read and the outputs are bounded; `Bounds` of other nodes are infinite.
    """
    found = Pair(first, second).bounds(Points.of(ball, 1 if shared else 2), limits)
    sides = [_as_bounds(graph, known) for graph, known in ((first, found.first), (second, found.second))]
    apart = {name: (low[0], high[0]) for name, (low, high) in found.difference.items()}
    return sides[0], sides[1], apart


def _as_bounds(graph: Graph, known: Intervals) -> Bounds:
    low, high = {}, {}
    for node in graph.nodes:
        nothing = np.full(graph.sizes[node.name], np.inf)
        low[node.name], high[node.name] = -nothing, nothing
        if node.name in known:
            low[node.name], high[node.name] = known[node.name][0][0], known[node.name][1][0]
    return Bounds(graph, low, high, "differential")


class _Walk:
    """One walk over both graphs: a node of the first, then its partner and what that needs, then their difference."""

    def __init__(self, pair: Pair, points: Points, limits: Limits) -> None:
        self.pair, self.limits = pair, limits
        self.symbols = Symbols(points)
        self.empty = points.missing_ball()
        inputs = self.symbols.inputs()
        first, second = pair.first, pair.second
        self.values: tuple[dict[str, Forms], dict[str, Forms]] = {first.input: inputs[0]}, {second.input: inputs[-1]}
        self.ranges: tuple[dict[str, Interval], dict[str, Interval]] = {}, {}
        self.apart: dict[str, Forms] = {first.input: self._input_difference(inputs)}
        self.gaps: dict[str, Interval] = {}
        graphs = first, second
        self.read = tuple(
            {n.operands[0] for n in graph.nodes if isinstance(n.op, Relu | Curve)} | {graph.output} for graph in graphs
        )

    def _input_difference(self, inputs: list[Forms]) -> Forms:
        if len(inputs) == 1:
            return self.symbols.numbers(np.zeros(inputs[0].center.shape))
        return self.symbols.added(inputs, (1.0, -1.0))

    def run(self) -> DifferentialBounds:
        first, second = self.pair.first, self.pair.second
        waiting = [node for node in second.nodes if node.operands]
        self._look(first.input, second.input)
        for node in first.nodes:
            checkpoint()
            partner = self.pair.matching.get(node.name)
            if node.operands:
                self._visit(0, node)
            if not node.operands or partner is None:
                continue
            while partner not in self.values[1]:
                self._visit(1, waiting.pop(0))
            self._difference(node, partner)
            self._look(node.name, partner)
        for node in waiting:
            checkpoint()
            self._visit(1, node)
        return self._found()

    def _found(self) -> DifferentialBounds:
        first, second = self.pair.first, self.pair.second
        ends = self.values[0][first.output], self.values[1][second.output]
        if not self.pair.matched_outputs:
            # partners elsewhere may have been matched with the output node: what counts is f - g
            self.apart[first.output] = self.symbols.added(list(ends), (1.0, -1.0))
            found = self.symbols.ranges(self.apart[first.output])
            low, high = intervals.cut(found, self.limits.difference.get(first.output))
            self.empty = self.empty | (low > high).any(axis=1)
            self.gaps[first.output] = low, np.maximum(low, high)
        forms = (*ends, self.apart[first.output])
        return DifferentialBounds(*self.ranges, self.gaps, forms, self.symbols, self.empty)

    # --- one network -------------------------------------------------------------------------------------------------

    def _visit(self, side: int, node: Node) -> None:
        """The value of a node, and its range where that is wanted."""
        values = self.values[side]
        if node.name in values:
            return
        given = [values[name] for name in node.operands]
        values[node.name] = self._step(side, node, given)
        if node.name in self.read[side]:
            limits = (self.limits.first, self.limits.second)[side]
            self._keep(side, node.name, self.symbols.ranges(values[node.name]), limits.get(node.name))

    def _step(self, side: int, node: Node, given: list[Forms]) -> Forms:
        op = node.op
        if isinstance(op, Affine):
            return self.symbols.mapped([(op.weight, given[0])], op.bias)
        if isinstance(op, Relu | Curve):
            read = self._range(side, node.operands[0])
            return self.symbols.lined(given[0], *lines(op, read), values(op, read))
        return self._moved(node, given)

    def _moved(self, node: Node, given: list[Forms]) -> Forms:
        """Operations that are the same for values and differences."""
        op = node.op
        if isinstance(op, Select):
            return given[0].take(op.indices)
        if isinstance(op, Concat):
            return self.symbols.joined(given)
        if isinstance(op, Add):
            return self.symbols.added(given)
        raise TypeError(f"{op.kind} at `{node.name}` is no operation of a lowered graph")

    def _range(self, side: int, name: str) -> Interval:
        if name not in self.ranges[side]:  # the input itself
            limits = (self.limits.first, self.limits.second)[side]
            self._keep(side, name, self.symbols.ranges(self.values[side][name]), limits.get(name))
        return self.ranges[side][name]

    def _keep(self, side: int, name: str, found: Interval, known: Interval | None) -> None:
        low, high = intervals.cut(found, known)
        self.empty = self.empty | (low > high).any(axis=1)
        self.ranges[side][name] = low, np.maximum(low, high)
        self.values[side][name] = self.values[side][name].within(self.ranges[side][name])

    # --- differences -------------------------------------------------------------------------------------------------

    def _difference(self, node: Node, partner: str) -> None:
        """The form of a node's difference: the better of the direct one and of that of both values."""
        given = [self.apart[name] for name in node.operands]
        op = node.op
        if isinstance(op, Relu | Curve):
            plain = self.symbols.added([self.values[0][node.name], self.values[1][partner]], (1.0, -1.0))
            self.apart[node.name] = self.symbols.tighter(self._secant(node, partner, given[0]), plain)
        elif isinstance(op, Affine):
            self.apart[node.name] = self._mapped(op, node.name, partner, given[0])
        else:
            self.apart[node.name] = self._moved(node, given)

    def _mapped(self, op: Affine, name: str, partner: str, given: Forms) -> Forms:
        """W (z - z') + (W - W') z' + (b - b')."""
        operand = self.pair.second[partner].operands[0]
        weight, bias = self.pair.apart(name)
        parts: list[tuple[Matrix, Forms]] = [(op.weight, given)]
        if weight.nnz if not isinstance(weight, np.ndarray) else weight.any():
            parts.append((weight, self.values[1][operand]))
        return self.symbols.mapped(parts, bias)

    def _secant(self, node: Node, partner: str, given: Forms) -> Forms:
        name, other = node.operands[0], self.pair.second[partner].operands[0]
        slope, spare = secants(node.op, self._range(0, name), self._range(1, other))
        low, high = self._gap(name)
        missed = spare * np.maximum(np.abs(low), np.abs(high))
        missed = np.where(np.isfinite(missed), missed * (1 + 2.0**-50), np.where(spare > 0, np.inf, 0.0))
        causes = self.values[0][name], self.values[1][other]
        rates = np.nextafter(slope - spare, -np.inf), np.nextafter(slope + spare, np.inf)
        interval = intervals.product(rates, (low, high))
        return self.symbols.lined(given, slope, np.zeros(slope.shape), missed, interval, causes)

    def _gap(self, name: str) -> Interval:
        if name not in self.gaps:
            self.gaps[name] = self.symbols.ranges(self.apart[name])
        return self.gaps[name]

    def _look(self, name: str, partner: str) -> None:
        """Ranges of both values and of their difference, each from the others: z = z' + (z - z')."""
        if name not in self.read[0] and partner not in self.read[1]:
            return
        one, other = self._range(0, name), self._range(1, partner)
        found = self.symbols.ranges(self.apart[name])
        gap = intervals.cut(intervals.cut(found, _sum(one, (-other[1], -other[0]))), self.limits.difference.get(name))
        self.empty = self.empty | (gap[0] > gap[1]).any(axis=1)
        gap = gap[0], np.maximum(*gap)
        self.gaps[name] = gap
        self.apart[name] = self.apart[name].within(gap)
        self._keep(0, name, one, _sum(other, gap))
        self._keep(1, partner, other, _sum(one, (-gap[1], -gap[0])))


def _sum(one: Interval, other: Interval) -> Interval:
    """Bounds on a sum, rounded outward."""
    return np.nextafter(one[0] + other[0], -np.inf), np.nextafter(one[1] + other[1], np.inf)


def _minus(a: Matrix, b: Matrix) -> Matrix:
    if isinstance(a, np.ndarray) and not isinstance(b, np.ndarray):
        b = b.toarray()
    if isinstance(b, np.ndarray) and not isinstance(a, np.ndarray):
        a = a.toarray()
    found: Matrix = a - b
    return found
