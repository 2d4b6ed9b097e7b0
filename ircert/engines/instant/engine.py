"""Answers that need no search, each with its proof in exact arithmetic."""

from __future__ import annotations

import math

import numpy as np

from ircert.engines.base import Answer, Question, free_inputs
from ircert.engines.instant.collapse import Pair, collision_at_center, collision_next_to_center
from ircert.engines.instant.contraction import is_injective
from ircert.engines.instant.dependence import is_function_of
from ircert.engines.instant.derivatives import Arithmetic, M, derivatives, work
from ircert.engines.sharing import good_radius
from ircert.exact.dyadics import DyadicArithmetic
from ircert.exact.kernels import seem_spanned, spans
from ircert.exact.residues import PRIMES, Residues, rank
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve, Relu
from ircert.limits import OutOfTime, Undecided, until
from ircert.result.radius import End
from ircert.structure.known import is_partial

STRUCTURE = "injective on the whole space by its structure, the input follows from the output step by step"
FUNCTION = "the other network computes its output from this one's, or from nothing"
SAME = "both networks are the same"
KERNEL = "both networks are affine, and the other's linear part vanishes on the kernel of this one's"
APART = "on a linear region at the centre the network has a direction in which only the other one changes"
MOST_WORK, MOST_EXACT_WORK = 4_000_000_000, 2_000_000_000
"""Weights times inputs, modulo a prime and in integers: a few seconds."""


def instant(question: Question) -> Answer | None:
    """The answer, or None where no cheap argument applies in time."""
    if not free_inputs(question):
        return _always(question, "the domain holds no point but the centre")
    known = by_structure(question)  # first, because exact numbers of deep networks are long
    if known is not None or question.is_smooth:  # most else is about linear regions
        return known or _otherwise(question)
    graph, other = _lowered(question)
    try:
        with until(question.deadline):
            found = None if good_radius(question) else _collision(question, graph, other)
    except OutOfTime:
        return None
    return _otherwise(question) if found is None else _never(question, found, _why_never(question, graph))


def always(question: Question) -> Answer | None:
    """The answer where no ball is too large."""
    return by_structure(question) or _otherwise(question)


def _otherwise(question: Question) -> Answer | None:
    """… by arguments about linear regions, or about how one network is computed from the other."""
    try:
        with until(question.deadline):
            reason = _why_always(question, *_lowered(question))
    except OutOfTime:
        return None
    return None if reason is None else _always(question, reason)


def by_structure(question: Question) -> Answer | None:
    """The answer where the form of the network, as it was loaded, makes it injective on the whole space."""
    graph = question.graph
    if graph.output_dim < graph.input_dim:
        return None
    try:
        with until(question.deadline):
            knowledge = question.network.knowledge
            if not knowledge.is_injective or (question.other is not None and is_partial(question.other)):
                return None
    except OutOfTime:
        return None
    return _always(question, f"{STRUCTURE}: {knowledge.summary}" if knowledge.summary else STRUCTURE)


def _lowered(question: Question) -> tuple[Graph, Graph | None]:
    other = question.networks.other
    return question.network.lowered, None if other is None else other.lowered


def _collision(question: Question, graph: Graph, other: Graph | None) -> Pair | None:
    if question.problem == "pseudo":
        return collision_at_center(question, graph)
    return collision_next_to_center(question, graph, other)


def _why_never(question: Question, graph: Graph) -> str:
    free = len(free_inputs(question))
    if question.problem == "pseudo":
        return "the network does not change on a segment that starts in the centre"
    if question.problem == "transform":
        return APART
    if graph.output_dim < free:
        return f"{graph.output_dim} outputs cannot tell {free} inputs apart: every linear region has a kernel"
    return f"a linear region at the centre has a rank below {free}"


def _why_always(question: Question, graph: Graph, other: Graph | None) -> str | None:
    if other is not None and question.other == question.graph:
        return SAME
    if question.is_smooth:
        return FUNCTION if other is not None and is_function_of(graph, other) else None
    if other is not None:
        if _is_affine(graph) and _is_affine(other) and _kernel_is_kept(question, graph, other):
            return KERNEL
        if is_function_of(graph, other):
            return FUNCTION
    if _is_affine(graph) and _has_full_rank(question, graph):
        where = "on the whole space" if len(free_inputs(question)) == graph.input_dim else "in the inputs that are free"
        return f"the network is affine and of full rank: injective {where}"
    if is_injective(graph):
        return "the network is a chain of blocks that are close to linear maps: injective on the whole space"
    return None


def _is_affine(graph: Graph) -> bool:
    return not any(isinstance(node.op, Relu | Curve) for node in graph.nodes)


def _has_full_rank(question: Question, graph: Graph) -> bool:
    """Whether the free inputs of an affine graph are independent modulo a prime, and so for sure."""
    free = free_inputs(question)
    if graph.output_dim < len(free) or work(graph, len(free)) > MOST_WORK:
        return False
    return rank(_linear(graph, free, Residues(PRIMES[0])), PRIMES[0]) == len(free)


def _kernel_is_kept(question: Question, graph: Graph, other: Graph) -> bool:
    """Whether the linear part of the other affine graph is made of this one's, for sure."""
    free = free_inputs(question)
    if work(graph, len(free)) + work(other, len(free)) > MOST_EXACT_WORK:
        return False
    if not seem_spanned(*(_linear(g, free, Residues(PRIMES[0])) for g in (graph, other))):
        return False
    try:
        return spans(*(_linear(g, free, DyadicArithmetic()) for g in (graph, other)))
    except OutOfTime:
        raise
    except Undecided:
        return False


def _linear(graph: Graph, inputs: list[int], arithmetic: Arithmetic[M]) -> M:
    """The linear part of an affine graph."""
    return derivatives(graph, np.array(inputs), {}, arithmetic, [graph.output]).of[graph.output]


def _always(question: Question, evidence: str) -> Answer:
    end = End(math.inf, evidence)
    return Answer.bracket(end) if question.radius is None else Answer.good(end)


def _never(question: Question, pair: Pair, evidence: str) -> Answer:
    nothing, zero = End(0.0, "the property holds on no ball, so that nothing is claimed"), End(0.0, evidence)
    return Answer.bracket(nothing, zero, pair) if question.radius is None else Answer.bad(pair, nothing, zero)
