"""Learned networks that are not bundled: brackets of largest radii, beside an earlier version.

    python benchmarks/other_networks.py [--limit 60] [--only NAME] [--before FOLDER]

A kinematic bicycle with 5 states by Adam and by L-BFGS (three hidden layers of 64), a planar quadrotor with 6 states by
Adam (two of 64): flows over time 0.5, learned by scikit-learn from 8,000 points, weights rounded to float32 numbers.
And four flows over time 0.3, learned in 50 epochs at most, with random centres around which no fold is near: a car,
another quadrotor, rings of four and six oscillators.
Seconds and limits are of processor time (`asking.py`); FOLDER is a checkout of the earlier version.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from asking import Asked

import ircert
from ircert.ir.arrays import Array

POINTS, TIME, STEPS = 8_000, 0.5, 60
"""Points to learn from; the time of a flow, in so many steps of Runge and Kutta's method."""


def bicycle(state: Array) -> Array:
    """x, y, heading, speed and angle of the front wheel; it steers ahead, and a drive works against drag."""
    _, _, heading, speed, angle = state
    ahead = speed * np.cos(heading), speed * np.sin(heading)
    return np.array([*ahead, speed * np.tan(angle) / 1.5, 1 - speed * abs(speed), -2 * angle - np.sin(heading)])


def quadrotor(state: Array) -> Array:
    """x, y, tilt and their speeds; it holds its height and turns upright."""
    x, y, tilt, vx, vy, turning = state
    thrust = 9.81 - y - 2 * vy
    forces = -thrust * np.sin(tilt) / 3, thrust * np.cos(tilt) - 9.81, -3 * tilt - 2 * turning - 0.3 * x
    return np.array([vx, vy, turning, *forces])


def car(state: Array) -> Array:
    """x, y, heading, speed and angle of the front wheel, which both fade."""
    _, _, heading, speed, angle = state
    turning = speed * np.tan(0.5 * np.tanh(angle))
    return np.array([speed * np.cos(heading), speed * np.sin(heading), turning, -0.3 * speed, -angle])


def slow_quadrotor(state: Array) -> Array:
    """x, y, tilt and their speeds."""
    _, _, tilt, vx, vy, turning = state
    forces = -2.943 * np.sin(tilt), 2.943 * (np.cos(tilt) - 1) - 0.1 * vy, -2 * np.sin(tilt) - 0.2 * turning
    return np.array([vx, vy, turning, *forces])


def ring(state: Array) -> Array:
    """A ring of oscillators with hardening springs: places, then speeds."""
    places, speeds = np.split(state, 2)
    pull = np.roll(places, 1, 0) + np.roll(places, -1, 0) - 2 * places
    return np.concatenate([speeds, -places - 0.3 * places**3 + 0.5 * pull - 0.1 * speeds])


@dataclass(frozen=True)
class Learned:
    """What is learned on a box, by which solver of scikit-learn, and the centre of the balls."""

    field: Callable[[Array], Array]
    low: list[float]
    high: list[float]
    hidden: tuple[int, ...]
    options: dict[str, Any]
    center: list[float]
    time: float = TIME

    def graph(self) -> ircert.Graph:
        """Train it."""
        from sklearn.neural_network import MLPRegressor

        x = np.random.default_rng(0).uniform(self.low, self.high, size=(POINTS, len(self.low)))
        model = MLPRegressor(hidden_layer_sizes=self.hidden, random_state=0, **self.options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it need not converge
            model.fit(x, _flow(self.field, x, self.time))
        layers = zip(model.coefs_, model.intercepts_, strict=True)
        return ircert.load([(_rounded(weight.T), _rounded(bias)) for weight, bias in layers])


def _rounded(numbers: Array) -> Array:
    return numbers.astype(np.float32).astype(np.float64)


def _flow(field: Callable[[Array], Array], points: Array, time: float) -> Array:
    state, step = points.T, time / STEPS
    for _ in range(STEPS):
        first = field(state)
        second = field(state + step / 2 * first)
        third = field(state + step / 2 * second)
        state = state + step / 6 * (first + 2 * second + 2 * third + field(state + step * third))
    return state.T


def _early(field: Callable[[Array], Array], size: float, hidden: tuple[int, ...], n: int) -> Learned:
    center = np.round(np.random.default_rng(1).uniform(-1, 1, n), 3).tolist()
    return Learned(field, [-size] * n, [size] * n, hidden, EARLY, center, 0.3)


ADAM = {"solver": "adam", "max_iter": 300, "learning_rate_init": 2e-3, "alpha": 1e-4}
L_BFGS = {"solver": "lbfgs", "max_iter": 1500, "max_fun": 10**6, "alpha": 1e-2}
EARLY = {"max_iter": 50, "early_stopping": True, "learning_rate_init": 2e-3}
ROAD = [-2.0, -2.0, -2.0, -1.0, -1.0], [2.0, 2.0, 2.0, 3.0, 1.0], (64, 64, 64)
NETWORKS = {
    "bicycle-5-64-64-64-5, Adam": Learned(bicycle, *ROAD, ADAM, [0.0, 0.0, 0.0, 1.0, 0.0]),
    "bicycle-5-64-64-64-5, L-BFGS": Learned(bicycle, *ROAD, L_BFGS, [0.0, 0.0, 0.0, 1.0, 0.0]),
    "quadrotor-6-64-64-6, Adam": Learned(quadrotor, [-2.0] * 6, [2.0] * 6, (64, 64), ADAM, [0.0] * 6),
    "car-5-64-64-64-5, early": _early(car, 2.0, (64, 64, 64), 5),
    "quadrotor-6-64-64-6, early": _early(slow_quadrotor, 1.5, (64, 64), 6),
    "ring-8-128-128-8, early": _early(ring, 1.5, (128, 128), 8),
    "ring-12-64-64-12, early": _early(ring, 1.0, (64, 64), 12),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--before", type=Path)
    options = parser.parse_args()
    versions = {"now": None} | ({"before": options.before} if options.before else {})
    print("| network | version | bracket | ratio | processor |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, learned in NETWORKS.items():
            if options.only not in name:
                continue
            path = Path(folder, "network.onnx")
            ircert.save(learned.graph(), path)
            for version, source in versions.items():
                asked = Asked(str(path), options.limit, {"engine": "boxes", "center": learned.center})
                found = asked.answer(source)
                print(f"| {name} | {version} | {found.bracket} | {found.ratio} | {found.seconds:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
