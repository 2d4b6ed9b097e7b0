"""Graphs as text: every number survives, and people can read it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ircert
from ircert.errors import ParseError
from ircert.ir.graph import Graph
from ircert.ir.printer import outline
from ircert.testing import assert_round_trips, graphs
from tests.ir.test_parser import large_network


@pytest.mark.rule("IR-14")
@given(graphs())
def test_text_round_trips(graph: Graph) -> None:
    assert_round_trips(graph)


@pytest.mark.rule("IR-14")
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_every_double_survives(numbers: list[float]) -> None:
    graph = ircert.load([(np.array([numbers]), None)])
    back = ircert.parse(str(graph))
    assert back == graph
    assert back.nodes[1].op.weight.tolist() == [[v + 0.0 for v in numbers]]  # type: ignore[attr-defined]


@pytest.mark.rule("IR-14")
def test_a_small_network_is_readable() -> None:
    graph = ircert.load([([[1.0, -1.0], [0.5, 2.0]], [0.0, 1.0]), (csr_array(np.array([[0.0, 3.0]])), None)])
    specification = (Path(__file__).parents[2] / "spec" / "ir.md").read_text()
    assert str(graph) in specification.replace("```\n", "")


def test_the_outline_is_short_and_says_so(tmp_path: Path) -> None:
    shown = outline(large_network(sparse=True))
    assert "<80x70 sparse, 5600 nonzeros>" in shown
    with pytest.raises(ParseError, match=r"left out for display; write the graph with ircert\.save"):
        ircert.parse(shown)
