"""Graphs built node by node."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.errors import GraphError, OpError
from ircert.ir.build import LONGEST, needed_nodes


def test_names_are_kept_where_free_and_numbered_where_not() -> None:
    build = ircert.Builder(2, name="in")
    assert build.input == "in"
    assert [build.relu("in"), build.relu("in"), build.relu("in", name="h"), build.relu("in", name="h")] == [
        *("relu", "relu_1", "h", "h_1")
    ]
    build.prefix = "part."
    assert build.relu("in") == "part.relu"
    assert len(build.relu("in", name="n" * 500)) <= LONGEST


def test_one_operand_needs_no_node() -> None:
    build = ircert.Builder(2)
    assert build.add(build.input) == build.concat(build.input) == build.input


def test_sizes_are_checked_at_once() -> None:
    build = ircert.Builder(2)
    assert build.size(build.concat(build.input, build.input)) == 4
    with pytest.raises((GraphError, OpError)):
        build.affine(build.input, np.ones((1, 3)))
    with pytest.raises((GraphError, OpError)):
        build.select(build.input, [2])


def test_a_graph_is_what_its_output_needs() -> None:
    build = ircert.Builder(2)
    unused = build.relu(build.input, name="unused")
    last = build.affine(build.relu(build.input, name="used"), [[1.0, 1.0]])
    assert unused not in [node.name for node in build.graph(last).nodes]
    assert [node.name for node in needed_nodes(build.nodes, build.input)] == ["x"]


def test_a_graph_inside_another() -> None:
    inner = ircert.Builder(1)
    negated = inner.graph(inner.affine(inner.input, [[-1.0]], name="minus"))
    build = ircert.Builder(1)
    twice = build.insert(negated, build.insert(negated, build.relu(build.input)))
    assert build.graph(twice)([[3.0], [-3.0]]).tolist() == [[3.0], [0.0]]
