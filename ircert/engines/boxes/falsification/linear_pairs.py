"""Starts for pairs with equal outputs that lie far apart: best ones of the networks' linear parts at the centre."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ircert.engines.boxes.falsification.collision_equations import CollisionEquations
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

INSIDE = 0.999
"""Room that is left to the edge of the ball, for the outputs to be made equal."""
MOST = 8
"""Gaps that are made large, the steepest first."""
ROUNDS = 8


def linear_starts(equations: CollisionEquations, low: Array, high: Array, radius: float) -> Iterator[Array]:
    """Pairs of offsets between bounds whose outputs agree about, each with one gap as large as linear parts say.

    With derivatives F of the outputs that must agree and G of the gaps, by all unknowns at the centre: the largest row
    of G v with F v = 0 by a linear program; v is scaled into the ball and moved by the Gauss-Newton method.
    """
    from scipy.optimize import linprog

    start = np.zeros((1, equations.size))
    given, gaps = equations.slopes(start[0]), equations.apart(start)[1][0]
    if not (np.isfinite(given).all() and np.isfinite(gaps).all()):
        return
    for row in np.argsort(-np.abs(gaps).sum(axis=1), kind="stable")[:MOST].tolist():
        checkpoint()
        bounds = np.column_stack([low, high]) * INSIDE
        found = linprog(-gaps[row], A_eq=given, b_eq=np.zeros(len(given)), bounds=bounds, method="highs")
        if found.status != 0:
            continue
        parts = found.x.reshape(-1, equations.given.size)
        reach = equations.given.norm.lengths(parts).max()
        pair = found.x * min(1.0, INSIDE * radius / max(reach, 1e-300))
        yield from equations.solved(pair[None], low, high, ROUNDS)
