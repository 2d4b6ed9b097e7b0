"""Signs of determinants on boxes: those of all points, and never one where it changes."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.cutting.turning import Turning, turning
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.ops import Curve
from ircert.ir.ops.curves import Tanh
from tests.engines.boxes.enclosures.test_smooth import CURVES, setting


def found_on(asked: Setting, low: Array, high: Array) -> Turning:
    known = enclose(Batches(asked), low, high, 99.0, tilted=True)
    return turning(Batches(asked), Slopes.on_boxes(known, np.zeros((asked.size, len(low)), dtype=bool)))


@pytest.mark.rule("E-18")
@pytest.mark.parametrize("curve", CURVES, ids=lambda op: op.kind)
def test_signs_are_those_of_all_points(curve: Curve) -> None:
    asked, rng = setting(curve), np.random.default_rng(4)
    secants = Secants(asked)
    middle = asked.center + rng.uniform(-2, 2, (60, 3))
    half = 10.0 ** rng.uniform(-4, 0.5, (60, 3))
    found = found_on(asked, middle - half, middle + half)
    assert 5 < found.regular.sum() < 60
    for k in range(60):
        points = middle[k] + half[k] * rng.uniform(-1, 1, (300, 3))
        jacobians = secants.jacobians(asked.derivatives(points))
        if found.regular[k]:
            assert (np.sign(np.linalg.det(jacobians)) == found.signs[k]).all()
            assert np.sign(np.linalg.det(jacobians.mean(axis=0))) == found.signs[k]


@pytest.mark.rule("E-18")
def test_boxes_close_to_a_fold_are_as_wide_as_the_root_of_their_distance() -> None:
    """(x - 2 tanh(x), y + x): the determinant is 1 - 2 / cosh(x)², which grows as x does and does not depend on y."""
    build = ircert.Builder(2)
    bent = build.node(Tanh(), build.select(build.input, [0]))
    skip = build.affine(build.input, [[1.0, 0.0], [1.0, 1.0]])
    graph = build.graph(build.add(skip, build.affine(bent, [[-2.0], [0.0]])))
    asked = Setting(graph, "local", 2, Place.everywhere(np.array([2.0, 0.0])))
    fold = float(np.arccosh(np.sqrt(2.0)))
    low, high = (
        np.array([[fold + 1e-6, -5.0], [fold - 1e-6, -5.0]]),
        np.array([[fold + 1.5e-6, 5.0], [fold + 1e-3, 5.0]]),
    )
    found = found_on(asked, low, high)
    assert found.regular.tolist() == [True, False]
    assert found.signs.tolist() == [1.0, 0.0]
    assert found.gains[0, 1] > 100 * found.gains[1, 1]
