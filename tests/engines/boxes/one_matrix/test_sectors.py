"""Quadratic constraints on slopes, against all corners of cubes in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import ircert
from ircert.bounds.rounding import TINY
from ircert.data.networks import bundled
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array, Mask
from tests.engines.boxes.making import setting_of
from tests.engines.boxes.test_one_matrix import is_definite

WIDTHS = (3, 3)


def layers_of(seed: int, inputs: int = 2, widths: tuple[int, ...] = WIDTHS, gain: float = 0.5) -> list[Array]:
    """Weights of x + g(x), g with some hidden layers; dyadic for even seeds."""
    rng = np.random.default_rng(seed)
    sizes = (inputs, *widths, inputs)
    found = [gain * rng.standard_normal((b, a)) for a, b in pairwise(sizes)]
    return [np.round(8 * w) / 8 for w in found] if seed % 2 == 0 else found


def setting_with(layers: list[Array]) -> Setting:
    build = ircert.Builder(layers[0].shape[1])
    node = build.input
    for weight in layers[:-1]:
        node = build.relu(build.affine(node, weight, np.zeros(len(weight))))
    graph = build.graph(build.add(build.input, build.affine(node, layers[-1], np.zeros(len(layers[-1])))))
    return setting_of(graph, np.zeros(layers[0].shape[1]))


def cube(layers: list[Array], free: list[int], on: Mask) -> Slopes:
    neurons = sum(len(w) for w in layers[:-1])
    is_free = np.isin(np.arange(neurons), free)[:, None]
    return Slopes.of(on[:, None] & ~is_free, is_free, np.zeros((layers[0].shape[1], 1), dtype=bool))


def product_at(matrix: Array, layers: list[Array], slopes: list[float]) -> list[list[Fraction]]:
    """C J(λ) in rationals."""
    n = layers[0].shape[1]
    state = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    start = 0
    for weight in layers[:-1]:
        state = times(exact(weight), state)
        state = [[Fraction(slopes[start + k]) * t for t in row] for k, row in enumerate(state)]
        start += len(weight)
    jacobian = times(exact(layers[-1]), state)
    jacobian = [[t + int(i == j) for j, t in enumerate(row)] for i, row in enumerate(jacobian)]
    return times(exact(matrix), jacobian)


def exact(matrix: Array) -> list[list[Fraction]]:
    return [[Fraction(t) for t in row] for row in matrix.tolist()]


def times(a: list[list[Fraction]], b: list[list[Fraction]]) -> list[list[Fraction]]:
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*b, strict=True)]
        for row in a
    ]


def corners(slopes: Slopes) -> list[list[float]]:
    sides = [sorted({m - s, m + s}) for m, s in zip(slopes.middle[:, 0], slopes.spare[:, 0], strict=True)]
    return [list(corner) for corner in product(*sides)]


def closed_by_sectors(matrix: OneMatrix, slopes: Slopes, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With nothing else: domination is made to fail."""
    with monkeypatch.context() as patch:
        patch.setattr(matrix, "_is_definite", lambda middle, taken, less: np.zeros(len(middle), dtype=bool))
        patch.setattr(matrix.network.learned, "reach", np.inf)
        return bool(matrix.dominations(slopes).closed[0])


@pytest.mark.rule("E-15")
def test_what_is_closed_is_definite_at_all_corners(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = 0
    for seed in range(60):
        layers = layers_of(seed)
        rng = np.random.default_rng(100 + seed)
        matrix = np.eye(2) + 0.2 * rng.standard_normal((2, 2))
        free = rng.permutation(sum(WIDTHS))[: rng.integers(1, 6)].tolist()
        slopes = cube(layers, free, rng.random(sum(WIDTHS)) < 0.5)
        if closed_by_sectors(OneMatrix(Batches(setting_with(layers)), matrix), slopes, monkeypatch):
            closed += 1
            assert all(is_definite(product_at(matrix, layers, corner)) for corner in corners(slopes))
    assert 20 < closed < 60


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("scale", [1.0, 2.0**-30, 2.0**40])
def test_nothing_is_closed_by_more_than_the_worst_corner_has(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = 0
    for seed in range(20):
        layers = [
            w * (scale if k == 0 else 1 / scale if k == 1 else 1.0) for k, w in enumerate(layers_of(seed, gain=0.3))
        ]
        network, slopes = Batches(setting_with(layers)), cube(layers, [0, 2, 4], np.ones(sum(WIDTHS), dtype=bool))
        products = [np.array(product_at(np.eye(2), layers, c), dtype=float) for c in corners(slopes)]
        least = min(float(np.linalg.eigvalsh((p + p.T) / 2)[0]) for p in products)
        assert not closed_by_sectors(OneMatrix(network, np.eye(2), least=least * (1 + 1e-13)), slopes, monkeypatch)
        closed += closed_by_sectors(OneMatrix(network, np.eye(2), least=0.5 * least), slopes, monkeypatch)
    assert closed > 10


@pytest.mark.rule("E-15")
def test_a_box_with_many_open_neurons_is_closed_where_domination_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of(bundled("coupled-8-256-256-8"), np.zeros(8))
    network = Batches(setting)
    known = enclose(network, np.full((1, 8), -0.25), np.full((1, 8), 0.25), 1.0)
    slopes = Slopes.of(known.on, ~known.on & ~known.off, np.zeros((8, 1), dtype=bool))
    assert slopes.free.sum() > 150
    matrix = OneMatrix(network, np.asarray(np.linalg.inv(Points(setting).reference(1.0)), dtype=np.float64))
    assert matrix.dominations(slopes).closed[0]
    monkeypatch.setattr(matrix.sectors, "serves", False)
    assert not matrix.dominations(slopes).closed[0]


def test_neurons_are_coupled_through_sums_and_both_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    """x + r2(r1(x) + x): the second layer reads the first one and the input."""
    build = ircert.Builder(1)
    first = build.relu(build.affine(build.input, [[1.0], [-1.0]], [0.0, 0.0]))
    joined = build.add(build.affine(first, [[0.5, 0.25]], [0.0]), build.input)
    graph = build.graph(build.add(build.input, build.affine(build.relu(joined), [[-0.5]], [0.0])))
    network = Batches(setting_of(graph, np.zeros(1)))
    slopes = Slopes.of(np.zeros((3, 1), dtype=bool), np.ones((3, 1), dtype=bool), np.zeros((1, 1), dtype=bool))
    # the derivative is 1 - λ3 (1 + λ1 / 2 - λ2 / 4) / 2: from 1/4 on
    assert closed_by_sectors(OneMatrix(network, np.ones((1, 1)), least=0.1), slopes, monkeypatch)
    assert not closed_by_sectors(OneMatrix(network, np.ones((1, 1)), least=0.2500001), slopes, monkeypatch)


def test_slopes_that_differ_by_the_smallest_float_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = layers_of(3, gain=0.3)
    slopes = cube(layers, [0, 2, 4], np.ones(sum(WIDTHS), dtype=bool))
    slopes.spare[0] = TINY  # half of it is 0
    assert closed_by_sectors(OneMatrix(Batches(setting_with(layers)), np.eye(2)), slopes, monkeypatch)
