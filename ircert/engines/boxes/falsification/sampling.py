"""Folds near the centre, by sampling: determinants at random points of growing balls, then nearer and nearer ones.

All in floats: what is found are patterns on both sides of a change of orientation, for the exact descent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import orientation_change, orientations, sides
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

PER_BALL = 400
"""Points in every ball."""
WIDER = 1.5
NEARER = 0.97
"""How much nearer than the best fold the next one is looked for."""
TRIES = 40
POINTS = 100
HALVINGS = 30
BEYOND = 1 + np.array([0.0, 2.0**-48, 2.0**-44, 2.0**-40, 2.0**-34, 2.0**-28, 2.0**-20, 2.0**-14])
"""How little further than the fold that bisection found: rounding may have put it on the near side."""
FARTHER = 1.0625
"""Where the regions next to a fold have a collision: as near as this, in parts of the fold's distance."""
FIRST, LEAST = 0.5, 1e-4
"""How far from the best direction others are tried, at first and at last."""


@dataclass
class FoldSampler:
    """Looks for points whose regions are oriented otherwise than those at the centre."""

    setting: Setting
    descent: Descent
    seed: int = 0

    def __post_init__(self) -> None:
        self.secants = Secants(self.setting)
        self._generator = np.random.default_rng(self.seed)

    def search(self, start: float, reach: float) -> None:
        """Give the descent the nearest fold that is found between two radii."""
        with np.errstate(all="ignore"):
            signs = self._signs(self._points(np.full(32, start * 1e-3)))
            self._reference = float(np.sign(signs.sum()))
            if self._reference == 0.0:
                return
            found = self._first(start, reach)
            if found is None:
                return
            offset = self._refined(found)
            ends = self._signs(self.setting.center + np.outer(BEYOND, offset))
            beyond = BEYOND[np.argmax(ends == -self._reference)]
            pair = orientation_change(self.setting, self.secants, offset, 0.0, float(beyond))
        self.descent.search(*pair, FARTHER * self._length(offset))

    def _first(self, start: float, reach: float) -> Array | None:
        """A point beyond a fold, in the first ball that has one: the offset of the fold on the way to it."""
        radius = start
        while True:
            checkpoint()
            points = self._points(np.full(PER_BALL, radius))
            wrong = points[self._signs(points) == -self._reference]
            if len(wrong):
                ends = [self._shortened(point - self.setting.center) for point in wrong[:8]]
                return min(ends, key=self._length)
            if radius >= reach:
                return None
            radius = min(reach, WIDER * radius)

    def _refined(self, best: Array) -> Array:
        """A nearer fold: directions around the best one, at a distance just below its own."""
        spread, size = FIRST, self._length(best)
        for _ in range(TRIES):
            checkpoint()
            steps = self._generator.standard_normal((POINTS, self.setting.size)) * spread * size
            offsets = best + steps * (self._generator.random((POINTS, self.setting.size)) < 0.5)
            lengths = np.array([self._length(o) for o in offsets])
            offsets = offsets * (NEARER * size / np.maximum(lengths, 1e-300))[:, None]
            points = np.clip(self.setting.center + offsets, self.setting.low, self.setting.high)
            wrong = np.flatnonzero(self._signs(points) == -self._reference)
            if len(wrong):
                ends = [self._shortened(points[i] - self.setting.center) for i in wrong[:6]]
                best = min(ends, key=self._length)
                size = self._length(best)
            else:
                spread /= 2
                if spread < LEAST:
                    break
        return best

    def _shortened(self, offset: Array) -> Array:
        """The offset to the first change of orientation that bisection finds on the way."""
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if self._signs(self.setting.center[None] + middle * offset)[0] == self._reference:
                low = middle
            else:
                high = middle
        return high * offset

    def _points(self, radii: Array) -> Array:
        setting = self.setting
        steps = self._generator.uniform(-1.0, 1.0, (len(radii), setting.size))
        steps /= np.maximum(self._lengths(steps), 1e-300)[:, None]
        steps *= self._generator.random((len(radii), 1)) ** (1.0 / setting.size)
        return np.clip(setting.center + radii[:, None] * steps, setting.low, setting.high)

    def _signs(self, points: Array) -> Array:
        return orientations(self.secants, sides(self.setting, points))

    def _lengths(self, offsets: Array) -> Array:
        return np.asarray(np.linalg.norm(offsets, ord=self.setting.norm.order, axis=1))

    def _length(self, offset: Array) -> float:
        return float(np.linalg.norm(offset, ord=self.setting.norm.order))


def first_radius(setting: Setting) -> float:
    """About the radius of the ball in which no neuron switches that is not 0 at the centre; infinite without one."""
    points = setting.center[None]
    values = setting.preactivations(points)[0]
    with np.errstate(all="ignore"):
        slopes = _gradients(setting)
        size = np.linalg.norm(slopes, ord=setting.norm.dual.order, axis=1)
        distances = np.abs(values) / size
    useful = (values != 0.0) & np.isfinite(distances) & (distances > 0)
    return float(distances[useful].min(initial=np.inf))


def _gradients(setting: Setting) -> Array:
    """The rows below all neurons at the centre (neurons, inputs)."""
    from ircert.engines.boxes.enclosures.batches import Batches, times

    network = Batches(setting)
    on = (setting.preactivations(setting.center[None])[0] > 0).astype(np.float64)
    found = np.zeros((setting.neurons, setting.size))

    def relu(name: str, state: Array) -> Array:
        where = setting.relus[name]
        found[where] = state[:, :, 0]
        return state * on[where][:, None, None]

    network.forward(np.eye(setting.size)[:, :, None], lambda name, v: times(network.weights[name], v), relu)
    return found
