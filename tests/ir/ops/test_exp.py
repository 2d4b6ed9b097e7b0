from __future__ import annotations

import numpy as np
import pytest
from flint import arb

import ircert
from ircert.errors import UnsupportedModel
from ircert.ir.ops import Exp, is_smooth
from ircert.testing import check_operation


@pytest.mark.rule("IR-22")
def test_it_is_a_curve_without_lines_far_out() -> None:
    check_operation(Exp(), 3)
    assert is_smooth(Exp())
    assert Exp.steep
    with pytest.raises(UnsupportedModel, match="no lines far out"):
        Exp().tails()


def test_values_are_enclosed_and_floats_may_overflow() -> None:
    build = ircert.Builder(2)
    graph = build.graph(build.node(Exp(), build.input))
    assert graph([1000.0, -1000.0]).tolist() == [np.inf, 0.0]
    far, near = graph.enclosure([1000, -1000])
    assert far > arb(10) ** 434
    assert 0 < near < arb(10) ** -434
    assert ircert.parse(str(graph)) == graph
