"""Train the bundled network unicycle-5-64-64-64-5: a unicycle that steers ahead and cruises, over time 0.6.

    python scripts/train_unicycle.py

needs scikit-learn. The state is (x, y, heading, speed, rate of turning). It steers towards heading 0, and a constant
drive works against quadratic drag:

    x' = speed cos heading,   y' = speed sin heading,   heading' = rate,
    speed' = 1 - speed |speed|,   rate' = -4 sin heading - 2 rate.

10000 random states of a box around the cruise (0, 0, 0, 1, 0) are moved; a relu network learns start -> end.
"""

from __future__ import annotations

import numpy as np
import training

LOW = [-2.0, -2.0, -3.0, -1.0, -3.0]
HIGH = [2.0, 2.0, 3.0, 3.0, 3.0]


def flow(starts: training.Array) -> training.Array:
    """Where states (x, y, heading, speed, rate) are after time 0.6."""

    def field(state: training.Array) -> training.Array:
        _, _, heading, speed, rate = state
        ahead, aside = speed * np.cos(heading), speed * np.sin(heading)
        return np.array([ahead, aside, rate, 1 - speed * abs(speed), -4 * np.sin(heading) - 2 * rate])

    return training.flow(field, starts, 0.6)


if __name__ == "__main__":
    training.train("unicycle-5-64-64-64-5", flow, LOW, HIGH, points=10_000, iterations=1500)
