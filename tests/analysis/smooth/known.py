"""Smooth maps whose folds and preimages are known in closed form."""

from __future__ import annotations

import numpy as np

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve
from ircert.ir.ops.curves import Cos, Sin, Tanh

EDGE = float(np.arctanh(np.sqrt(0.5)))
"""Where x - 2 tanh(x) turns: tanh(x)^2 = 1/2."""


def bent(curve: Curve, weight: float, keep: float = 1.0) -> Graph:
    """(keep x + weight g(x), y)."""
    build = ircert.Builder(2)
    first = build.select(build.input, [0])
    moved = build.add(build.affine(first, [[keep]]), build.affine(build.node(curve, first), [[weight]]))
    return build.graph(build.concat(moved, build.select(build.input, [1])))


def shear(curve: Curve, weight: float, axis: int) -> Graph:
    """x_axis moved by weight g of the other coordinate: the determinant is 1."""
    build = ircert.Builder(2)
    parts = [build.select(build.input, [k]) for k in (0, 1)]
    parts[axis] = build.add(parts[axis], build.affine(build.node(curve, parts[1 - axis]), [[weight]]))
    return build.graph(build.concat(*parts))


def folded(weight: float = 0.7) -> Graph:
    """A shear, x - 2 tanh(x), and another shear: its fold is where x + weight sin(y) = ±EDGE."""
    return shear(Sin(), weight, 0).then(bent(Tanh(), -2.0)).then(shear(Tanh(), 1.5, 1))


def cosine() -> Graph:
    """(cos(x), y): folds at all multiples of π, and two preimages of (c, y) in each period."""
    return bent(Cos(), 1.0, 0.0)


def network(curve: Curve, inputs: int = 2, width: int = 12, seed: int = 0, outputs: int | None = None) -> Graph:
    """Two layers of random weights."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(inputs)
    x = build.input
    for _ in range(2):
        size = build.size(x)
        x = build.node(
            curve, build.affine(x, rng.normal(size=(width, size)) / np.sqrt(size), 0.5 * rng.normal(size=width))
        )
    return build.graph(build.affine(x, rng.normal(size=(outputs or inputs, width)) / np.sqrt(width)))
