"""What slopes that move with the point may take away from sym(C J): all neurons together, coordinate by coordinate.

With t_j the coordinates of a box, |t_j| <= 1, slopes add the sum over j of t_j S_j to sym(C J), S_j the symmetric part
of T_j = sum over neurons of G_j a w. For any matrix V and diagonal D,

    ± V D V^T  <=  V |D| V^T,      so that  ± t_j S_j  <=  P_j = V |D| V^T + |S_j - V D V^T| I.

V and D are eigenvectors and eigenvalues in floats: how good they are decides how large P_j is, and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ircert.bounds.rounding import TINY, UNIT
from ircert.engines.boxes.enclosures.tilts import tilted
from ircert.engines.boxes.one_matrix.remainder import finite
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

AT_ONCE = 2_000_000
"""Numbers in the matrices T_j whose eigenvectors are computed before time is looked at again."""


@dataclass(frozen=True)
class Moving:
    """The bounds of each cube.

    matrices: T_j in floats (inputs, cubes, n, n)
    parts:    V |D| V^T of each; total: their sums (cubes, n, n)
    wrong:    all that P_j has besides, and rounding errors, in the spectral norm (cubes)
    """

    matrices: Array | None
    parts: Array
    total: Array
    wrong: Array

    @staticmethod
    def none(cubes: int, n: int) -> Moving:
        """Nothing moves."""
        return Moving(None, np.zeros((0, cubes, n, n)), np.zeros((cubes, n, n)), np.zeros(cubes))

    @staticmethod
    def of(above: Array, below: Array, rates: Array) -> Moving:
        """From a, w (neurons, n, cubes) and G (neurons, inputs, cubes).

        An entry of T_j is a sum of products of three numbers over all neurons, so that its errors are at most
        (neurons + 4) u times the sum of their sizes, and in the spectral norm at most that of |G_j| |a| |w|. Products
        with V are sums of n products of three numbers, at most |D| |V|² in size.
        """
        moved = tilted(above, below, rates)
        n, neurons = above.shape[1], len(above)
        lengths = np.sqrt((above**2).sum(axis=1) * (below**2).sum(axis=1))
        size = (np.abs(rates).sum(axis=1) * lengths).sum(axis=0)
        parts, off, spread = np.zeros(moved.shape), np.zeros(moved.shape[1]), np.zeros(moved.shape[1])
        step = max(1, AT_ONCE // max(1, math.prod(moved.shape[1:])))
        for start in range(0, len(moved), step):
            checkpoint()
            some = slice(start, start + step)
            parts[some], more_off, more_spread = _absolute((moved[some] + moved[some].swapaxes(2, 3)) / 2)
            off, spread = off + more_off, spread + more_spread
        wrong = off + 8.0 * (n + 8) * UNIT * n * spread + 4.0 * (neurons + n + 16) * UNIT * size + neurons * n * TINY
        return Moving(moved, parts, parts.sum(axis=0), wrong * (1 + 1e-9))

    def shares(self, inverse: Array) -> Array:
        """How much each coordinate takes away (inputs, cubes), in the metric of about M."""
        return np.asarray(np.nan_to_num(np.einsum("jbik,bki->jb", self.parts, inverse)))


def _absolute(symmetric: Array) -> tuple[Array, Array, Array]:
    """V |D| V^T of some S_j (inputs, cubes, n, n), and for each cube how far V D V^T is off, and |D| V² in all."""
    n = symmetric.shape[-1]
    values, vectors = np.linalg.eigh(finite(symmetric.reshape(-1, n, n)))
    values, vectors = values.reshape(symmetric.shape[:3]), vectors.reshape(symmetric.shape)
    back = vectors.swapaxes(2, 3)
    off = np.abs(symmetric - np.matmul(vectors * values[..., None, :], back)).sum(axis=(0, 2, 3))
    spread = (np.abs(values) * (vectors**2).sum(axis=2)).sum(axis=(0, 2))
    return np.matmul(vectors * np.abs(values)[..., None, :], back), off, spread
