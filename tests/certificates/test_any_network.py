"""Proofs for networks of all kinds: what passes is true, by two checkers and by exact geometry."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.certificates.growing import NoCover
from ircert.certificates.proving import Proving
from ircert.checker import check_text
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.result.certificate import injective
from ircert.testing import graphs, residual_networks
from tests.checker.second import proves
from tests.checker.test_injective import written
from tests.effort import examples

EIGHTHS = st.integers(-8, 8).map(lambda v: v / 8)


@pytest.mark.rule("C-8", "C-9", "C-10", "C-11")
@examples(60)
@given(
    st.one_of(graphs(inputs=2, nodes=5, width=3), residual_networks(width=2, blocks=2, depth=1)),
    st.lists(EIGHTHS, min_size=2, max_size=2),
    st.sampled_from(["inf", "1", "2"]),
    st.sampled_from([0.25, 1.0, 3.0]),
)
def test_what_is_proved_is_true(graph: ircert.Graph, center: list[float], norm: str, radius: float) -> None:
    center = center[: graph.input_dim]
    if len(center) != graph.input_dim:
        return
    try:
        proof = Proving(graph, Place.everywhere(np.array(center), Norm(norm))).prove(radius, nodes=200)
    except NoCover:
        return
    fields = injective(radius, proof.matrix, proof.cover)
    exact = [Fraction(v) for v in center]
    text = json.dumps({**written(graph, exact, **fields), "norm": norm})
    assert check_text(text)[1] is None
    assert proves(text)
    assert ircert.certify(graph, center, radius=radius, norm=norm, time_limit=5).verdict != "refuted"
