"""Two inputs: pairs of cells of one sheet that have violations, and the polytopes of these."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ircert.atlases.plane_block import Block
from ircert.atlases.plane_distances import Distances
from ircert.engines.regions.coincidence import Polytope, Row, difference, map_rows, polygon_rows
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.pairs import doubtful_pairs
from ircert.engines.regions.tables import Ids
from ircert.engines.regions.violations import Violations
from ircert.ir.arrays import Array

MOST_PAIRS = 3_000
"""Pairs of cells that a block asks about exactly; more are left to searches of single centres."""


class CellPairs:
    """The pairs of cells of a complex around a block of centres."""

    def __init__(self, block: Block, complex_: Complex, violations: Violations) -> None:
        self._block, self._complex, self._violations = block, complex_, violations

    def near(self, asked: Ids, above: Array, distances: Distances) -> list[tuple[tuple[int, int], Array]] | None:
        """Pairs of cells with a violation, and bounds below of their distances from the asked centres; None where
        they are too many."""
        below = distances.to_discs(asked)
        limit = above[asked][:, None]
        needed = np.asarray((below <= limit).any(axis=0))
        found = []
        count = 0
        for cells in self._sheets(needed):
            pairs = doubtful_pairs(self._complex, cells, self._block.outputs)
            for first, second in pairs.tolist():
                low = np.maximum(below[:, first], below[:, second])
                if not (low <= limit[:, 0]).any():
                    continue
                count += 1
                if count > MOST_PAIRS:
                    return None
                corners = self._violating(first, second)
                if corners is not None:
                    found.append(((first, second), np.maximum(low, distances.to_corners(asked, corners))))
        return found

    def _sheets(self, needed: NDArray[np.bool_]) -> list[Ids]:
        """The cells that may have nearer violations in pairs: those of one sheet together."""
        planar = len(self._block.outputs) == 2 and self._block.rest is None
        if not planar:
            return [np.flatnonzero(needed)]
        signs, sides = self._violations.signs, self._violations.facets.sides
        kept = sides[(signs[sides[:, 0]] == signs[sides[:, 1]]) & (signs[sides[:, 0]] != 0)]
        size = len(self._complex)
        graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(size, size))
        _, label = connected_components(graph, directed=False)
        wanted = needed & (signs != 0)
        return [np.flatnonzero(wanted & (label == k)) for k in np.unique(label[wanted]).tolist()]

    def _violating(self, first: int, second: int) -> list[list[Fraction]] | None:
        """The corners of K(P, Q), if it has pairs that violate, or none where they are not known; else None."""
        violations = self._violations
        if violations.same_rest(first, second):
            return None
        polytope = self.coincidence(first, second, [Fraction(0), Fraction(0)])
        if violations.farthest(polytope, first, second) is None:
            return None
        return [polytope.at(corner) for corner in polytope.corners or []]

    def coincidence(self, first: int, second: int, shift: list[Fraction]) -> Polytope:
        """K(P, Q) in coordinates relative to a point, which is given relative to the complex's own."""

        def moved(row: Row) -> list[Fraction]:
            a, b, c = (Fraction(v) for v in row)
            return [a, b, c + a * shift[0] + b * shift[1]]

        zero = [Fraction(0), Fraction(0)]
        upper = [[*row[:2], *zero, row[2]] for row in map(moved, polygon_rows(self._complex, first))]
        lower = [[*zero, *row] for row in map(moved, polygon_rows(self._complex, second))]
        f, g = ([moved(row) for row in map_rows(self._complex, cell)] for cell in (first, second))
        equations = difference([f[i] for i in self._block.outputs], [g[i] for i in self._block.outputs])
        reach = self._complex.reach + max(abs(t) for t in shift)
        return Polytope(4, equations, [*upper, *lower], reach)
