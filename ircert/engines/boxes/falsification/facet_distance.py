"""The nearest point of a linear region or of one of its facets, in floats: a linear program, or least squares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ircert.engines.boxes.falsification.float_regions import Region
from ircert.engines.boxes.problem.setting import Setting
from ircert.exact.live_program import LiveProgram
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices

SLACK = 1e-12
"""Rows may be violated by so much, in parts of the ball: facets that are thin would be empty in floats."""
HELD = 1e-9
"""Weights above this one hold a point back."""
LEAST = 1e-290
"""Balls that are smaller cannot be scaled."""
LARGEST = 100_000
"""Numbers that are handed to nonnegative least squares, which cannot be interrupted."""
OPTIONS: dict[str, Any] = {"presolve": "off", "primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-9}


@dataclass(frozen=True)
class FacetPoint:
    """The offset of the nearest point, its length, and the neurons that hold it back, the strongest first."""

    offset: Array
    length: float
    holding: Indices


def nearest_on_facet(setting: Setting, region: Region, neuron: int | None, limit: float) -> FacetPoint | None:
    """The nearest point of the region's closure, where a neuron is 0 if one is named; None beyond the limit."""
    if not limit > LEAST:
        return None
    with np.errstate(all="ignore"):
        program = _Facet(setting, region, neuron, limit)
        if not program.is_sound:
            return None
        try:
            found = program.round()
            if setting.norm != Norm.TWO and found is not None:
                found = program.linear() if np.linalg.norm(found[0]) <= program.roundest else None
        except (np.linalg.LinAlgError, RuntimeError):
            return None
    if found is None:
        return None
    offset, weights = found
    length = float(setting.norm.lengths(offset[None])[0])
    if not length <= limit:
        return None
    order = np.argsort(-weights, kind="stable")
    return FacetPoint(offset, length, program.neurons[order[weights[order] > HELD]])


def inside_facet(setting: Setting, region: Region, neuron: int | None, limit: float) -> Array | None:
    """A point of the facet (of the region, without a neuron) far from all other rows; None if floats find none.

    It lies in the box of twice the limit.
    """
    with np.errstate(all="ignore"):
        program = _Facet(setting, region, neuron, 2 * limit)
        return program.inside() if program.is_sound else None


class _Facet:
    """Rows over v = u / limit, all of length 1: plane · v + height = 0, of which there is one or none, and
    slopes · v + heights >= 0."""

    def __init__(self, setting: Setting, region: Region, neuron: int | None, limit: float) -> None:
        self.setting = setting
        table = region.rows * region.phases[:, None]
        size = np.maximum(setting.norm.dual.lengths(table[:, :-1]), 1e-300)
        slopes, heights = table[:, :-1] / size[:, None], table[:, -1] / size / limit
        chosen = [] if neuron is None else [neuron]
        self.plane, self.height = slopes[chosen], heights[chosen]
        # the others do not meet the ball
        near = heights < 1.0
        if neuron is not None:
            near[region.together(neuron)] = False
        self.neurons = np.flatnonzero(near)
        self.slopes, self.heights = slopes[near], heights[near]
        self.low, self.high = (setting.low - setting.center) / limit, (setting.high - setting.center) / limit
        self.limit = limit

    @property
    def is_sound(self) -> bool:
        """Whether all numbers are finite, and no row alone excludes the ball."""
        finite = all(np.isfinite(part).all() for part in (self.plane, self.height, self.slopes, self.heights))
        return finite and bool((np.abs(self.height) <= 1.0).all() and (self.heights > -1.0).all())

    @property
    def roundest(self) -> float:
        """The largest length in norm 2 of a point of the ball: least squares are a quick test of what is empty."""
        return self.limit * (math.sqrt(self.setting.size) if self.setting.norm == Norm.INF else 1.0) * (1 + 1e-6)

    def inside(self) -> Array | None:
        """The offset of a point far from all rows."""
        n, count = self.setting.size, len(self.heights)
        unit, one = np.eye(n), np.ones((n, 1))
        low, high = np.maximum(self.low, -1.0), np.minimum(self.high, 1.0)
        still = np.zeros((len(self.plane), 1))
        table = np.block([[self.slopes, -np.ones((count, 1))], [self.plane, still], [unit, -one], [-unit, -one]])
        sides = np.r_[-self.heights, -self.height, low, -high]
        ends = np.r_[np.full(count, np.inf), -self.height, np.full(2 * n, np.inf)]
        found = _solved(table, (sides, ends), (np.r_[low, 0.0], np.r_[high, 1.0]), np.r_[np.zeros(n), 1.0])
        return None if found is None else found[0][:n] * self.limit

    def linear(self) -> tuple[Array, Array] | None:
        """Norms inf and 1: the offset, and the weights of the neurons."""
        return self._cube() if self.setting.norm == Norm.INF else self._diamond()

    def _cube(self) -> tuple[Array, Array] | None:
        n, count = self.setting.size, len(self.heights)
        unit, one = np.eye(n), np.ones((n, 1))
        still = np.zeros((count + len(self.plane), 1))
        rows = np.concatenate([self.slopes, self.plane])
        table = np.block([[rows, still], [-unit, one], [unit, one]])
        sides = np.r_[-self.heights - SLACK, -self.height, np.zeros(2 * n)]
        ends = np.r_[np.full(count, np.inf), -self.height, np.full(2 * n, np.inf)]
        low, high = np.r_[np.maximum(self.low, -1), 0.0], np.r_[np.minimum(self.high, 1), 1.0]
        found = _solved(table, (sides, ends), (low, high), -np.r_[np.zeros(n), 1.0])
        return None if found is None else (found[0][:n] * self.limit, np.abs(found[1][:count]))

    def _diamond(self) -> tuple[Array, Array] | None:
        n, count = self.setting.size, len(self.heights)
        table = np.concatenate([self.slopes, self.plane])
        sides = np.r_[-self.heights - SLACK, -self.height]
        ends = np.r_[np.full(count, np.inf), -self.height]
        most = np.r_[np.clip(self.high, 0, 1), np.clip(-self.low, 0, 1)]
        found = _solved(np.c_[table, -table], (sides, ends), (np.zeros(2 * n), most), -np.ones(2 * n))
        return None if found is None else ((found[0][:n] - found[0][n:]) * self.limit, np.abs(found[1][:count]))

    def round(self) -> tuple[Array, Array] | None:
        """Norm 2: the least-distance problem on the plane, by nonnegative least squares (Lawson and Hanson)."""
        from scipy.optimize import nnls

        start = -(self.height / (self.plane**2).sum(axis=1)) @ self.plane
        basis = np.linalg.svd(self.plane)[2][len(self.plane) :].T
        unit = np.eye(self.setting.size)
        below, above = np.isfinite(self.low), np.isfinite(self.high)
        slopes = np.concatenate([self.slopes, unit[below], -unit[above]])
        heights = np.r_[self.heights, -self.low[below], self.high[above]]
        table = np.concatenate([(slopes @ basis).T, -(heights + slopes @ start + SLACK)[None]])
        if table.size > LARGEST:
            return None
        target = np.r_[np.zeros(basis.shape[1]), 1.0]
        # without columns scipy's routine frees memory twice
        weights = nnls(table, target)[0] if table.shape[1] else np.zeros(0)
        rest = target - table @ weights
        if not rest[-1] > 0:
            return None
        return (start - basis @ (rest[:-1] / rest[-1])) * self.limit, weights[: len(self.heights)]


def _solved(
    table: Array, rows: tuple[Array, Array], columns: tuple[Array, Array], cost: Array
) -> tuple[Array, Array] | None:
    """The point and the multipliers of a linear program; None where it has no point."""
    program = LiveProgram(csr_array(table), rows, columns, watched=True, **OPTIONS)
    if program.maximise(cost) != "optimal":
        return None
    return program.point, program.multipliers
