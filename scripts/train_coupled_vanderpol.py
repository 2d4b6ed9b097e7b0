"""Train the bundled networks coupled-vanderpol-*: the flow of two weakly coupled Van der Pol oscillators over time 0.2.

    python scripts/train_coupled_vanderpol.py

needs scikit-learn. 5000 random points (x, y, u, v) of [-2.5, 2.5]^4 are moved for time 0.2 by

    x' = y,   y' = (1 - x^2) y - x + (u - x) / 10,
    u' = v,   v' = (1 - u^2) v - u + (x - u) / 10;

relu networks 4-16-16-4 and 4-32-32-4 learn start -> end.
"""

from __future__ import annotations

import numpy as np
import training

COUPLING = 0.1


def flow(starts: training.Array) -> training.Array:
    """Where points (x, y, u, v) are after time 0.2."""

    def field(state: training.Array) -> training.Array:
        x, y, u, v = state
        pull = COUPLING * (u - x)
        return np.array([y, (1 - x * x) * y - x + pull, v, (1 - u * u) * v - u - pull])

    return training.flow(field, starts, 0.2)


if __name__ == "__main__":
    for name in ("coupled-vanderpol-4-16-16-4", "coupled-vanderpol-4-32-32-4"):
        training.train(name, flow, [-2.5] * 4, [2.5] * 4, points=5000)
