"""What the checker computes in integers, in floats and for many nodes of a cover at once: only to choose what to write.

Arrays are (entries of a node of the graph, columns, nodes of the cover); columns are those of `checker.network.Forms`,
but a relu adds as many as it has open neurons in any of the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.certificates.curves import lines, whole
from ircert.checker.curved import curve_of
from ircert.checker.curves import STEEP
from ircert.checker.injective import FINE
from ircert.checker.network import Network
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.graph import Node
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine

CLOSE, NOISE = 1e-9, 1e-13
"""Bounds that are nearer to 0, in parts of themselves or of all that was added up on the way, may have another sign in
integers."""

STEEPEST = 1.2
"""No curve but elu, the square and exp has a larger slope."""

MOST_EXPONENT = 50.0
"""Larger numbers that exp reads are not looked at more closely: certificates with them are hopeless."""


@dataclass(frozen=True)
class Enclosed:
    """What holds in nodes: between which slopes neurons are (neurons, nodes), which of them have a side and which are
    open, what they read (neurons, columns, nodes), and in which nodes a sign is in doubt."""

    slopes: Slopes
    rows: Array
    doubtful: Mask

    @property
    def open(self) -> Mask:
        """Which neurons have no side."""
        return self.slopes.open


@dataclass(frozen=True)
class Slopes:
    """The least and greatest slope of neurons (neurons, nodes); those of closed ones are the same."""

    least: Array
    most: Array
    open: Mask

    @staticmethod
    def of_sides(sides: Array) -> Slopes:
        """Of relus, by their sides; nan is open."""
        opened = np.isnan(sides)
        return Slopes(np.where(opened, 0.0, sides), np.where(opened, 1.0, sides), opened)

    def take(self, chosen: Indices | Mask) -> Slopes:
        """Those in some nodes."""
        return Slopes(self.least[:, chosen], self.most[:, chosen], self.open[:, chosen])


@dataclass(frozen=True)
class Tangents:
    """Derivatives (nodes, forms, variables): below open neurons, and of the outputs; the place of each open neuron
    among the variables after the inputs (neurons, nodes), which of these a node has, and slopes (nodes, forms)."""

    below: Array
    output: Array
    places: Indices
    used: Mask
    least: Array
    most: Array

    @property
    def middle(self) -> Array:
        """The slope between both."""
        return (self.least + self.most) / 2


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
        self.slopes = Slopes.of_sides(np.full(given.shape, np.nan))
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
        found = Slopes.of_sides(side)
        opened = found.open
        self.slopes.least[where], self.slopes.most[where], self.slopes.open[where] = found.least, found.most, opened
        self.rows.append(x)
        scale = 2.0**FINE
        slope = np.where(opened, np.round(scale * high / np.maximum(high - low, 1e-300)) / scale, side)
        shift = np.where(opened, np.maximum(-slope * low, (1 - slope) * high) / 2, 0.0)
        grown, _ = self._grown(x * slope[:, None], opened, shift)
        grown[:, 0] += shift
        return grown

    def curve(self, node: Node, x: Array) -> Array:
        where = self.network.where(node.name, len(x))
        reach = np.abs(x[:, 1:]).sum(axis=1) * (1 + CLOSE) + self.noise[where, None]
        found = lines(curve_of(node.op), x[:, 0] - reach, x[:, 0] + reach)
        self.slopes.least[where], self.slopes.most[where] = found.least, found.most
        self.rows.append(x)
        grown, _ = self._grown(x * found.slope[:, None], np.ones(found.slope.shape, dtype=bool), found.error)
        grown[:, 0] += found.shift
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

    def curve(self, node: Node, x: Array) -> Array:
        curve, read = curve_of(node.op), self.relu(node.name, x)
        if curve.kind in STEEP:
            return read * read if curve.kind == "square" else np.exp(np.minimum(read, MOST_EXPONENT)) * (1 + read)
        return read * max(STEEPEST, abs(float(curve.alpha))) + 1


class _Tangent(_Walk):
    def __init__(self, network: FloatNetwork, slopes: Slopes, inputs: int) -> None:
        super().__init__(network, slopes.open.shape[1], inputs)
        self.slopes = slopes
        self.below: list[tuple[slice, Indices, Array]] = []
        self.places = np.full(slopes.open.shape, -1)

    def relu(self, name: str, x: Array) -> Array:
        where = self.network.where(name, len(x))
        opened = self.slopes.open[where]
        closed = np.where(opened, 0.0, self.slopes.least[where])
        grown, ranks = self._grown(x * closed[:, None], opened, np.ones(opened.shape))
        self.below.append((where, ranks, x))
        self.places[where] = np.where(opened, ranks, -1)
        return grown

    def curve(self, node: Node, x: Array) -> Array:
        return self.relu(node.name, x)


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
        self.curved = np.zeros(self.neurons, dtype=bool)
        self.curved[[i for i in range(self.neurons) if i not in network.relus]] = True
        self.numbers = max(self.graph.sizes.values()) * (1 + self.inputs + self.neurons)
        """Of the largest array of one node, at most."""

    def where(self, name: str, size: int) -> slice:
        """The numbers of a relu's neurons."""
        first = self.network.first[name]
        return slice(first, first + size)

    def everywhere(self, sides: Array) -> Slopes:
        """The slopes that neurons have on the whole space, with sides (neurons, nodes; nan where there is none)."""
        found = Slopes.of_sides(sides)
        for name in self.network.first:
            if not self.graph[name].op.core:
                where = self.where(name, self.graph.sizes[name])
                found.least[where], found.most[where] = whole(curve_of(self.graph[name].op))
        return found

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
        return Enclosed(walk.slopes, rows, walk.doubtful)

    def tangents(self, slopes: Slopes, free: Indices) -> Tangents:
        """Derivatives along the free inputs, for slopes of all neurons."""
        count, size = slopes.open.shape[1], len(free)
        start = np.zeros((self.inputs, size, count))
        start[free, np.arange(size)] = 1.0
        walk = _Tangent(self, slopes, size)
        output = walk.walk(self.graph, start)[self.graph.output]
        below = np.zeros((count, walk.columns - size, walk.columns))
        used = np.zeros(below.shape[:2], dtype=bool)
        least, most = np.zeros(used.shape), np.ones(used.shape)
        for where, ranks, x in walk.below:
            entries, nodes = np.nonzero(slopes.open[where])
            at = ranks[entries, nodes] - size
            below[nodes, at, : x.shape[1]] = x[entries, :, nodes]
            used[nodes, at] = True
            least[nodes, at], most[nodes, at] = slopes.least[where][entries, nodes], slopes.most[where][entries, nodes]
        whole = np.zeros((count, len(output), walk.columns))
        whole[:, :, : output.shape[1]] = output.transpose(2, 0, 1)
        return Tangents(below, whole, np.where(walk.places >= 0, walk.places - size, -1), used, least, most)


def _padded(parts: list[Array]) -> list[Array]:
    """Arrays with as many columns as the one that has most."""
    most = max(part.shape[1] for part in parts)
    return [np.pad(part, ((0, 0), (0, most - part.shape[1]), (0, 0))) for part in parts]
