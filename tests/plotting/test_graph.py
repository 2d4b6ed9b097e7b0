"""Networks with one input as graphs of functions."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.errors import QueryError
from ircert.plotting import draw_graph, new_axes, plot_result
from ircert.questions.query import Query
from tests.plotting.stand_in import enumerate_regions
from tests.plotting.support import CURVE, FOLD, HAT, answer, drawn, labels

pytestmark = pytest.mark.usefixtures("geometry")


def test_one_input_is_a_graph() -> None:
    result = ircert.certify(HAT, [0.5])
    pseudo = ircert.certify(HAT, [0.5], problem="pseudo")
    ax = plot_result(result, balls=[pseudo], preimages=True, window=1.5)
    rising, falling = drawn(ax, "graph")
    assert (rising.get_label(), falling.get_label()) == ("rising", "falling")
    assert np.array(rising.get_segments()).tolist() == [[[-1.0, 0.0], [0.0, 1.0]]]
    assert drawn(ax, "folds")[0].get_xydata().tolist() == [[0.0, 1.0]]
    assert drawn(ax, "center")[0].get_xydata().tolist() == [[0.5, 0.5]]
    assert drawn(ax, "witness")[0].get_xydata().tolist() == [[-0.5, 0.5], [0.5, 0.5]]
    assert sorted(p.get_xydata()[0].tolist() for p in drawn(ax, "preimages")) == [[-0.5, 0.5], [0.5, 0.5]]
    assert labels(ax).count("preimages of f(c)") == 1
    assert "f injective: r = 0.4999" in labels(ax)
    assert ax.get_ylabel() == "f(x₀)"
    assert ax.get_aspect() == "auto"


def test_one_input_and_several_outputs() -> None:
    ax = plot_result(answer(CURVE, [0.5], 2.0, None))
    assert [collection.get_label() for collection in drawn(ax, "graph")] == ["f₀", "f₁"]
    assert len(drawn(ax, "center")[0].get_xydata()) == 2
    with pytest.raises(QueryError, match="draw_regions"):
        draw_graph(new_axes(), enumerate_regions(FOLD, Query("local", [0.0, 0.0], 1.0).ball))
