"""Train the bundled networks vanderpol-*: the flow of the Van der Pol oscillator over time 0.2.

    python scripts/train_vanderpol.py

needs scikit-learn. 1000 random points of [-3, 3]^2 are moved by x' = y, y' = (1 - x^2) y - x for time 0.2; relu
networks 2-10-10-2, 2-16-16-2 and 2-32-32-2 learn start -> end. The last is then pruned to 40, 50 and 60 % zeros, three
seeds each, which takes a few minutes.

The coefficients of the smallest are rounded to multiples of 2^-12, so that the file (.ir) stays readable.
"""

from __future__ import annotations

import numpy as np
import training
from sklearn.neural_network import MLPRegressor

import ircert

LOW, HIGH = [-3.0, -3.0], [3.0, 3.0]


def flow(starts: training.Array) -> training.Array:
    """Where points of the plane are after time 0.2."""

    def field(state: training.Array) -> training.Array:
        x, y = state
        return np.array([y, (1 - x * x) * y - x])

    return training.flow(field, starts, 0.2)


def smallest(x: training.Array, y: training.Array) -> ircert.Graph:
    """The network 2-10-10-2, rounded."""
    model = MLPRegressor(
        hidden_layer_sizes=(10, 10),
        solver="lbfgs",
        alpha=1e-6,
        max_iter=20000,
        max_fun=10**6,
        random_state=training.SEED,
    )
    model.fit(x, y)
    rounded = [np.round(a * 4096) / 4096 for a in (*model.coefs_, *model.intercepts_)]
    return ircert.load([(w.T, b) for w, b in zip(rounded[:3], rounded[3:], strict=True)])


def main() -> None:
    """Train, prune, save and report the errors."""
    x = training.sample(LOW, HIGH, 1000, training.SEED)
    test = training.sample(LOW, HIGH, training.TEST_POINTS, training.TEST_SEED)
    y, expected = flow(x), flow(test)
    path = training.FOLDER / "vanderpol-2-10-10-2.ir"
    graph = smallest(x, y)
    ircert.save(graph, path)
    training.report(path, graph, test, expected)
    training.save("vanderpol-2-16-16-2", training.fit(x, y, (16, 16)), test, expected)
    full = training.fit(x, y, (32, 32))
    training.save("vanderpol-2-32-32-2", full, test, expected)
    for percent in (40, 50, 60):
        for seed in (1, 2, 3):
            pruned = training.prune(full, x, y, percent / 100, seed=seed)
            training.save(f"vanderpol-2-32-32-2-pruned-{percent}-{seed}", pruned, test, expected)


if __name__ == "__main__":
    main()
