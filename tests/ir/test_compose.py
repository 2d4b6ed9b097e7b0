from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import GraphError
from ircert.ir.graph import Graph
from ircert.testing import mlps, points

SQUARE = ircert.load([([[1.0, 2.0], [3.0, 4.0]], None)])
ROW = ircert.load([([[1.0, -1.0]], [0.5])])


@pytest.mark.rule("IR-17")
@given(mlps(), st.data())
def test_composition(first: Graph, data: st.DataObject) -> None:
    second = data.draw(_reading(first))
    both = first.then(second)
    x = data.draw(points(first))
    assert both.exact(x).tolist() == second.exact(first.exact(x)).tolist()
    assert both.input_dim == first.input_dim
    assert both.output_dim == second.output_dim


def _reading(first: Graph) -> st.SearchStrategy[Graph]:
    """Graphs whose inputs are the outputs of another: an affine map in front makes the sizes fit."""
    return mlps().map(lambda g: ircert.load([([[1.0] * first.output_dim] * g.input_dim, None)]).then(g))


@pytest.mark.rule("IR-17")
@given(mlps(), st.data())
def test_stacking(first: Graph, data: st.DataObject) -> None:
    spread = ircert.load([([[1.0] * first.input_dim], None)])
    second = data.draw(mlps(inputs=1).map(spread.then))
    both = ircert.stack(first, second, first)
    x = data.draw(points(first))
    assert both.exact(x).tolist() == [*first.exact(x), *second.exact(x), *first.exact(x)]


@pytest.mark.rule("IR-17")
def test_names_are_kept_where_they_are_free() -> None:
    assert [node.name for node in SQUARE.then(ROW).nodes] == ["x", "y", "y_1"]
    assert ircert.stack(ROW) == ROW


def test_sizes_must_fit() -> None:
    with pytest.raises(GraphError, match="1 outputs but the second has 2 inputs"):
        ROW.then(SQUARE)
    with pytest.raises(GraphError, match=r"have \[2, 1\] inputs"):
        ircert.stack(SQUARE, ircert.load([([[1.0]], None)]))
    with pytest.raises(GraphError, match="nothing to stack"):
        ircert.stack()
