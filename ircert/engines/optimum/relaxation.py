"""The paper's program of a fixed ball with difference rows and without integrality: a linear program of its pairs.

Coefficients are the networks' own numbers and right-hand sides are rounded outward (`NetworkRows`), so that every pair
of the ball with equal outputs is a point of the program in real arithmetic. A phase that is fixed at 0 or 1 leaves the
pairs whose neuron has it. What is measured, x - y or g(x) - g(y), has variables of its own, the gaps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.bounds.bounds import Bounds
from ircert.engines.optimum.squares import point_of_polytope
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.ir.arrays import Array, Indices, Sparse
from ircert.ir.graph import Graph
from ircert.passes.copies import COPIES, OTHER
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy, NetworkRows
from ircert.programs.formulations.differences import (
    DifferenceRows,
    Differential,
    Interval,
    compared_nodes,
    differential_bounds,
)
from ircert.programs.formulations.lowering import pair_bounds, point_bounds
from ircert.programs.formulations.pair import PairRows
from ircert.programs.formulations.program import pipeline_of
from ircert.programs.program import Block, Origin, Program
from ircert.questions.query import Query
from ircert.relational.differential_bounds import differential_bounds as symbolic_differences


@dataclass(frozen=True, eq=False)
class Known:
    """What holds for all pairs of a question: bounds of the nodes of both points' graph, and of differences.

    For `pseudo` the graph is that of x alone, and there are no differences.
    """

    bounds: Bounds
    differential: Differential

    @staticmethod
    def of(graph: Graph, query: Query) -> Known:
        """What symbolic bounds and their differences say."""
        passes = pipeline_of(query)
        if query.problem == "pseudo":
            return Known(point_bounds(graph, query, passes), {})
        bounds = pair_bounds(graph, query, passes)
        return Known(bounds, differential_bounds(bounds, _symbolic(graph, query)))


@dataclass(frozen=True, eq=False)
class Neurons:
    """The open neurons at both points: their phases, what they read and what they give, as columns of the program."""

    phases: Indices
    read: Sparse
    shift: Array
    given: Indices

    def excess(self, point: Array) -> Array:
        """How far what they give lies above what a relu would."""
        return np.asarray(point[self.given] - np.maximum(self.read @ point + self.shift, 0.0))


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The linear program, and where in it things are.

    x, y: columns of the points; y is empty for `pseudo`
    gaps: columns of what is measured
    """

    program: Program
    x: Indices
    y: Indices
    gaps: Indices
    neurons: Neurons

    @staticmethod
    def of(query: Query, known: Known) -> Relaxation:
        """The program of a question, given what is known about its pairs."""
        return _of_a_point(query, known) if query.problem == "pseudo" else _of_pairs(query, known)


def _symbolic(graph: Graph, query: Query) -> dict[str, Interval]:
    """Bounds on differences that are propagated as forms of both points, by the names of both points' graph."""
    found: dict[str, Interval] = {}
    for prefix, network in (("", graph), (OTHER, query.other)):
        if network is not None:
            _, _, apart = symbolic_differences(network, network, query.ball, shared=False)
            found |= {f"{prefix}{name}.{COPIES[0]}": sides for name, sides in apart.items()}
    return found


def _of_pairs(query: Query, known: Known) -> Relaxation:
    build, graph = ProgramBuilder(), known.bounds.graph
    points: dict[str, Block] = {}

    def point(name: str) -> Block:
        points[name] = point_of_polytope(build, query.ball, name, Origin(graph.input, name))
        return points[name]

    rows = PairRows(build, known.bounds, point, relaxed=True)
    differences = DifferenceRows(build, rows, known.differential)
    equal, measured = differences.outputs()
    equal.rows(build, "equal", "=", np.zeros(len(equal)))
    low, high = known.differential[compared_nodes(graph)[1]]
    gaps = _variables(build, measured, low, high)
    program = build.program()
    return Relaxation(program, _places(points["x"]), _places(points["y"]), gaps, _neurons(rows, program))


def _of_a_point(query: Query, known: Known) -> Relaxation:
    build, graph = ProgramBuilder(), known.bounds.graph
    x = point_of_polytope(build, query.ball, "x", Origin(graph.input, "x"))
    rows = NetworkCopy(build, known.bounds, x, "x", relaxed=True)
    _equal(build, rows.output, graph.exact(query.center))
    low, high = (end - query.center for end in query.ball.box)
    gap = Form.of(x).plus(Form.fixed(query.center), -1.0)
    gaps = _variables(build, gap, np.nextafter(low, -np.inf), np.nextafter(high, np.inf))
    program = build.program()
    return Relaxation(program, _places(x), np.zeros(0, dtype=np.int64), gaps, _neurons(rows, program))


def _equal(build: ProgramBuilder, output: Form, values: Iterable[Fraction]) -> None:
    """The rows output = values, whose right-hand sides are rounded both ways."""
    rest = [v - Fraction(k) for v, k in zip(values, output.constant.tolist(), strict=True)]
    form = Form(output.terms, np.zeros(len(rest)))
    form.rows(build, "equal.low", ">=", np.array([rounded_down(v) for v in rest]))
    form.rows(build, "equal.high", "<=", np.array([rounded_up(v) for v in rest]))


def _variables(build: ProgramBuilder, form: Form, low: Array, high: Array) -> Indices:
    """The columns of new variables for a form, between bounds."""
    block = build.variables("measured", len(form), low, high)
    form.rows(build, "measure", "=", np.zeros(len(form)), (block, -1.0))
    return _places(block)


def _places(block: Block) -> Indices:
    return np.arange(block.start, block.start + block.size)


def _columns(form: Form) -> Indices:
    """The columns of a form whose entries are variables."""
    found = np.zeros(len(form), dtype=np.int64)
    for block, term in form.terms.items():
        rows = np.repeat(np.arange(len(form)), np.diff(term.indptr))
        found[rows] = block.start + term.indices
    return found


def _neurons(rows: NetworkRows, program: Program) -> Neurons:
    none = np.zeros(0, dtype=np.int64)
    parts = [(none, csr_array((0, program.columns)), np.zeros(0), none)]
    for name, (t,) in rows.phases.items():
        entries = np.array(t.labels, dtype=np.int64)
        read = rows.preactivations[name].take(entries)
        parts.append((_places(t), _wide(read, program.columns), read.constant, _columns(rows.forms[name])[entries]))
    phases, wide, shift, given = zip(*parts, strict=True)
    together = csr_array(vstack(wide, format="csr"))
    return Neurons(np.concatenate(phases), together, np.concatenate(shift), np.concatenate(given))


def _wide(form: Form, columns: int) -> csr_array:
    """A form over all columns."""
    total = csr_array((len(form), columns))
    for block, term in form.terms.items():
        moved = csr_array((term.data, term.indices + block.start, term.indptr), shape=(len(form), columns))
        total = total + moved
    return total
