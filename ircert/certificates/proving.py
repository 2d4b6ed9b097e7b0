"""One matrix and a cover for a ball, as the text of a certificate (`spec/certificate.md`, kind `injective`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.certificates.floats import FloatNetwork
from ircert.certificates.growing import DEEPEST, MOST_NODES, Ground, Growing, NoCover, Way
from ircert.certificates.leaves import Leaves
from ircert.checker.injective import Checking, Enclosure, Injective, Part
from ircert.checker.network import Network
from ircert.engines.boxes.enclosures.batches import MOST as MOST_AT_ONCE
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.place import Place
from ircert.ir.arrays import Array, Indices
from ircert.ir.dyadic import integers
from ircert.ir.graph import Graph
from ircert.limits import is_over
from ircert.questions.network import Network as Lowered

EFFORT, LEAST_EFFORT = 100_000, 5_000
"""Boxes of a small network, and at least, that the engine may take for a matrix."""
BITS = 12
"""Bits of the entries of C."""
SCALE = 60
"""The largest entry of C is about 2 to this: weights are integers, too."""


@dataclass(frozen=True)
class Proof:
    """What the certificate says beside the question: C in integers, and the nodes of the cover; on which ball."""

    radius: float
    matrix: list[list[int]]
    cover: list[str]


class Proving:
    """Proofs that a network is injective on balls of one place; matrices learn from one ball for the next."""

    def __init__(self, graph: Graph, place: Place) -> None:
        self.graph, self.place = graph, place
        self.free = np.flatnonzero(place.low < place.high)
        fixed = {j: float(place.center[j]) for j in range(len(place.center)) if j not in self.free}
        lowered = Lowered(graph, fixed).merged
        if lowered.output_dim < len(self.free):
            raise NoCover("there are fewer outputs than free inputs")
        setting = Setting(lowered, "local", lowered.output_dim, place.keep(self.free).simplest)
        self.network = Network(graph)
        self._counts = Counts()
        self._covering = Covering(Batches(setting), self._counts, _nothing)

    def prove(self, radius: float, nodes: int = MOST_NODES) -> Proof:
        """A proof for the closed ball, by a cover of at most so many nodes; NoCover where none is found."""
        matrix = shortened(self._matrix(radius))
        claim = _claim(self.graph, self.place, radius, matrix)
        exact = _Exact(claim, self.network)
        ground = _ground(self.place, radius)
        return Proof(radius, matrix, Growing(self._leaves(matrix, ground), ground, exact, nodes).cover())

    def prove_everywhere(self) -> Proof:
        """A proof for the whole space, where all neurons may be on or off."""
        matrix = shortened(self._matrix(1.0))
        given = np.full((self.network.neurons, 1), np.nan)
        codes = self._leaves(matrix, _ground(self.place, 1.0)).everywhere(given)
        if codes is None:
            raise NoCover("with all neurons open, sym(C J) is not seen to be positive definite")
        return Proof(math.inf, matrix, ["=" + ",".join(map(str, codes.tolist()))])

    def _leaves(self, matrix: list[list[int]], ground: Ground) -> Leaves:
        network = FloatNetwork(self.network)
        noise = network.noise(ground.low, ground.high)
        return Leaves(network, np.array(matrix, dtype=np.float64), self.free, noise)

    def _matrix(self, radius: float) -> Array:
        """C of the engine's own cover, the best it has after some effort."""
        small = self._covering.network.batch / MOST_AT_ONCE
        end = self._counts.effort + max(LEAST_EFFORT, EFFORT * small)
        self._covering.advance(radius, lambda: is_over() or self._counts.effort > end)
        found = self._covering.matrix
        if found is None or not np.isfinite(found).all() or not found.any():
            raise NoCover("no matrix C with sym(C J) positive definite was found")
        return found


def _nothing() -> None:
    """Nobody listens."""


def shortened(matrix: Array) -> list[list[int]]:
    """C times a power of two, each entry with a few bits."""
    scaled = np.ldexp(matrix, SCALE - math.frexp(float(np.abs(matrix).max()))[1])
    mantissas, exponents = np.frexp(scaled)
    return [
        [int(v) for v in row]
        for row in np.round(np.ldexp(np.round(np.ldexp(mantissas, BITS)), exponents - BITS)).tolist()
    ]


def _ground(place: Place, radius: float) -> Ground:
    low, high = np.maximum(place.center - radius, place.low), np.minimum(place.center + radius, place.high)
    return Ground(low, high, place.center, radius, place.norm)


def _claim(graph: Graph, place: Place, radius: float, matrix: list[list[int]]) -> Injective:
    sides = [[v for v in side.tolist() if math.isfinite(v)] for side in (place.low, place.high)]
    numbers = np.array([*place.center.tolist(), radius, *sides[0], *sides[1]])
    unit = 1 << integers(numbers)[1]

    def over(value: float) -> int:
        return int(Fraction(value) * unit)

    low, high = ([over(v) if math.isfinite(v) else None for v in side.tolist()] for side in (place.low, place.high))
    center = [over(v) for v in place.center.tolist()]
    return Injective("local", str(place.norm), unit, center, over(radius), low, high, graph, None, matrix, [])


class _Exact:
    """What closes a node in integers, where floats are in doubt about a sign."""

    def __init__(self, claim: Injective, network: Network) -> None:
        self.checking = Checking(claim, network, DEEPEST + 8)

    def _part(self, way: Way) -> Part | None:
        node: Part | None = self.checking.root
        for token, side in way:
            parts = None if node is None else self.checking.parts(node, token[0], int(token[1:]))
            node = None if parts is None else parts[side]
        return node

    def definite(self, way: Way, codes: Indices) -> str | None:
        """The token of a definite leaf, or None."""
        node = self._part(way)
        if node is None:
            return None
        usual = int(np.median(codes[codes >= 0])) if (codes >= 0).any() else SCALE
        known = codes.tolist()
        opened = [i for i, side in Enclosure(self.checking, node).sides.items() if side is None]
        token = "=" + ",".join(str(known[i] if known[i] >= 0 else usual) for i in opened)
        return token if self.checking.closed(node, token) else None

    def closes(self, way: Way, token: str) -> bool:
        """Whether a leaf is closed by a token."""
        node = self._part(way)
        return node is not None and self.checking.closed(node, token)
