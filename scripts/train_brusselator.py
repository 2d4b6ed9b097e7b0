"""Train the bundled networks brusselator-*: an Euler step of the Brusselator, with a parameter or the step as an input.

    python scripts/train_brusselator.py

needs scikit-learn. Relu networks learn the step (x, y) -> (x + t (1 + x^2 y - (b + 1) x), y + t (b x - x^2 y)), a = 1:

* brusselator-3-24-24-2: inputs (x, y, b), t = 0.15, from 5000 random points of [-1, 3] x [-1, 4] x [1.8, 2.4]. The map
  folds the plane there: its Jacobian determinant changes sign along two curves, one on each side of the attractor
  around (1, b).
* brusselator-3-32-32-2: the same from 8000 random points of [-1, 4] x [-1, 4.5] x [1.9, 2.7], where the attractor grows
  with b until it meets the right one of these curves.
* brusselator-tau-3-24-24-2: inputs (x, y, t), b = 2, from 5000 random points of [-1.5, 4] x [-1.5, 4.5] x [0.05, 0.3].
  The smaller t, the farther the curves.
* brusselator-residual-2-24-24-2: inputs (x, y), b = 2.1, t = 0.15; the layers learn what the step adds to (x, y), from
  5000 random points of [-1, 3] x [-1, 4].
"""

from __future__ import annotations

import numpy as np
import training

import ircert

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


def residual() -> None:
    """Train the layers of a residual network and save it with its skip."""
    low, high = [-1.0, -1.0], [3.0, 4.0]
    x, test = (training.sample(low, high, training.TEST_POINTS, seed) for seed in (training.SEED, training.TEST_SEED))
    layers = training.fit(x, euler(*x.T, 2.1, STEP) - x, (24, 24))
    build = ircert.Builder(2)
    graph = build.graph(build.add(build.input, build.insert(ircert.load(layers), build.input)))
    training.save("brusselator-residual-2-24-24-2", graph, test, euler(*test.T, 2.1, STEP))


if __name__ == "__main__":
    training.train("brusselator-3-24-24-2", with_parameter, [-1.0, -1.0, 1.8], [3.0, 4.0, 2.4], points=5000)
    larger = [-1.0, -1.0, 1.9], [4.0, 4.5, 2.7]
    training.train("brusselator-3-32-32-2", with_parameter, *larger, points=8000, alpha=1e-3, iterations=8000)
    training.train("brusselator-tau-3-24-24-2", with_step, [-1.5, -1.5, 0.05], [4.0, 4.5, 0.3], points=5000)
    residual()
