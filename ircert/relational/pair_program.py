"""The program of two networks side by side: each with its relus, and rows about their differences.

With phases t of the first and s of the second, a and a' what a relu and its partner give, z and z' what they read, and
d = z - z' between L and U (differential bounds), L' = min(L, 0), U' = max(U, 0):

    a - a' >= d - U' (1 - s),   a - a' >= L' s,   a - a' <= d - L' (1 - t),   a - a' <= U' t.

Proof: min(d, 0) <= a - a' <= max(d, 0). Where s = 1, a' = z' and a >= z, so a - a' >= d; where s = 0, a' = 0 and
a - a' >= 0; the other rows say no more than L' <= min(d, 0) and d - U' <= min(d, 0) there. Likewise for t. They follow
from both relus in integers, but not in the relaxation, and with one of both phases decided they are what closes it.

Every number is a copy of one of the networks or of a bound: the program is exact but for bounds, which are rounded
outward.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.interval import Interval, interval_bounds
from ircert.errors import ProgramError
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, Indices, diagonal, identity
from ircert.ir.graph import Graph
from ircert.ir.ops import Relu
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.program import Block, Origin, Program
from ircert.relational.differential_bounds import DifferentialBounds, Intervals, Limits, Pair
from ircert.relational.points import Points


class WideCopy(NetworkCopy):
    """A network at one point whose preactivations and outputs have variables of their own: differences stay short."""

    def relu(self, name: str, x: Form) -> Form:
        return super().relu(name, self._variables(self.graph[name].operands[0]))

    def own(self, name: str) -> Form:
        """The variables of a node."""
        return self._variables(name)


@dataclass(eq=False)
class PairProgram:
    """The rows of a pair, to which others may be added before `build.program()`.

    points:  the variables of x, and of y where there are two points
    copies:  both networks
    outputs: f(x), g(y) and their difference, as variables
    gaps:    z - z' by the name of what a relu of the first reads
    """

    pair: Pair
    build: ProgramBuilder
    points: tuple[Block, ...]
    copies: tuple[WideCopy, WideCopy]
    outputs: tuple[Form, Form, Block]
    gaps: dict[str, Block] = field(default_factory=dict)

    def tightened(self, lower: Array, upper: Array, points: Points) -> tuple[Array, Array] | None:
        """Closer bounds of all variables from those given, by a walk with the phases and ranges that these say; None
        where there is no point."""
        limits, used = self._limits(lower, upper), [block.where for block in self.points]
        low = np.concatenate([lower[where] for where in used])[None]
        high = np.concatenate([upper[where] for where in used])[None]
        found = self.pair.bounds(Points(points.ball, low, high, points.copies), limits)
        if found.empty[0]:
            return None
        return self._written(lower, upper, found)

    def _limits(self, lower: Array, upper: Array) -> Limits:
        """What bounds of variables say about nodes: their own ranges, and phases that are fixed."""
        sides = []
        for copy in self.copies:
            known: dict[str, Interval] = {}
            for name in _read(copy.graph):
                known[name] = _range(copy.forms[name], lower, upper)
            for relu, phases in copy.phases.items():
                operand = copy.graph[relu].operands[0]
                low, high = known[operand]
                on, off = _decided(phases[0], lower, upper)
                low[on], high[off] = np.maximum(low[on], 0.0), np.minimum(high[off], 0.0)
            sides.append(known)
        apart = {name: (lower[b.where].copy(), upper[b.where].copy()) for name, b in self.gaps.items()}
        block = self.outputs[2]
        apart[self.pair.first.output] = lower[block.where].copy(), upper[block.where].copy()
        return Limits(sides[0], sides[1], apart)

    def _written(self, lower: Array, upper: Array, found: DifferentialBounds) -> tuple[Array, Array]:
        """Bounds of variables from those of nodes; phases that these decide are fixed."""
        lower, upper = lower.copy(), upper.copy()
        for copy, known in zip(self.copies, (found.first, found.second), strict=True):
            for name, (low, high) in known.items():
                _put(copy.forms[name], lower, upper, low[0], high[0])
            for relu, phases in copy.phases.items():
                low, high = (side[0] for side in known[copy.graph[relu].operands[0]])
                block, labels = phases[0], np.array(phases[0].labels, dtype=np.int64)
                lower[block.where] = np.maximum(lower[block.where], low[labels] >= 0)
                upper[block.where] = np.minimum(upper[block.where], high[labels] > 0)
                # at z = 0 both phases are right: what is decided twice is decided as "off"
                lower[block.where] = np.minimum(lower[block.where], upper[block.where])
        for name, block in self.gaps.items():
            low, high = found.difference[name]
            _cut(lower, upper, block, low[0], high[0])
        low, high = found.difference[self.pair.first.output]
        _cut(lower, upper, self.outputs[2], low[0], high[0])
        return lower, upper


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused by the program itself
def pair_program(pair: Pair, ball: Ball, *, shared: bool, limits: Limits | None = None) -> PairProgram:
    """Both networks at one point of a ball, or each at its own, with rows about their differences; no objective yet.

    ProgramError where there are no finite bounds, or no relus but curves.
    """
    if pair.has_curves:
        raise ProgramError("curves have no linear program", remedy="networks of relus have one")
    points = Points.of(ball, 1 if shared else 2)
    found = pair.bounds(points, limits)
    if found.empty[0]:
        raise ProgramError("no point of the ball keeps to the limits")
    build = ProgramBuilder()
    names = ("x",) if shared else ("x", "y")
    blocks = tuple(point_of_ball(build, ball, name, Origin(pair.first.input, name)) for name in names)
    tags = ("f", "g") if shared else ("x", "y")
    copies = [
        WideCopy(build, _bounds(graph, ball, known), block, tag)
        for graph, known, block, tag in zip(
            (pair.first, pair.second), (found.first, found.second), (blocks[0], blocks[-1]), tags, strict=True
        )
    ]
    made = PairProgram(pair, build, blocks, (copies[0], copies[1]), _outputs(build, pair, copies, found))
    _differences(made, found)
    return made


def _bounds(graph: Graph, ball: Ball, known: Intervals) -> Bounds:
    """Bounds of all nodes: those that were found, and intervals elsewhere."""
    low = {name: side[0][0] for name, side in known.items()}
    high = {name: side[1][0] for name, side in known.items()}
    return interval_bounds(graph, ball).tightened(low, high, "differential")


def _outputs(
    build: ProgramBuilder, pair: Pair, copies: list[WideCopy], found: DifferentialBounds
) -> tuple[Form, Form, Block]:
    ends = [copy.own(copy.graph.output) for copy in copies]
    low, high = (side[0] for side in found.difference[pair.first.output])
    gap = build.variables("gap", len(low), low, high, origin=Origin(pair.first.output))
    ends[0].plus(ends[1], -1.0).rows(build, "gap", "=", np.zeros(len(low)), (gap, -1.0))
    return ends[0], ends[1], gap


def _differences(made: PairProgram, found: DifferentialBounds) -> None:
    """The rows of corresponding relus, where a phase is open."""
    first, second = made.copies
    for node in made.pair.first.nodes:
        partner = made.pair.matching.get(node.name)
        if not isinstance(node.op, Relu) or partner is None:
            continue
        operand = node.operands[0]
        low, high = (side[0] for side in found.difference[operand])
        z = first.own(operand).plus(second.own(second.graph[partner].operands[0]), -1.0)
        if operand not in made.gaps:
            block = made.build.variables(f"d.{operand}", len(low), low, high, origin=Origin(operand))
            z.rows(made.build, f"d.{operand}", "=", np.zeros(len(low)), (block, -1.0))
            made.gaps[operand] = block
        _rows(made, node.name, partner, made.gaps[operand], np.minimum(low, 0.0), np.maximum(high, 0.0))


def _rows(made: PairProgram, name: str, partner: str, gap: Block, low: Array, high: Array) -> None:
    first, second = made.copies
    t, open_t = _phase(first, name, len(low))
    s, open_s = _phase(second, partner, len(low))
    rows: Indices = np.flatnonzero(open_t | open_s)
    if not len(rows):
        return
    apart = first.forms[name].plus(second.forms[partner], -1.0).take(rows)
    d, t, s, low, high = Form.of(gap).take(rows), t.take(rows), s.take(rows), low[rows], high[rows]
    nothing = np.zeros(len(rows))

    def put(tag: str, form: Form, phase: Form, factor: Array, shift: Array, sense: str) -> None:
        """form + factor * phase (sense) shift; constant phases are 0 or 1, so that nothing rounds."""
        right = shift - factor * phase.constant
        more = [(block, diagonal(factor) @ term) for block, term in phase.terms.items()]
        form.rows(made.build, f"{tag}.{name}", sense, right, *more, labels=rows)  # type: ignore[arg-type]

    put("rise", apart.plus(d, -1.0), s, -high, -high, ">=")
    put("least", apart, s, -low, nothing, ">=")
    put("fall", apart.plus(d, -1.0), t, -low, -low, "<=")
    put("most", apart, t, -high, nothing, "<=")


def _phase(copy: WideCopy, name: str, size: int) -> tuple[Form, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The phases of a relu: binaries where they are open, else 0 or 1."""
    low = copy.bounds.low[copy.graph[name].operands[0]]
    constant, open_ = np.where(low >= 0, 1.0, 0.0), np.zeros(size, dtype=bool)
    if name not in copy.phases:
        return Form.fixed(constant), open_
    block = copy.phases[name][0]
    labels = np.array(block.labels, dtype=np.int64)
    open_[labels], constant[labels] = True, 0.0
    rows = identity(size).tocsc()[:, labels].tocsr()
    return Form({block: rows}, constant), open_


# --- variables and nodes ---------------------------------------------------------------------------------------------


def _read(graph: Graph) -> set[str]:
    return {node.operands[0] for node in graph.nodes if isinstance(node.op, Relu)} | {graph.output}


def _variables(form: Form) -> tuple[Indices, Indices] | None:
    """(entries, columns) where entries of a form are variables."""
    if not form.copies:
        return None
    entries, columns = [], []
    for block, term in form.terms.items():
        rows = np.repeat(np.arange(len(form)), np.diff(term.indptr))
        entries.append(rows)
        columns.append(term.indices + block.start)
    return (np.concatenate(entries), np.concatenate(columns)) if entries else None


def _range(form: Form, lower: Array, upper: Array) -> Interval:
    low, high = np.full(len(form), -np.inf), np.full(len(form), np.inf)
    places = _variables(form)
    if places is not None:
        entries, columns = places
        low[entries], high[entries] = lower[columns], upper[columns]
    return low, high


def _put(form: Form, lower: Array, upper: Array, low: Array, high: Array) -> None:
    places = _variables(form)
    if places is not None:
        entries, columns = places
        np.maximum.at(lower, columns, low[entries])
        np.minimum.at(upper, columns, high[entries])


def _cut(lower: Array, upper: Array, block: Block, low: Array, high: Array) -> None:
    lower[block.where], upper[block.where] = np.maximum(lower[block.where], low), np.minimum(upper[block.where], high)


def _decided(block: Block, lower: Array, upper: Array) -> tuple[Indices, Indices]:
    labels = np.array(block.labels, dtype=np.int64)
    return labels[lower[block.where] >= 1.0], labels[upper[block.where] <= 0.0]


def finished(made: PairProgram) -> Program:
    """The program of all rows, to be maximised over any objective."""
    return made.build.program()
