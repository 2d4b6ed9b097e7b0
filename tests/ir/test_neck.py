"""Necks: what all of the output is computed from, and pairs that they refute."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.ir.boxed_pair import BoxedPair, fault_of
from ircert.ir.graph import Graph
from ircert.ir.neck import neck
from ircert.ir.ops.curves import Tanh
from tests.structure.flows import couplings


def bottleneck(sizes: tuple[int, ...], *, skip: bool = False, seed: int = 0) -> Graph:
    """tanh layers of these sizes; with a way around the layers in the middle."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(sizes[0])
    here = build.input
    for size in sizes[1:-1]:
        here = build.node(Tanh(), build.affine(here, rng.normal(size=(size, build.size(here))), rng.normal(size=size)))
    if skip:
        here = build.concat(here, build.node(Tanh(), build.affine(build.input, 0.1 * np.eye(sizes[0]))))
    return build.graph(build.affine(here, rng.normal(size=(sizes[-1], build.size(here)))))


@pytest.mark.parametrize(
    ("sizes", "expected"), [((3, 8, 2, 8, 3), 2), ((3, 8, 1, 2, 3), 1), ((3, 8, 8, 3), None), ((2, 5, 3, 4), 3)]
)
def test_the_narrowest_layer(sizes: tuple[int, ...], expected: int | None) -> None:
    found = neck(bottleneck(sizes))
    assert (None if found is None else found.output_dim) == expected


def test_ways_around_leave_no_neck() -> None:
    assert neck(bottleneck((3, 8, 2, 8, 3), skip=True)) is None
    build = ircert.Builder(3)
    narrow = build.node(Tanh(), build.affine(build.input, np.ones((1, 3))))
    assert neck(build.graph(build.add(build.input, build.affine(narrow, np.ones((3, 1)))))) is None


def test_the_output_is_a_function_of_it() -> None:
    graph = bottleneck((3, 8, 2, 8, 3))
    front = neck(graph)
    assert front is not None
    x = np.random.default_rng(1).normal(size=(5, 3))
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=shape) for shape in ((8, 3), 8, (2, 8), 2)]
    assert np.allclose(front(x), np.tanh(x @ weights[0].T + weights[1]) @ weights[2].T + weights[3])


@pytest.mark.rule("R-13")
@pytest.mark.parametrize(("sizes", "problem"), [((3, 8, 2, 8, 3), "local"), ((3, 6, 1, 6, 5), "pseudo")])
def test_no_ball_is_good_behind_a_bottleneck(sizes: tuple[int, ...], problem: str) -> None:
    graph = bottleneck(sizes)
    result = ircert.certify(graph, [0.1] * sizes[0], problem=problem, time_limit=10.0)
    assert result.verdict == "refuted"
    assert result.radius.refuted == 0.0
    assert result.witness is not None
    gap = graph(np.array(result.witness.x)) - graph(np.array(result.witness.y))
    assert np.abs(gap).max() < 1e-9
    again = ircert.certify(bottleneck(sizes, skip=True), [0.1] * sizes[0], problem=problem, time_limit=0.5)
    assert again.radius.refuted != 0.0


@pytest.mark.rule("R-13")
def test_boxes_without_a_root_of_the_neck_are_refused() -> None:
    graph = bottleneck((3, 8, 2, 8, 3))
    result = ircert.certify(graph, [0.1] * 3, radius=0.5, time_limit=10.0)
    assert result.witness is not None
    exact, radii = result.witness.exact, result.witness.radii
    assert radii is not None
    pair = BoxedPair(exact.x, exact.y, radii.x, radii.y)
    assert fault_of(graph, pair) is None
    moved = [v + Fraction(1, 1000) for v in exact.x]
    assert fault_of(graph, replace(pair, x=moved)) is not None


def test_dependent_rows_do_not_count() -> None:
    """The third row of the last map is the sum of the others, exactly; almost is not enough."""
    build = ircert.Builder(3)
    bent = build.node(Tanh(), build.affine(build.input, np.eye(3) + 0.25))
    rows = np.array([[0.125, 0.25, 3.0], [1.0, 0.5, -0.75], [0.0, 0.0, 0.0]])
    rows[2] = rows[0] * 2 + rows[1]  # these sums do not round
    for change, expected in ((0.0, 2), (2.0**-52, None)):
        last = rows.copy()
        last[2, 1] *= 1 + change
        found = neck(build.graph(build.affine(bent, last)))
        assert (None if found is None else found.output_dim) == expected
    constant = neck(build.graph(build.affine(bent, np.zeros((3, 3)), [1.0, 2.0, 3.0])))
    assert constant is not None
    assert constant.output_dim == 1


def test_repeated_entries_do_not_count() -> None:
    build = ircert.Builder(3)
    bent = build.node(Tanh(), build.affine(build.input, np.eye(3) + 0.25))
    found = neck(build.graph(build.node(Tanh(), build.select(bent, [2, 0, 2]))))
    assert found is not None
    x = np.array([0.1, 0.2, 0.3])
    assert np.array_equal(found(x), build.graph(bent)(x)[[2, 0]])


@pytest.mark.rule("R-13")
@pytest.mark.parametrize("problem", ["local", "pseudo"])
@pytest.mark.parametrize("norm", ["inf", 1, 2])
def test_singular_maps_behind_curves(problem: str, norm: Any) -> None:
    graph = couplings(np.random.default_rng(4), 4, 2, scaled=True, spoilt="singular")
    found = ircert.certify(graph, [0.1] * 4, problem, norm=norm)
    assert (found.verdict, found.radius.refuted) == ("refuted", 0.0)
    assert found.witness is not None
