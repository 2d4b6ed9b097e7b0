"""Small convolutional networks with pools in all three problems: as `regions` says, or by what must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops import AveragePool, Conv, MaxPool

PROBLEMS = ["local", "pseudo", "transform"]


def pooled(seed: int, image: tuple[int, ...], outputs: int, pool: type[MaxPool] | type[AveragePool]) -> Graph:
    """Convolution, relu, pool, dense layer; all numbers are eighths."""
    rng = np.random.default_rng(seed)
    axes = len(image) - 1
    build = ircert.Builder(int(np.prod(image)))
    first = Conv(
        image, rng.integers(-8, 9, (3, image[0], *(2,) * axes)) / 8, rng.integers(0, 9, 3) / 8, padding=(1,) * 2 * axes
    )
    inner = (3, *first.windows.output)
    x = build.node(pool(inner, (2,) * axes), build.relu(build.node(first, build.input)))
    return build.graph(build.affine(x, rng.integers(-8, 9, (outputs, build.size(x))) / 8))


def other(problem: str, graph: Graph) -> Graph | None:
    if problem != "transform":
        return None
    weight = np.arange(2.0 * graph.input_dim).reshape(2, -1) - 1.5
    return ircert.load([(weight, np.zeros(2))])


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("pool", [MaxPool, AveragePool])
@pytest.mark.parametrize("seed", [1, 2])
def test_two_pixels_as_regions(seed: int, pool: type[MaxPool] | type[AveragePool], problem: str) -> None:
    graph = pooled(seed, (1, 2), 3, pool)
    centre = np.array([0.3, -0.2])
    brackets = []
    for engine in ("regions", "boxes"):
        found = ircert.certify(
            graph, centre, problem, other(problem, graph), engine=engine, max_radius=1.0, time_limit=10
        )
        brackets.append(
            (float(found.radius.certified), math.inf if found.radius.refuted is None else float(found.radius.refuted))
        )
    (low, high), (least, most) = brackets
    assert low <= most
    assert least <= high


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("pool", [MaxPool, AveragePool])
def test_classifiers_of_sixteen_pixels(pool: type[MaxPool] | type[AveragePool], problem: str) -> None:
    """Three outputs cannot tell 16 inputs apart at any radius, and an exact pair shows it."""
    graph = pooled(0, (1, 4, 4), 3, pool)
    found = ircert.certify(graph, np.full(16, 0.3), problem, other(problem, graph), time_limit=10)
    assert found.verdict == "refuted"
    assert found.witness is not None
    pair = found.witness.exact
    assert pair.x != pair.y
    assert (graph.exact(pair.x) == graph.exact(pair.y)).all()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_strided_layers_alone(problem: str) -> None:
    """Four filters of 2x2 with stride 2 read four pixels each: injective exactly if the filters are independent."""
    rng = np.random.default_rng(0)
    for singular in (False, True):
        weight = rng.integers(-8, 9, (4, 1, 2, 2)) / 8
        if singular:
            weight[3] = weight[0] + weight[1]
        build = ircert.Builder(16)
        graph = build.graph(build.node(Conv((1, 4, 4), weight, stride=(2, 2)), build.input))
        found = ircert.certify(graph, np.zeros(16), problem, other(problem, graph), time_limit=10)
        assert found.verdict == ("refuted" if singular else "certified")
        assert float(found.radius.certified) == (0.0 if singular else math.inf)
