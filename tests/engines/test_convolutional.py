"""Small convolutional networks with pools in all three problems: as `regions` says, or by what must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops import AveragePool, Conv, MaxPool
from tests.engines.pooled import network
from tests.oracle.oracle import local_radius, pseudo_radius, transform_radius

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


OTHER = [(np.array([[1.0, -0.5, 0.25], [0.5, 0.75, -1.0]]), np.array([0.25, 0.0])), (np.eye(2), np.zeros(2))]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kind", ["largest", "mean", "strided"])
@pytest.mark.parametrize(("inputs", "outputs"), [(3, 3), (3, 2), (4, 4), (4, 3)])
def test_three_and_four_pixels_as_the_oracle(inputs: int, outputs: int, kind: str, problem: str) -> None:
    """All pairs of linear regions, in rationals; each problem in a norm of its own."""
    graph, layers = network(inputs + outputs, inputs, outputs, kind)
    centre = np.array([0.25, -0.125, 0.5, 0.0][:inputs])
    norm = {"local": "inf", "pseudo": "1", "transform": "2"}[problem]
    limit = 2.0 if inputs == 3 else 0.5
    second = [(np.pad(OTHER[0][0], ((0, 0), (0, inputs - 3))), OTHER[0][1]), OTHER[1]]
    asked = {"local": local_radius, "pseudo": pseudo_radius}
    if problem == "transform":
        true = transform_radius(layers, second, centre, norm, limit=limit)
    else:
        true = asked[problem](layers, centre, norm, limit=limit)
    given = ircert.load(second) if problem == "transform" else None
    found = ircert.certify(
        graph, centre, problem, given, norm=norm if norm == "inf" else int(norm), max_radius=limit, time_limit=20
    )
    least, most = float(true.lower), math.inf if true.upper is None else float(true.upper)
    assert found.radius.certified <= most * (1 + 1e-12)
    assert found.radius.refuted is None or found.radius.refuted >= least * (1 - 1e-12)
    assert found.radius.certified == pytest.approx(least, rel=1e-3)


@pytest.mark.parametrize("kind", ["largest", "mean"])
def test_sixteen_pixels_have_one_orientation_on_certified_balls(kind: str) -> None:
    """As many outputs as inputs: an injective map has one orientation, and samples of pairs do not collide."""
    graph = small_skip(kind)
    found = ircert.certify(graph, np.full(16, 0.125), time_limit=5)
    radius = float(found.radius.certified)
    assert radius > 0
    rng = np.random.default_rng(0)
    points = 0.125 + min(radius, 1e3) * rng.uniform(-1, 1, (60, 16))
    step = 1e-6 * min(radius, 1.0)
    signs = {np.sign(np.linalg.det((graph(x + step * np.eye(16)) - graph(x)) / step)) for x in points}
    assert len(signs) == 1
    values = graph(points)
    apart = np.abs(values[:, None] - values[None]).max(axis=2) + np.eye(60)
    assert apart.min() > 0


def small_skip(kind: str) -> Graph:
    """2 x + dense(pool(relu(conv(x)))) of 4x4 pixels."""
    rng, build = np.random.default_rng(3), ircert.Builder(16)
    first = Conv((1, 4, 4), rng.integers(-8, 9, (2, 1, 3, 3)) / 8, rng.integers(0, 5, 2) / 8, padding=(1,) * 4)
    pool = MaxPool if kind == "largest" else AveragePool
    x = build.node(pool((2, 4, 4), (2, 2), stride=(2, 2)), build.relu(build.node(first, build.input)))
    inner = build.affine(x, rng.integers(-4, 5, (16, 8)) / 16)
    return build.graph(build.add(build.affine(build.input, 2 * np.eye(16)), inner))
