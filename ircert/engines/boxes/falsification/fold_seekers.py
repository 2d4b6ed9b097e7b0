"""Points that look for the fold of a smooth map along gradients of its determinant, and follow it inward.

A Jacobian depends on a neuron by its slope g'(z) times u wᵀ, with w the row below the neuron and u the column above it,
so that the logarithm of |det J| has the gradient

    sum over neurons of  g''(z) (w J⁻¹ u) w.

By first order it tells where the determinant vanishes. Points with the centre's sign go there; points beyond a fold go
to the centre as long as they stay beyond. Both as near to the centre as a step of their length allows.
"""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.determinant_gradients import determinant_gradients
from ircert.engines.boxes.falsification.population import INSIDE, directions, within
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

COUNT, FEWEST, PRODUCTS = 32, 4, 20_000_000
"""Points, and at least: the Jacobians of all of them take so many multiplications, about."""
ENTRIES = 1 << 23
"""… and what a step keeps of them has no more numbers than that."""
STEPS = 40
"""From one start to the next."""
STRIDE = 0.2, 0.003
"""How long a step is, at first and at last, in parts of the ball."""
BESIDE, NEAREST, FARTHEST = 0.5, 0.0, 4.0
"""So many start next to the nearest point that is known, at distances of 1 to 2^-4 balls."""
SHORT, BEYOND = 0.8, 1.2
"""How much of the way to the fold a point goes that is beyond it, and one that is not, by first order."""
HALVINGS = 12
DIFFERENCE = 1e-5
"""How far apart slopes are compared, for the second derivatives of curves."""
EDGE = 1e-9
"""How far inside of the domain points stay."""


class FoldSeekers:
    """Points of balls around the centre, of a setting with as many constrained outputs as inputs.

    sign: that of the determinant at the centre
    """

    def __init__(self, setting: Setting, sign: int, seed: int) -> None:
        self._setting, self._sign = setting, sign
        self._network = Batches(setting)
        self._generator = np.random.default_rng(seed)
        products = max(1, Secants(setting).products)
        most = max(1, ENTRIES // max(1, setting.neurons * setting.size))
        self._count = int(min(COUNT, most, max(FEWEST, PRODUCTS // products)))
        room = EDGE * (1.0 + np.abs(setting.center))
        self._low, self._high = setting.low + room - setting.center, setting.high - room - setting.center
        self.nearest: Array | None = None
        """The offset from the centre of the nearest point beyond a fold that the last round met."""

    def advance(self, limit: float, near: Array) -> None:
        """All points start anew and take their steps, inside the ball of this radius.

        near: offsets of points beyond a fold, or close to one (rows); some start next to these
        """
        self.nearest = None
        first, last = STRIDE
        with np.errstate(all="ignore"):
            offsets = self._starts(limit, near)
            for k in range(STEPS):
                checkpoint()
                slopes, beyond = self._gradients(offsets)
                distances = np.where(beyond, self._setting.norm.lengths(offsets), np.inf)
                i = int(distances.argmin())
                if distances[i] <= limit:
                    self.nearest, limit = offsets[i].copy(), INSIDE * float(distances[i])
                offsets = self._moved(offsets, slopes, beyond, limit, limit * first * (last / first) ** (k / STEPS))

    def _starts(self, limit: float, near: Array) -> Array:
        """Points anywhere in the ball, and some next to those that are known."""
        shape = self._count, self._setting.size
        offsets = (
            directions(self._setting.norm, self._generator, shape) * self._generator.random((self._count, 1)) ** 0.5
        )
        offsets *= limit
        if len(near):
            many = int(BESIDE * self._count)
            widths = limit * np.exp2(-self._generator.uniform(NEAREST, FARTHEST, (many, 1)))
            steps = widths * self._generator.standard_normal((many, shape[1]))
            steps[::2] *= self._generator.random(steps[::2].shape) < 0.5
            offsets[:many] = near[np.arange(many) % len(near)] + steps
        return self._inside(offsets, np.full(len(offsets), limit))

    def _moved(self, offsets: Array, slopes: Array, beyond: Array, limit: float, stride: float) -> Array:
        """A step to the fold, by first order, ending as near to the centre as it can."""
        stepped = offsets - stride * self._steepest(slopes)
        aims = np.where(beyond, -SHORT, -BEYOND)
        low, high = np.zeros(len(offsets)), np.full(len(offsets), INSIDE * limit)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            there = (slopes * (self._inside(stepped, middle) - offsets)).sum(axis=1) <= aims
            low, high = np.where(there, low, middle), np.where(there, middle, high)
        return self._inside(stepped, high)

    def _steepest(self, slopes: Array) -> Array:
        """The directions of length 1 in which linear functions grow most."""
        if self._setting.norm == Norm.INF:
            return np.sign(slopes)
        if self._setting.norm == Norm.TWO:
            return np.asarray(slopes / np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-300))
        found, rows = np.zeros_like(slopes), np.arange(len(slopes))
        steepest = np.abs(slopes).argmax(axis=1)
        found[rows, steepest] = np.sign(slopes[rows, steepest])
        return found

    def _gradients(self, offsets: Array) -> tuple[Array, Array]:
        """Those of log |det J| at some points, and which determinants have the other sign than the centre's."""
        slopes, bends = self._slopes(self._setting.center + offsets)
        given = self._network, len(offsets), lambda where, _: (slopes[where], bends[where])
        gradients, signs, sound = determinant_gradients(*given)
        return np.nan_to_num(gradients, posinf=0.0, neginf=0.0), sound & (signs == -self._sign)

    def _slopes(self, points: Array) -> tuple[Array, Array]:
        """First and second derivatives of all neurons (neurons, points)."""
        z = self._setting.preactivations(points)
        step = DIFFERENCE * (1.0 + np.abs(z))
        bends = (self._setting.slopes(z + step) - self._setting.slopes(z - step)) / (2 * step)
        return self._setting.slopes(z).T, np.where(self._setting.curved, bends, 0.0).T

    def _inside(self, offsets: Array, radii: Array) -> Array:
        return np.clip(within(self._setting.norm, offsets, radii), self._low, self._high)
