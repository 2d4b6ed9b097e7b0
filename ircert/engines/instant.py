"""Answers that need no search, each with its proof in exact arithmetic."""

from __future__ import annotations

import math

from ircert.engines.base import Answer, Question
from ircert.engines.collapse import (
    MOST_COLUMNS,
    Pair,
    collision_at_center,
    collision_next_to_center,
    columns_of,
    exact_center,
    free_inputs,
)
from ircert.engines.contraction import is_injective
from ircert.engines.dependence import is_function_of
from ircert.engines.directions import Neighbourhood
from ircert.engines.kernels import kernel
from ircert.ir.graph import Graph
from ircert.ir.ops import Relu
from ircert.passes.product import canonical
from ircert.result.radius import End
from ircert.result.result import Verdict


def instant(question: Question) -> Answer | None:
    """The answer, or None where no cheap argument applies."""
    graph = canonical(question.graph)
    other = None if question.other is None else canonical(question.other)
    if not free_inputs(question):
        return _always(question, "the domain holds no point but the centre")
    found = _collision(question, graph, other)
    if found is not None:
        return _never(question, found, _why_never(question, graph))
    return None if question.deadline.passed() else always(question)


def always(question: Question) -> Answer | None:
    """The answer where no ball is too large."""
    other = None if question.other is None else canonical(question.other)
    reason = _why_always(question, canonical(question.graph), other)
    return None if reason is None else _always(question, reason)


def _collision(question: Question, graph: Graph, other: Graph | None) -> Pair | None:
    if question.problem == "pseudo":
        return collision_at_center(question, graph)
    return collision_next_to_center(question, graph, other)


def _why_never(question: Question, graph: Graph) -> str:
    free = len(free_inputs(question))
    if question.problem == "pseudo":
        return "the network does not change on a segment that starts in the centre"
    if question.problem == "transform":
        return "on a linear region at the centre the network has a direction in which only the other one changes"
    if graph.output_dim < free:
        return f"{graph.output_dim} outputs cannot tell {free} inputs apart: every linear region has a kernel"
    return f"a linear region at the centre has a rank below {free}"


def _why_always(question: Question, graph: Graph, other: Graph | None) -> str | None:
    if other is not None:
        if question.other == question.graph:
            return "both networks are the same"
        if _is_affine(graph) and _is_affine(other) and _kernel_is_kept(question, graph, other):
            return "both networks are affine, and the other's linear part vanishes on the kernel of this one's"
        if is_function_of(graph, other):
            return "the other network computes its output from this one's, or from nothing"
    if is_injective(graph, question.deadline.passed):
        kind = "affine and of full rank" if _is_affine(graph) else "a chain of blocks that are close to linear maps"
        return f"the network is {kind}: injective on the whole space"
    return None


def _is_affine(graph: Graph) -> bool:
    return not any(isinstance(node.op, Relu) for node in graph.nodes)


def _kernel_is_kept(question: Question, graph: Graph, other: Graph) -> bool:
    free = free_inputs(question)
    if len(free) > MOST_COLUMNS:
        return False
    here, there = (Neighbourhood(g, exact_center(question)) for g in (graph, other))
    images = columns_of(there, free, "off")
    for v in kernel(columns_of(here, free, "off")):
        moved = [sum(a * column[i] for a, column in zip(v, images, strict=True)) for i in range(other.output_dim)]
        if any(moved):
            return False
    return True


def _always(question: Question, evidence: str) -> Answer:
    verdict: Verdict | None = None if question.radius is None else "certified"
    return Answer(verdict, End(math.inf, evidence), None, None, "exact")


def _never(question: Question, pair: Pair, evidence: str) -> Answer:
    verdict: Verdict | None = None if question.radius is None else "refuted"
    ends = End(0.0, "no ball is good, so that nothing is claimed"), End(0.0, evidence)
    return Answer(verdict, *ends, pair, "exact")
