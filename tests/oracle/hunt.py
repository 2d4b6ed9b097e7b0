"""A search for collisions in floats that knows nothing of cells: random pairs, pulled together by Newton's method."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle.build import Generator, Network


def linearised(layers: Network, x: Any) -> tuple[Any, Any]:
    """Jacobians and values of the network at a batch of points."""
    n = x.shape[1]
    jacobian, value = np.broadcast_to(np.eye(n), (len(x), n, n)), x
    for k, (w, b) in enumerate(layers):
        jacobian, value = w @ jacobian, value @ w.T + b
        if k + 1 < len(layers):
            active = value > 0
            jacobian, value = jacobian * active[:, :, None], value * active
    return jacobian, value


def hunt(
    rng: Generator, layers: Network, center: Any, radius: float, norm: str = "inf", tries: int = 300
) -> Any | None:
    """A pair of the ball, well apart, with images equal up to rounding; None if the search finds none."""
    n = len(center)
    pairs = into_ball(rng.uniform(-1, 1, (tries, 2, n)) * rng.choice([0.3, 1.0], (tries, 1, 1)), norm)
    for _ in range(12):
        (a, p), (b, q) = (linearised(layers, center + radius * pairs[:, k]) for k in range(2))
        joint = np.concatenate([a, -b], axis=2) * radius
        step = np.linalg.pinv(joint, rcond=1e-9) @ (q - p)[:, :, None]
        pairs = into_ball(pairs + step.reshape(tries, 2, n), norm)
    x, y = center + radius * pairs[:, 0], center + radius * pairs[:, 1]
    a, fx = linearised(layers, x)
    _, fy = linearised(layers, y)
    rounding = 1e-12 * radius * np.abs(a).max(axis=(1, 2), initial=1e-300) + 1e-14 * np.abs(fx).max()
    found = (np.abs(fx - fy).max(axis=1) < rounding) & (np.abs(pairs[:, 0] - pairs[:, 1]).max(axis=1) > 1e-2)
    return (x[found][0], y[found][0]) if found.any() else None


def into_ball(points: Any, norm: str) -> Any:
    """The points, those outside the unit ball moved onto it."""
    if norm == "inf":
        return np.clip(points, -1, 1)
    size = np.linalg.norm(points, int(norm), axis=-1, keepdims=True)
    return points / np.maximum(1, size)
