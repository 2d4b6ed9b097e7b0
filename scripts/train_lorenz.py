"""Train the bundled network lorenz-3-16-16-3: the flow of the Lorenz system over time 0.05.

    python scripts/train_lorenz.py

needs scikit-learn. With x = 10 u, y = 10 v, z = 25 + 10 w the attractor lies about in [-2, 2]^3. 5000 random points
(u, v, w) of that box are moved by x' = 10 (y - x), y' = x (28 - z) - y, z' = x y - 8/3 z for time 0.05; a relu network
learns start -> end.
"""

from __future__ import annotations

import numpy as np
import training


def flow(starts: training.Array) -> training.Array:
    """Where points (u, v, w) are after time 0.05."""

    def field(state: training.Array) -> training.Array:
        u, v, w = state
        return np.array([10 * (v - u), u * (3 - 10 * w) - v, 10 * u * v - 8 / 3 * (w + 2.5)])

    return training.flow(field, starts, 0.05)


if __name__ == "__main__":
    training.train("lorenz-3-16-16-3", flow, [-2.0] * 3, [2.0] * 3, points=5000)
