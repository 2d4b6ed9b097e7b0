"""Weights of quadratic forms: better ones prove more, and are learned."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from tests.engines.boxes.one_matrix.test_sectors import closed_by_sectors, cube, layers_of, setting_with


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
