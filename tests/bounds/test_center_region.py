"""A ball in which no neuron switches, and the linear map there."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.bounds.center_region import CenterRegion, center_region
from ircert.exact.linear_regions import pattern_at
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.questions.network import Network


def network(seed: int, sizes: tuple[int, ...] = (5, 9, 7, 5)) -> Graph:
    """Random weights, with a skip at the end."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(sizes[0])
    last = build.input
    for a, b in pairwise(sizes[:-1]):
        last = build.relu(build.affine(last, rng.normal(size=(b, a)), rng.normal(size=b)))
    last = build.affine(last, rng.normal(size=(sizes[-1], sizes[-2])))
    return Network(build.graph(build.add(build.input, last))).lowered


def region_of(graph: Graph, center: object, norm: Norm = Norm.INF) -> CenterRegion:
    found = center_region(graph, np.asarray(center, dtype=float), norm, np.arange(graph.input_dim))
    assert found is not None
    return found


@pytest.mark.parametrize("norm", list(Norm))
@pytest.mark.parametrize("seed", range(4))
def test_no_neuron_switches_inside_and_one_does_just_outside(seed: int, norm: Norm) -> None:
    graph, center = network(seed), np.full(5, 0.1)
    radius = region_of(graph, center, norm).radius
    rng = np.random.default_rng(seed)
    here = pattern_at(graph, [Fraction(v) for v in center.tolist()])
    for _ in range(30):
        way = rng.normal(size=5)
        if norm is Norm.INF:
            way = np.sign(way)
        elif norm is Norm.ONE:
            way = np.eye(5)[rng.integers(5)] * np.sign(way[0])
        inside = center + 0.999 * radius * way / np.linalg.norm(way, ord=norm.order)
        there = pattern_at(graph, [Fraction(v) for v in inside.tolist()])
        assert all((here[name] == there[name]).all() for name in here)


def test_the_radius_is_the_distance_of_the_nearest_kink() -> None:
    """z = 3x + 4y - 1 is -1 in the origin: the kink is 1/7, 1/5 and 1/4 away."""
    graph = Network(ircert.load([([[3.0, 4.0], [0.0, 1.0]], [-1.0, 5.0]), (np.eye(2), None)])).lowered
    for norm, distance in ((Norm.INF, 1 / 7), (Norm.TWO, 1 / 5), (Norm.ONE, 1 / 4)):
        radius = region_of(graph, [0.0, 0.0], norm).radius
        assert distance * (1 - 1e-12) < radius <= distance


def test_the_error_of_the_jacobian_is_bounded() -> None:
    """Against the same matrix in rationals, by differences of an affine map."""
    graph, center = network(7), np.full(5, 0.1)
    found = region_of(graph, center)
    step = Fraction(found.radius) / 4
    start = [Fraction(v) for v in center.tolist()]
    base = graph.exact(start)
    error = [Fraction(0)] * graph.output_dim
    for j in range(5):
        moved = graph.exact([v + step * (i == j) for i, v in enumerate(start)])
        for i, (a, b) in enumerate(zip(moved, base, strict=True)):
            error[i] += abs((a - b) / step - Fraction(float(found.jacobian[i, j])))
    assert all(e <= Fraction(float(bound)) for e, bound in zip(error, found.error, strict=True))
    assert (found.error < 1e-12).all()


def test_a_centre_on_a_kink_has_no_region() -> None:
    graph = Network(ircert.load([(np.eye(2), [0.0, 1.0]), (np.eye(2), None)])).lowered
    assert center_region(graph, np.zeros(2), Norm.INF, np.arange(2)) is None


def test_neurons_that_read_nothing_but_zeros_are_no_kinks() -> None:
    """x as relu(x) - relu(-x), through two layers of relus."""
    pair = np.vstack([np.eye(2), -np.eye(2)])
    graph = Network(ircert.load([(pair, None), (np.eye(4), None), (pair.T, None)])).lowered
    found = region_of(graph, [0.5, 0.25])
    assert 0.25 * (1 - 1e-12) < found.radius <= 0.25
    assert found.is_injective()


@pytest.mark.parametrize(
    ("matrix", "is_injective"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], True),
        ([[1.0, 2.0], [2.0, 4.0]], False),
        ([[1.0, 2.0], [2.0, 4.0 + 2.0**-50]], False),  # floats do not show it
        ([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]], True),
        ([[1.0, 2.0]], False),
        ([[1.0, np.inf], [0.0, 1.0]], False),
    ],
)
def test_kernels(matrix: object, is_injective: bool) -> None:
    jacobian = np.array(matrix)
    assert CenterRegion(1.0, jacobian, np.zeros(len(jacobian))).is_injective() is is_injective


def test_an_error_that_may_hide_a_kernel_proves_nothing() -> None:
    assert not CenterRegion(1.0, np.eye(3), np.array([0.0, 1.0, 0.0])).is_injective()
    assert CenterRegion(1.0, np.eye(3), np.array([0.0, 0.5, 0.0])).is_injective()


def test_squares_that_underflow_are_no_flat_gradients() -> None:
    graph = Network(ircert.load([([[1e-200, 1e-200]], [-1e-200]), ([[1.0], [1.0]], None)])).lowered
    found = center_region(graph, np.zeros(2), Norm.TWO, np.arange(2))
    assert found is None or found.radius < 0.8


def test_weights_too_large_for_normal_equations_prove_nothing() -> None:
    """Their products overflow, which is no news to the user."""
    layers = [(np.eye(3), np.ones(3)), (1e160 * np.random.default_rng(0).normal(size=(5, 3)), np.zeros(5))]
    assert not region_of(Network(ircert.load(layers)).lowered, np.zeros(3)).is_injective()
