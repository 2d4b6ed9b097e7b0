"""Fewer neurons that read the inputs than inputs: a question about these neurons in the place of one about all inputs.

Let f(x) = A x + h(u), where u = R x + b is all that h reads of the inputs, with fewer entries than x, and let some rows
of A be P = diag(±2^e), up to their order. With h_P these rows of h, f(x) = f(y) says x - y = -P^-1 (h_P(u) - h_P(u')),
and so F(u) = F(u') for F(u) = (u + R P^-1 h_P(u), h_i(u) - A_i P^-1 h_P(u) for all other rows i). If F is injective on
a set that holds the image of a ball, then u = u', and x = y. On the whole space both are injective, or none.

Nothing rounds: R P^-1 and A P^-1 are floats, and are not multiplied with the weights of h.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from ircert.engines.boxes.problem.setting import Setting
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array, Indices, Matrix, Sparse, below, freeze, identity, nonzeros, take_rows
from ircert.ir.build import Builder
from ircert.ir.dyadic import add_matrices, multiply
from ircert.ir.graph import Graph, Node
from ircert.ir.interpret import Forward
from ircert.ir.ops import Add, Affine, Relu
from ircert.ir.rational import Rationals
from ircert.questions.network import Network


@dataclass(frozen=True, eq=False)
class InnerMap:
    """F as a setting, in coordinates v with u = u0 + D v, D diagonal: the image of the ball of radius r around the
    centre lies in |v_i| <= r + slack.

    slack: how far u0, in floats, may be from the image of the centre
    """

    setting: Setting
    slack: Fraction
    _back: Array
    _center: Array

    @staticmethod
    def of(setting: Setting, most: int) -> InnerMap | None:
        """That of a setting for `local`, where it has one with fewer inputs, and no more than `most`."""
        if setting.problem != "local" or setting.is_smooth:
            return None
        flow = _Flow.of(setting.graph)
        few = 0 < sum(setting.graph.sizes[name] for name in flow.read) <= min(most, setting.size - 1)
        try:
            return _made(setting, flow) if few else None
        except OverflowError:  # floats do not hold the image of the centre
            return None

    def radius(self, radius: float) -> float:
        """That of a ball of v that holds the image of a ball."""
        return rounded_up(Fraction(radius) + self.slack)

    def reached(self, radius: float) -> float:
        """The radius of a ball whose image a ball of v holds."""
        return radius if radius == np.inf else max(0.0, rounded_down(Fraction(radius) - self.slack))

    def points(self, points: Array) -> Array:
        """Points whose images are these (rows), about, as near to the centre as they come in norm 2."""
        return np.asarray(self._center + points @ self._back.T)


@dataclass(frozen=True)
class _Flow:
    """How inputs go through a graph.

    linear: the nodes without a relu below them
    bent:   relus, and other nodes that relus depend on and that have a relu below them
    read:   linear nodes that bent ones read
    """

    linear: set[str]
    bent: set[str]
    read: list[str]

    @staticmethod
    def of(graph: Graph) -> _Flow:
        """That of a canonical graph."""
        linear: set[str] = set()
        for node in graph.nodes:
            if not isinstance(node.op, Relu) and linear.issuperset(node.operands):
                linear.add(node.name)
        below: set[str] = set()
        for node in reversed(graph.nodes):
            if isinstance(node.op, Relu) or node.name in below:
                below.update((node.name, *node.operands))
        operands = [name for node in graph.nodes if node.name in below - linear for name in node.operands]
        return _Flow(linear, below - linear, [name for name in dict.fromkeys(operands) if name in linear])


def _made(setting: Setting, flow: _Flow) -> InnerMap | None:
    rows = _Linear(setting.graph, flow.bent).walk(setting.graph, identity(setting.size))
    parts, skip = [rows[name] for name in flow.read], rows[setting.graph.output]
    known = [nonzeros(part) for part in parts if part is not None]
    if skip is None or len(known) < len(parts):
        return None
    inner = below(known, setting.size)
    last, lengths = _last(inner, nonzeros(skip)), _lengths(inner, setting.norm)
    if last is None or not np.isfinite(lengths).all():
        return None
    exact = _at_center(setting, flow.read)
    center = [float(v) for v in exact]
    apart = (abs(v - Fraction(near)) for v, near in zip(exact, center, strict=True))
    slack = max(e / Fraction(d) for e, d in zip(apart, lengths.tolist(), strict=True))
    graph = Network(_graph(setting.graph, flow, (lengths, np.array(center)), last)).merged
    reduced = Setting(graph, "local", graph.output_dim, Place.everywhere(np.zeros(len(center))))
    return InnerMap(reduced, slack, np.linalg.pinv(inner.toarray()) * lengths, setting.center)


class _Linear(Forward[Matrix | None]):
    """The derivatives of nodes by the inputs, as if bent ones were constant; None where a number might round."""

    def __init__(self, graph: Graph, bent: set[str]) -> None:
        self.graph, self.bent = graph, bent

    def step(self, node: Node, given: list[Matrix | None]) -> Matrix | None:
        if node.name in self.bent:
            return freeze(sparse.csr_array((self.graph.sizes[node.name], self.graph.input_dim)))
        return super().step(node, given)

    def affine(self, name: str, op: Affine, x: Matrix | None) -> Matrix | None:
        return None if x is None else multiply(op.weight, x)

    def select(self, name: str, indices: Indices, x: Matrix | None) -> Matrix | None:
        return None if x is None else take_rows(x, indices)

    def concat(self, name: str, parts: list[Matrix | None]) -> Matrix | None:
        known = [nonzeros(part) for part in parts if part is not None]
        return below(known, known[0].shape[1]) if len(known) == len(parts) else None

    def add(self, name: str, parts: list[Matrix | None]) -> Matrix | None:
        total = parts[0]
        for part in parts[1:]:
            total = None if total is None or part is None else add_matrices(total, part)
        return total


def _last(inner: Sparse, skip: Sparse) -> Array | None:
    """What h is multiplied by: R P^-1 in the columns of P, below it I - A P^-1 without the rows of P; None if a number
    rounds, or an input has no output with a power of two times this input alone."""
    rows, columns, factors = _powers(skip)
    if len(rows) < skip.shape[1]:
        return None
    others = np.setdiff1d(np.arange(skip.shape[0]), rows)
    with np.errstate(over="ignore", under="ignore"):
        above = np.concatenate([inner.toarray(), -skip.toarray()[others]])[:, columns]
        scaled = above / factors
        if not (np.isfinite(scaled).all() and (scaled * factors == above).all()):
            return None
    last = np.zeros((len(above), skip.shape[0]))
    last[:, rows] = scaled
    last[np.arange(inner.shape[0], len(above)), others] = 1.0
    return last


def _powers(skip: Sparse) -> tuple[Indices, Indices, Array]:
    """The first row of each input with a power of two times this input alone, the inputs, and these powers."""
    alone = np.flatnonzero(np.diff(skip.indptr) == 1)
    columns, values = skip.indices[skip.indptr[alone]], skip.data[skip.indptr[alone]]
    power = np.abs(np.frexp(values)[0]) == 0.5
    found, first = np.unique(columns[power], return_index=True)
    return alone[power][first], found, values[power][first]


def _at_center(setting: Setting, read: list[str]) -> list[Fraction]:
    """u at the centre, exactly."""
    graph = setting.graph
    values = {graph.input: Rationals.of_floats(setting.center)}
    for node in graph.nodes:
        if node.name != graph.input:
            values[node.name] = node.op.exact(*(values[name] for name in node.operands))
    return [v for name in read for v in values[name].fractions()]


def _lengths(inner: Sparse, norm: Norm) -> Array:
    """How far the entries of R x may move where x moves by 1; 1 for one that does not move."""
    dual = norm.dual
    rows = [[Fraction(v) for v in row if v] for row in inner.toarray().tolist()]
    return np.array([dual.length_up(dual.measure(row)) if row else 1.0 for row in rows])


def _graph(graph: Graph, flow: _Flow, start: tuple[Array, Array], last: Array) -> Graph:
    """F: all nodes behind u, with u in the place of what is read; what goes past all neurons is 0."""
    lengths, center = start
    build = Builder(len(lengths))
    u = build.affine(build.input, np.diag(lengths), center)
    sizes = [graph.sizes[name] for name in flow.read]
    places = np.split(np.arange(len(lengths)), np.cumsum(sizes)[:-1])
    entries = {name: build.select(u, place) for name, place in zip(flow.read, places, strict=True)}
    here: dict[str, str] = {}
    for node in graph.nodes:
        if node.name in flow.linear:
            continue
        known = {**here, **entries} if node.name in flow.bent else here
        operands = [name for name in node.operands if name in known or not isinstance(node.op, Add)]
        zeros = {name: np.zeros((graph.sizes[name], len(lengths))) for name in operands if name not in known}
        given = [known[name] if name in known else build.affine(build.input, zeros[name]) for name in operands]
        here[node.name] = build.add(*given) if isinstance(node.op, Add) else build.node(node.op, *given, name=node.name)
    moved = np.zeros((len(last), len(lengths)))
    np.fill_diagonal(moved, lengths)
    return build.graph(build.add(build.affine(build.input, moved), build.affine(here[graph.output], last)))
