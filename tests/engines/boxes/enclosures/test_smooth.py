"""Boxes of networks with curves: bounds on neurons and slopes hold at points, and closed boxes have no bad slopes."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes, contractions
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.ops import Curve, Exp
from ircert.ir.ops.curves import Elu, Gelu, HardSwish, Mish, Sigmoid, Silu, Softplus, Tanh

CURVES = [Tanh(), Sigmoid(), Gelu(), Silu(), Softplus(), Elu(2.0), Mish(), HardSwish(), Exp()]


def setting(curve: Curve, norm: Norm = Norm.INF) -> Setting:
    """Two layers of curves and relus, beside the input itself."""
    rng = np.random.default_rng(7)
    build = ircert.Builder(3)
    x = build.input
    for _ in range(2):
        z = build.affine(x, rng.normal(size=(8, build.size(x))), rng.normal(size=8))
        x = build.concat(build.node(curve, build.select(z, range(6))), build.relu(build.select(z, [6, 7])))
    whole = build.add(build.affine(x, 0.3 * rng.normal(size=(3, 8))), build.input)
    place = Place.everywhere(np.array([0.1, -0.2, 0.3]), norm)
    return Setting(build.graph(whole), "local", 3, place)


@pytest.mark.rule("E-17")
@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE, Norm.TWO])
@pytest.mark.parametrize("curve", CURVES, ids=lambda op: op.kind)
def test_neurons_and_slopes_of_points_lie_within_bounds(curve: Curve, norm: Norm) -> None:
    asked, rng, radius = setting(curve, norm), np.random.default_rng(0), 1.5
    network = Batches(asked)
    middle = asked.center + rng.uniform(-1, 1, (12, 3))
    half = 10.0 ** rng.uniform(-4, 0.3, (12, 3))
    known = enclose(network, middle - half, middle + half, radius)
    curved = asked.curved
    for k in range(12):
        points = middle[k] + half[k] * rng.uniform(-1, 1, (200, 3))
        points = points[norm.lengths(points - asked.center) < radius]
        if not len(points):
            continue
        z, slopes = asked.preactivations(points), asked.derivatives(points)
        assert (z >= known.low[:, k] - 1e-12).all()
        assert (z <= known.high[:, k] + 1e-12).all()
        assert not (slopes < known.least[:, k] - 1e-11).any()  # no number: too steep, nothing is said
        assert not (slopes > known.most[:, k] + 1e-11).any()
        value = z * known.slopes[:, k] + known.shifts[:, k]
        true = np.where(curved, curve.evaluate(z), np.maximum(z, 0.0))
        assert (np.abs(true - value) <= known.spreads[:, k] + 1e-12).all()
        assert np.isin(known.least[~curved, k], (0.0, 1.0)).all()


@pytest.mark.rule("E-17")
@pytest.mark.parametrize("curve", CURVES, ids=lambda op: op.kind)
def test_closed_boxes_have_no_bad_slopes(curve: Curve) -> None:
    asked, rng = setting(curve), np.random.default_rng(1)
    network = Batches(asked)
    middle = asked.center + rng.uniform(-0.3, 0.3, (40, 3))
    half = 10.0 ** rng.uniform(-4, -0.3, (40, 1)) * np.ones(3)
    known = enclose(network, middle - half, middle + half, 9.0)
    slopes = Slopes.within(known.least, known.most, asked.curved, np.zeros((3, 40), dtype=bool))
    assert ((slopes.middle - slopes.spare <= known.least) & (slopes.middle + slopes.spare >= known.most)).all()
    jacobian = _jacobians(asked, asked.derivatives(asked.center[None]))[0]
    matrix = OneMatrix(network, np.linalg.inv(jacobian))
    closed = matrix.closed(slopes, known).closed
    assert closed.any()
    shrunk = contractions(network, slopes).proved
    for k in range(40):
        corners = known.least[:, k] + rng.integers(2, size=(60, asked.neurons)) * (known.most - known.least)[:, k]
        found = _jacobians(asked, corners)
        if closed[k]:
            product = matrix.matrix @ found
            assert np.linalg.eigvalsh(product + product.transpose(0, 2, 1)).min() > 0
        if shrunk[k]:
            assert (np.linalg.det(found) != 0).all()
            assert len(set(np.sign(np.linalg.det(found)))) == 1


def _jacobians(asked: Setting, slopes: np.ndarray) -> np.ndarray:
    from ircert.engines.boxes.enclosures.secants import Secants

    return Secants(asked).jacobians(slopes)
