"""Train the bundled network brusselator-3-24-24-2: an Euler step of the Brusselator, with its parameter as an input.

    python scripts/train_brusselator.py

needs scikit-learn. A relu network learns (x, y, b) -> (x + t (1 + x^2 y - (b + 1) x), y + t (b x - x^2 y)), t = 0.15,
from 5000 random points of [-1, 3] x [-1, 4] x [1.8, 2.4]. The map folds the plane there: its Jacobian determinant
changes sign along two curves, one on each side of the attractor around (1, b).
"""

from __future__ import annotations

import numpy as np
import training

STEP = 0.15


def euler(points: training.Array) -> training.Array:
    """One step for each row (x, y, b)."""
    x, y, b = points.T
    return np.stack([x + STEP * (1 + x * x * y - (b + 1) * x), y + STEP * (b * x - x * x * y)], axis=1)


if __name__ == "__main__":
    training.train("brusselator-3-24-24-2", euler, [-1.0, -1.0, 1.8], [3.0, 4.0, 2.4], points=5000)
