"""Cells: one polygon each, the sign in the colour, singular ones apart."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ircert.data.networks import bundled
from ircert.errors import QueryError
from ircert.plotting import draw_folds, draw_regions, new_axes
from ircert.plotting.colour import colouring
from ircert.plotting.style import edge_width
from ircert.questions.query import Query
from tests.plotting.stand_in import enumerate_regions, fold_set
from tests.plotting.support import FOLD, HAT, TALL, WIDE, drawn, quarters

BALL = Query("local", [0.5, 0.5], 2.0).ball


def face_colours(determinants: list[float]) -> np.ndarray:
    ax = draw_regions(new_axes(), quarters(*determinants))
    (cells,) = drawn(ax, "cells")
    cells.update_scalarmappable()
    return np.asarray(cells.get_facecolor())


def test_every_cell_is_one_polygon() -> None:
    regions = enumerate_regions(bundled("vanderpol-2-10-10-2"), Query("local", [0.0, 0.0], 3.0).ball)
    ax = draw_regions(new_axes(), regions)
    (cells,), singular = drawn(ax, "cells"), drawn(ax, "singular")
    grey = sum(len(collection.get_paths()) for collection in singular)
    assert len(cells.get_paths()) + grey == len(regions) > 20
    assert grey == np.sum(regions.signs == 0)
    np.testing.assert_allclose([*ax.get_xlim(), *ax.get_ylim()], [-3, 3, -3, 3])
    assert ax.get_aspect() == 1.0


def test_red_is_positive_and_blue_is_negative_however_small() -> None:
    sizes = [1e-12, 1e-3, 1.0, 7.0, 1e6]
    for red, _, blue, _ in face_colours(sizes):
        assert red > blue + 0.1
    for red, _, blue, _ in face_colours([-size for size in sizes]):
        assert blue > red + 0.1


def test_larger_is_darker() -> None:
    brightness = face_colours([0.01, 0.1, 1.0, 10.0])[:, :3].sum(axis=1)
    assert (np.diff(brightness) < 0).all()


def test_the_exact_sign_counts_not_the_float() -> None:
    regions = quarters(1.0, 1e-18)
    regions.signs = np.array([1, -1], np.int8)
    values = colouring(regions).values
    assert values[0] > 0 > values[1]


@pytest.mark.parametrize("determinants", [[2.0], [2.0, 2.0], [1e-300], [0.0], [1e300, -1e-300], [3.0, -0.02, 0.5]])
def test_any_range_has_a_bar_with_ticks_inside_it(determinants: list[float]) -> None:
    ax = draw_regions(new_axes(), quarters(*determinants))
    ax.figure.canvas.draw()
    bars = ax.child_axes
    assert len(bars) == (determinants != [0.0])
    for bar in bars:
        assert bar.get_ylabel() == "det Df"
        texts = [text.get_text() for text in bar.get_yticklabels()]
        assert sum(text.startswith("+") for text in texts) == sum(text.startswith("−") for text in texts) >= 1


def test_singular_cells_are_hatched_and_named() -> None:
    ax = draw_regions(new_axes(), quarters(1.0, 0.0, -1.0, 0.0))
    (singular,) = drawn(ax, "singular")
    assert singular.get_hatch()
    assert len(singular.get_paths()) == 2
    assert singular.get_label() == "singular cells"
    assert len(drawn(ax, "cells")[0].get_paths()) == 2
    assert drawn(draw_regions(new_axes(), quarters(1.0)), "singular") == []


def test_without_determinants_the_smallest_singular_value_counts() -> None:
    ax = draw_regions(new_axes(), enumerate_regions(TALL, BALL))
    (cells,) = drawn(ax, "cells")
    np.testing.assert_allclose(cells.get_array(), np.sqrt(2.0))
    assert ax.child_axes[0].get_ylabel() == "smallest singular value of Df"
    wide = draw_regions(new_axes(), enumerate_regions(WIDE, BALL))
    assert len(drawn(wide, "cells")[0].get_paths()) == len(enumerate_regions(WIDE, BALL))


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
