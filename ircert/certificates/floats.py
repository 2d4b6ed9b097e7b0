"""What the checker computes in integers, in floats and for many nodes of a cover at once: only to choose what to write.

Arrays are (entries of a node of the graph, columns, nodes of the cover); columns are those of `checker.network.Forms`,
but a relu adds as many as it has open neurons in any of the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.checker.injective import FINE
from ircert.checker.network import Network
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine

CLOSE, NOISE = 1e-9, 1e-13
"""Bounds that are nearer to 0, in parts of themselves or of all that was added up on the way, may have another sign in
integers."""


@dataclass(frozen=True)
class Enclosed:
    """What holds in nodes: sides of neurons (neurons, nodes; nan is open), what they read (neurons, columns, nodes),
    and in which nodes a sign is in doubt."""

    sides: Array
    rows: Array
    doubtful: Mask

    @property
    def open(self) -> Mask:
        """Which neurons have no side."""
        return np.isnan(self.sides)


@dataclass(frozen=True)
class Tangents:
    """Derivatives (nodes, forms, variables): below open neurons, and of the outputs; and the place of each open neuron
    among the variables after the inputs (neurons, nodes)."""

    below: Array
    output: Array
    places: Indices
    used: Mask


class _Walk(Forward[Array]):
    """One walk; a subclass says what relus do."""

    def __init__(self, network: FloatNetwork, nodes: int, columns: int) -> None:
        self.network, self.nodes, self.columns = network, nodes, columns

    def affine(self, name: str, op: Affine, x: Array) -> Array:
        weight = self.network.weights[name]
        return np.asarray(weight @ x.reshape(len(x), -1)).reshape(len(weight), *x.shape[1:])

    def concat(self, name: str, parts: list[Array]) -> Array:
        return super().concat(name, _padded(parts))

    def add(self, name: str, parts: list[Array]) -> Array:
        return super().add(name, _padded(parts))

    def _grown(self, x: Array, opened: Mask, values: Array) -> tuple[Array, Indices]:
        """More columns, one for each open neuron of a node: its value; and where these are."""
        ranks = self.columns + np.cumsum(opened, axis=0) - 1
        self.columns = max(self.columns, int(ranks.max(initial=-1)) + 1)
        found = np.zeros((len(x), self.columns, self.nodes))
        found[:, : x.shape[1]] = x
        entries, nodes = np.nonzero(opened)
        found[entries, ranks[entries, nodes], nodes] = values[entries, nodes]
        return found, ranks


class _Enclosing(_Walk):
    def __init__(self, network: FloatNetwork, given: Array, noise: Array) -> None:
        super().__init__(network, given.shape[1], 1 + network.inputs)
        self.given, self.noise = given, noise
        self.sides = np.full(given.shape, np.nan)
        self.rows: list[Array] = []
        self.doubtful = np.zeros(given.shape[1], dtype=bool)

    def affine(self, name: str, op: Affine, x: Array) -> Array:
        found = super().affine(name, op, x)
        found[:, 0] += op.bias[:, None]
        return found

    def relu(self, name: str, x: Array) -> Array:
        where = self.network.where(name, len(x))
        reach = np.abs(x[:, 1:]).sum(axis=1)
        low, high = x[:, 0] - reach, x[:, 0] + reach
        side = self.given[where]
        near = np.minimum(np.abs(low), np.abs(high)) <= CLOSE * (np.abs(x[:, 0]) + reach) + self.noise[where, None]
        self.doubtful |= (near & np.isnan(side)).any(axis=0)
        side = np.where(np.isnan(side), np.where(low >= 0, 1.0, np.where(high <= 0, 0.0, np.nan)), side)
        self.sides[where] = side
        self.rows.append(x)
        opened = np.isnan(side)
        scale = 2.0**FINE
        slope = np.where(opened, np.round(scale * high / np.maximum(high - low, 1e-300)) / scale, side)
        shift = np.where(opened, np.maximum(-slope * low, (1 - slope) * high) / 2, 0.0)
        grown, _ = self._grown(x * slope[:, None], opened, shift)
        grown[:, 0] += shift
        return grown


class _Sizes(_Walk):
    """Sums of absolute values on the way to neurons."""

    def __init__(self, network: FloatNetwork) -> None:
        super().__init__(network, 1, 1)
        self.found = np.zeros(network.neurons)

    def affine(self, name: str, op: Affine, x: Array) -> Array:
        return np.asarray(np.abs(self.network.weights[name]) @ x[:, :, 0] + np.abs(op.bias)[:, None])[:, :, None]

    def relu(self, name: str, x: Array) -> Array:
        self.found[self.network.where(name, len(x))] = x[:, 0, 0]
        return x


class _Tangent(_Walk):
    def __init__(self, network: FloatNetwork, sides: Array, inputs: int) -> None:
        super().__init__(network, sides.shape[1], inputs)
        self.sides = sides
        self.below: list[tuple[Mask, Indices, Array]] = []
        self.places = np.full(sides.shape, -1)

    def relu(self, name: str, x: Array) -> Array:
        where = self.network.where(name, len(x))
        opened = np.isnan(self.sides[where])
        grown, ranks = self._grown(x * np.nan_to_num(self.sides[where])[:, None], opened, np.ones(opened.shape))
        self.below.append((opened, ranks, x))
        self.places[where] = np.where(opened, ranks, -1)
        return grown


class FloatNetwork:
    """The checker's network in floats."""

    def __init__(self, network: Network) -> None:
        self.network, self.graph = network, network.graph
        self.weights: dict[str, Array] = {}
        for node in self.graph.nodes:
            if isinstance(node.op, Affine):
                weight = node.op.weight
                self.weights[node.name] = weight if isinstance(weight, np.ndarray) else np.asarray(weight.toarray())
        self.inputs, self.neurons = self.graph.input_dim, network.neurons
        self.numbers = max(self.graph.sizes.values()) * (1 + self.inputs + self.neurons)
        """Of the largest array of one node, at most."""

    def where(self, name: str, size: int) -> slice:
        """The numbers of a relu's neurons."""
        first = self.network.first[name]
        return slice(first, first + size)

    def noise(self, low: Array, high: Array) -> Array:
        """What floats may get wrong in what neurons read, anywhere in a box."""
        walk = _Sizes(self)
        walk.walk(self.graph, np.maximum(np.abs(low), np.abs(high))[:, None, None])
        return NOISE * walk.found

    def enclose(self, low: Array, high: Array, given: Array, noise: Array) -> Enclosed:
        """Boxes (nodes, inputs), with sides that are given (neurons, nodes; nan where none is)."""
        count = len(low)
        start = np.zeros((self.inputs, 1 + self.inputs, count))
        start[:, 0] = ((low + high) / 2).T
        start[np.arange(self.inputs), np.arange(1, self.inputs + 1)] = ((high - low) / 2).T
        walk = _Enclosing(self, given, noise)
        walk.walk(self.graph, start)
        rows = np.concatenate(_padded([np.zeros((0, 1 + self.inputs, count)), *walk.rows]))
        return Enclosed(walk.sides, rows, walk.doubtful)

    def tangents(self, sides: Array, free: Indices) -> Tangents:
        """Derivatives along the free inputs, for sides of all neurons (neurons, nodes)."""
        count, size = sides.shape[1], len(free)
        start = np.zeros((self.inputs, size, count))
        start[free, np.arange(size)] = 1.0
        walk = _Tangent(self, sides, size)
        output = walk.walk(self.graph, start)[self.graph.output]
        below = np.zeros((count, walk.columns - size, walk.columns))
        used = np.zeros(below.shape[:2], dtype=bool)
        for opened, ranks, x in walk.below:
            entries, nodes = np.nonzero(opened)
            at = ranks[entries, nodes] - size
            below[nodes, at, : x.shape[1]] = x[entries, :, nodes]
            used[nodes, at] = True
        whole = np.zeros((count, len(output), walk.columns))
        whole[:, :, : output.shape[1]] = output.transpose(2, 0, 1)
        return Tangents(below, whole, np.where(walk.places >= 0, walk.places - size, -1), used)


def _padded(parts: list[Array]) -> list[Array]:
    """Arrays with as many columns as the one that has most."""
    most = max(part.shape[1] for part in parts)
    return [np.pad(part, ((0, 0), (0, most - part.shape[1]), (0, 0))) for part in parts]
