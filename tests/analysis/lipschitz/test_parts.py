"""L and L' of flows that no search takes: closed forms, pairs of points, round trips, and what says nothing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert.errors import UnsupportedModel
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.smooth import Log, Product
from tests.structure.flows import autoregressive, couplings

FIXTURES = Path(__file__).parents[2] / "structure" / "fixtures" / "torch_dynamo"


def scaling() -> Graph:
    """(x1, x2 exp(x1))."""
    build = ircert.Builder(2)
    first, second = build.select(build.input, [0]), build.select(build.input, [1])
    return build.graph(build.concat(first, build.node(Product(), second, build.node(Exp(), first))))


@pytest.mark.rule("L-9")
@pytest.mark.parametrize("radius", [0.125, 1.0, 3.0])
def test_an_affine_coupling_in_closed_form(radius: float) -> None:
    """From |x1 - x1'| <= d: |x2 - x2'| <= (1 + r exp(r)) exp(r) d; the inverse y2 exp(-y1) is no better at y1 = -r."""
    found = ircert.bilipschitz(scaling(), ([0.0, 0.0], radius), time_limit=5)
    most = math.exp(radius) * (1 + radius * math.exp(radius))
    assert 1 / found.lower.low <= most * (1 + 1e-9)
    assert found.lower.low <= found.lower.high
    assert found.inverse.high == pytest.approx(1 / found.lower.low)
    assert found.float32_round_trip == pytest.approx(float(found.inverse.high) * 2**-24)


def networks() -> list[Graph]:
    rng = np.random.default_rng(0)
    made = [scaling(), couplings(rng, 4, 2, scaled=True), autoregressive(rng, 4)]
    names = ("realnvp_6", "realnvp_checkerboard", "freia_all_in_one", "freia_coupling", "maf_4", "glow_64")
    return made + [ircert.load(FIXTURES / f"{name}.onnx") for name in names]


@pytest.mark.rule("L-9", "L-11")
@pytest.mark.parametrize("graph", networks())
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_pairs_lie_between(graph: Graph, norm: object) -> None:
    center = np.random.default_rng(2).normal(size=graph.input_dim) / 4
    found = ircert.bilipschitz(graph, (center, 0.25, "inf"), norm, time_limit=20)
    assert found.lower.low > 0
    rng = np.random.default_rng(1)
    x = center + rng.uniform(-0.25, 0.25, (400, graph.input_dim))
    near = x + rng.uniform(-1e-3, 1e-3, x.shape)
    y = np.clip(np.concatenate([x[::-1][:200], near[200:]]), center - 0.25, center + 0.25)
    quotients = found.norm.lengths(graph(x) - graph(y)) / found.norm.lengths(x - y)
    assert found.lower.low <= quotients.min()
    assert quotients.max() <= found.upper.high
    assert "float32" in found.summary()


@pytest.mark.rule("L-9", "L-11")
def test_where_only_infinity_holds() -> None:
    """On a ball that is so large that exp leaves the floats."""
    found = ircert.bilipschitz(scaling(), ([0.0, 0.0], 1e4), time_limit=2)
    assert (found.lower.low, float(found.inverse.high), found.float32_round_trip) == (0.0, math.inf, math.inf)
    assert "no bound on how much the inverse stretches errors" in found.summary()


@pytest.mark.rule("L-12")
def test_a_convolutional_residual_flow() -> None:
    """Blocks that contract in norm 2 are better followed in norm 2, also for quotients in norm inf."""
    graph = ircert.load(FIXTURES / "iresnet_3072.onnx")
    found = {n: ircert.bilipschitz(graph, (np.zeros(3072), 0.5), n, time_limit=30).lower.low for n in (2, "inf")}
    assert found[2] > 1 / 3_000
    assert found["inf"] >= found[2] / math.sqrt(3072) * (1 - 1e-9)


def test_networks_without_such_a_form_are_refused() -> None:
    build = ircert.Builder(2)
    squashed = build.graph(build.node(Product(), build.node(Log(), build.input), build.node(Tanh(), build.input)))
    with pytest.raises(UnsupportedModel, match="no search takes `log`"):
        ircert.bilipschitz(squashed, ([0.0, 0.0], 1.0))
