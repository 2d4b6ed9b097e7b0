"""One matrix and a cover for a ball, as the text of a certificate (`spec/certificate.md`, kind `injective`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.certificates.floats import FloatNetwork
from ircert.certificates.growing import MOST_NODES, Ground, Growing, NoCover, Way, Wrong
from ircert.certificates.leaves import Leaves
from ircert.certificates.matrices import NONE, Matrices
from ircert.checker.curved import Covered
from ircert.checker.injective import Checking, Enclosure, Injective, Part
from ircert.checker.limits import MOST_WORDS, NUMBER, TooLong
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

EFFORT, LEAST_EFFORT = 30_000, 1_000
"""Boxes of a small network, and at least, that the engine may take for a matrix."""
FEW_NODES, MANY_NODES = 500, 20_000
"""Of a cover for which no better matrix is looked for: by points alone, and if it is known to be right everywhere."""
WAYS, MATRICES, BETTER, WRONG = 48, 8, 0.8, 12
"""Ways down a tree that say how many boxes it has; matrices that are tried, as long as one of two is that much better;
and how often a matrix may be wrong somewhere."""
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
        self.graph, self.place, self.network = graph, place, _in_integers(graph)
        self.free = np.flatnonzero(place.low < place.high)
        fixed = {j: float(place.center[j]) for j in range(len(place.center)) if j not in self.free}
        lowered = Lowered(graph, fixed).merged
        if lowered.output_dim < len(self.free):
            raise NoCover("there are fewer outputs than free inputs")
        setting = Setting(lowered, "local", lowered.output_dim, place.keep(self.free).simplest)
        self._floats = FloatNetwork(self.network)
        self._matrices = Matrices(setting)
        self._counts = Counts()
        self._covering = Covering(Batches(setting), self._counts, _nothing)

    def prove(self, radius: float, nodes: int = MOST_NODES) -> Proof:
        """A proof for the closed ball, by a cover of at most so many nodes; NoCover where none is found."""
        with _in_floats():
            return self._proof(radius, nodes)

    def _proof(self, radius: float, nodes: int) -> Proof:
        """The matrix of the engine's own cover comes first, if that is done soon. Else, where a cover is not small,
        some matrices are tried on random ways down its tree: what fails there makes the next one better. The best goes
        on."""
        known = self._known(radius)
        if known is not None:
            with suppress(NoCover):
                return Proof(radius, known, self._growing(radius, known).cover(min(nodes, MANY_NODES)))
        matrix = shortened(self._matrices.first(radius))
        for _ in range(WRONG):
            growing = self._growing(radius, matrix)
            try:
                return Proof(radius, matrix, growing.cover(min(nodes, FEW_NODES)))
            except Wrong:
                pass
            except NoCover:
                if nodes <= FEW_NODES:
                    raise
                growing, matrix = self._best(radius, matrix)
                with suppress(Wrong):
                    return Proof(radius, matrix, growing.cover(nodes))
            matrix = shortened(self._matrices.another(radius, growing.wrong, growing.corners))
        raise NoCover(NONE)

    def _known(self, radius: float) -> list[list[int]] | None:
        """The matrix of the engine's cover of the ball, if it takes little effort."""
        small = self._covering.network.batch / MOST_AT_ONCE
        end = self._counts.effort + max(LEAST_EFFORT, EFFORT * small)
        outcome = self._covering.advance(radius, lambda: is_over() or self._counts.effort > end)
        found = self._covering.matrix
        return shortened(found) if outcome == "closed" and found is not None and np.isfinite(found).all() else None

    def _best(self, radius: float, matrix: list[list[int]]) -> tuple[Growing, list[list[int]]]:
        """The matrix whose cover should take the fewest boxes, of some: each knows what the ones before left open."""
        shares = np.random.default_rng(0).random((WAYS, self.place.size))
        best: tuple[float, Growing, list[list[int]]] | None = None
        worse = 0
        for _ in range(MATRICES):
            growing = self._growing(radius, matrix)
            try:
                expected = growing.expected(shares)
            except Wrong:
                expected = math.inf
            if best is None or expected < BETTER * best[0]:
                worse = 0
            else:
                worse += 1
            if best is None or expected < best[0]:
                best = expected, growing, matrix
            if worse == 2:
                break
            try:
                matrix = shortened(self._matrices.another(radius, growing.wrong, growing.corners))
            except NoCover:
                break
        assert best is not None
        return best[1], best[2]

    def _growing(self, radius: float, matrix: list[list[int]]) -> Growing:
        ground = _ground(self.place, radius)
        claim = _claim(self.graph, self.place, radius, matrix)
        return Growing(self._leaves(matrix, ground), ground, _Exact(claim, self.network))

    def prove_everywhere(self) -> Proof:
        """A proof for the whole space, where all neurons may be on or off."""
        with _in_floats():
            matrix = shortened(self._matrices.first(1.0))
            given = np.full((self.network.neurons, 1), np.nan)
            codes = self._leaves(matrix, _ground(self.place, 1.0)).everywhere(given)
        if codes is None:
            raise NoCover("with all neurons open, sym(C J) is not seen to be positive definite")
        return Proof(math.inf, matrix, ["=" + ",".join(map(str, codes.tolist()))])

    def _leaves(self, matrix: list[list[int]], ground: Ground) -> Leaves:
        noise = self._floats.noise(ground.low, ground.high)
        return Leaves(self._floats, np.array(matrix, dtype=np.float64), self.free, noise)


@contextmanager
def _in_floats() -> Iterator[None]:
    """NoCover where floats overflow, or find no eigenvalues: networks may have any numbers."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (np.linalg.LinAlgError, OverflowError) as error:
        raise NoCover(f"floats do not hold what it takes ({error})") from None


def _in_integers(graph: Graph) -> Network:
    """The checker's network, if it is not too large for it, or for floats."""
    try:
        found = Network(graph, Covered.curves)
    except TooLong as error:
        raise NoCover(str(error)) from None
    if max(found.graph.sizes.values()) * (1 + graph.input_dim + found.neurons) > MOST_WORDS // (NUMBER + 1):
        raise NoCover("the network is too large for a certificate")
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
        self.checking = Checking(claim, network)

    def _part(self, way: Way) -> Part | None:
        node: Part | None = self.checking.root
        for token, side in way:
            parts = None if node is None else self.checking.parts(node, token)
            node = None if parts is None else parts[side]
        return node

    def definite(self, way: Way, codes: Indices) -> str | None:
        """The token of a definite leaf, or None."""
        node = self._part(way)
        if node is None:
            return None
        usual = int(np.median(codes[codes >= 0])) if (codes >= 0).any() else SCALE
        known = codes.tolist()
        opened = Enclosure(self.checking, node).open
        token = "=" + ",".join(str(known[i] if known[i] >= 0 else usual) for i in opened)
        return token if self.checking.closed(node, token) else None

    def closes(self, way: Way, token: str) -> bool:
        """Whether a leaf is closed by a token."""
        node = self._part(way)
        return node is not None and self.checking.closed(node, token)
