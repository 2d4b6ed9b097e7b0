"""Networks whose output is a function of another's, as their texts show."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.instant.dependence import is_function_of
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh

FIRST = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])


def through(*weights: object) -> Graph:
    """Relu layers after FIRST, each with these weights."""
    build = ircert.Builder(2)
    last = build.relu(build.affine(build.input, FIRST, [0.0, 1.0, 0.0]))
    for weight in weights:
        last = build.affine(last, weight)
    return build.graph(last)


ONE = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("mine", "theirs", "follows"),
    [
        ([], [ONE], True),
        ([ONE], [ONE], True),
        ([ONE], [np.array([[2.0, 3.0, 2.0]])], True),
        ([ONE], [np.array([[1.0, 0.0, 0.0]])], False),
        ([ONE], [], False),
        ([np.eye(3)], [], True),
        ([ONE], [np.zeros((1, 3))], True),
    ],
    ids=["more", "same", "mixture", "other mixture", "less", "invertible", "constant"],
)
def test_what_the_first_output_determines(mine: list[object], theirs: list[object], follows: bool) -> None:
    assert is_function_of(through(*mine), through(*theirs)) is follows


def test_floats_that_are_nearly_mixtures_are_none() -> None:
    nearly = np.array([[0.1, 0.0, np.nextafter(0.1, 1.0)]])
    assert not is_function_of(through(ONE), through(nearly))


def test_a_network_behind_another() -> None:
    build = ircert.Builder(2)
    inner = build.insert(through(ONE), build.input)
    behind = build.graph(build.affine(build.relu(inner), [[1.0, -1.0]]))
    assert is_function_of(through(ONE), behind)
    assert not is_function_of(behind, through(ONE))


@pytest.mark.parametrize("behind", [False, True], ids=["itself", "a network behind it"])
def test_networks_with_curves_at_once(behind: bool) -> None:
    """Two outputs of three inputs tell little apart, but what is computed from them is a function of them."""
    rng = np.random.default_rng(0)
    build = ircert.Builder(3)
    hidden = build.node(Tanh(), build.affine(build.input, rng.normal(size=(6, 3)), rng.normal(size=6)))
    first = build.graph(build.affine(hidden, rng.normal(size=(2, 6))))
    build = ircert.Builder(3)
    inner = build.insert(first, build.input)
    last = build.affine(build.node(Tanh(), build.affine(inner, rng.normal(size=(4, 2)))), rng.normal(size=(2, 4)))
    second = build.graph(last) if behind else first
    result = ircert.certify(first, [0.0] * 3, problem="transform", other=second, time_limit=5.0)
    assert result.verdict == "certified"
    assert result.radius.certified == np.inf
    other_way = ircert.certify(second, [0.0] * 3, problem="transform", other=first, time_limit=1.0)
    assert (other_way.radius.certified == np.inf) is not behind
