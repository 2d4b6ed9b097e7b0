"""The colours of cells: the sign is exact, and sizes are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.plotting import draw_regions, new_axes
from ircert.plotting.colour import colouring
from tests.plotting.stand_in import enumerate_regions
from tests.plotting.support import TALL, WIDE, drawn, quarters
from tests.plotting.test_regions import BALL


def face_colours(determinants: list[float]) -> np.ndarray:
    ax = draw_regions(new_axes(), quarters(*determinants))
    (cells,) = drawn(ax, "cells")
    cells.update_scalarmappable()
    return np.asarray(cells.get_facecolor())


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


def test_without_determinants_the_smallest_singular_value_counts() -> None:
    ax = draw_regions(new_axes(), enumerate_regions(TALL, BALL))
    (cells,) = drawn(ax, "cells")
    np.testing.assert_allclose(cells.get_array(), np.sqrt(2.0))
    assert ax.child_axes[0].get_ylabel() == "smallest singular value of Df"
    wide = draw_regions(new_axes(), enumerate_regions(WIDE, BALL))
    assert len(drawn(wide, "cells")[0].get_paths()) == len(enumerate_regions(WIDE, BALL))
