"""The nearest points of linear regions and of their facets, in floats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.falsification.float_regions import FloatRegions, Regions
from ircert.engines.boxes.falsification.nearest_points import nearest_points
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

WHOLE = -1
"""Stands for a whole region, where a neuron would name one of its facets."""
LEAST = 1e-290
"""Balls that are smaller cannot be scaled."""
NUMBERS = 250_000
"""Numbers of the rows of polytopes that are looked at together."""
STEP, ONE, ROW, NUMBER = 90_000.0, 1_500.0, 1.2, 10.0
"""What a step of all polytopes takes at least, that of each, for each number of its rows, and the latter before any
step, in units of about a nanosecond."""


@dataclass(frozen=True, eq=False)
class FacetPoints:
    """Offsets of nearest points, their distances (inf beyond the limit), and the neurons that hold them back, the
    strongest first, then -1."""

    offsets: Array
    lengths: Array
    holding: Indices


class FacetDistances:
    """The nearest points of facets to 0, or to other offsets."""

    def __init__(self, regions: FloatRegions) -> None:
        self._regions, self._setting = regions, regions.setting
        self._chunk = max(1, NUMBERS // ((self._setting.neurons + 1) * (self._setting.size + 1)))
        setting = self._setting
        unit, low, high = np.eye(setting.size), setting.low - setting.center, setting.high - setting.center
        below, above = np.isfinite(low), np.isfinite(high)
        self._domain = np.c_[np.r_[unit[below], -unit[above]], np.r_[-low[below], high[above]]]

    def of(
        self, given: Regions, which: Indices, neurons: Indices, limits: Array, starts: Array | None = None
    ) -> FacetPoints:
        """For some regions, a facet of each, or all of it: the points nearest to the starts, within the limits."""
        size = self._setting.size
        found = FacetPoints(
            np.zeros((len(which), size)), np.full(len(which), np.inf), np.full((len(which), size + 1), WHOLE)
        )
        for first in range(0, len(which), self._chunk):
            part = slice(first, first + self._chunk)
            start = np.zeros((1, size)) if starts is None else starts[part]
            self._solve(given, (which[part], neurons[part], limits[part], start), found, first)
        return found

    def _solve(
        self, given: Regions, asked: tuple[Indices, Indices, Array, Array], found: FacetPoints, first: int
    ) -> None:
        checkpoint()
        which, neurons, limits, start = asked
        slopes, heights = self._rows(given, which, limits, start)
        planes, at = np.zeros((len(which), slopes.shape[2] + 1)), np.arange(len(which))
        facet = neurons != WHOLE
        planes[facet, :-1] = slopes[at[facet], neurons[facet]]
        planes[facet, -1] = heights[at[facet], neurons[facet]]
        where, other = np.nonzero(given.together(which[facet], neurons[facet]))
        slopes[at[facet][where], other], heights[at[facet][where], other] = 0.0, 1.0
        good = self._possible(heights, planes, facet) & (limits > LEAST)
        near = self._near(heights[good])
        chosen = np.flatnonzero(good)
        rows = np.arange(heights.shape[1]) if near is None else near
        some = (chosen, slice(None)) if near is None else (chosen[:, None], near)
        nearest = nearest_points(self._setting.norm, slopes[some], heights[some], planes[good])
        self._count(nearest.work, rows.shape[-1], len(which))
        ends = first + chosen
        found.offsets[ends] = nearest.points * limits[good][:, None] + (start[good] if len(start) > 1 else start)
        found.lengths[ends] = nearest.lengths * limits[good]
        held = nearest.holding
        names = held if near is None else np.take_along_axis(near, np.maximum(held, 0), 1)
        # rows behind the neurons are those of the domain
        found.holding[ends] = np.where((held >= 0) & (names < self._setting.neurons), names, WHOLE)

    def _rows(self, given: Regions, which: Indices, limits: Array, start: Array) -> tuple[Array, Array]:
        """Rows over v = (u - start) / limit, all of dual length 1, or (0, 1)."""
        table = given.rows[which] * given.phases[which][:, :, None]
        if len(self._domain):
            table = np.concatenate([table, np.broadcast_to(self._domain, (len(which), *self._domain.shape))], axis=1)
        slopes = table[:, :, :-1]
        starts = np.broadcast_to(start[:, :, None], (len(which), start.shape[1], 1))
        heights = table[:, :, -1] + np.matmul(slopes, starts)[:, :, 0]
        size = self._setting.norm.dual.lengths(slopes)
        sound = size > LEAST
        scale = np.where(sound, size, 1.0)
        slopes = np.where(sound[:, :, None], slopes / scale[:, :, None], 0.0)
        return slopes, np.where(sound, heights / scale / limits[:, None], 1.0)

    @staticmethod
    def _possible(heights: Array, planes: Array, facet: Mask) -> Mask:
        """Whether all numbers are finite, no row alone excludes the ball, and what should be a facet is one."""
        good = np.isfinite(heights).all(axis=1) & (heights > -1.0).all(axis=1)
        return np.asarray(good & (np.abs(planes[:, -1]) <= 1.0) & (planes[:, :-1].any(axis=1) | ~facet))

    @staticmethod
    def _near(heights: Array) -> Indices | None:
        """The numbers of the rows that meet the balls, where that is at most half of all rows; else None."""
        count = int((heights < 1.0).sum(axis=1).max(initial=1))
        if 2 * count > heights.shape[1]:
            return None
        return np.argsort(heights, axis=1, kind="stable")[:, :count]

    def _count(self, work: tuple[int, int], rows: int, polytopes: int) -> None:
        size = self._setting.size + 1
        numbers = polytopes * self._setting.neurons * size
        self._regions.spent += work[1] * STEP + work[0] * (ONE + ROW * rows * size) + NUMBER * numbers
