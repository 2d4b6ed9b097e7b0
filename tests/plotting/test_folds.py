"""Fold sets of smooth networks: lines, boxes, and what is undecided."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.ir.ops.curves import Tanh
from ircert.plotting import draw_folds, draw_preimages, new_axes
from tests.analysis.smooth.known import bent, cosine
from tests.plotting.support import drawn


def test_lines_and_boxes() -> None:
    folds = ircert.fold_set(cosine(), ([0.1, 0.0], 1.0), width=0.2)
    ax = draw_folds(new_axes(), folds)
    assert len(drawn(ax, "folds")[0].get_segments()) == len(folds)
    (boxes,) = drawn(ax, "fold-boxes")
    corners = [path.vertices[:4] for path in boxes.get_paths()]
    assert np.allclose([c.min(axis=0) for c in corners], folds.boxes[:, 0])
    assert np.allclose([c.max(axis=0) for c in corners], folds.boxes[:, 1])
    assert drawn(ax, "fold-undecided") == []


@pytest.mark.rule("FS-6")
def test_what_is_undecided_is_drawn() -> None:
    touching = ircert.fold_set(bent(Tanh(), -1.0), ([0.1, 0.0], 1.0), width=0.2)
    ax = draw_folds(new_axes(), touching)
    assert len(drawn(ax, "fold-undecided")[0].get_paths()) == len(touching.undecided)
    with pytest.warns(UserWarning, match="undecided"):
        found = ircert.preimages(cosine(), [1.0, 0.0], ([0.1, 0.0], 1.0))
    draw_preimages(ax, found)
    assert np.allclose(drawn(ax, "undecided")[0].get_xydata(), [[0, 0]], atol=1e-5)
