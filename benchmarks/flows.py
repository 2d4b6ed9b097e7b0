"""Random networks like learned flows: x + g(x), written as one plain network, with steps of a known size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.ir.arrays import Array

SAMPLES = 2000
"""Points at which the size of a step is measured."""


@dataclass(frozen=True)
class Flow:
    """x + g(x) with two hidden layers; the Jacobian of g has norm `step` at the worst of many points of a ball."""

    inputs: int
    width: int
    radius: float
    seed: int
    step: float = 0.7

    def layers(self) -> list[tuple[Array, Array]]:
        """Weights and biases; x itself is carried as the difference of its positive and its negative part."""
        rng, n, width = np.random.default_rng(self.seed), self.inputs, self.width
        first, second = rng.normal(size=(width, n)) / math.sqrt(n), rng.normal(size=(width, width)) / math.sqrt(width)
        last = rng.normal(size=(n, width)) / math.sqrt(width)
        biases = 0.5 * rng.normal(size=(2, width))
        points = rng.uniform(-self.radius, self.radius, size=(SAMPLES, n))
        last *= self.step / _steepest(points, (first, second, last), biases)
        keep, carried = np.vstack([np.eye(n), -np.eye(n)]), np.zeros((width, 2 * n))
        return [
            (np.vstack([first, keep]), np.r_[biases[0], np.zeros(2 * n)]),
            (np.block([[second, carried], [carried.T, np.eye(2 * n)]]), np.r_[biases[1], np.zeros(2 * n)]),
            (np.hstack([last, keep.T]), np.zeros(n)),
        ]


def _steepest(points: Array, weights: tuple[Array, Array, Array], biases: Array) -> float:
    """The largest norm of the Jacobian of g at some points."""
    first, second, last = weights
    below = points @ first.T + biases[0]
    above = np.maximum(below, 0) @ second.T + biases[1]
    inner = np.einsum("po,oi,pi->poi", above > 0, second, below > 0)
    return float(np.linalg.norm(last @ inner @ first, ord=2, axis=(1, 2)).max())
