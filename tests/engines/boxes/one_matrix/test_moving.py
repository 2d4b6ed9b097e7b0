"""Slopes that move together take away no more from sym(C J) than is said."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.moving import Moving
from ircert.ir.ops import Curve
from tests.engines.boxes.enclosures.test_smooth import CURVES, setting


@pytest.mark.rule("E-17")
def test_matrices_are_dominated() -> None:
    rng = np.random.default_rng(0)
    above, below = (rng.normal(size=(20, 3, 7)) for _ in range(2))
    rates = rng.normal(size=(20, 3, 7))
    rates[:, :, 0] = 0.0
    found = Moving.of(above, below, rates)
    assert found.wrong.max() < 1e-10
    for _ in range(50):
        t = rng.choice([-1.0, 1.0, 0.3], 3)
        moved = np.einsum("kib,klb,kjb,j->bil", above, below, rates, t)
        rest = found.total - (moved + moved.transpose(0, 2, 1)) / 2
        assert np.linalg.eigvalsh(rest).min(axis=1).min() > -1e-12
    assert (found.shares(np.tile(np.eye(3), (7, 1, 1)))[:, 1:] > 0).all()


def test_pieces_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    given = [rng.normal(size=(12, 5, 4)) for _ in range(3)]
    at_once = Moving.of(*given)
    monkeypatch.setattr("ircert.engines.boxes.one_matrix.moving.AT_ONCE", 2 * 4 * 25)
    in_pieces = Moving.of(*given)
    np.testing.assert_allclose(in_pieces.parts, at_once.parts, rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_pieces.wrong, at_once.wrong, rtol=1e-9)


@pytest.mark.rule("E-17")
@pytest.mark.parametrize("curve", CURVES, ids=lambda op: op.kind)
def test_closed_boxes_are_positive_at_all_points(curve: Curve) -> None:
    asked, rng = setting(curve), np.random.default_rng(5)
    network, secants = Batches(asked), Secants(asked)
    matrix = np.linalg.inv(secants.jacobians(asked.derivatives(asked.center[None]))[0])
    middle = asked.center + rng.uniform(-0.5, 0.5, (60, 3))
    half = 10.0 ** rng.uniform(-3, 0, (60, 3))
    known = enclose(network, middle - half, middle + half, 9.0, tilted=True)
    found = OneMatrix(network, matrix).closed(Slopes.on_boxes(known, np.zeros((3, 60), dtype=bool)), known)
    assert found.closed.sum() > 5
    for k in np.flatnonzero(found.closed):
        points = middle[k] + half[k] * np.r_[rng.uniform(-1, 1, (200, 3)), rng.choice([-1.0, 1.0], (20, 3))]
        product = matrix @ secants.jacobians(asked.derivatives(points))
        assert np.linalg.eigvalsh((product + product.transpose(0, 2, 1)) / 2).min() > 0
