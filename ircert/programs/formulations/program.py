"""`ircert.program`: a question through a named pipeline and a formulation, to a program."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.errors import QueryError
from ircert.ir.graph import Graph
from ircert.passes.base import Rewrite
from ircert.passes.interval_bounds import IntervalBounds, bounds_of
from ircert.passes.pipeline import Pipeline
from ircert.passes.properties import ALL as PROPERTIES
from ircert.programs.encodings.analyse import Method
from ircert.programs.formulations import get
from ircert.programs.formulations.base import Asked, Formulation, bound_to
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
    pipeline:    what each network goes through instead; `interval-bounds` without a ball means the question's
    """
    chosen = _chosen(formulation, bounds, indicators)
    query.check(graph)
    chosen.check(query)
    passes = pipeline_of(query, chosen, bounds=bounds, pipeline=pipeline)
    found = _lowered(graph, query, passes)
    other = None if query.other is None else _lowered(query.other, query, passes)
    return chosen.program(Asked(query, found, other, graph.sha256))


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


def _lowered(graph: Graph, query: Query, pipeline: Pipeline) -> Bounds:
    """A network at the end of the pipeline, with its bounds; QueryError unless both are about this question."""
    rewrite = pipeline.run(graph)
    fault = _fault(graph, rewrite, query)
    if fault is not None:
        raise QueryError(fault[0], where=f"pipeline `{_short(pipeline)}`", remedy=fault[1])
    return bounds_of(rewrite.result)


def _fault(graph: Graph, rewrite: Rewrite[Graph], query: Query) -> tuple[str, str] | None:
    made = rewrite.result
    if (made.input_dim, made.output_dim) != (graph.input_dim, graph.output_dim):
        remedy = "a formulation makes the copies itself: leave dual-copy out, and fix inputs and select outputs before"
        return f"it makes {made.input_dim} -> {made.output_dim} of {graph.input_dim} -> {graph.output_dim}", remedy
    for name in ("canonical", "bounded"):
        fault = PROPERTIES[name].broken_by(made)
        if fault is not None:
            return f"its graph is not {name}: {fault}", f"end it with `{PROPERTIES[name].pass_name}`"
    assert made.bounds is not None
    ball = IntervalBounds().about(query.ball).region()
    if not all(where.covers(ball) for where in (made.bounds.region, *(region for region, _ in rewrite.lift.only_on))):
        return "its bounds do not hold on the whole ball of the question", "write `interval-bounds` without a ball"
    return None


def _short(pipeline: Pipeline) -> str:
    return ",".join(used.name for used in pipeline.passes)
