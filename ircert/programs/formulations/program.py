"""`ircert.program`: a question through a named pipeline and a formulation, to a program."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from ircert.errors import QueryError
from ircert.ir.graph import Graph
from ircert.passes.pipeline import Pipeline
from ircert.programs.encodings.analyse import Method
from ircert.programs.formulations import REGISTRY, get
from ircert.programs.formulations.base import Asked, Formulation, bound_to
from ircert.programs.formulations.lowering import pair_bounds, point_bounds
from ircert.programs.formulations.paper import Paper
from ircert.programs.program import Program
from ircert.questions.query import Query

Indicators = Literal["paper", "half"]


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused by the program itself
def program(
    graph: Graph,
    query: Query,
    formulation: str | Formulation = "paper",
    *,
    bounds: Method = "symbolic",
    indicators: Indicators = "paper",
    pipeline: str | Pipeline | None = None,
) -> Program:
    """The mixed-integer program of a question about any piecewise-linear graph, as data.

    formulation: `paper` maximises the distance of two points with one image; `tangent` and `apart` minimise a radius,
                 which is at most that of the question. Options are written as those of passes: "apart{separation=0.1}"
    bounds:      the analysis of the pipeline that the formulation names
    indicators:  of `paper`; `half` for `local`, where swapping x and y changes nothing
    pipeline:    passes to run instead; `interval-bounds` without a ball means the question's, `dual-copy` its networks
    """
    chosen = _chosen(formulation, bounds, indicators)
    query.check(graph)
    chosen.check(query)
    passes = pipeline_of(query, chosen, bounds=bounds, pipeline=pipeline)
    if chosen.reads_pairs(query.problem):
        asked = Asked(query, pair_bounds(graph, query, passes), None, graph.sha256)
    else:
        other = None if query.other is None else point_bounds(query.other, query, passes)
        asked = Asked(query, point_bounds(graph, query, passes), other, graph.sha256)
    with REGISTRY.blaming(chosen.name):
        return chosen.program(asked)


def pipeline_of(
    query: Query,
    formulation: str | Formulation = "paper",
    *,
    bounds: Method = "symbolic",
    pipeline: str | Pipeline | None = None,
) -> Pipeline:
    """The pipeline that `program` runs for a question, whole."""
    if pipeline is None:
        return get(formulation).pipeline(query, bounds)
    return bound_to(Pipeline.parse(pipeline) if isinstance(pipeline, str) else pipeline, query)


def _chosen(formulation: str | Formulation, bounds: str, indicators: str) -> Formulation:
    chosen = get(formulation)
    for what, given, known in (
        ("bounds analysis", bounds, get_args(Method)),
        ("kind of indicators", indicators, get_args(Indicators)),
    ):
        if given not in known:
            raise QueryError(f"there is no {what} {given!r}", remedy=f"there are: {', '.join(known)}")
    if indicators == "half" and isinstance(chosen, Paper):
        return replace(chosen, indicators="half")
    return chosen
