"""Train the bundled networks brusselator-*: an Euler step of the Brusselator, with a parameter or the step as an input.

    python scripts/train_brusselator.py

needs scikit-learn. Relu networks learn the step (x, y) -> (x + t (1 + x^2 y - (b + 1) x), y + t (b x - x^2 y)), a = 1:

* brusselator-3-24-24-2: inputs (x, y, b), t = 0.15, from 5000 random points of [-1, 3] x [-1, 4] x [1.8, 2.4]. The map
  folds the plane there: its Jacobian determinant changes sign along two curves, one on each side of the attractor
  around (1, b).
* brusselator-tau-3-24-24-2: inputs (x, y, t), b = 2, from 5000 random points of [-1.5, 4] x [-1.5, 4.5] x [0.05, 0.3].
  The smaller t, the farther the curves.
"""

from __future__ import annotations

import numpy as np
import training

STEP = 0.15


def euler(
    x: training.Array, y: training.Array, b: training.Array | float, step: training.Array | float
) -> training.Array:
    """One step for each point (x, y)."""
    return np.stack([x + step * (1 + x * x * y - (b + 1) * x), y + step * (b * x - x * x * y)], axis=1)


def with_parameter(points: training.Array) -> training.Array:
    """One step of length 0.15 for each row (x, y, b)."""
    x, y, b = points.T
    return euler(x, y, b, STEP)


def with_step(points: training.Array) -> training.Array:
    """One step for each row (x, y, t), b = 2."""
    x, y, step = points.T
    return euler(x, y, 2.0, step)


if __name__ == "__main__":
    training.train("brusselator-3-24-24-2", with_parameter, [-1.0, -1.0, 1.8], [3.0, 4.0, 2.4], points=5000)
    training.train("brusselator-tau-3-24-24-2", with_step, [-1.5, -1.5, 0.05], [4.0, 4.5, 0.3], points=5000)
