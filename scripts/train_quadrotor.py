"""Train the bundled network quadrotor-6-64-64-6: a planar quadrotor that is held at its place, over time 0.25.

    python scripts/train_quadrotor.py

needs scikit-learn. The state is (x, z, tilt, and their rates u, w, q). The thrust (per mass) is 9.81 - 4 z - 3 w, the
turning (per inertia) -12 tilt - 5 q:

    x' = u,   z' = w,   tilt' = q,   u' = -thrust sin tilt,   w' = thrust cos tilt - 9.81,   q' = turning.

12000 random states with |x|, |z|, |tilt| <= 1.5 and |u|, |w|, |q| <= 2 are moved; a relu network learns start -> end.
"""

from __future__ import annotations

import numpy as np
import training

GRAVITY = 9.81
BOX = [1.5, 1.5, 1.5, 2.0, 2.0, 2.0]


def flow(starts: training.Array) -> training.Array:
    """Where states (x, z, tilt, u, w, q) are after time 0.25."""

    def field(state: training.Array) -> training.Array:
        _, z, tilt, u, w, q = state
        thrust = GRAVITY - 4 * z - 3 * w
        return np.array([u, w, q, -thrust * np.sin(tilt), thrust * np.cos(tilt) - GRAVITY, -12 * tilt - 5 * q])

    return training.flow(field, starts, 0.25)


if __name__ == "__main__":
    training.train("quadrotor-6-64-64-6", flow, [-side for side in BOX], BOX, points=12_000, iterations=2000)
