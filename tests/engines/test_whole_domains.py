"""Balls that hold the whole domain: what is good there is good at every radius."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ircert
from ircert.geometry.norm import Norm


@pytest.mark.rule("E-3")
@pytest.mark.parametrize("norm", Norm)
def test_a_bounded_domain_of_three_inputs_is_proved_at_every_radius(norm: Norm) -> None:
    rng = np.random.default_rng(1)
    graph = ircert.load([(rng.normal(size=(8, 3)), rng.normal(size=8)), (rng.normal(size=(3, 8)), np.zeros(3))])
    known = ircert.certify(graph, [0, 0, 0], norm=norm.value, time_limit=60)
    assert known.radius.refuted is not None
    half = float(known.radius.certified) / 6
    result = ircert.certify(graph, [0, 0, 0], norm=norm.value, domain=(-half, half), max_radius=math.inf, time_limit=60)
    assert result.verdict == "certified"
    assert result.radius.certified == math.inf
    assert result.radius.certified.evidence.endswith("the ball holds the domain")
