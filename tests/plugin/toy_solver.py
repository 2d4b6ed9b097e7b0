"""scipy-milp: programs answered by scipy.optimize.milp."""

import time

import numpy as np

from ircert.backends.answers import carried, doubted, fitted, objective_value, whole_bounds
from ircert.backends.base import Outcome, Solver, Status
from ircert.programs.program import BINARIES, INTEGERS

SMALLEST = 1e-9
STATUS = {
    0: Status.OPTIMAL,
    1: Status.TIME_LIMIT,
    2: Status.INFEASIBLE,
    3: Status.UNBOUNDED,
}


class ScipyMilp(Solver):
    """What scipy minimises; what it does not know how to say is UNKNOWN."""

    name = "scipy-milp"
    offers = frozenset({BINARIES, INTEGERS})
    package = "scipy"

    def build(self, program):
        """The arguments of scipy.optimize.milp."""
        from scipy.optimize import Bounds, LinearConstraint

        low = np.where(program.senses == "<=", -np.inf, program.rhs)
        high = np.where(program.senses == ">=", np.inf, program.rhs)
        rows = [LinearConstraint(program.matrix, low, high)] if len(low) else []
        cost = -program.objective if program.maximise else program.objective
        return {
            "c": cost,
            "integrality": program.integer.astype(int),
            "bounds": Bounds(*whole_bounds(program)),
            "constraints": rows,
        }

    def _solve(self, program, limits):
        from scipy.optimize import milp

        found = fitted(program, self.name, SMALLEST)
        options = {"mip_rel_gap": limits.gap or 0.0}
        if limits.time_limit is not None:
            options["time_limit"] = limits.time_limit
        started = time.monotonic()
        run = milp(**self.build(found.program), options=options)
        status = doubted(found.program, STATUS.get(run.status, Status.UNKNOWN))
        if "unbounded or infeasible" in run.message.lower():  # its status says no more than "other"
            status = Status.INFEASIBLE_OR_UNBOUNDED
        bound = getattr(run, "mip_dual_bound", None)
        if bound is not None:
            bound = (-bound if found.program.maximise else bound) + found.program.constant
        elif status is Status.OPTIMAL and run.x is not None:
            bound = objective_value(found.program, run.x)
        value = None if run.x is None else objective_value(found.program, run.x)
        nodes = int(getattr(run, "mip_node_count", None) or 0)
        outcome = Outcome(status, value, bound, run.x, nodes, time.monotonic() - started, self.name)
        return carried(found, outcome)
