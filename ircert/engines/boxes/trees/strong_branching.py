"""Which phase to decide next: some are tried, and the one is taken whose decision says most.

Trying takes a linear program for each child, and makes trees many times smaller: a phase one of whose sides is empty is
decided at once, and of others the one is taken that lowers the objective most, on all of its sides (their product).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.problem.setting import Phases
from ircert.engines.boxes.trees.phase_tree import GAP, Examined, PhaseTree, split
from ircert.limits import checkpoint

MOST = 16
"""Phases that are tried: those at which the relaxation is worst for the outputs."""
LEAST = 1e-6
"""How much a side lowers the objective at least, in radii: so other sides count where one lowers nothing."""
EMPTY = 2.0
"""How many times the objective a side lowers that is empty."""

Pair = tuple[Phases, Phases]
"""The phases of x and of y."""


@dataclass(frozen=True)
class Child:
    """Phases of x and y; empty: no pair of the ball has them."""

    phases: Pair
    empty: bool


def best_children(at: PhaseTree, node: Pair, known: Pair, found: Examined, *, symmetric: bool) -> list[Child]:
    """The children of a node by the best phase that was tried; none where no phase is worth it.

    known:     its phases, with those that follow from bounds
    symmetric: x and y are alike in the node, whose phases are decided for both at once then: one of two mirrored
               children is enough
    """
    if found.point is None:
        return []
    open_ = np.stack([phases == 0 for phases in known])
    if at.pseudo:
        open_[1] = False
    gaps = np.where(open_, at.relaxation.gaps(found.point) * at.weights, 0.0)
    if symmetric:
        gaps = np.stack([gaps.max(axis=0), np.zeros(gaps.shape[1])])
    best: list[Child] = []
    most = -math.inf
    for place in np.argsort(-gaps, axis=None, kind="stable")[:MOST].tolist():
        copy, neuron = divmod(place, gaps.shape[1])
        if gaps[copy, neuron] <= GAP:
            break
        children, score = _tried(at, _split(node, copy, neuron, symmetric=symmetric), found)
        if sum(not child.empty for child in children) < 2:
            return children
        if score > most:
            best, most = children, score
    return best


def _split(node: Pair, copy: int, neuron: int, *, symmetric: bool) -> list[Pair]:
    """Decide a phase of x (copy 0) or of y; of both where they are alike."""
    if symmetric:
        return split(*node, neuron, (None, None), symmetric=True)
    own = [None if k == copy else int(phases[neuron]) for k, phases in enumerate(node)]
    return split(*node, neuron, (own[0], own[1]), symmetric=False)


def _tried(at: PhaseTree, pairs: list[Pair], found: Examined) -> tuple[list[Child], float]:
    """Children, and how much lower the objective is on all of them."""
    assert found.point is not None
    cost = at.costs[found.start]
    before, score, children = float(cost @ found.point), 0.0, []
    for pair in pairs:
        checkpoint()
        at.counts.programs += 1
        solved = at.relaxation.solve(*pair, cost)
        at.counts.empty += solved.empty
        children.append(Child(pair, solved.empty))
        value = before if solved.point is None else float(cost @ solved.point)
        lowered = EMPTY * abs(before) if solved.empty else before - value
        score += math.log(max(lowered / at.radius, LEAST)) / len(pairs)
    return children, score
