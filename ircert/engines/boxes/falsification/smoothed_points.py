"""Points that look for folds along gradients: down the determinant of the network with its relus made smooth.

Determinants of linear regions are constant, so that there is nothing to go down along, and the regions beyond the
nearest folds may be too thin to be met by chance. With the slope sigmoid(z / w) in the place of a relu's step, w a
part of the ball times the length of the row below the neuron, the logarithm of the determinant has the gradient

    sum over neurons of  sigmoid'(z / w) / w · (g J⁻¹ h) g,       g the row below the neuron, h the column above it,

as det J is affine in each slope. The smoothing gets finer step by step, and all points start anew after the last one.
"""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.falsification.determinant_gradients import determinant_gradients
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.population import INSIDE, Population, within
from ircert.ir.arrays import Array

COUNT, FEWEST, PRODUCTS = 64, 8, 50_000_000
"""Points, and at least: one step of all of them takes so many multiplications, about."""
STEPS = 100
"""From one start to the next."""
BLUR, STRIDE = (0.1, 0.001), (0.1, 0.002)
"""How wide a relu is smoothed and how long a step is, at first and at last, in parts of a point's distance."""
INERTIA = 0.6
"""How much of a step is the direction of the last ones."""
AT_LEAST, NUMBER = 300_000.0, 12.0
"""What a step takes beside products, at least and for each number of a walk, in units of about a nanosecond."""
PRODUCT = 0.12
"""… and for each multiplication of a Jacobian: there are two walks."""
LEAST = 1e-300


class SmoothedPoints:
    """Points of balls around the centre, of a setting with as many constrained outputs as inputs."""

    def __init__(self, regions: FloatRegions, reference: float) -> None:
        self._regions, self._setting = regions, regions.setting
        self._reference = reference
        self._most = int(min(COUNT, max(FEWEST, PRODUCTS // regions.cost)))
        self._taken = STEPS
        self._offsets = self._drift = np.zeros((0, self._setting.size))
        self._scales = np.zeros(0)

    def step(self, population: Population, limit: float) -> Array:
        """Everybody takes a step inside the ball of this radius, or a smaller one as those of a population do; those
        who end beyond a fold are returned."""
        if self._taken >= STEPS:
            self._offsets = population.anywhere(limit)[: self._most]
            self._drift, self._taken = np.zeros_like(self._offsets), 0
            self._scales = np.maximum(self._lengths(self._offsets), LEAST)
        blur, stride = (first * (last / first) ** (self._taken / STEPS) for first, last in (BLUR, STRIDE))
        slopes = self._gradients(blur * self._scales)
        slopes /= np.maximum(self._lengths(slopes), LEAST)[:, None]
        self._drift = INERTIA * self._drift + (1 - INERTIA) * slopes
        moved = self._offsets - (stride * self._scales)[:, None] * self._drift
        self._offsets = self._inside(moved, INSIDE * population.limits(limit)[: self._most])
        self._taken += 1
        if self._taken < STEPS:
            return self._offsets[:0]
        return self._offsets[self._regions.orientations(self._regions.phases(self._offsets)) != self._reference]

    def _gradients(self, widths: Array) -> Array:
        """Those of the logarithms of determinants, of their absolute values where these are negative already: the
        other way then."""
        setting, network, count = self._setting, self._regions.network, len(self._offsets)
        numbers = setting.neurons * setting.size * count
        self._regions.spent += AT_LEAST + PRODUCT * self._regions.cost * count + NUMBER * numbers
        values = setting.preactivations(setting.center + self._offsets).T

        def smoothed(where: slice, below: Array) -> tuple[Array, Array]:
            lengths = setting.norm.dual.lengths(np.moveaxis(below, 1, 2))
            width = np.maximum(widths * lengths, LEAST)
            slopes = 0.5 + 0.5 * np.tanh(values[where] / (2 * width))
            return slopes, slopes * (1.0 - slopes) / width

        gradients, signs, sound = determinant_gradients(network, count, smoothed)
        heights = gradients * (signs * self._reference * sound)[:, None]
        return np.nan_to_num(heights, nan=0.0, posinf=0.0, neginf=0.0)

    def _inside(self, offsets: Array, radii: Array) -> Array:
        setting = self._setting
        offsets = np.clip(offsets, setting.low - setting.center, setting.high - setting.center)
        return within(setting.norm, offsets, radii)

    def _lengths(self, offsets: Array) -> Array:
        return self._setting.norm.lengths(offsets)
