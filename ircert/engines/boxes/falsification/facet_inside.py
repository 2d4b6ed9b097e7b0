"""A point inside a linear region, or inside one of its facets, in floats: a linear program."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ircert.engines.boxes.falsification.facet_distance import LEAST, WHOLE
from ircert.engines.boxes.falsification.float_regions import Regions
from ircert.engines.boxes.problem.setting import Setting
from ircert.exact.live_program import LiveProgram
from ircert.ir.arrays import Array

OPTIONS: dict[str, Any] = {"presolve": "off", "primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-9}


def inside_facet(setting: Setting, regions: Regions, neuron: int, limit: float) -> Array | None:
    """A point of a facet of the only region (of all of it, for the neuron -1) far from all other rows; None if floats
    find none. It lies in the box of twice the limit."""
    with np.errstate(all="ignore"):
        rows, plane = _rows(setting, regions, neuron, 2 * limit)
        if not (np.isfinite(rows).all() and np.isfinite(plane).all()):
            return None
        n = setting.size
        low, high = (np.clip((side - setting.center) / (2 * limit), -1.0, 1.0) for side in (setting.low, setting.high))
        unit = np.eye(n)
        slopes = np.concatenate([rows[:, :-1], unit, -unit])
        heights = np.r_[rows[:, -1], -low, high]
        # the last variable is less than all rows
        table = np.block([[slopes, -np.ones((len(slopes), 1))], [plane[:, :-1], np.zeros((len(plane), 1))]])
        sides = np.r_[-heights, -plane[:, -1]], np.r_[np.full(len(heights), np.inf), -plane[:, -1]]
        program = LiveProgram(csr_array(table), sides, (np.r_[low, 0.0], np.r_[high, 1.0]), watched=True, **OPTIONS)
        if program.maximise(np.r_[np.zeros(n), 1.0]) != "optimal":
            return None
        return program.point[:n] * (2 * limit)


def _rows(setting: Setting, regions: Regions, neuron: int, limit: float) -> tuple[Array, Array]:
    """Rows over u / limit that meet the ball, of dual length 1, and that of the plane, if there is one."""
    table = regions.rows[0] * regions.phases[0][:, None]
    rows = table / np.maximum(setting.norm.dual.lengths(table[:, :-1]), LEAST)[:, None]
    rows[:, -1] /= limit
    near = rows[:, -1] < 1.0
    if neuron == WHOLE:
        return rows[near], rows[:0]
    near &= ~regions.together(np.zeros(1, dtype=np.int64), np.array([neuron]))[0]
    return rows[near], rows[neuron : neuron + 1]
