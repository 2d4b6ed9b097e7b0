"""L and L' of networks with curves: closed forms, samples, and round trips."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.ir.ops.curves import Tanh
from tests.structure.flows import couplings, residual


@pytest.mark.rule("L-10")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_tanh(norm: object) -> None:
    build = ircert.Builder(2)
    found = ircert.bilipschitz(build.graph(build.node(Tanh(), build.input)), ([0.0, 0.0], 1.0), norm, time_limit=10)
    assert found.upper.low <= 1.0 <= found.upper.high == pytest.approx(1.0)
    least = 1 - math.tanh(1.0) ** 2
    assert found.lower.low <= least <= found.lower.high
    assert found.lower.low >= (0.9 if norm == 2 else 0.5) * least


@pytest.mark.rule("L-8", "L-10")
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_samples_lie_between(norm: object) -> None:
    graph = bundled("vanderpol-tanh-2-32-32-2")
    found = ircert.bilipschitz(graph, ([0.0, 0.0], 0.5), norm, time_limit=10)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-0.5, 0.5, (2, 500, 2))
    order = found.norm.order
    quotients = np.linalg.norm(graph(x) - graph(y), ord=order, axis=1) / np.linalg.norm(x - y, ord=order, axis=1)
    assert 0 < found.lower.low <= quotients.min()
    assert quotients.max() <= found.upper.high
    assert found.lower.low <= found.lower.high <= found.upper.high


@pytest.mark.rule("L-9", "L-11")
def test_flows_and_their_round_trips() -> None:
    graph = residual(np.random.default_rng(0), 150, 2, 0.5, Tanh())
    found = ircert.bilipschitz(graph, (np.zeros(150), 1.0), time_limit=10)
    assert found.lower.low == pytest.approx(0.25)
    assert found.upper.high == pytest.approx(2.25)
    assert "1/L' = 4" in found.summary()
    assert "float32" in found.summary()
    shifted = couplings(np.random.default_rng(0), 8, 1)
    assert ircert.bilipschitz(shifted, (np.zeros(8), 1.0), time_limit=5).lower.low > 0


@pytest.mark.rule("L-10")
def test_fewer_outputs() -> None:
    build = ircert.Builder(2)
    found = ircert.bilipschitz(build.graph(build.node(Tanh(), build.affine(build.input, [[1.0, 2.0]]))), ([0, 0], 1.0))
    assert found.lower.exact == 0
