"""Pairs whose unknown outputs must agree, against values in rationals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ircert
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.problem.unknown_outputs import UnknownOutputs
from ircert.ir.arrays import LARGE, Mask
from ircert.ir.ops.curves import Silu
from ircert.questions.network import Networks
from tests.engines.boxes.making import Generator, setting_of

pytestmark = pytest.mark.rule("E-2")

EIGHTHS, STEPS, TRIED = 8, 7, 40


def transform(given: ircert.Graph, unknown: ircert.Graph, *, merged: bool = False) -> Setting:
    """Whether one network is a function of another."""
    both = Networks.of(given, unknown).both
    graph = both.merged if merged else both.lowered
    return replace(
        setting_of(graph, np.zeros(graph.input_dim)), graph=graph, problem="transform", constrained=given.output_dim
    )


def weights(rng: Generator, rows: int, columns: int) -> Any:
    """Dyadic, half of them 0, and stored either way."""
    found = rng.integers(-EIGHTHS, EIGHTHS + 1, (rows, columns)) / EIGHTHS * rng.integers(0, 2, (rows, columns))
    return csr_array(found) if rng.integers(2) else found


def network(rng: Generator, inputs: int) -> ircert.Graph:
    """Random steps; every output is a neuron, a sum, an input or a constant."""
    build = ircert.Builder(inputs)
    nodes = [build.relu(build.affine(build.input, weights(rng, 3, inputs), rng.integers(-8, 9, 3) / EIGHTHS))]
    for kind in rng.integers(0, 4, STEPS):
        first, second = (nodes[k] for k in rng.integers(max(0, len(nodes) - 3), len(nodes), 2))
        if kind == 0:
            nodes.append(build.concat(first, second))
        elif kind == 1:
            nodes.append(build.select(first, rng.integers(0, build.size(first), 3)))
        else:
            part = build.affine(first, weights(rng, 3, build.size(first)), rng.integers(-16, 9, 3) / EIGHTHS)
            other = build.input if kind == 3 else second
            total = build.add(part, build.affine(other, weights(rng, 3, build.size(other))))
            nodes.append(build.relu(total) if rng.integers(3) else total)
    last = [build.select(nodes[-1], [0]), build.affine(nodes[-1], weights(rng, 1, build.size(nodes[-1])), [0.5])]
    if not rng.integers(4):
        last.append(build.select(build.input, [0]))
    return build.graph(build.concat(*last[int(rng.integers(len(last))) :]))


def pairs(rng: Generator, inputs: int) -> Iterator[Any]:
    """Near and far ones, about the origin and elsewhere."""
    for size in 2.0 ** rng.integers(-2, 5, TRIED):
        middle = rng.integers(-16, 17, inputs) / EIGHTHS
        yield np.stack([middle + size * rng.integers(-8, 9, inputs) / EIGHTHS for _ in "xy"])


def off_for_both(setting: Setting, points: Any) -> Mask:
    """All numbers are short dyadic ones: floats are exact."""
    return np.asarray((setting.preactivations(points) <= 0).all(axis=0))


def said(setting: Setting, off: Mask) -> bool:
    """One answer for masks and phases, also beside other pairs."""
    unknown, sides = UnknownOutputs(setting), np.where(off, -1, 1).astype(np.int8)
    answer = unknown.agree(np.stack([off, np.zeros_like(off)], axis=1))[0]
    assert answer == unknown.agree_with(sides, sides)
    return bool(answer)


@given(st.integers(0, 2**20), st.booleans())
def test_where_they_are_said_to_agree_they_do(seed: int, merged: bool) -> None:
    rng = np.random.default_rng(seed)
    given, unknown = network(rng, 2), network(rng, 2)
    setting = transform(given, unknown, merged=merged)
    for points in pairs(rng, 2):
        off = off_for_both(setting, points)
        x, y = (list(unknown.exact(point)) for point in points)
        assert x == y or not said(setting, off)


def test_that_is_often_said_of_pairs_that_have_all_to_say() -> None:
    """Where the unknown outputs read the inputs, and two different points agree."""
    found = same = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        given, unknown = network(rng, 2), network(rng, 2)
        setting = transform(given, unknown)
        reads = not said(setting, np.zeros(setting.neurons, dtype=bool))
        for points in pairs(rng, 2) if reads else ():
            same += list(unknown.exact(points[0])) == list(unknown.exact(points[1]))
            found += said(setting, off_for_both(setting, points))
    assert found > same / 2 > 50


def branches(past: bool) -> Setting:
    """x1 is given, relu(relu(x1) + relu(x2)) unknown, and perhaps x2 as well."""
    build = ircert.Builder(2)
    last = build.relu(build.affine(build.relu(build.input), [[1.0, 1.0]]))
    unknown = build.graph(build.add(last, build.select(build.input, [1])) if past else last)
    build = ircert.Builder(2)
    return transform(build.graph(build.select(build.input, [0])), unknown)


@pytest.mark.parametrize(
    ("off", "agree"),
    [((0, 0, 0), False), ((1, 0, 0), False), ((0, 1, 0), False), ((1, 1, 0), True), ((0, 0, 1), True)],
)
def test_every_way_counts(off: tuple[int, ...], agree: bool) -> None:
    assert said(branches(past=False), np.array(off, dtype=bool)) is agree
    assert not said(branches(past=True), np.array(off, dtype=bool))
    assert UnknownOutputs(branches(past=True)).read.all()


def test_only_one_side_off_is_not_enough() -> None:
    unknown = UnknownOutputs(branches(past=False))
    off, open_ = np.array([0, 0, -1], dtype=np.int8), np.zeros(3, dtype=np.int8)
    assert unknown.agree_with(off, off)
    assert not unknown.agree_with(off, open_)
    assert not unknown.agree_with(open_, off)
    assert not unknown.agree_with(off, -off)


def test_outputs_that_read_no_input_agree_and_inputs_do_not() -> None:
    build = ircert.Builder(2)
    first = build.graph(build.select(build.input, [0]))
    constant = ircert.Builder(2)
    zero = constant.graph(constant.affine(constant.input, np.zeros((1, 2)), [3.0]))
    assert said(transform(first, zero), np.zeros(0, dtype=bool))
    assert not said(transform(first, first), np.zeros(0, dtype=bool))
    assert not said(transform(zero, first), np.zeros(0, dtype=bool))


def test_other_problems_have_none() -> None:
    for problem in ("local", "pseudo"):
        unknown = UnknownOutputs(replace(branches(past=False), problem=problem, constrained=2))
        assert not unknown.read.any()
        assert unknown.agree(np.ones((3, 4), dtype=bool)).tolist() == [False] * 4


def test_a_curve_is_never_off() -> None:
    build = ircert.Builder(1)
    unknown = build.graph(build.node(Silu(), build.relu(build.input)))
    build = ircert.Builder(1)
    setting = transform(build.graph(build.input), unknown)
    assert not said(setting, np.array([False, True]))
    assert said(setting, np.array([True, False]))


def test_sums_without_a_bound_are_ways_as_well() -> None:
    """x1 doubled so often that the number of ways is no float; 0 times that is no number."""
    build = ircert.Builder(2)
    many = start = build.affine(build.input, np.eye(2))
    for _ in range(1100):
        many = build.add(many, many)
    late = build.relu(build.affine(start, [[1.0, 0.0]]))
    graph = build.graph(build.concat(late, build.select(many, [0])))
    setting = replace(setting_of(graph, np.zeros(2)), graph=graph, problem="transform", constrained=1)
    assert not said(setting, np.ones(1, dtype=bool))


def test_large_sparse_weights() -> None:
    """Each unknown output reads one neuron."""
    size = int(LARGE**0.5) + 1
    build = ircert.Builder(size)
    last = build.affine(build.relu(build.input), csr_array(2.0**-1074 * np.eye(size)))
    unknown, build = build.graph(last), ircert.Builder(size)
    setting = transform(build.graph(build.select(build.input, [0])), unknown)
    off = np.ones(setting.neurons, dtype=bool)
    assert said(setting, off)
    off[-1] = False
    assert not said(setting, off)
