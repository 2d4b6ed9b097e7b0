"""A solver's bound on the largest difference: the program of both networks, with rows of differences, and its norm."""

from __future__ import annotations

import math

import numpy as np

from ircert import backends
from ircert.analysis.difference.search import DifferenceSearch
from ircert.errors import IrcertError
from ircert.geometry.norm import Norm
from ircert.limits import Deadline
from ircert.programs.encodings.distance import maximise_length
from ircert.programs.encodings.form import Form
from ircert.relational.pair_program import finished, pair_program
from ircert.relational.phase_branching import symbolic_limits
from ircert.result.stop import Cause, Stop

MARGIN = 1e-6
"""What a solver's tolerances may cost, relatively and absolutely."""
SAID = "the bound of the solver {}"


def solved(search: DifferenceSearch, name: str, deadline: Deadline) -> tuple[str, str | None]:
    """Let a solver improve a search; (trust, the solver that answered)."""
    solver = backends.solver(name)
    if search.decided or search.pair.has_curves:
        return "exact", None
    norm = search.length.norm
    try:
        made = pair_program(search.pair, search.ball, shared=True, limits=symbolic_limits(search.pair, search.ball))
        gap = made.outputs[2]
        maximise_length(made.build, Form.of(gap), np.nextafter(search.outputs, math.inf), norm)
        program = finished(made)
        outcome = solver.solve(program, time_limit=max(deadline.left(), 0.01), seed=search.seed)
    except (IrcertError, ArithmeticError) as error:
        search.stop = Stop(Cause.SOLVER, str(error))
        return "exact", None
    if outcome.point is not None:
        search.offer(outcome.point[program.block("x").where])
    bound = outcome.bound
    if bound is None or not math.isfinite(bound):
        return "exact", name
    if norm is Norm.TWO:
        bound = math.sqrt(max(bound, 0.0))
    bound = max(bound, 0.0) * (1 + MARGIN) + MARGIN
    if bound >= search.bound:
        return "exact", name
    search.bound, search.evidence = bound, SAID.format(name)
    search.stop = None if search.decided else Stop(Cause.TIME)
    return "solver", name
