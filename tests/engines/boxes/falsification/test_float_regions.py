"""What a region tells of its neighbours, beside the neighbours themselves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.falsification.float_regions import FloatRegions
from tests.engines.boxes.making import residual, setting_of


def network(*sizes: int) -> ircert.Graph:
    rng = np.random.default_rng(sum(sizes))
    return ircert.load([(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(sizes)])


def regions_of(graph: ircert.Graph, count: int) -> tuple[FloatRegions, np.ndarray]:
    setting = setting_of(graph, np.zeros(graph.input_dim))
    regions = FloatRegions(setting)
    return regions, np.random.default_rng(0).normal(size=(count, setting.size))


@pytest.mark.parametrize("sizes", [(3, 8, 8, 3), (2, 6, 2), (3, 16, 16, 5), (2, 9, 4)])
def test_ratios_are_those_of_the_regions_across(sizes: tuple[int, ...]) -> None:
    regions, offsets = regions_of(network(*sizes), 20)
    found = regions.of(regions.phases(offsets))
    found = found.of(found.signs != 0.0)
    which, neurons = np.nonzero(np.ones_like(found.ratios))
    signs, heights = regions.volumes(found.across(which, neurons))
    expected = signs * found.signs[which] * np.exp(heights - found.heights[which])
    assert len(expected)
    assert found.ratios[which, neurons] == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_rows_are_what_neurons_read() -> None:
    regions, offsets = regions_of(residual(np.random.default_rng(3), 3, 6), 4)
    found = regions.of(regions.phases(offsets))
    values = np.einsum("bij,bj->bi", found.rows, np.c_[offsets, np.ones(4)])
    assert values == pytest.approx(regions.setting.preactivations(offsets), abs=1e-10)


def test_neurons_of_one_plane_switch_together() -> None:
    """relu(x) - relu(-x) + … = x: neither switch alone says what lies across."""
    first = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 0.0, -1.0])
    last = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]]), np.zeros(2)
    regions, _ = regions_of(ircert.load([first, last]), 1)
    found = regions.of(np.array([[1, -1, 1]], dtype=np.int8))
    assert found.together(np.array([0]), np.array([0])).tolist() == [[True, True, False]]
    assert found.across(np.array([0]), np.array([1])).tolist() == [[-1, 1, 1]]
    assert found.ratios[0, :2] == pytest.approx([1.0, 1.0])
    assert found.ratios[0, 2] == pytest.approx(0.0, abs=1e-12)


def test_flat_regions_have_no_orientation() -> None:
    regions, _ = regions_of(ircert.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]), 1)
    found = regions.of(np.array([[1, -1], [1, 1]], dtype=np.int8))
    assert found.signs.tolist() == [0.0, 1.0]
    assert found.ratios[0].tolist() == [1.0, 1.0]
