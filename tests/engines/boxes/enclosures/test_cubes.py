"""Cubes of slopes that are cut until each piece is contracted."""

from __future__ import annotations

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes, contractions
from ircert.engines.boxes.enclosures.cubes import kernel_free
from tests.engines.boxes.making import setting_of


def summed(factors: list[float]) -> Batches:
    """x + sum of factors_i relu(x - i), all in one input."""
    build, count = ircert.Builder(1), len(factors)
    bends = build.relu(build.affine(build.input, np.ones((count, 1)), -np.arange(float(count))))
    graph = build.graph(build.affine(build.concat(build.input, bends), [[1.0, *factors]]))
    return Batches(setting_of(graph, [0.0]))


def decided(network: Batches, free: list[bool]) -> bool:
    chosen = np.array(free)[:, None]
    slopes = Slopes.of(np.zeros_like(chosen), chosen, np.zeros((1, 1), dtype=bool))
    return bool(kernel_free(network, slopes, contractions(network, slopes))[0])


@pytest.mark.rule("E-2")
@pytest.mark.parametrize(
    ("factors", "good"),
    [
        ([8.0], True),
        ([8.0, 8.0, 8.0], True),
        ([-0.9], True),
        ([-0.5, -0.4], True),
        ([-1.0], False),
        ([8.0, -3.0], False),
    ],
)
def test_a_sum_of_bends_is_injective_iff_its_least_slope_is_positive(factors: list[float], good: bool) -> None:
    assert decided(summed(factors), [True] * len(factors)) is good


def test_neurons_that_are_not_free_do_not_count() -> None:
    assert decided(summed([8.0, -3.0]), [True, False])


def test_where_nothing_is_free_the_contraction_decides() -> None:
    assert decided(summed([-3.0]), [False])


def test_every_cube_is_decided_alone() -> None:
    network = summed([8.0, -3.0])
    free = np.array([[True, True, False], [False, True, True]])
    slopes = Slopes.of(np.zeros_like(free), free, np.zeros((1, 3), dtype=bool))
    assert kernel_free(network, slopes, contractions(network, slopes)).tolist() == [True, False, False]
