"""Graphs from graphs: composition and stacking."""

from __future__ import annotations

from ircert.errors import GraphError
from ircert.ir.build import Builder
from ircert.ir.graph import Graph


def compose(first: Graph, second: Graph) -> Graph:
    """The graph of second(first(x))."""
    if first.output_dim != second.input_dim:
        raise GraphError(
            f"the first graph has {first.output_dim} outputs but the second has {second.input_dim} inputs",
            rule="IR-6",
            remedy="`select` the outputs or `fix` the inputs that should not be connected",
        )
    build = Builder(first.input_dim, name=first.input)
    return build.graph(build.insert(second, build.insert(first, build.input)))


def stack(*graphs: Graph) -> Graph:
    """The graph of (f(x), h(x), …): common inputs, outputs one after the other."""
    if not graphs:
        raise GraphError("there is nothing to stack", rule="IR-1", remedy="give at least one graph")
    sizes = [graph.input_dim for graph in graphs]
    if len(set(sizes)) != 1:
        raise GraphError(
            f"the graphs have {sizes} inputs", rule="IR-6", remedy="stacked graphs share their inputs; `fix` the others"
        )
    build = Builder(sizes[0], name=graphs[0].input)
    return build.graph(build.concat(*[build.insert(graph, build.input) for graph in graphs]))
