"""Cells: one polygon each, the sign in the colour, singular ones apart."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ircert.data.networks import bundled
from ircert.errors import QueryError
from ircert.plotting import draw_folds, draw_regions, new_axes
from ircert.plotting.style import edge_width
from ircert.questions.query import Query
from tests.plotting.stand_in import enumerate_regions, fold_set
from tests.plotting.support import FOLD, HAT, drawn, quarters

BALL = Query("local", [0.5, 0.5], 2.0).ball


def test_every_cell_is_one_polygon() -> None:
    regions = enumerate_regions(bundled("vanderpol-2-10-10-2"), Query("local", [0.0, 0.0], 3.0).ball)
    ax = draw_regions(new_axes(), regions)
    (cells,), singular = drawn(ax, "cells"), drawn(ax, "singular")
    grey = sum(len(collection.get_paths()) for collection in singular)
    assert len(cells.get_paths()) + grey == len(regions) > 20
    assert grey == np.sum(regions.signs == 0)
    np.testing.assert_allclose([*ax.get_xlim(), *ax.get_ylim()], [-3, 3, -3, 3])
    assert ax.get_aspect() == 1.0


def test_singular_cells_are_hatched_and_named() -> None:
    ax = draw_regions(new_axes(), quarters(1.0, 0.0, -1.0, 0.0))
    (singular,) = drawn(ax, "singular")
    assert singular.get_hatch()
    assert len(singular.get_paths()) == 2
    assert singular.get_label() == "singular cells"
    assert len(drawn(ax, "cells")[0].get_paths()) == 2
    assert drawn(draw_regions(new_axes(), quarters(1.0)), "singular") == []


def test_edges_vanish_and_cells_become_pixels_when_there_are_many() -> None:
    widths = [edge_width(n) for n in (1, 100, 1000, 5000, 5001, 10**6)]
    assert widths[0] == widths[1] > widths[2] > widths[3] > widths[4] == widths[5] == 0
    few, many = quarters(1.0, -1.0), quarters(*np.linspace(1, 2, 5001))
    few_cells, many_cells = (drawn(draw_regions(new_axes(), r), "cells")[0] for r in (few, many))
    assert not few_cells.get_rasterized()
    assert many_cells.get_rasterized()
    assert drawn(draw_regions(new_axes(), few, edges=False), "cells")[0].get_linewidth() < few_cells.get_linewidth()


def test_folds_are_lines_stars_and_hatched_cells() -> None:
    folds = fold_set(FOLD, BALL)
    ax = draw_folds(new_axes(), folds)
    (lines,) = drawn(ax, "folds")
    segments = np.array(lines.get_segments())
    assert len(segments) == 4
    assert (segments == 0).any(axis=2).all()
    assert drawn(ax, "singular") == drawn(ax, "winding") == []
    more = SimpleNamespace(segments=np.zeros((0, 2, 2)), singular=[segments[0]], points=np.array([[0.25, 0.5]]))
    ax = draw_folds(new_axes(), more)
    assert drawn(ax, "folds") == []
    assert len(drawn(ax, "singular")) == 1
    assert drawn(ax, "winding")[0].get_xydata().tolist() == [[0.25, 0.5]]
    assert drawn(draw_folds(new_axes(), more, singular=False), "singular") == []


def test_one_input_has_no_polygons() -> None:
    with pytest.raises(QueryError, match="draw_graph"):
        draw_regions(new_axes(), enumerate_regions(HAT, Query("local", [0.0], 1.0).ball))
