"""Networks and their twins, for tests."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import ircert
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.questions.network import lowered

Layers = list[tuple[Array, Array]]


def layers(seed: int, *sizes: int) -> Layers:
    """Random layers with numbers of full length."""
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)) * np.sqrt(2 / a), rng.normal(size=b) / 4) for a, b in pairwise(sizes)]


def rounded(given: Layers, unit: float = 2.0**-6) -> Layers:
    """With all numbers rounded to multiples of a unit."""
    return [(np.round(w / unit) * unit, np.round(b / unit) * unit) for w, b in given]


def graph(given: Layers) -> Graph:
    """As engines want it."""
    return lowered(ircert.load(given))


def around(center: Array, radius: float, norm: Norm = Norm.INF) -> Ball:
    """A ball without a domain."""
    nothing = np.full(len(center), np.inf)
    return Ball(center, radius, norm, -nothing, nothing)


def points_of(ball: Ball, count: int, seed: int = 0) -> Array:
    """Points of a ball, some at its very edge: corners of the box, scaled into it."""
    rng = np.random.default_rng(seed)
    offsets = rng.choice([-1.0, 0.0, 1.0, 0.5], size=(count, len(ball.center)))
    lengths = np.maximum(ball.norm.lengths(offsets), 1e-300)[:, None]
    shares = rng.choice([1.0, 0.3], size=(count, 1)) * (1 - 2.0**-40)
    return np.asarray(ball.center + offsets / np.where(lengths > 1e-200, lengths, 1.0) * shares * ball.radius)
