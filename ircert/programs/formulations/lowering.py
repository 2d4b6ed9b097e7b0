"""The networks of a question at the end of a pipeline, with bounds; QueryError unless these are about the question.

What `dual-copy` copies are the networks of the question: both go through the passes before it, and what it makes of
them goes through those behind it.
"""

from __future__ import annotations

from dataclasses import replace

from ircert.bounds.bounds import Bounds
from ircert.errors import QueryError
from ircert.ir.graph import Graph
from ircert.passes.base import Rewrite
from ircert.passes.dual_copy import DualCopy
from ircert.passes.interval_bounds import IntervalBounds, bounds_of
from ircert.passes.pipeline import Pipeline
from ircert.passes.properties import ALL as PROPERTIES
from ircert.questions.query import Query


def point_bounds(graph: Graph, query: Query, pipeline: Pipeline) -> Bounds:
    """Bounds of a network, lowered, at any point of the ball."""
    if _copying(pipeline):
        remedy = "leave dual-copy out: this formulation reads the graph of one point"
        raise _refusal(pipeline, "it copies the network", remedy)
    rewrite = pipeline.run(graph)
    _check_sizes(pipeline, rewrite, (graph.input_dim, graph.output_dim))
    return _bounds(pipeline, rewrite, query)


def pair_bounds(graph: Graph, query: Query, pipeline: Pipeline) -> Bounds:
    """Bounds of the graph of both points, for any two points of the ball."""
    whole = _with_other(pipeline, query)
    rewrite = whole.run(graph)
    second = query.other.output_dim if query.other is not None else graph.input_dim
    _check_sizes(pipeline, rewrite, (2 * graph.input_dim, graph.output_dim + second))
    return _bounds(pipeline, rewrite, query)


def _with_other(pipeline: Pipeline, query: Query) -> Pipeline:
    """The pipeline, whose `dual-copy` has the question's other network as the passes before it lower it."""
    places = _copying(pipeline)
    word = "dual-copy" if query.other is None else "dual-copy{problem=transform}"
    used = pipeline.passes[places[0]] if places else None
    if len(places) != 1 or not isinstance(used, DualCopy) or used.problem != query.problem or used.other is not None:
        raise _refusal(pipeline, "it does not make one graph of both points of this question", f"write `{word}` once")
    if query.other is None:
        return pipeline
    before, behind = pipeline.passes[: places[0]], pipeline.passes[places[0] + 1 :]
    rewrite = replace(pipeline, passes=before).run(query.other)
    _check_sizes(pipeline, rewrite, (query.other.input_dim, query.other.output_dim))
    return replace(pipeline, passes=(*before, replace(used, other=rewrite.result), *behind))


def _copying(pipeline: Pipeline) -> list[int]:
    return [k for k, used in enumerate(pipeline.passes) if isinstance(used, DualCopy)]


def _check_sizes(pipeline: Pipeline, rewrite: Rewrite[Graph], wanted: tuple[int, int]) -> None:
    made = (rewrite.result.input_dim, rewrite.result.output_dim)
    remedy = "fix inputs and select outputs of the network before"
    if made != wanted:
        raise _refusal(pipeline, f"it makes {made[0]} -> {made[1]} of {wanted[0]} -> {wanted[1]}", remedy)
    if not rewrite.lift.keeps_outputs:
        raise _refusal(pipeline, "its outputs are not those of the network", remedy)


def _bounds(pipeline: Pipeline, rewrite: Rewrite[Graph], query: Query) -> Bounds:
    made = rewrite.result
    for name in ("canonical", "bounded"):
        fault = PROPERTIES[name].broken_by(made)
        if fault is not None:
            problem = f"its graph is not {name}: {fault}"
            raise _refusal(pipeline, problem, f"end it with `{PROPERTIES[name].pass_name}`")
    assert made.bounds is not None
    ball = IntervalBounds().about(query.ball).region()
    regions = (made.bounds.region, *(region for region, _ in rewrite.lift.only_on))
    if not all(region.covers(ball) for region in regions):
        problem = "its bounds do not hold on the whole ball of the question"
        raise _refusal(pipeline, problem, "write `interval-bounds` without a ball")
    return bounds_of(made)


def _refusal(pipeline: Pipeline, problem: str, remedy: str) -> QueryError:
    short = ",".join(used.name for used in pipeline.passes)
    return QueryError(problem, where=f"pipeline `{short}`", remedy=remedy)
