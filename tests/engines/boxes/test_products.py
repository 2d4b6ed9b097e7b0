"""Networks with products of two computed vectors (GLU, SwiGLU, bilinear gates), against what is known about them."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.analysis.smooth.maps import SmoothMap
from ircert.bounds.squares import SquareBounds
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.place import Place
from ircert.ir.enclosure import enclosed_determinant
from ircert.ir.graph import Graph
from ircert.ir.ops import Curve, Product
from ircert.ir.ops.curves import Sigmoid, Silu
from ircert.questions.network import lowered
from ircert.structure.known import Knowledge

GATES: list[Curve | None] = [None, Sigmoid(), Silu()]


def gated(gate: Curve | None, size: int = 2, width: int = 6, seed: int = 0, layers: int = 1) -> Graph:
    """x plus a layer of products, so often."""
    build, rng = ircert.Builder(size), np.random.default_rng(seed)
    x = build.input
    for _ in range(layers):
        a, b = (
            build.affine(x, rng.normal(size=(width, size)) / np.sqrt(size), rng.normal(size=width) / 3)
            for _ in range(2)
        )
        product = build.node(Product(), b if gate is None else build.node(gate, b), a)
        x = build.add(x, build.affine(product, 0.5 * rng.normal(size=(size, width)) / np.sqrt(width)))
    return build.graph(x)


@pytest.mark.rule("E-17", "IR-21")
@pytest.mark.parametrize("factor", [0.25, 3e-3, 40.0])
def test_a_parabola_folds_where_it_should(factor: float) -> None:
    """x + k (x + 1)(2 x - 3) has its vertex where 1 + k (4 x - 1) = 0."""
    build = ircert.Builder(1)
    a, b = build.affine(build.input, [[factor]], [factor]), build.affine(build.input, [[2.0]], [-3.0])
    graph = build.graph(build.add(build.input, build.node(Product(), a, b)))
    true = abs((1 - 1 / factor) / 4 - 0.5)
    found = ircert.certify(graph, [0.5], tol=1e-6)
    assert found.verdict == "certified"
    assert found.radius.refuted is not None
    assert float(found.radius.certified) <= true <= float(found.radius.refuted) <= true * (1 + 1e-5)


@pytest.mark.parametrize("gate", GATES, ids=["bilinear", "glu", "swiglu"])
def test_determinants_of_boxes_hold_those_of_points(gate: Curve | None) -> None:
    """The lowered network on boxes, against the product rule in interval arithmetic at points."""
    graph, rng = gated(gate, layers=2), np.random.default_rng(1)
    smooth = SmoothMap(graph, (np.full(2, -3.0), np.full(2, 3.0)))
    low = rng.uniform(-3, 3, (40, 2))
    high = low + 10.0 ** rng.uniform(-6, 0, (40, 1))
    least, most = smooth.determinant_ranges(low, high)
    for k in range(len(low)):
        for t in rng.random((3, 2)):
            value = enclosed_determinant(graph, (low[k] + t * (high[k] - low[k])).tolist())
            assert value >= least[k]
            assert value <= most[k]
    narrow = (high - low).max(axis=1) < 1e-3
    assert (most - least < 0.05 * (1 + np.abs(most)))[narrow].all()


@pytest.mark.parametrize("gate", GATES, ids=["bilinear", "glu", "swiglu"])
def test_searches_end_at_folds(gate: Curve | None) -> None:
    graph = gated(gate)
    found = ircert.certify(graph, [0.0, 0.0], tol=1e-3, time_limit=20)
    assert found.verdict == "certified"
    assert found.radius.refuted is not None
    certified, refuted = float(found.radius.certified), float(found.radius.refuted)
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 60)] * 2), axis=-1).reshape(-1, 2)
    smooth = SmoothMap(graph)
    assert (smooth.determinants(certified * grid) * smooth.determinants(0 * grid) > 0).all()
    assert ircert.certify(graph, [0.0, 0.0], radius=1.01 * refuted, time_limit=20).verdict == "refuted"


def test_all_problems() -> None:
    graph = gated(Silu())
    pseudo = ircert.certify(graph, [0.0, 0.0], problem="pseudo", radius=1.0, time_limit=20)
    assert pseudo.verdict == "certified"
    transform = ircert.certify(graph, [0.0, 0.0], problem="transform", other=gated(None), radius=1.0, time_limit=20)
    assert transform.verdict == "certified"
    fewer = ircert.certify(graph.select([0]), [0.0, 0.0], time_limit=20)
    assert (fewer.verdict, fewer.radius.refuted) == ("refuted", 0.0)
    point = [0.25, -1.0]
    assert len(ircert.preimages(graph, graph.enclosure(point), ([0.0, 0.0], 2.0))) == 1


@pytest.mark.parametrize("farther", [0.0, 0.3])
def test_nothing_is_closed_where_slopes_are_not_followed(monkeypatch: pytest.MonkeyPatch, farther: float) -> None:
    """Rounding errors are counted for slopes up to some size: steeper ones prove nothing."""
    monkeypatch.setattr(SquareBounds, "farther", farther)
    graph = lowered(gated(None))
    setting = Setting(graph, "local", 2, Place.everywhere(np.zeros(2)))
    network, far = Batches(setting), np.array([[0.9, 0.9]])
    known = enclose(network, far, far + 1e-9, np.inf, tilted=True)
    still = np.zeros((2, 1), dtype=bool)
    for slopes in (Slopes.on_boxes(known, still), Slopes.within(known.least, known.most, setting.curved, still)):
        matrix = np.linalg.inv(SmoothMap(gated(None)).jacobians(far)[0])
        assert not OneMatrix(network, matrix).closed(slopes).closed[0]


def test_couplings_are_still_known_by_their_form() -> None:
    """(x, y) -> (x, y (1 + sigmoid(x)) + x²): no search is needed."""
    build = ircert.Builder(2)
    x, y = build.select(build.input, [0]), build.select(build.input, [1])
    gate = build.affine(build.node(Sigmoid(), x), [[1.0]], [1.0])
    graph = build.graph(build.concat(x, build.add(build.node(Product(), y, gate), build.node(Product(), x, x))))
    assert Knowledge(graph).is_injective
    assert ircert.certify(graph, [0.0, 0.0]).radius.certified == float("inf")
