"""Neurons in a row, and what they depend on."""

from __future__ import annotations

import numpy as np

import ircert
from ircert.engines.boxes.problem.setting import Setting, first_layer, flipped, neurons_that_matter
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place


def two_layers(problem: str = "local", constrained: int = 1) -> Setting:
    """(relu(relu(x1) - relu(x2) + 1), relu(x1 + x2)): three layers of sizes 2, 1 and 1."""
    build = ircert.Builder(2)
    first = build.relu(build.input)
    second = build.relu(build.affine(first, [[1.0, -1.0]], [1.0]))
    apart = build.relu(build.affine(build.input, [[1.0, 1.0]]))
    graph = build.graph(build.concat(second, apart))
    place = Place(np.array([3.0, 1.0]), Norm.INF, np.full(2, -np.inf), np.full(2, np.inf))
    return Setting(graph, problem, constrained, place)


def test_neurons_lie_in_the_order_of_the_graph() -> None:
    setting = two_layers()
    assert list(setting.relus.values()) == [slice(0, 2), slice(2, 3), slice(3, 4)]
    assert (setting.size, setting.neurons) == (2, 4)
    assert setting.preactivations(np.array([[3.0, 1.0], [-2.0, 0.5]])).tolist() == [[3, 1, 3, 4], [-2, 0.5, 0.5, -1.5]]
    assert setting.outputs(np.array([[3.0, 1.0]])).tolist() == [[3.0, 4.0]]


def test_only_neurons_behind_the_constrained_outputs_matter() -> None:
    assert neurons_that_matter(two_layers()).tolist() == [True, True, True, False]
    assert neurons_that_matter(two_layers(constrained=2)).tolist() == [True] * 4


def test_the_first_layer_reads_the_inputs_alone() -> None:
    assert first_layer(two_layers()).tolist() == [True, True, False, True]


def test_unknowns_are_for_transform_alone() -> None:
    assert two_layers().unknowns == []
    assert two_layers("transform").unknowns == [1]
    assert two_layers("pseudo").pseudo


def test_flipped_neurons_change_sides_and_open_ones_stay() -> None:
    phases = np.array([1, -1, 0, 1], dtype=np.int8)
    assert flipped(phases, [0, 1, 2]).tolist() == [-1, 1, 0, 1]
    assert phases.tolist() == [1, -1, 0, 1]
