"""An Euler step of the Van der Pol oscillator in closed form: preimages, determinant, and where it vanishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ircert.ir.arrays import Array
from ircert.reproduction.maps.brusselator_map import REAL
from ircert.reproduction.maps.continuation import trace


@dataclass(frozen=True)
class VanDerPolMap:
    """(x, y) -> (x + τ y, y + τ ((1 - x²) y - x)); points are rows."""

    tau: float

    def __call__(self, points: Any) -> Array:
        x, y = np.moveaxis(np.asarray(points, dtype=np.float64), -1, 0)
        return np.stack([x + self.tau * y, y + self.tau * ((1 - x * x) * y - x)], axis=-1)

    @property
    def fixed_point(self) -> Array:
        """0, for every step."""
        return np.zeros(2)

    def determinant(self, points: Any) -> Array:
        """det of the Jacobian: 1 + τ (1 - x²) + τ² (1 + 2 x y)."""
        x, y = np.moveaxis(np.asarray(points, dtype=np.float64), -1, 0)
        found: Array = 1 + self.tau * (1 - x * x) + self.tau**2 * (1 + 2 * x * y)
        return found

    def gradient(self, point: Array) -> Array:
        """Of the determinant."""
        x, y = point
        return np.array([-2 * self.tau * x + 2 * self.tau**2 * y, 2 * self.tau**2 * x])

    def preimages(self, value: Any) -> Array:
        """The real points that are mapped to a value, by growing x: roots of a cubic."""
        u, v = (float(t) for t in value)
        t = self.tau
        roots = np.roots([t, -t * u, -(1 + t + t * t), u * (1 + t) - t * v])
        x = np.sort(roots.real[np.abs(roots.imag) <= REAL * np.maximum(1.0, np.abs(roots))])
        return np.column_stack([x, (u - x) / t])

    def fold_curves(self, low: Any, high: Any, *, step: float = 0.02) -> list[Array]:
        """J0 inside a box, both branches of a hyperbola, followed from where they cross the x axis."""
        end = np.sqrt((1 + self.tau + self.tau**2) / self.tau)
        starts = [np.array([sign * end, 0.0]) for sign in (-1.0, 1.0)]
        inside = [p for p in starts if ((low <= p) & (p <= high)).all()]
        return [trace(self.determinant, self.gradient, p, low, high, step) for p in inside]
