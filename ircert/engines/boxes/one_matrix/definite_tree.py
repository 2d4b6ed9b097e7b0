"""A tree over the phases of single points: whether one matrix is good for all linear regions of a part.

Where many planes go through one point, or three cross just outside of a box, cutting the box leaves all their neurons
free for ever; a tree leaves out the sides that no point takes together.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.problem.outcome import Counts, Violated
from ircert.engines.boxes.problem.setting import Phases
from ircert.engines.boxes.trees.parts import Part
from ircert.engines.boxes.trees.region_tree import RegionTree
from ircert.ir.arrays import Array
from ircert.ir.dyadic import integers


class DefiniteTree(RegionTree):
    """sym(C J) positive definite: for all slopes of a node, or exactly in a region; `failing` has a point where not."""

    def __init__(self, matrix: OneMatrix, maps: ExactMaps, counts: Counts) -> None:
        if not self.serves(matrix):
            raise TypeError("a tree shows that sym(C J) is positive definite, for all inputs, and not by how much")
        super().__init__(matrix.network, maps, counts)
        self.matrix = matrix
        self.failing: Array | None = None
        flat, _ = integers(matrix.matrix.ravel())
        self._exact = fmpz_mat(*matrix.matrix.shape, flat)  # C times a power of two

    @staticmethod
    def serves(matrix: OneMatrix) -> bool:
        """Whether regions can be judged by exact signs alone, with a row of C for every input."""
        plain = type(matrix) is OneMatrix and not matrix.network.setting.is_smooth
        return plain and matrix.least == 0 and matrix.moving == matrix.network.size

    def _holds_for(self, slopes: Slopes) -> bool:
        return bool(self.matrix.closed(slopes).closed[0])

    def _holds_in(self, phases: Phases) -> bool:
        """Leading minors of C J + (C J)^T in integers; J is known up to a positive factor."""
        values = self.maps.of(phases).values[: self.setting.constrained, :-1]
        product = self._exact * fmpz_mat(*values.shape, [int(v) for v in values.ravel()])
        return is_positive_definite(product + product.transpose())

    def _fails(self, part: Part, phases: Phases, point: list[Fraction]) -> None:
        center = self.setting.exact_center
        self.failing = np.array([[float(c + u) for c, u in zip(center, point, strict=True)]])
        raise Violated


def is_positive_definite(table: fmpz_mat) -> bool:
    """Whether a symmetric matrix of integers is: all leading minors are positive."""
    rows = table.tolist()
    return all(fmpz_mat([row[:k] for row in rows[:k]]).det() > 0 for k in range(1, len(rows) + 1))
