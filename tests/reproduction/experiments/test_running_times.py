"""Both ways of deciding a ball, on networks with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ircert.reproduction.experiments.parts.running_times import Point, residual, timed
from tests.engines.regions.asking import graph_of
from tests.oracle.build import curve

ABSOLUTE = graph_of(curve([0.0], [[-1.0], [1.0]]))


def test_the_lipschitz_constant_of_the_branch_is_bounded() -> None:
    graph = residual(3, 7, 0.9, seed=4)
    x, y = np.random.default_rng(0).normal(size=(2, 500, 3))
    branch = (graph(x) - x) - (graph(y) - y)
    assert (np.linalg.norm(branch, axis=1) <= 0.9 * np.linalg.norm(x - y, axis=1)).all()
    assert residual(3, 7, 0.9, seed=4) == graph
    assert residual(3, 7, 0.9, seed=5) != graph


def test_both_ways_agree_on_a_contraction_and_on_a_fold() -> None:
    good = timed(residual(1, 3, 0.9, seed=0), 3, 0.5, limit=30.0, seed=0)
    assert (good.finished, good.result.verdict, good.agree) == (True, "certified", True)
    bad = timed(ABSOLUTE, 2, 0.5, limit=30.0, seed=0)
    assert (bad.finished, bad.result.verdict, bad.agree) == (True, "refuted", True)
    assert bad.optimum == pytest.approx(1.0, abs=1e-6)
    assert replace(bad, optimum=0.0).agree is False
    assert replace(bad, finished=False).agree is None


def test_medians_count_what_did_not_finish_with_the_limit() -> None:
    one = timed(ABSOLUTE, 2, 0.5, limit=30.0, seed=0)
    point = Point(tuple(replace(one, paper=s, finished=s < 30.0, nodes=n) for s, n in ((1.0, 5), (30.0, 9), (30.0, 7))))
    assert (point.paper, point.finished, point.nodes, point.sizes) == (30.0, 1, 7, (1, 2, 0.5))
    assert point.ours == one.ours
