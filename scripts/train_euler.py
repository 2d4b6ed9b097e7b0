"""Train the bundled network euler-2-16-16-1: an Euler step of the scalar equation X' = X^2 + X - 1.

    python scripts/train_euler.py

needs scikit-learn. A relu network learns (X, t) -> X + t (X^2 + X - 1) from 3000 random points of
[-5, 2] x [0.05, 0.6]. The map folds the line at X = -(1 + t) / (2 t), which comes closer as the step t grows.
"""

from __future__ import annotations

import training


def step(points: training.Array) -> training.Array:
    """One step for each row (X, t)."""
    x, t = points.T
    return (x + t * (x * x + x - 1))[:, None]


if __name__ == "__main__":
    training.train("euler-2-16-16-1", step, [-5.0, 0.05], [2.0, 0.6], points=3000)
