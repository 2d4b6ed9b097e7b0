"""Fronts and parts: what is cut off, what stays together, and what is shared."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops.smooth import Log
from ircert.structure.known import Knowledge
from ircert.structure.parts import Head
from tests.structure.split import blocks, hard, tail


def head(graph: Graph) -> Head:
    return Head(Knowledge(graph))


@pytest.mark.rule("ST-9")
def test_an_injective_tail_is_cut_off() -> None:
    rng, build = np.random.default_rng(0), ircert.Builder(3)
    middle = hard(build, rng, build.input, 3)
    cut = head(build.graph(tail(build, rng, tail(build, rng, middle))))
    assert cut.entries == {middle: (0, 1, 2)}
    assert not cut.is_whole
    assert cut.neurons == 3
    assert head(build.graph(middle)).is_whole


@pytest.mark.rule("ST-9")
def test_a_tail_that_is_injective_on_the_values_of_the_head_alone() -> None:
    # y -> (y1, y1 * y2) determines y2 only where y1 is never 0, as softplus is
    from ircert.ir.ops.curves import Softplus
    from ircert.ir.ops.smooth import Product

    build = ircert.Builder(2)
    first = build.node(Softplus(), build.select(build.input, [0]))
    second = build.relu(build.select(build.input, [1]))
    cut = head(build.graph(build.concat(first, build.node(Product(), first, second))))
    assert cut.entries == {build.input: (0,), second: (0,)}


@pytest.mark.rule("ST-10")
@pytest.mark.parametrize("linked", [False, True])
def test_blocks_are_found(*, linked: bool) -> None:
    rng = np.random.default_rng(5)
    graph = blocks(rng, [1, 2, 1], linked=linked, tails=2)
    order = np.random.default_rng(5).permutation(4).tolist()
    parts = head(graph).parts
    assert parts is not None
    expected = {tuple(sorted(order[a:b])) for a, b in ((0, 1), (1, 3), (3, 4))}
    assert {part.own for part in parts} == expected
    for part in parts:
        assert part.given == ((order[0],) if linked and order[0] not in part.own else ())


@pytest.mark.rule("ST-10")
def test_an_input_that_is_shared_and_not_known_ties_parts() -> None:
    rng, build = np.random.default_rng(0), ircert.Builder(3)
    made = [hard(build, rng, build.select(build.input, [0, i]), 1) for i in (1, 2)]
    graph = build.graph(build.concat(*made, build.relu(build.select(build.input, [0]))))
    parts = head(graph).parts
    assert parts is not None
    assert [part.own for part in parts] == [(0, 1, 2)]


@pytest.mark.rule("ST-10")
def test_an_input_that_is_shared_and_known_does_not() -> None:
    rng, build = np.random.default_rng(0), ircert.Builder(3)
    made = [hard(build, rng, build.select(build.input, [0, i]), 1) for i in (1, 2)]
    parts = head(build.graph(build.concat(*made, build.select(build.input, [0])))).parts
    assert parts is not None
    assert [(part.own, part.given) for part in parts] == [((1,), (0,)), ((2,), (0,))]


@pytest.mark.rule("ST-10")
def test_circles_through_known_entries_are_one_part() -> None:
    build = ircert.Builder(2)
    x, y = (build.select(build.input, [i]) for i in range(2))
    a, b = build.relu(x), build.relu(y)
    parts = head(build.graph(build.concat(a, b, build.relu(build.add(x, b)), build.relu(build.add(y, a))))).parts
    assert parts is not None
    assert [part.own for part in parts] == [(0, 1)]


@pytest.mark.rule("ST-10")
def test_what_other_parts_read_is_shown() -> None:
    """relu(x) is known from its exponential-like tail but not in the front; it is read by the part of y."""
    build = ircert.Builder(2)
    x, y = (build.select(build.input, [i]) for i in range(2))
    a = build.relu(x)
    twice = build.affine(a, [[2.0]])
    parts = head(build.graph(build.concat(twice, build.relu(build.add(y, a))))).parts
    assert parts is not None
    assert [part.own for part in parts] == [(0,), (1,)]
    assert parts[0].entries == {a: (0,)}
    assert parts[1].given == (0,)


def test_inputs_that_nobody_reads() -> None:
    build = ircert.Builder(2)
    x = build.relu(build.select(build.input, [0]))
    assert head(build.graph(build.concat(x, x))).parts is None


@pytest.mark.rule("ST-7")
def test_networks_that_are_not_defined_everywhere_have_no_front() -> None:
    build = ircert.Builder(2)
    knowledge = Knowledge(build.graph(build.concat(build.node(Log(), build.select(build.input, [0])), build.input)))
    assert not any(mask.any() for mask in knowledge.known.values())
