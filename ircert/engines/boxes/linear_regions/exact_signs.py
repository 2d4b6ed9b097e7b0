"""Which way linear regions turn: exact signs of determinants, of patterns and of float matrices."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.enclosures.contractions import orientation
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Phases
from ircert.ir.arrays import Array
from ircert.ir.dyadic import integers
from ircert.ir.rational import Integers, integer_array
from ircert.limits import checkpoint


class ExactSigns:
    """The signs of patterns of a setting with as many constrained outputs as inputs; each is found once."""

    def __init__(self, maps: ExactMaps) -> None:
        self.maps = maps
        self._known: dict[bytes, int] = {}

    def of(self, phases: Phases) -> int:
        """The sign of the determinant on the region where every neuron has the given side."""
        key = (phases > 0).tobytes()
        if key not in self._known:
            self._known[key] = determinant_sign(self.maps.of(phases).values[: self.maps.setting.constrained, :-1])
        return self._known[key]


def signs_of_floats(matrices: Array) -> Array:
    """The exact signs of the determinants of square float matrices (rows, columns, batch).

    Floats decide where they can, integers the rest; what is not finite gets 0.
    """
    signs = orientation(matrices)
    finite = np.isfinite(matrices).all(axis=(0, 1))
    for k in np.flatnonzero((signs == 0) & finite):
        numbers, _ = integers(matrices[..., k].ravel())
        signs[k] = determinant_sign(integer_array(numbers).reshape(matrices.shape[:2]))
    return signs


def determinant_sign(matrix: Integers) -> int:
    """The sign of the determinant of a square matrix of integers, by elimination without fractions."""
    table, last, sign = matrix.copy(), 1, 1
    for k in range(len(table)):
        found = next((i for i in range(k, len(table)) if table[i, k]), None)
        if found is None:
            return 0
        if found != k:
            table[[k, found]] = table[[found, k]]
            sign = -sign
        checkpoint()
        pivot = table[k, k]
        below = table[k + 1 :]
        table[k + 1 :] = (below * pivot - np.outer(below[:, k], table[k])) // last
        last = pivot
    return sign if last > 0 else -sign
