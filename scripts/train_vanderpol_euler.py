"""Train the bundled networks vanderpol-euler-*: an Euler step of the Van der Pol oscillator, with relu and with tanh.

    python scripts/train_vanderpol_euler.py

needs scikit-learn. The step (x, y) -> (x + t y, y + t ((1 - x^2) y - x)), t = 0.15, folds the plane along a hyperbola
left and right of its attractor; networks learn it from 10000 random points of [-3.5, 3.5]^2.
"""

from __future__ import annotations

import numpy as np
import smooth_training
import training

STEP = 0.15
LOW, HIGH, POINTS = [-3.5, -3.5], [3.5, 3.5], 10000


def euler(points: training.Array) -> training.Array:
    """One step for each row."""
    x, y = points.T
    return np.stack([x + STEP * y, y + STEP * ((1 - x * x) * y - x)], axis=1)


if __name__ == "__main__":
    training.train("vanderpol-euler-2-24-24-2", euler, LOW, HIGH, points=POINTS)
    smooth_training.train("vanderpol-euler-tanh-2-24-24-2", euler, LOW, HIGH, points=POINTS)
