"""Outputs agree behind curves where they read what agrees."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.smooth import Product
from ircert.witnesses.agreement import outputs_agree


def agree(graph: Graph, x: list[object], y: list[object]) -> bool:
    return outputs_agree(graph, [Fraction(str(v)) for v in x], [Fraction(str(v)) for v in y])


@pytest.mark.rule("ST-11")
def test_behind_curves() -> None:
    build = ircert.Builder(2)
    head = build.relu(build.input)
    curved = build.node(Product(), build.node(Exp(), head), build.node(Tanh(), build.affine(head, np.ones((2, 2)))))
    graph = build.graph(build.concat(curved, head))
    assert agree(graph, [-1, 2], [-3, 2])
    assert not agree(graph, [-1, 2], [1, 2])
    assert not agree(graph, [-1, 2], [-1, 1])


@pytest.mark.rule("ST-11")
def test_entries_count_by_themselves() -> None:
    build = ircert.Builder(2)
    curved = build.node(Tanh(), build.input)
    assert agree(build.graph(build.affine(curved, [[1.0, 0.0]])), ["1/3", 2], ["1/3", 5])
    assert not agree(build.graph(build.affine(curved, [[1.0, 1.0]])), ["1/3", 2], ["1/3", 5])
    # equal by chance, and not told: tanh(x) - tanh(x) is never multiplied out
    twice = build.add(curved, build.affine(curved, -np.eye(2)))
    assert not agree(build.graph(twice), [1, 2], [3, 4])
