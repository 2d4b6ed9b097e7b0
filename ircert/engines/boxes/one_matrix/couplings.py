"""How neurons move with those below them: D of `sectors`, between the free neurons of every cube.

D_ij is the derivative of z_i by what neuron j gives, at the middle slopes of the neurons between them. Where each layer
of neurons reads the one before it and nothing else, D between neighbours consists of weights, and only the rows of free
neurons are multiplied out; else whole layers walk through the graph. Both add up the same products, in another order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.ops import Affine


class Couplings:
    """D for the cubes of a network; `feeding` are the relus that lie below others."""

    def __init__(self, network: Batches) -> None:
        self.network = network
        self.feeding = _feeding(network)
        self._between = _between(network)

    @property
    def in_a_chain(self) -> bool:
        """Whether each layer of neurons reads the one before it and nothing else."""
        return self._between is not None

    def of(self, slopes: Slopes, most: int) -> Array:
        """D of every cube (cubes, free, free), with as many rows as the most neurons that are free in one."""
        if self._between is not None:
            return self._in_a_chain(slopes, most, self._between)
        return self.by_walking(slopes, most)

    def _in_a_chain(self, slopes: Slopes, most: int, between: list[Array]) -> Array:
        count = slopes.middle.shape[1]
        if not between:  # at most one layer
            return np.zeros((count, most, most))
        layers = [_Free.of(slopes.free, where, most) for where in self._places]
        # what no neuron stands for goes to one more row and column
        found = np.zeros((count, most + 1, most + 1))
        cubes = np.arange(count)[:, None, None]
        state = np.zeros((count, 0, len(self._slopes_of(slopes, 0))))  # by neurons below the last layer but one
        ranks = np.zeros((count, 0), dtype=np.int64)
        for k, weight in enumerate(between):
            below, here = layers[k], layers[k + 1]
            straight = weight[here.neurons[:, :, None], below.neurons[:, None, :]]
            found[cubes, here.ranks[:, :, None], below.ranks[:, None, :]] = straight
            state = state * self._slopes_of(slopes, k).T[:, None]
            if state.shape[1]:
                block = np.matmul(weight[here.neurons], state.transpose(0, 2, 1))
                found[cubes, here.ranks[:, :, None], ranks[:, None, :]] = block
            if k + 1 < len(between):
                turned = np.ascontiguousarray(weight.T)
                further = (state.reshape(-1, len(turned)) @ turned).reshape(count, -1, turned.shape[1])
                state = np.concatenate([further, turned[below.neurons]], axis=1)
                ranks = np.concatenate([ranks, below.ranks], axis=1)
        return found[:, :most, :most]

    @property
    def _places(self) -> list[slice]:
        return list(self.network.setting.relus.values())

    def _slopes_of(self, slopes: Slopes, layer: int) -> Array:
        return slopes.middle[self._places[layer]]

    def by_walking(self, slopes: Slopes, most: int) -> Array:
        """The same for any graph."""
        network, count = self.network, slopes.middle.shape[1]
        free = slopes.free
        ranks = np.cumsum(free, axis=0) - 1
        found = np.zeros((count, most, most))
        start = np.zeros((network.size, 0, count))

        def affine(name: str, state: Array) -> Array:
            if not state.shape[1]:
                return np.zeros((len(network.biases[name]), 0, count))
            return times(network.weights[name], state)

        def relu(name: str, state: Array) -> Array:
            where = network.setting.relus[name]
            here, rank = free[where], ranks[where]
            neurons, cubes = np.nonzero(here)
            found[cubes, rank[neurons, cubes], : state.shape[1]] = state[neurons, :, cubes]
            if name not in self.feeding:
                return np.zeros((len(state), 0, count))
            columns = int(rank.max(initial=-1)) + 1
            result = np.zeros((len(state), max(columns, state.shape[1]), count))
            result[:, : state.shape[1]] = state * slopes.middle[where][:, None]
            result[neurons, rank[neurons, cubes], cubes] = 1.0
            return result

        network.forward(start, affine, relu)
        return found


@dataclass(frozen=True)
class _Free:
    """The free neurons of a layer in every cube, in order (cubes, places), and their ranks among all free neurons;
    places that no neuron takes have any neuron, and one more than the last rank."""

    neurons: Indices
    ranks: Indices

    @staticmethod
    def of(free: Mask, layer: slice, most: int) -> _Free:
        here = free[layer]
        first = free[: layer.start].sum(axis=0)
        cubes, neurons = np.nonzero(here.T)
        places = (np.cumsum(here, axis=0) - 1)[neurons, cubes]
        shape = here.shape[1], int(places.max(initial=-1)) + 1
        found, ranks = np.zeros(shape, dtype=np.int64), np.full(shape, most, dtype=np.int64)
        found[cubes, places], ranks[cubes, places] = neurons, first[cubes] + places
        return _Free(found, ranks)


def _between(network: Batches) -> list[Array] | None:
    """The weights between neighbouring layers of neurons, each of which reads the one before it and nothing else; None
    where they do not."""
    graph, names = network.setting.graph, list(network.setting.relus)
    found = []
    for lower, upper in pairwise(names):
        map_ = graph[graph[upper].operands[0]]
        weight = network.weights.get(map_.name)
        if not (isinstance(map_.op, Affine) and map_.operands == (lower,) and isinstance(weight, np.ndarray)):
            return None
        found.append(weight)
    return found


def _feeding(network: Batches) -> set[str]:
    """The relus that lie below others."""
    graph, relus = network.setting.graph, network.setting.relus
    below: dict[str, set[str]] = {}
    found: set[str] = set()
    for node in graph.nodes:
        reached = set().union(*(below[name] for name in node.operands))
        if node.name in relus:
            found |= reached
            reached = {node.name}
        below[node.name] = reached
    return found
