"""Train the bundled network vanderpol-2-10-10-2: the flow of the Van der Pol oscillator over time 0.2.

    python scripts/train_vanderpol.py

needs scikit-learn. 1000 random points of [-3, 3]^2 are moved by x' = y, y' = (1 - x^2) y - x for time 0.2 (scipy's
DOP853); a ReLU network learns start -> end. Coefficients are rounded to multiples of 2^-12, so that the file stays
readable; the rounded numbers are the network.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from sklearn.neural_network import MLPRegressor

import ircert

SEED = 0
TARGET = Path(__file__).parents[1] / "ircert" / "data" / "networks" / "vanderpol-2-10-10-2.ir"


def flow(start: np.ndarray, time: float = 0.2) -> np.ndarray:
    """Where a point of the plane is after some time."""

    def field(_: float, state: np.ndarray) -> list[float]:
        x, y = state
        return [y, (1 - x * x) * y - x]

    return solve_ivp(field, (0.0, time), start, method="DOP853", rtol=1e-10, atol=1e-10).y[:, -1]


def main() -> None:
    """Train, round, save and report the error."""
    starts = np.random.default_rng(SEED).uniform(-3, 3, size=(1000, 2))
    ends = np.array([flow(start) for start in starts])
    model = MLPRegressor(
        hidden_layer_sizes=(10, 10), solver="lbfgs", alpha=1e-6, max_iter=20000, max_fun=10**6, random_state=SEED
    )
    model.fit(starts, ends)
    rounded = [np.round(a * 4096) / 4096 for a in (*model.coefs_, *model.intercepts_)]
    graph = ircert.load([(w.T, b) for w, b in zip(rounded[:3], rounded[3:], strict=True)])
    ircert.save(graph, TARGET)
    error = np.sqrt(np.mean((graph(starts) - ends) ** 2))
    print(f"wrote {TARGET.name}, root mean square error {error:.4f}")


if __name__ == "__main__":
    main()
