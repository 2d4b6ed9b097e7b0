"""Top-1 agreement of two classifiers on a ball: at every point, a class that is a largest output of both.

Proved by boxes (`objectives.Disagreement`) or, of networks with many inputs, by one class that is a largest output of
both on the whole ball: for every other class k the largest f_k - f_i and g_k - g_i are at most 0, by branch and bound
on phases. Refuted by a point whose largest outputs, in exact arithmetic, have no class in common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.analysis.difference.attained import Evaluation
from ircert.errors import ProgramError
from ircert.ir.arrays import Array
from ircert.limits import Deadline, OutOfTime, is_over, until
from ircert.programs.encodings.form import Form
from ircert.programs.program import Program
from ircert.relational.branching import Branching
from ircert.relational.climbing import climbed
from ircert.relational.differential_bounds import Pair
from ircert.relational.input_branching import InputBranching
from ircert.relational.objectives import Disagreement, equal_outputs
from ircert.relational.pair_program import finished, pair_program
from ircert.relational.phase_branching import symbolic_limits
from ircert.relational.points import Points
from ircert.relational.safe_relaxation import SafeRelaxation
from ircert.result.stop import Cause, Stop

INPUTS = 10
"""Up to so many inputs boxes are cut; with more, phases are."""
TURN = 8
ONE_CLASS = "class {} is a largest output of both networks on the whole ball"
SAME = "the networks are the same"
BOXES = "no box has a point without a common class"
POINT = "a point whose largest outputs have no class in common"


@dataclass(frozen=True, eq=False)
class Agreement:
    """Whether two classifiers agree on a ball.

    point:   where they do not; classes: the largest outputs of the first and of the second there
    """

    verdict: str
    evidence: str | None
    point: Array | None = None
    classes: tuple[list[int], list[int]] | None = None
    stop: Stop | None = None


def agreement(pair: Pair, evaluation: Evaluation, deadline: Deadline, seed: int) -> Agreement:
    """The answer within the time; Ctrl-C leaves it open."""
    if evaluation.first == evaluation.second:
        return Agreement("certified", SAME)
    try:
        with until(deadline):
            return _searched(pair, evaluation, seed)
    except OutOfTime:
        return Agreement("unresolved", None, stop=Stop(Cause.TIME))
    except KeyboardInterrupt:
        return Agreement("unresolved", None, stop=Stop(Cause.INTERRUPTED))


def _searched(pair: Pair, evaluation: Evaluation, seed: int) -> Agreement:
    ball, objective = evaluation.ball, Disagreement((equal_outputs(pair.first), equal_outputs(pair.second)))
    boxes = InputBranching(pair, ball, objective)
    if boxes.bound <= 0:
        return Agreement("certified", BOXES)
    boxes.offer(*climbed(pair, ball, objective, seed))
    found = _refuted(evaluation, boxes)
    if found is not None:
        return found
    if pair.first.input_dim > INPUTS and not pair.has_curves:
        found = _by_phases(pair, evaluation, boxes)
    else:
        found = _by_boxes(evaluation, boxes)
    if found is not None:
        return found
    stop = Stop(Cause.TIME, work={"boxes": boxes.boxes}) if is_over() else Stop(Cause.UNDECIDED, "bounds do not decide")
    return Agreement("unresolved", None, stop=stop)


def _refuted(evaluation: Evaluation, boxes: InputBranching) -> Agreement | None:
    if not boxes.value > 0:
        return None
    found = evaluation.classes(boxes.point)
    if found is None or set(found[1][0]) & set(found[1][1]):
        boxes.value = -math.inf  # rounding deceived: the next one may be better
        return None
    return Agreement("refuted", POINT, *found)


def _by_boxes(evaluation: Evaluation, boxes: InputBranching) -> Agreement | None:
    boxes.enough = 0.0
    while not is_over() and not boxes.full:
        if boxes.bound <= 0:
            return Agreement("certified", BOXES)
        if boxes.done and not boxes.value > 0:
            return None
        boxes.run(TURN)
        found = _refuted(evaluation, boxes)
        if found is not None:
            return found
    return None


def _by_phases(pair: Pair, evaluation: Evaluation, boxes: InputBranching) -> Agreement | None:
    """One class ahead in both networks, if the centre has one."""
    ball = evaluation.ball
    tops = evaluation.classes(ball.center)
    common = [] if tops is None else sorted(set(tops[1][0]) & set(tops[1][1]))
    try:
        made = pair_program(pair, ball, shared=True, limits=symbolic_limits(pair, ball))
    except ProgramError:
        return None
    program = finished(made)
    relaxation, points = SafeRelaxation(program), Points.of(ball)

    def attained(v: Array) -> float:
        """What a relaxation's point says about disagreement; nothing is attained by it."""
        boxes.try_points(v[made.points[0].where][None])
        return -math.inf

    for top in common:
        for form, graph in zip(made.outputs[:2], (pair.first, pair.second), strict=True):
            alike = equal_outputs(graph)
            for other in np.flatnonzero(alike != alike[top]).tolist():
                cost = _ahead(program, form, other, top)
                search = Branching(
                    relaxation,
                    cost,
                    attained=attained,
                    tighten=lambda low, high: made.tightened(low, high, points),
                    value=0.0,
                )
                while not search.done and not is_over():
                    search.run(1)
                    found = _refuted(evaluation, boxes)
                    if found is not None:
                        return found
                if search.bound > 0:
                    return None
        return Agreement("certified", ONE_CLASS.format(top))
    return None


def _ahead(program: Program, form: Form, one: int, other: int) -> Array:
    """The cost of one output minus another, which are variables."""
    cost = np.zeros(program.columns)
    for entry, sign in ((one, 1.0), (other, -1.0)):
        for block, term in form.take(np.array([entry])).terms.items():
            cost[block.start + term.indices] += sign * term.data
    return cost
