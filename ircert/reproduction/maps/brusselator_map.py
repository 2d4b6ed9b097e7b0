"""An Euler step of the Brusselator in closed form: preimages, determinant, and the curve where it vanishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ircert.ir.arrays import Array
from ircert.reproduction.maps.continuation import trace

TAU = 0.15
"""The step of the paper's experiments with b."""
REAL = 1e-7
"""Roots with a relative imaginary part below this are real: a double root splits by the root of the rounding error."""


@dataclass(frozen=True)
class BrusselatorMap:
    """(x, y) -> (x + τ (a + x² y - (b + 1) x), y + τ (b x - x² y)); points are rows."""

    b: float
    tau: float
    a: float = 1.0

    def __call__(self, points: Any) -> Array:
        x, y = np.moveaxis(np.asarray(points, dtype=np.float64), -1, 0)
        reaction = x * x * y
        return np.stack(
            [x + self.tau * (self.a + reaction - (self.b + 1) * x), y + self.tau * (self.b * x - reaction)], axis=-1
        )

    @property
    def fixed_point(self) -> Array:
        """(a, b / a), for every step."""
        return np.array([self.a, self.b / self.a])

    def determinant(self, points: Any) -> Array:
        """det of the Jacobian: 1 + τ (2 x y - b - 1) - τ (1 - τ) x²."""
        x, y = np.moveaxis(np.asarray(points, dtype=np.float64), -1, 0)
        found: Array = 1 + self.tau * (2 * x * y - self.b - 1) - self.tau * (1 - self.tau) * x * x
        return found

    def gradient(self, point: Array) -> Array:
        """Of the determinant."""
        x, y = point
        return np.array([2 * self.tau * y - 2 * self.tau * (1 - self.tau) * x, 2 * self.tau * x])

    def cubic(self, value: Any) -> Array:
        """Coefficients, highest power first, of the polynomial whose roots are the x of the preimages."""
        x, y = (float(t) for t in value)
        t = self.tau
        return np.array([t * (1 - t), t * (t * self.a - x - y), t * self.b + t - 1, x - t * self.a])

    def preimages(self, value: Any) -> Array:
        """The real points that are mapped to a value, by growing x."""
        roots = np.roots(self.cubic(value))
        x = np.sort(roots.real[np.abs(roots.imag) <= REAL * np.maximum(1.0, np.abs(roots))])
        return np.column_stack([x, self._before(x, float(value[0]))])

    def _before(self, x: Array, after: float) -> Array:
        """y, from x and the next x."""
        found: Array = (after - x + self.tau * (self.b + 1) * x - self.tau * self.a) / (self.tau * x * x)
        return found

    def fold_height(self, x: Any) -> Array:
        """The y for which the determinant vanishes at x."""
        x = np.asarray(x, dtype=np.float64)
        found: Array = (1 - self.tau) * x / 2 + (self.tau * (self.b + 1) - 1) / (2 * self.tau * x)
        return found

    def fold_curves(self, low: Any, high: Any, *, step: float = 0.02) -> list[Array]:
        """J0 inside a box, followed from a zero on either side of x = 0; without the closed form of `fold_height`."""
        curves = []
        for side in (low[0], high[0]):
            start = self._zero(side, low[1], high[1])
            if start is not None:
                curves.append(trace(self.determinant, self.gradient, start, low, high, step))
        return curves

    def _zero(self, end: float, low: float, high: float) -> Array | None:
        """A point of J0 with x between 0 and `end`: the determinant grows or falls with y for x fixed."""
        from scipy.optimize import brentq

        for x in np.linspace(end, 0.0, 200, endpoint=False):
            below, above = self.determinant([[x, low], [x, high]])
            if below * above < 0:
                return np.array([x, brentq(lambda y, x=x: float(self.determinant([x, y])), low, high)])
        return None
