"""Exact and float affine maps of linear regions are the network there."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import UnsupportedModel
from ircert.exact import linear_regions
from ircert.exact.linear_regions import exact_rows, float_maps, pattern_at
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs
from ircert.limits import until
from ircert.questions.network import lowered as canonical
from ircert.testing import graphs, points


@given(graphs(), st.data())
def test_the_exact_map_of_a_region_is_the_network_there(graph: Graph, data: st.DataObject) -> None:
    graph = canonical(graph)
    x = [Fraction(v) for v in data.draw(points(graph)).tolist()]
    pattern = pattern_at(graph, x)
    values = graph.exact(x).tolist()
    assert exact_rows(graph, pattern, graph.output).at(x) == values
    chosen = np.arange(graph.output_dim)[::2]
    assert exact_rows(graph, pattern, graph.output, chosen).at(x) == values[::2]
    for node in graph.nodes:
        if node.name in pattern:
            read = exact_rows(graph, pattern, node.operands[0]).at(x)
            assert [v >= 0 for v in read] == pattern[node.name].tolist()


def test_large_layers_are_taken_in_blocks_that_ask_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ircert.load([(np.random.default_rng(0).normal(size=(8, 8)), np.zeros(8))])
    whole = exact_rows(graph, {}, graph.output)
    monkeypatch.setattr(linear_regions, "BLOCK", 16)
    looks = count()
    with until(lambda: next(looks) < 0):
        parts = exact_rows(graph, {}, graph.output)
    assert (parts.coefficients == whole.coefficients).all()
    assert next(looks) >= 8 * 8 * 8 // 16


@given(graphs(), st.data())
def test_floats_are_close_to_it(graph: Graph, data: st.DataObject) -> None:
    graph = canonical(graph)
    center = data.draw(points(graph))
    x = [Fraction(v) for v in center.tolist()]
    pattern = pattern_at(graph, x)
    maps = float_maps(graph, pattern, center)
    size = 1.0 + np.abs(maps.output).max(initial=0.0)
    assert maps.output[:, -1] == pytest.approx([float(v) for v in graph.exact(x)], rel=1e-9, abs=1e-6 * size)
    rows = exact_rows(graph, pattern, graph.output)
    exact = [[float(Fraction(int(v), int(rows.below))) for v in row] for row in rows.coefficients]
    assert maps.output[:, :-1] == pytest.approx(np.array(exact), rel=1e-9, abs=1e-9 * size)


def test_operations_that_were_not_lowered_are_refused() -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(Abs(), build.input))
    with pytest.raises(UnsupportedModel, match="abs at `abs` is no core operation"):
        exact_rows(graph, {}, graph.output)
