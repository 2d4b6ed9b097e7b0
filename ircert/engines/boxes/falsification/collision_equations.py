"""f(x) = f(y) for smooth maps in floats: divided differences, which do not vanish where x and y come close.

h(x, y) = (f(x) - f(y)) / |x - y| is 0 at collisions and near folds, but at no pair x = y of a regular point: so methods
that solve h = 0 do not run into trivial solutions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Indices
from ircert.limits import checkpoint

TINY, LARGEST = 1e-300, 1e100


@dataclass(frozen=True, eq=False)
class CollisionEquations:
    """Pairs are rows (x, y), of `pseudo` rows x, relative to the centre; `told` is the other network of `transform`."""

    given: Setting
    told: Setting | None
    pseudo: bool

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return self.given.size * (1 if self.pseudo else 2)

    @cached_property
    def _secants(self) -> tuple[Secants, Secants | None]:
        return Secants(self.given), None if self.told is None else Secants(self.told)

    @cached_property
    def _at_center(self) -> Array:
        return self.given.outputs(self.given.center[None])

    @cached_property
    def rows(self) -> Indices:
        """The outputs that depend on the inputs somewhere, as far as a few points show."""
        steps = np.random.default_rng(0).uniform(-1, 1, (16, self.given.size))
        slopes = self._jacobians(0, self.given.center + steps)
        return np.asarray(np.flatnonzero((slopes != 0).any(axis=(0, 2))), dtype=np.int64)

    def points(self, pairs: Array) -> tuple[Array, Array]:
        """x and y."""
        n = self.given.size
        pairs = _numbers(pairs)
        y = np.zeros((len(pairs), n)) if self.pseudo else pairs[:, n:]
        return self.given.center + pairs[:, :n], self.given.center + y

    def _jacobians(self, which: int, points: Array) -> Array:
        setting = self.told if which else self.given
        secants = self._secants[which]
        assert setting is not None
        assert secants is not None
        return secants.jacobians(setting.derivatives(points))

    def divided(self, pairs: Array) -> tuple[Array, Array]:
        """h of every pair, and its derivatives."""
        checkpoint()
        n, pairs = self.given.size, _numbers(pairs)
        x, y = self.points(pairs)
        steps = pairs[:, :n] if self.pseudo else pairs[:, :n] - pairs[:, n:]
        lengths = np.linalg.norm(steps, axis=1)[:, None] + TINY
        there = self._at_center if self.pseudo else self.given.outputs(y)
        h = (self.given.outputs(x) - there)[:, self.rows] / lengths
        lean = h[:, :, None] * (steps / lengths)[:, None, :]
        slopes = (self._jacobians(0, x)[:, self.rows] - lean) / lengths[:, :, None]
        if self.pseudo:
            return h, slopes
        others = (self._jacobians(0, y)[:, self.rows] - lean) / lengths[:, :, None]
        return h, np.concatenate([slopes, -others], axis=2)

    def jacobian(self, point: Array) -> Array:
        """Of the outputs that must agree."""
        return self._jacobians(0, point[None])[0]

    def slopes(self, pair: Array) -> Array:
        """The derivatives of f(x) - f(y) by the unknowns."""
        x, y = self.points(pair[None])
        first = self._jacobians(0, x)[0][self.rows]
        return first if self.pseudo else np.concatenate([first, -self._jacobians(0, y)[0][self.rows]], axis=1)

    def apart(self, pairs: Array) -> tuple[Array, Array]:
        """What must not be 0 at a violation, x - y or g(x) - g(y), and its derivatives."""
        n = self.given.size
        if self.told is not None:
            x, y = self.points(pairs)
            gaps = self.told.outputs(x) - self.told.outputs(y)
            return gaps, np.concatenate([self._jacobians(1, x), -self._jacobians(1, y)], axis=2)
        one = np.broadcast_to(np.eye(n), (len(pairs), n, n))
        if self.pseudo:
            return pairs, one
        return pairs[:, :n] - pairs[:, n:], np.concatenate([one, -one], axis=2)

    def solved(self, pairs: Array, low: Array, high: Array, rounds: int) -> Array:
        """Pairs after so many Gauss-Newton steps, kept in a box; each step is at most half of |x - y|."""
        n = self.given.size
        for _ in range(rounds):
            h, slopes = self.divided(pairs)
            good = np.isfinite(h).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
            pairs, h, slopes = pairs[good], h[good], slopes[good]
            if not len(pairs):
                break
            steps = -(np.linalg.pinv(slopes) @ h[:, :, None])[:, :, 0]
            apart = pairs[:, :n] if self.pseudo else pairs[:, :n] - pairs[:, n:]
            most = 0.5 * np.linalg.norm(apart, axis=1)
            sizes = np.linalg.norm(steps, axis=1)
            steps *= np.minimum(1.0, most / (sizes + TINY))[:, None]
            pairs = np.clip(pairs + steps, low, high)
        return pairs


def _numbers(pairs: Array) -> Array:
    """Methods in floats may go anywhere: numbers that networks take."""
    return np.clip(np.nan_to_num(pairs), -LARGEST, LARGEST)
