"""One matrix and a cover for a ball, as the text of a certificate (`spec/certificate.md`, kind `injective`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.certificates.floats import FloatNetwork
from ircert.certificates.growing import DEEPEST, Ground, Growing, NoCover
from ircert.certificates.leaves import Leaves
from ircert.checker.injective import Checking, Enclosure, Injective
from ircert.checker.network import Network
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

BITS = 12
"""Bits of the entries of C."""
SCALE = 60
"""The largest entry of C is about 2 to this: weights are integers, too."""


@dataclass(frozen=True)
class Proof:
    """What the certificate says beside the question: C in integers, and the nodes of the cover."""

    matrix: list[list[int]]
    cover: list[str]


def prove(graph: Graph, place: Place, radius: float) -> Proof:
    """A proof that the network is injective on the closed ball; NoCover where none is found."""
    free = np.flatnonzero(place.low < place.high)
    matrix = shortened(_matrix(graph, place, radius, free))
    network = Network(graph)
    growing = Growing(
        Leaves(FloatNetwork(network), np.array(matrix, dtype=np.float64), free),
        _ground(place, radius),
        _Exact(_claim(graph, place, radius, matrix), network),
    )
    return Proof(matrix, growing.cover())


def _matrix(graph: Graph, place: Place, radius: float, free: Indices) -> Array:
    """C of the engine's own cover, the best it has when time is over."""
    fixed = {j: float(place.center[j]) for j in range(len(place.center)) if j not in free}
    lowered = Lowered(graph, fixed).merged
    if lowered.output_dim < len(free):
        raise NoCover("there are fewer outputs than free inputs")
    setting = Setting(lowered, "local", lowered.output_dim, place.keep(free).simplest)
    covering = Covering(Batches(setting), Counts(), _nothing)
    covering.advance(radius, is_over)
    if covering.matrix is None or not np.isfinite(covering.matrix).all():
        raise NoCover("no matrix C with sym(C J) positive definite was found")
    return covering.matrix


def _nothing() -> None:
    """Nobody listens."""


def shortened(matrix: Array) -> list[list[int]]:
    """C times a power of two, each entry with a few bits."""
    scaled = np.ldexp(matrix, SCALE - math.frexp(float(np.abs(matrix).max()))[1])
    mantissas, exponents = np.frexp(scaled)
    return [[int(v) for v in row] for row in np.round(np.ldexp(np.round(np.ldexp(mantissas, BITS)), exponents - BITS)).tolist()]


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

    def __call__(self, path: list[tuple[str, int]], codes: Indices) -> str | None:
        node = self.checking.root
        for token, side in path:
            parts = self.checking.parts(node, token[0], int(token[1:]))
            if parts is None:
                return None
            node = parts[side]
        usual = int(np.median(codes[codes >= 0])) if (codes >= 0).any() else SCALE
        known = codes.tolist()
        opened = [i for i, side in Enclosure(self.checking, node).sides.items() if side is None]
        token = "=" + ",".join(str(known[i] if known[i] >= 0 else usual) for i in opened)
        return token if self.checking.closed(node, token) else None
