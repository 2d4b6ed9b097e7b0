"""The linear regions of a convex body, and how much f stretches at most and at least on one of them.

On a convex body the most is L itself: a segment between two points is cut by the regions into pieces, each stretched by
at most that. The least bounds L' from above only; pairs of different regions may be closer together (`chords`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ircert.analysis.lipschitz.stretch import Rows, Span, least, most
from ircert.bounds.contraction import residual
from ircert.bounds.operator_norms import Unbounded, norm_bound
from ircert.bounds.rounding import pseudo_inverse
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.facets import determinants
from ircert.exact.rounding import rounded_down
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array

SAFE = 2.0**-40
"""Far above the rounding errors of the few operations here."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The linear regions of a network with one or two inputs inside a polygon (or interval), in one norm."""

    complex: Complex
    outputs: int
    norm: Norm

    @property
    def inputs(self) -> int:
        """One or two."""
        return len(self.complex.center)

    @property
    def matrices(self) -> Array:
        """(C, m, n): the linear parts in floats."""
        return np.moveaxis(self.complex.maps.value[: self.outputs, : self.inputs], 2, 0)

    @property
    def errors(self) -> Array:
        """(C, m, n): bounds of what is wrong with them."""
        return np.moveaxis(self.complex.maps.error[: self.outputs, : self.inputs], 2, 0)

    def exact(self, cell: int) -> Rows:
        """The linear part on a cell."""
        numbers, below = self.complex.exact_map(cell)
        return [[Fraction(int(t), int(below)) for t in row[: self.inputs]] for row in numbers[: self.outputs]]

    def most(self) -> Span:
        """The largest operator norm."""
        above = -(_norms(self.matrices, self.norm) * (1 + SAFE) + self.errors.sum(axis=(1, 2)) * (1 + SAFE))
        found = self._least_of(above, lambda rows: _negative(most(rows, self.norm)))
        return Span(-found.high, -found.low)

    def least(self) -> Span:
        """The smallest stretch on one cell."""
        return self._least_of(self._least_below(), lambda rows: least(rows, self.norm))

    def _least_of(self, below: Array, exactly: Callable[[Rows], Span]) -> Span:
        """The smallest of numbers that are known exactly on demand, from bounds below in floats."""
        below = np.where(np.isfinite(below), below, -np.inf)  # floats that overflow say nothing
        best: Span | None = None
        for cell in np.argsort(below, kind="stable").tolist():
            if best is not None and float(below[cell]) > best.high:
                break
            found = exactly(self.exact(cell))
            best = found if best is None else Span(min(best.low, found.low), min(best.high, found.high))
        assert best is not None, "a body has at least one cell"
        return best

    def _least_below(self) -> Array:
        """Bounds below: |A v| >= |B v| for any two rows B of A, and |B v| >= |det B| / |adj B| |v|."""
        value, error = self.matrices, self.errors
        if self.inputs == 1:
            return _norms(value, self.norm) * (1 - SAFE) - error.sum(axis=(1, 2)) * (1 + SAFE)
        best = np.zeros(len(value))
        for i in range(self.outputs):
            for k in range(i):
                rows, wrong = value[:, [i, k]], error[:, [i, k]].sum(axis=(1, 2)) * (1 + SAFE)
                (a, b), (c, d) = np.moveaxis(rows, 0, 2)
                size = np.abs(rows).sum(axis=(1, 2))
                with np.errstate(all="ignore"):
                    determinant = np.abs(a * d - b * c) - (wrong * (size + wrong) * 2 + SAFE * size * size)
                    adjugate = np.stack([np.stack([d, -b], axis=1), np.stack([-c, a], axis=1)], axis=1)
                    bound = determinant / (_norms(adjugate, self.norm) * (1 + SAFE) + wrong)
                best = np.fmax(best, np.nan_to_num(bound, nan=0.0))
        return best * (1 - SAFE)

    def hull(self) -> float:
        """A bound below of L': (1 - max |I - C A|) / |C| with one matrix C for all cells; 0 where there is none."""
        value, error = self.matrices, self.errors
        try:
            inverse = pseudo_inverse(value.mean(axis=0))
            size = norm_bound(inverse, self.norm)
        except (np.linalg.LinAlgError, Unbounded):
            return 0.0
        with np.errstate(all="ignore"):
            rest = residual(inverse, value, error)
            far = float(((_norms(rest.center, self.norm) + rest.radius.sum(axis=(1, 2))) * (1 + SAFE)).max())
        return rounded_down((1 - Fraction(far)) / size) if far < 1 else 0.0

    def signs(self) -> NDArray[np.int8]:
        """Exact orientations of the cells, for as many outputs as inputs."""
        size = self.outputs
        return determinants(self.complex, [*range(size), *[size] * (self.inputs == 1)])[1]


def _negative(span: Span) -> Span:
    return Span(-span.high, -span.low)


def _norms(matrices: Array, norm: Norm) -> Array:
    """Operator norms (C,) of matrices (C, m, n), n <= 2, up to rounding."""
    if norm != "2":
        return np.abs(matrices).sum(axis=2 if norm == "inf" else 1).max(axis=1)
    size = np.abs(matrices).max(axis=(1, 2), initial=0.0)
    scaled = matrices / np.where(size > 0, size, 1.0)[:, None, None]  # squares must neither vanish nor overflow
    if matrices.shape[2] == 1:
        return size * np.sqrt((scaled * scaled).sum(axis=(1, 2)))
    p, q = scaled[:, :, 0], scaled[:, :, 1]
    a, b, c = (p * p).sum(axis=1), (p * q).sum(axis=1), (q * q).sum(axis=1)
    return size * np.sqrt((a + c + np.hypot(a - c, 2 * b)) / 2)
