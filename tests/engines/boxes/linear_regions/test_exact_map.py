"""Affine maps of regions in integers: the network itself, wherever its neurons have those sides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps, center_signs
from tests.engines.boxes.making import fold, residual, setting_of


def test_the_two_sides_of_a_fold() -> None:
    """Around (1, 2): x1 - 2 relu(x1 - 1/2) is 1 + u1, or -u1; z is 1/2 + u1. One factor for both patterns."""
    maps = ExactMaps(setting_of(fold(), [1.0, 2.0]))
    off, on = (maps.of(np.array([side], dtype=np.int8)) for side in (-1, 1))
    factor = int(off.values[0, 0])
    assert off.values.tolist() == [[factor, 0, factor], [0, factor, 2 * factor]]
    assert on.values.tolist() == [[-factor, 0, 0], [0, factor, 2 * factor]]
    for found in (off, on):
        scale = int(found.z[0, 0])
        assert scale > 0
        assert found.z.tolist() == [[scale, 0, scale // 2]]


@pytest.mark.parametrize("seed", range(4))
def test_maps_agree_with_exact_evaluation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    setting = setting_of(residual(rng, 2, 4), rng.standard_normal(2))
    u = [Fraction(int(k), 16) for k in rng.integers(-16, 17, 2)]
    point = [a + c for a, c in zip(u, setting.exact_center, strict=True)]
    z = setting.preactivations(np.array([[float(v) for v in point]]))[0]
    found = ExactMaps(setting).of(np.where(z > 0, 1, -1).astype(np.int8))
    zero = ExactMaps(setting).at_center.values.dot(np.array([0, 0, 1], dtype=object))
    factor = Fraction(int(zero[0])) / setting.graph.exact(setting.center)[0]
    values = found.values.dot(np.array([*u, Fraction(1)], dtype=object))
    assert [v / factor for v in values] == list(setting.graph.exact(point))


def test_a_pattern_is_made_once() -> None:
    maps = ExactMaps(setting_of(fold(), [0.0, 0.0]))
    phases = np.array([1], dtype=np.int8)
    assert maps.of(phases) is maps.of(phases.copy())


def test_exact_signs_at_the_centre() -> None:
    """0.1 + 0.2 - 0.3 is not 0 for the floats that these are; 0.5 - 0.5 is."""
    build = ircert.Builder(2)
    rows = [[1.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]
    graph = build.graph(build.relu(build.affine(build.input, rows, [-0.3, -0.1, 0.0])))
    assert center_signs(setting_of(graph, [0.1, 0.2])).tolist() == [1, 0, -1]


def test_a_neuron_at_zero_counts_as_on_at_the_centre() -> None:
    maps = ExactMaps(setting_of(fold(), [0.5, 0.0]))
    assert maps.at_center is maps.of(np.array([1], dtype=np.int8))
