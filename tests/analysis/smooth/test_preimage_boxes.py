"""The search for preimages misses none: against Newton's method from a dense grid."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.analysis.smooth.maps import SmoothMap
from ircert.analysis.smooth.preimage_boxes import PreimageSearch
from ircert.analysis.smooth.roots import Equations, Value
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve
from ircert.ir.ops.curves import Gelu, HardSwish, Silu, Tanh
from tests.analysis.smooth.known import network


def by_newton(graph: Graph, y: np.ndarray, radius: float) -> list[np.ndarray]:
    """Solutions in floats, from many starts with short steps."""
    smooth = SmoothMap(graph)
    x = np.stack(np.meshgrid(*[np.linspace(-radius, radius, 25)] * 2), axis=-1).reshape(-1, 2)
    for _ in range(40):
        jacobian = smooth.jacobians(x)
        good = np.abs(np.linalg.det(jacobian)) > 1e-10
        x = x[good]
        step = np.linalg.solve(jacobian[good], (graph(x) - y)[..., None])[..., 0]
        x = x - step * np.minimum(1, 0.5 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-9))
    x = x[(np.abs(graph(x) - y).max(axis=1) < 1e-10) & (np.abs(x).max(axis=1) <= radius - 1e-6)]
    found: list[np.ndarray] = []
    for point in x:
        if all(np.abs(point - other).max() > 1e-5 for other in found):
            found.append(point)
    return found


@pytest.mark.rule("FS-4")
@pytest.mark.parametrize("curve", [Tanh(), Gelu(), Silu(), HardSwish()], ids=lambda op: op.kind)
def test_no_solution_is_missed(curve: Curve) -> None:
    rng = np.random.default_rng(0)
    ball = Ball(np.zeros(2), 4.0, Norm.INF, np.full(2, -np.inf), np.full(2, np.inf))
    several = 0
    for seed in range(3):
        graph = network(curve, seed=seed)
        value = graph(rng.uniform(-2, 2, 2))
        asked = Value.of(value.tolist())
        found = PreimageSearch(SmoothMap(graph), Equations(graph, asked), asked, ball).run()
        points = np.array([[float(v) for v in root.middle] for root in found.roots])
        inside = points[np.abs(points).max(axis=1) <= 4.0 - 1e-6]
        expected = by_newton(graph, value, 4.0)
        assert found.undecided == []
        assert len(inside) == len(expected)
        assert all(np.abs(inside - point).max(axis=1).min() < 1e-6 for point in expected)
        several += len(expected) > 1
    assert several
