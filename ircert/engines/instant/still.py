"""Directions in which a network stands still: kernels of its linear part, found modulo a prime and proved in integers.

All that a network knows of its input passes each cut: a direction that moves no neuron of a cut moves nothing behind
it. So the cut with the fewest neurons that are on gives the shortest numbers, and one more input than its rank is
enough. Neurons at 0 have to stay at 0, or one way would turn them on; those behind the cut cannot do otherwise.
"""

from __future__ import annotations

import numpy as np

from ircert.engines.instant.cuts import before, lengths, narrow_cuts
from ircert.engines.instant.derivatives import Arithmetic, Derivatives, M, derivatives, work
from ircert.engines.instant.directions import Direction, Neighbourhood
from ircert.exact.dyadics import DyadicArithmetic
from ircert.exact.kernels import null_vector
from ircert.exact.lifting import too_long
from ircert.exact.residues import PRIMES, Echelon, Residues, echelon, product, rank
from ircert.ir.arrays import Array, Indices, nonzeros
from ircert.ir.dyadic import decompose
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine
from ircert.limits import OutOfTime, Undecided

MOST_WORK = 4_000_000_000
"""Weights times inputs that are looked at: about a second modulo a prime."""
MOST_NUMBERS = 1 << 24
"""Derivatives that are kept at a time: neurons of all cuts times inputs."""
COARSE = 2000
"""The lowest bit of a column of zeros: above that of any float."""


def still_direction(here: Neighbourhood, there: Neighbourhood | None, inputs: list[int]) -> Direction | None:
    """A direction along some of these inputs in which the network stands still next to a point, both ways.

    With another network at the same point (`there`), one in which that one changes. None if there is none on this
    linear region, or if it would be too much work.
    """
    kernels = _Kernels(here, there, inputs)
    if kernels.are_trivial():
        return None
    for cut in kernels.cuts_by_cost():
        try:
            found = kernels.direction(cut)
        except OutOfTime:
            raise
        except Undecided:
            continue
        if found is not None:
            return found
    return None


class _Kernels:
    """The linear parts of one or two networks at a point, modulo a prime, up to each cut of the first one."""

    def __init__(self, here: Neighbourhood, there: Neighbourhood | None, inputs: list[int]) -> None:
        self.here, self.there = here, there
        self.ring = Residues(PRIMES[0])
        self.cuts = narrow_cuts(here.graph)
        self.inputs = _affordable(here.graph, None if there is None else there.graph, inputs)
        self.first = _derivatives(here, self.inputs, self.cuts, self.ring)
        self.second = None if there is None else _derivatives(there, self.inputs, [there.graph.output], self.ring)

    def are_trivial(self) -> bool:
        """Whether the first network tells all directions apart, for sure."""
        if min(np.count_nonzero(matrix.any(axis=1)) for matrix in self.first.of.values()) < len(self.inputs):
            return False
        return rank(self.first.of[self.here.graph.output], self.ring.prime) == len(self.inputs)

    def cuts_by_cost(self) -> list[str]:
        """Those whose kernels have short numbers first: few neurons behind few layers."""
        bits = lengths(self.here.graph)
        return sorted(self.cuts, key=lambda cut: min(len(self._rows(cut)), len(self.inputs)) * bits[cut])

    def direction(self, cut: str) -> Direction | None:
        """A direction that moves nothing of the cut, or None."""
        found = echelon(self._rows(cut), self.ring.prime)
        chosen = self._chosen(found)
        if chosen is None or too_long(len(chosen) - 1, lengths(self.here.graph)[cut]):
            return None
        inputs = self.inputs[chosen]
        exact = DyadicArithmetic()
        parts = standing(_derivatives(self.here, inputs, [cut], exact), cut, self.here.graph)
        if self.there is not None and self._second_has_kinks():
            second = _derivatives(self.there, inputs, [self.there.graph.output], exact)
            parts += list(second.before.values())
        numbers = null_vector(exact.stack(parts))
        if numbers is None or not self._changes(chosen, numbers):
            return None
        return Direction(inputs.tolist(), numbers)

    def _rows(self, cut: str) -> Array:
        """All that has to stand still if the cut does, without the rows of zeros."""
        parts = standing(self.first, cut, self.here.graph)
        if self.second is not None:
            parts += list(self.second.before.values())
        matrix = np.concatenate(parts)
        return matrix[matrix.any(axis=1)]

    def _second_has_kinks(self) -> bool:
        return self.second is not None and bool(self.second.before)

    def _chosen(self, found: Echelon) -> Indices | None:
        """As few columns as possible that are dependent, and where the other network changes along their kernel."""
        if not len(found.free):
            return None
        sizes = np.count_nonzero(found.coefficients, axis=0)
        if self.second is not None and self.there is not None:
            matrix = self.second.of[self.there.graph.output]
            moved = product(matrix[:, found.pivots], found.coefficients, self.ring.prime) != matrix[:, found.free]
            sizes = np.where(moved.any(axis=0), sizes, len(self.inputs))
        best = int(np.argmin(sizes))
        if sizes[best] == len(self.inputs):
            return None
        return np.append(found.pivots[found.coefficients[:, best] != 0], found.free[best])

    def _changes(self, chosen: Indices, numbers: list[int]) -> bool:
        """Whether the other network, if there is one, changes along the direction, for sure."""
        if self.second is None or self.there is None:
            return True
        residues = np.array([[float(v % self.ring.prime)] for v in numbers])
        return bool(product(self.second.of[self.there.graph.output][:, chosen], residues, self.ring.prime).any())


def _derivatives(place: Neighbourhood, inputs: Indices, nodes: list[str], arithmetic: Arithmetic[M]) -> Derivatives[M]:
    return derivatives(place.graph, inputs, place.on, arithmetic, nodes, place.kinks)


def standing(found: Derivatives[M], cut: str, graph: Graph) -> list[M]:
    """The cut and the neurons at 0 before it."""
    front = {node.name for node in before(graph, cut)}
    return [found.of[cut], *(matrix for name, matrix in found.before.items() if name in front)]


def _affordable(graph: Graph, other: Graph | None, inputs: list[int]) -> Indices:
    """As many of the inputs as can be looked at, those that are read with coarse weights first."""
    graphs = [graph] if other is None else [graph, other]
    neurons = sum(graph.sizes[cut] for cut in narrow_cuts(graph)) + (0 if other is None else other.output_dim)
    count = min(MOST_WORK // max(1, sum(work(g, 1) for g in graphs)), MOST_NUMBERS // neurons)
    lowest = np.min([_lowest_bits(g) for g in graphs], axis=0)[inputs]
    return np.array(inputs)[np.argsort(-lowest, kind="stable")][:count]


def _lowest_bits(graph: Graph) -> Indices:
    """For each input the lowest bit of the weights that it is multiplied with at once."""
    lowest = np.full(graph.input_dim, COARSE)
    for name in graph.consumers[graph.input]:
        op = graph[name].op
        if isinstance(op, Affine):
            sparse = nonzeros(op.weight)
            np.minimum.at(lowest, sparse.indices, decompose(sparse.data)[1])
    return lowest
