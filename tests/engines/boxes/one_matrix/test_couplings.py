"""How neurons move with those below: weights along chains of layers, and the same as by walking through the graph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.one_matrix.couplings import Couplings
from ircert.ir.arrays import Array, Mask
from tests.engines.boxes.making import setting_of

CUBES = 5


def _network(rng: np.random.Generator, widths: list[int]) -> tuple[list[Array], Batches]:
    # none is 0 or 1: an identity is no layer of its own
    weights = [(2 * rng.integers(-4, 4, (b, a)) + 1) / 8 for a, b in pairwise([3, *widths, 3])]
    graph = ircert.load([(w, np.zeros(len(w))) for w in weights])
    return weights, Batches(setting_of(graph, np.zeros(3)))


def _cubes(rng: np.random.Generator, neurons: int) -> Slopes:
    on, free = rng.random((2, neurons, CUBES)) < 0.5
    return Slopes.of(on & ~free, free, np.zeros((3, CUBES), dtype=bool))


def _expected(weights: list[Array], slopes: Slopes, cube: int) -> Array:
    """D between all neurons, from products of whole layers (exact: all numbers are dyadic), then the free ones."""
    layers = [len(w) for w in weights[:-1]]
    ends = np.cumsum([0, *layers])
    table = np.zeros((ends[-1], ends[-1]))
    for j, (low, high) in enumerate(pairwise(ends)):
        state = np.eye(high - low)
        for k in range(j + 1, len(layers)):
            state = weights[k] @ state
            table[ends[k] : ends[k + 1], low:high] = state
            state = slopes.middle[ends[k] : ends[k + 1], cube, None] * state
    free: Mask = slopes.free[:, cube]
    return table[np.ix_(free, free)]


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_chains_say_what_products_of_layers_say(seed: int, widths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    weights, network = _network(rng, widths)
    slopes = _cubes(rng, sum(widths))
    most = int(slopes.free.sum(axis=0).max())
    couplings = Couplings(network)
    assert couplings.in_a_chain
    found = couplings.of(slopes, most)
    assert found.shape == (CUBES, most, most)
    for cube in range(CUBES):
        count = int(slopes.free[:, cube].sum())
        assert np.array_equal(found[cube, :count, :count], _expected(weights, slopes, cube))
        assert not found[cube, count:].any()
        assert not found[cube, :, count:].any()


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_walks_say_what_chains_say(seed: int, widths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    _, network = _network(rng, widths)
    slopes = _cubes(rng, sum(widths))
    most = int(slopes.free.sum(axis=0).max())
    couplings = Couplings(network)
    assert np.array_equal(couplings.of(slopes, most), couplings.by_walking(slopes, most))
