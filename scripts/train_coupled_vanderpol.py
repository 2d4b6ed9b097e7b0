"""Train the bundled networks coupled-vanderpol-*: the flow of weakly coupled Van der Pol oscillators over time 0.2.

    python scripts/train_coupled_vanderpol.py

needs scikit-learn. Random points (x_0, y_0, x_1, y_1, …) of [-2.5, 2.5]^n are moved for time 0.2 by

    x_i' = y_i,   y_i' = (1 - x_i^2) y_i - x_i + sum over j of (x_j - x_i) / 10.

Relu networks learn start -> end: 4-16-16-4 and 4-32-32-4 two oscillators from 5000 points, 6-24-24-6 three from 8000.
"""

from __future__ import annotations

import numpy as np
import training

COUPLING = 0.1
POINTS = {
    "coupled-vanderpol-4-16-16-4": 5000,
    "coupled-vanderpol-4-32-32-4": 5000,
    "coupled-vanderpol-6-24-24-6": 8000,
}


def flow(starts: training.Array) -> training.Array:
    """Where points (x_0, y_0, x_1, y_1, …) are after time 0.2."""

    def field(state: training.Array) -> training.Array:
        x, y = state[::2], state[1::2]
        pull = COUPLING * (x - x[:, None]).sum(axis=1)
        return np.column_stack([y, (1 - x * x) * y - x + pull]).ravel()

    return training.flow(field, starts, 0.2)


if __name__ == "__main__":
    for name, points in POINTS.items():
        inputs = int(name.split("-")[2])
        training.train(name, flow, [-2.5] * inputs, [2.5] * inputs, points=points)
