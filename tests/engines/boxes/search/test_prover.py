"""Searches over boxes: how far regions have the reference orientation, and which pairs of a ball or its boundary may
collide."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.cutting.orientation import Orientation
from ircert.engines.boxes.cutting.pair_search import PairSearch
from ircert.engines.boxes.effort.portfolio import Portfolio
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search.prover import Prover
from ircert.geometry.norm import Norm
from tests.effort import some_of
from tests.engines.boxes.making import fold, residual, setting_of
from tests.oracle.build import square, then

NORMS = tuple(Norm)


def prover_of(setting: Setting, seconds: float = 20.0) -> Prover:
    end = time.monotonic() + seconds
    descent = Descent(setting, ExactMaps(setting), lambda: time.monotonic() < end)
    return Prover(setting, descent, Counts(), lambda: time.monotonic() > end, lambda: None)


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(3))
def test_the_distance_of_the_nearest_fold(seed: int, norm: str) -> None:
    """`reached` never passes the exact radius, and comes close to it."""
    graph = residual(np.random.default_rng(seed), 2, 5, scale=4.0)
    center = np.array([0.25, -0.125])
    exact = ircert.certify(graph, center, norm=norm, engine="regions", max_radius=8.0)
    prover = prover_of(setting_of(graph, center, norm=norm))
    assert prover.orientation is not None
    radius = float(exact.radius.certified)
    if exact.radius.refuted is not None and radius > 0:
        assert prover.prove(radius * 1.25) != "closed"
        assert prover.reached <= radius
        assert prover.prove(radius * 0.875) == "closed"
    assert prover.reached >= min(radius, 8.0) * 0.8


@pytest.mark.rule("E-9")
@pytest.mark.parametrize(("norm", "radius"), some_of(NORMS, [1e-310, 5e-324], every=2))
def test_boundaries_between_subnormal_floats(radius: float, norm: str) -> None:
    """s(x) = s(-x), and every determinant is positive: a boundary that is left out would make every ball good."""
    prover = prover_of(setting_of(ircert.load(square()), [0.0, 0.0], norm=norm))
    with np.errstate(all="ignore"):
        assert prover.prove(radius) == "violated"
    assert prover.reached == 0.0


@pytest.mark.parametrize("search", [Orientation, PairSearch])
def test_an_error_in_a_wave_leaves_its_pieces_open(search: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    prover = prover_of(setting_of(ircert.load(square()), [1.0, 0.5]))
    prover._ways[4.0] = Portfolio(prover.counts, [(lambda stop: prover._by_degree(4.0, stop), 1.0)])
    with monkeypatch.context() as patch:

        def fails(*_: Any) -> Any:
            raise OverflowError

        patch.setattr(search, "_worked", fails)
        with pytest.raises(OverflowError):
            prover.prove(4.0)
    assert prover.prove(4.0) == "violated"


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", NORMS)
def test_sheets_are_found_on_the_boundary(norm: str) -> None:
    """s∘s: every determinant is positive, but f(.5, .5) = f(.5, -.5) near (1, 0)."""
    graph = ircert.load(then(square(), square()))
    prover = prover_of(setting_of(graph, [1.0, 0.0], norm=norm))
    radius = float(ircert.certify(graph, [1.0, 0.0], norm=norm, engine="regions").radius.certified)
    assert prover.orientation is not None
    assert prover.orientation.advance(0.9 * radius, lambda: False) == "closed"
    assert prover.prove(0.9 * radius) == "closed"
    if norm == "1":  # the ball then holds 0, where all sheets meet: that takes long
        return
    assert prover.prove(1.05 * radius) == "violated"
    assert prover.descent.has_within(1.05 * radius)


@pytest.mark.rule("E-9")
def test_a_domain_cuts_the_ball() -> None:
    """(|x1 - 1/2|, x2): no fold where the domain ends before it, and the domain's sides belong to the boundary."""
    build = ircert.Builder(2)
    kink = build.relu(build.affine(build.input, [[1.0, 0.0]], [-0.5]))
    graph = build.graph(build.affine(build.concat(build.input, kink), [[-1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]))
    for norm in NORMS:
        for end, outcome in ((0.5, "closed"), (0.5625, "violated")):
            domain: dict[str, Any] = {"low": np.array([-1.0, -0.25]), "high": np.array([end, 0.25])}
            setting = setting_of(graph, [0.0, 0.0], norm=norm, **domain)
            assert prover_of(setting).prove(0.875) == outcome


@pytest.mark.rule("E-9")
@pytest.mark.parametrize("norm", [Norm.ONE, Norm.TWO])
def test_small_waves_on_the_boundary_come_to_an_end(monkeypatch: pytest.MonkeyPatch, norm: str) -> None:
    """Pairs outside of the ball, which the boxes of round balls have, do not stand in the way of others."""
    monkeypatch.setattr("ircert.engines.boxes.enclosures.batches.MOST", 3)
    graph = residual(np.random.default_rng(3), 2, 5, scale=4.0)
    setting = setting_of(graph, [0.25, -0.125], norm=norm)
    radius = 0.875 * float(
        ircert.certify(graph, setting.center, norm=norm, engine="regions", max_radius=8.0).radius.certified
    )
    prover = prover_of(setting)
    search = PairSearch(prover.network, prover.tools, prover.counts, lambda: None, boundary=True)
    assert search.advance(radius, lambda: prover.counts.waves > 5_000) == "closed"


@pytest.mark.rule("E-9", "E-15")
@pytest.mark.parametrize("norm", tuple(Norm))
def test_points_that_one_matrix_meets_beyond_a_fold_lead_to_a_violation(norm: Norm) -> None:
    setting = setting_of(fold(at=0.5), np.zeros(2), norm=norm)
    descent = Descent(setting, ExactMaps(setting))
    prover = Prover(setting, descent, Counts(), lambda: False, lambda: None)
    assert prover.prove(2.0) == "violated"
    assert prover.counts.boxes == 0, "without a box"
    assert descent.has_within(0.6)
    assert not descent.has_within(0.5 - 1e-9)
