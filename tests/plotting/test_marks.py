"""Witnesses and preimages in pictures."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from ircert.plotting import draw_preimages, draw_witness, new_axes
from tests.plotting.support import drawn, labels

pytestmark = pytest.mark.usefixtures("geometry")


def test_marks_take_fractions_and_sets() -> None:
    third = Fraction(1, 3)
    (pair,) = drawn(draw_witness(new_axes(), [third, 0], [-third, 0]), "witness")
    np.testing.assert_allclose(pair.get_xydata(), [[1 / 3, 0], [-1 / 3, 0]])
    segment = SimpleNamespace(point=np.zeros(2), set=np.array([[0.0, 0.0], [1.0, 2.0]]))
    point = SimpleNamespace(point=np.ones(2), set=None)
    ax = draw_preimages(new_axes(), [segment, segment, point])
    assert len(ax.patches) == 2
    assert drawn(ax, "preimages")[0].get_xydata().tolist() == [[1.0, 1.0]]
    ax.legend()
    assert labels(ax) == ["preimages of f(c) (a whole set)", "preimages of f(c)"]
    assert drawn(draw_preimages(new_axes(), []), "preimages") == []
