"""Secants without a kernel: what is called injective is so by exact geometry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.engines.parts.quick import is_injective_on
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Tanh
from tests.engines.parts.test_by_parts import folds, question
from tests.structure.split import split_networks


@pytest.mark.rule("ST-11")
@given(split_networks(st.just([2])), st.sampled_from(["inf", 1, 2]), st.sampled_from([0.125, 0.5, 2.0]))
def test_what_is_injective_is_so(graph: Graph, norm: Any, radius: float) -> None:
    if is_injective_on(question(graph, [0.25, -0.5], norm=norm), radius):
        found = ircert.certify(graph, [0.25, -0.5], norm=norm, radius=radius, engine="regions")
        assert found.verdict == "certified"


@pytest.mark.rule("ST-11")
def test_a_fold() -> None:
    asked = question(folds(1.0), [0.0])
    assert is_injective_on(asked, 0.999)
    assert not is_injective_on(asked, 1.001)
    assert not is_injective_on(asked, np.inf)


def test_nothing_is_said_about_curves() -> None:
    build = ircert.Builder(1)
    assert not is_injective_on(question(build.graph(build.node(Tanh(), build.input)), [0.0]), 1.0)
