"""Steps of a certificate by structure, from what `ircert/structure` finds: each is tried on the checker's own rules."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ircert.checker.structure import MOST_SPANNED, Known, Structure
from ircert.checker.walking import LinearMap
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.structure.known import CONTRACTION, FORWARD, OUTPUT, Knowledge

ROOM, BITS = 1e-5, 20
"""Added to spectral norms that floats find, in parts of them; and bits that are written."""
LARGEST = 2**22
"""Entries of a matrix whose spectral norm is found."""


def steps_to(graph: Graph, other: Graph | None, knowledge: Knowledge) -> Known:
    """What is known of a network, as far as the checker can follow; `claim.steps` has the steps.

    knowledge: about the same graph; of the other network, what is computed from known nodes is known
    """
    known = Known(_claim(graph, other))
    names, taken = known.steps.names, known.claim.steps
    for step in knowledge.steps:
        if known.is_enough:
            break
        if step.rule == CONTRACTION:
            token = _contraction(known, names[step.source], names[step.node])
            if token is None:
                break
        else:
            token = f">{names[step.node]}" if step.rule == FORWARD else f"<{names[step.source]}"
        if step.rule != OUTPUT and taken[-1:] != [token]:
            taken.append(token)
            known.take(token)
    if other is not None and not known.is_enough:
        own = len(set(names.values()))
        for number in range(own, len(known.steps.steps)):
            for token in (*_spanning(known, number, own), f">{number}"):
                taken.append(token)
                known.take(token)
    return known


def _spanning(known: Known, number: int, own: int) -> list[str]:
    """Steps from affine maps of this network to one of the other's that reads the same node."""
    steps = known.steps.steps
    if steps[number].map is None or not known.unknown[steps[number].operands[0]]:
        return []
    return [
        f"+{number}:{k}"
        for k in range(own)
        if steps[k].map is not None
        and steps[k].operands == steps[number].operands
        and len(known.unknown[k]) < steps[k].size
        and steps[k].size * len(known.unknown[steps[k].operands[0]]) <= MOST_SPANNED
    ]


def front(known: Known) -> str | None:
    """A node that is known, from which all that follows it is computed; None where there is none but the output.

    A node is such a cut if no node after it reads one before it; the first one has the smallest network below it.
    """
    graph, names = known.claim.model, known.steps.names
    places = {node.name: k for k, node in enumerate(graph.nodes)}
    last = {node.name: max((places[name] for name in graph.consumers[node.name]), default=-1) for node in graph.nodes}
    waiting = -1  # the last place that reads something before
    for k, node in enumerate(graph.nodes):
        cut = k > 0 and waiting <= k and node.name != graph.output
        if cut and not known.unknown[names[node.name]] and graph.sizes[node.name] >= graph.input_dim:
            return node.name
        waiting = max(waiting, last[node.name])
    return None


def _claim(graph: Graph, other: Graph | None) -> Structure:
    size = graph.input_dim
    nothing: list[int | None] = [None] * size
    return Structure("local", "inf", 1, [0] * size, None, nothing, nothing, graph, other, [])


def _contraction(known: Known, total: int, start: int) -> str | None:
    """The step from a sum to one of its operands, in the first norm in which the checker sees a contraction."""
    for norm in ("inf", "1", "2"):
        token = f"~{total}:{start}:{norm}"
        if norm == "2":
            token += _bounds(known, total, start)
        if known.take(token) is None:
            return token
    return None


def _bounds(known: Known, total: int, start: int) -> str:
    """Short bounds on the spectral norms of the affine maps between two nodes."""
    steps, reached, found = known.steps.steps, {start}, []
    for number in range(start + 1, total):
        step = steps[number]
        if reached.isdisjoint(step.operands) or not known.unknown[number]:
            continue
        reached.add(number)
        if step.map is not None and step.map.height * step.map.width <= LARGEST:
            bound = _short(float(np.linalg.norm(_dense(step.map), 2)))
            found += [] if bound is None else [f"{number}={bound.numerator}/{bound.denominator}"]
    return ":" + ",".join(found) if found else ""


def _short(bound: float) -> Fraction | None:
    if not 1e-9 < bound < 1e9:
        return None
    mantissa, exponent = math.frexp(bound * (1 + ROOM))
    return Fraction(math.ceil(math.ldexp(mantissa, BITS))) * Fraction(2) ** (exponent - BITS)


def _dense(given: LinearMap) -> Array:
    found = np.zeros((given.height, given.width))
    found[np.repeat(np.arange(given.height), np.diff(given.starts)), given.columns] = given.data
    return found
