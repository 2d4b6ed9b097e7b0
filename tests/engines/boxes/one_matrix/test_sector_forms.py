"""Weights of quadratic forms: better ones prove more, and are learned."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.sector_forms import LARGEST, Forms, Tables
from ircert.ir.arrays import Array
from tests.engines.boxes.one_matrix.test_sectors import (
    WIDTHS,
    closed_by_sectors,
    corners,
    cube,
    layers_of,
    product_at,
    setting_with,
)
from tests.engines.boxes.test_one_matrix import is_definite


def most_closed(network: Batches, slopes: Slopes, monkeypatch: pytest.MonkeyPatch, *, better: bool) -> float:
    """The largest least eigenvalue that forms prove, about, with better weights or without; nothing is learned."""
    low, high = -2.0, 1.0
    with monkeypatch.context() as patch:
        patch.setattr(network.learned, "affordable", lambda forms: forms if better else 0)
        patch.setattr(network.learned, "learn", lambda neurons, factors: None)
        for _ in range(12):
            least = (low + high) / 2
            good = closed_by_sectors(OneMatrix(network, np.eye(slopes.still.shape[0]), least), slopes, monkeypatch)
            low, high = (least, high) if good else (low, least)
    return low


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("widths", [(8,), (8, 8), (16, 16, 16)])
def test_better_weights_prove_more_and_are_learned(widths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    gains, kept = [], []
    for seed in range(8):
        layers = layers_of(seed, 3, widths, gain=0.3)
        network, neurons = Batches(setting_with(layers)), sum(widths)
        slopes = cube(layers, list(range(0, neurons, 2)), np.ones(neurons, dtype=bool))
        first = most_closed(network, slopes, monkeypatch, better=False)
        best = most_closed(network, slopes, monkeypatch, better=True)
        for _ in range(40):
            closed_by_sectors(OneMatrix(network, np.eye(3), (first + best) / 2), slopes, monkeypatch)
        gains.append(best - first)
        kept.append(most_closed(network, slopes, monkeypatch, better=False) - first)
    assert min(gains) > -1e-3
    assert max(gains) > 0.01
    assert np.mean(kept) > 0.25 * np.mean(gains)


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("learned", [-700.0, -350.0, 350.0, 700.0, np.inf, -np.inf, np.nan])
def test_whatever_was_learned_roots_stay_in_range_and_nothing_false_is_closed(
    learned: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots: list[Array] = []
    make = Forms.tables

    def recorded(forms: Forms, root: Array) -> Tables:
        roots.append(root)
        return make(forms, root)

    monkeypatch.setattr(Forms, "tables", recorded)
    for seed in range(20):
        layers, neurons = layers_of(2 * seed, gain=0.35), sum(WIDTHS)
        layers[0], layers[1] = layers[0] * 2.0**40, layers[1] / 2.0**40
        slopes = cube(layers, [0, 2, 4], np.ones(neurons, dtype=bool))
        network = Batches(setting_with(layers))
        for which, scale in ((4, 1.0), (1, 1.0), (1, 2.0**-300), (1, 2.0**300)):
            network.learned._logarithms = np.where(np.arange(neurons) % which == 0, learned, 0.0)
            if closed_by_sectors(OneMatrix(network, scale * np.eye(2)), slopes, monkeypatch):
                assert all(is_definite(product_at(np.eye(2), layers, corner)) for corner in corners(slopes))
    found = np.concatenate([root.ravel() for root in roots])
    assert found.min() >= 1 / LARGEST
    assert found.max() <= LARGEST
