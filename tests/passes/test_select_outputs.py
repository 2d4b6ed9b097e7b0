from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import PassError
from ircert.ir.graph import Graph
from ircert.passes.select_outputs import SelectOutputs
from ircert.testing import assert_preserves, graphs


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs(), st.data())
def test_preserves(graph: Graph, data: st.DataObject) -> None:
    keep = tuple(data.draw(st.lists(st.integers(0, graph.output_dim - 1), min_size=1, max_size=4)))
    selected = assert_preserves(SelectOutputs(keep), graph)
    assert selected.output_dim == len(keep)
    assert selected == graph.select(keep)


def test_what_the_kept_outputs_do_not_need_is_dropped() -> None:
    build = ircert.Builder(2)
    needed = build.relu(build.affine(build.input, [[1.0, 0.0]]), name="needed")
    unneeded = build.relu(build.affine(build.input, [[0.0, 1.0], [1.0, 1.0]]), name="unneeded")
    graph = build.graph(build.concat(needed, unneeded))
    assert "unneeded" not in graph.select([0])
    assert graph.select([2]).sizes["unneeded"] == 1
    assert graph.select([0, 1, 2]) is graph


@pytest.mark.parametrize("keep", [[], [2], [-1], [0.0], [True], ["0"]])
def test_wrong_outputs(keep: list[Any]) -> None:
    graph = ircert.load([([[1.0], [2.0]], None)])
    with pytest.raises(PassError, match="output"):
        graph.select(keep)
