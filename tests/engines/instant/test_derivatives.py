"""Derivatives along inputs, in several arithmetics at once."""

from __future__ import annotations

import numpy as np

import ircert
from ircert.engines.instant.derivatives import derivatives, entries, work
from ircert.exact.dyadics import DyadicArithmetic, Dyadics
from ircert.ir.graph import Graph

FIRST, LAST = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]]), np.array([[1.0, -1.0, 0.5]])
ON = {"h": np.array([True, False, True])}


def network() -> Graph:
    """LAST relu(FIRST x), and x beside it."""
    build = ircert.Builder(2)
    hidden = build.relu(build.affine(build.input, FIRST, name="z"), name="h")
    return build.graph(build.concat(build.affine(hidden, LAST, name="y"), build.input, name="out"))


def values(matrix: Dyadics) -> list[list[float]]:
    return [[int(v) / 2**matrix.scale for v in row] for row in matrix.numerators]


def test_the_chain_rule_where_one_neuron_is_off() -> None:
    found = derivatives(network(), np.array([0, 1]), ON, DyadicArithmetic(), ["y", "out"])
    wanted = (LAST @ (FIRST * ON["h"][:, None])).tolist()
    assert values(found.of["y"]) == wanted
    assert values(found.of["out"]) == [*wanted, [1.0, 0.0], [0.0, 1.0]]


def test_some_inputs_are_columns() -> None:
    found = derivatives(network(), np.array([1]), ON, DyadicArithmetic(), ["y"])
    assert values(found.of["y"]) == [[2.0]]


def test_neurons_that_are_watched_are_known_before_their_relu() -> None:
    watched = {"h": np.array([1])}
    found = derivatives(network(), np.array([0, 1]), ON, DyadicArithmetic(), ["y"], watched)
    assert values(found.before["h"]) == [[0.0, 1.0]], "although it is off"
    assert derivatives(network(), np.array([0, 1]), ON, DyadicArithmetic(), ["y"]).before == {}


def test_rows_that_are_wanted_themselves_are_whole() -> None:
    found = derivatives(network(), np.array([0, 1]), ON, DyadicArithmetic(), ["z"])
    assert values(found.of["z"]) == FIRST.tolist()


def test_work_and_sizes() -> None:
    assert work(network(), 2) == 2 * (FIRST.size + LAST.size)
    assert entries(FIRST) == 6
