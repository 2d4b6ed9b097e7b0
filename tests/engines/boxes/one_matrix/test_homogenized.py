"""A network made homogeneous: F(u, s) = s f(c + u / s), exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import ircert
from ircert.engines.boxes.one_matrix.homogenized import homogenized
from ircert.ir.evaluate import preactivations
from ircert.questions.network import lowered
from tests.engines.boxes.making import residual


def of_layers(rng: np.random.Generator, *sizes: int) -> ircert.Graph:
    return ircert.load([(rng.standard_normal((b, a)), rng.standard_normal(b)) for a, b in pairwise(sizes)])


def with_sparse_weights(rng: np.random.Generator) -> ircert.Graph:
    build = ircert.Builder(3)
    weight = sparse.csr_array(np.diag(rng.standard_normal(3)))
    hidden = build.relu(build.affine(build.input, weight, [0.1, 0.0, -0.3]))
    return build.graph(build.add(build.affine(hidden, weight, [1.0, 2.0, 3.0]), build.input))


GRAPHS: dict[str, Callable[[np.random.Generator], ircert.Graph]] = {
    "layers": lambda rng: of_layers(rng, 3, 5, 4, 3),
    "skips": lambda rng: residual(rng, 3, 4),
    "more outputs": lambda rng: residual(rng, 3, 4, outputs=5),
    "sparse": with_sparse_weights,
    "identity": lambda _: ircert.Builder(3).graph("x"),
    "relu of the input": lambda _: (build := ircert.Builder(3)).graph(build.relu(build.input)),
}


@pytest.mark.rule("E-16")
@pytest.mark.parametrize("name", GRAPHS)
def test_it_is_the_network_times_s(name: str) -> None:
    rng = np.random.default_rng(1)
    graph = lowered(GRAPHS[name](rng))
    center = np.array([0.1, -1e-30, 12345.678])
    found = homogenized(graph, center)
    assert (found.input_dim, found.output_dim) == (4, graph.output_dim)
    for scale in (Fraction(1, 3), Fraction(10) ** -40, Fraction(7, 2), Fraction(10) ** 12):
        u = [Fraction(v) / 7 for v in rng.standard_normal(3).tolist()]
        x = [Fraction(c) + v / scale for c, v in zip(center.tolist(), u, strict=True)]
        assert list(found.exact([*u, scale])) == [scale * y for y in graph.exact(x)]


@pytest.mark.rule("E-16")
def test_without_scale_it_is_the_network_without_biases() -> None:
    rng = np.random.default_rng(2)
    layers = [(rng.standard_normal((4, 2)), rng.standard_normal(4)), (rng.standard_normal((2, 4)), np.ones(2))]
    found = homogenized(lowered(ircert.load(layers)), np.array([0.3, 0.7]))
    bare = ircert.load([(w, None) for w, _ in layers])
    u = [Fraction(1, 3), Fraction(-2, 7)]
    assert list(found.exact([*u, Fraction(0)])) == list(bare.exact(u))


def test_neurons_keep_their_order() -> None:
    rng = np.random.default_rng(3)
    graph, center = lowered(residual(rng, 3, 6)), rng.standard_normal(3)
    found = homogenized(graph, center)
    u, scales = rng.standard_normal((20, 3)), rng.uniform(0.1, 3.0, (20, 1))
    there = preactivations(graph, center + u / scales) * scales
    np.testing.assert_allclose(preactivations(found, np.hstack([u, scales])), there, rtol=1e-9, atol=1e-9)
