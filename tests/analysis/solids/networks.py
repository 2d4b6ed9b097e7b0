"""Networks of three inputs, and their Jacobians by differences."""

from __future__ import annotations

from typing import Any

import numpy as np

import ircert
from ircert import Graph
from ircert.ir.arrays import Array
from ircert.ir.ops.curves import Tanh


def network(seed: int, width: int = 8) -> Graph:
    """x + two layers: no region is singular, and Jacobians are of both signs."""
    rng, build = np.random.default_rng(seed), ircert.Builder(3)
    value = build.input
    for size, before in ((width, 3), (width, width)):
        value = build.relu(build.affine(value, rng.standard_normal((size, before)), rng.standard_normal(size)))
    return build.graph(build.add(build.input, build.affine(value, 0.5 * rng.standard_normal((3, width)))))


def slopes(graph: Graph, x: Any, step: float = 1e-7) -> Array:
    """Df at a point, by central differences."""
    shifts = step * np.eye(3)
    return np.asarray((graph(x + shifts) - graph(x - shifts)).T / (2 * step))


def bent() -> Graph:
    """(x0 - 2 tanh x0, x1, x2): folded where cosh(x0) is the root of 2."""
    build = ircert.Builder(3)
    bend = build.affine(build.node(Tanh(), build.input), np.diag([-2.0, 0.0, 0.0]))
    return build.graph(build.add(build.input, bend))


ABS = ircert.parse("ircert.ir/1\nx = input(length=3)\ny = abs(x)\nreturn y\n")
