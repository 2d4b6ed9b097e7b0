"""A question as one network and a VNN-LIB 1.0 property, for tools that take a box of inputs and linear outputs.

The network reads (x, d) and gives f(x + d) − f(x); then, for `transform`, g(x + d) − g(x); then, unless x is the
centre, x + d, which must lie in the ball as x does. The property asks for outputs of the first kind that are 0, with
some entry of d (or of the second kind) at least as large as a separation: no such tool has "different from 0".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from ircert.errors import QueryError
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.passes.pipeline import Pipeline
from ircert.questions.query import Query
from ircert.vnnlib.text import ASKED, decimal, sides

PLAIN = "canonicalize,fold-residual,fuse-affine,eliminate-zeros"
"""To a chain of matrices and relu, which every tool reads, where there are such alone."""


def merged(graph: Graph, query: Query) -> Graph:
    """The network; QueryError where a box does not hold the question."""
    query.check(graph)
    if query.norm != "inf":
        raise QueryError("a merged network asks about a box of inputs", remedy="ask about the norm inf")
    n = graph.input_dim
    build = Builder(2 * n)
    x = build.select(build.input, range(n))
    moved = build.affine(build.input, np.hstack([np.eye(n), np.eye(n)]))
    parts = [_difference(build, network, x, moved) for network in (graph, query.other) if network is not None]
    both = build.graph(build.concat(*parts, *([] if query.problem == "pseudo" else [moved])))
    if not all(node.op.piecewise_linear for node in both.nodes):
        return both
    plain: Graph = Pipeline.parse(PLAIN)(both)
    return plain


def _difference(build: Builder, graph: Graph, x: str, moved: str) -> str:
    m = graph.output_dim
    both = build.concat(build.insert(graph, moved), build.insert(graph, x))
    return build.affine(both, np.hstack([np.eye(m), -np.eye(m)]))


def property_text(graph: Graph, query: Query, separation: Fraction) -> str:
    """The property of the merged network."""
    n, m = graph.input_dim, graph.output_dim
    k = 0 if query.other is None else query.other.output_dim
    centre, box = [Fraction(v) for v in query.center.tolist()], sides(query)
    is_pseudo = query.problem == "pseudo"
    lines = [f"; {ASKED[query.problem]} at least {decimal(separation)} apart; X is (x, d)"]
    lines += [f"(declare-const X_{i} Real)" for i in range(2 * n)]
    lines += [f"(declare-const Y_{j} Real)" for j in range(m + k + (0 if is_pseudo else n))]
    for i, (low, high) in enumerate(box):
        here = (centre[i], centre[i]) if is_pseudo else (low, high)
        steps = (low - centre[i], high - centre[i]) if is_pseudo else (low - high, high - low)
        lines += [*_between(f"X_{i}", here), *_between(f"X_{n + i}", steps)]
    for j in range(m):
        lines += _between(f"Y_{j}", (Fraction(0), Fraction(0)))
    if not is_pseudo:
        for i, side in enumerate(box):
            lines += _between(f"Y_{m + k + i}", side)
    names = [f"Y_{m + j}" for j in range(k)] if k else [f"X_{n + i}" for i in range(n)]
    lines.append(f"(assert (or {' '.join(_far(names, decimal(separation)))}))")
    return "\n".join(lines) + "\n"


def _between(name: str, ends: tuple[Fraction, Fraction]) -> list[str]:
    return [f"(assert (>= {name} {decimal(ends[0])}))", f"(assert (<= {name} {decimal(ends[1])}))"]


def _far(names: Iterable[str], far: str) -> Iterator[str]:
    for name in names:
        yield f"(and (>= {name} {far}))"
        yield f"(and (<= {name} -{far}))"
