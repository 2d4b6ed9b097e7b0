"""Two inputs: how far centres lie from folds, blind cells and other cells of a complex; floats with bounds."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.atlases.plane_block import ROUNDING, Block
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.metric import segment_distances
from ircert.engines.regions.tables import Ids
from ircert.engines.regions.violations import Violations
from ircert.ir.arrays import Array


class Distances:
    """Distances of the centres of a block in a complex."""

    def __init__(self, block: Block, complex_: Complex, violations: Violations) -> None:
        self._block, self._complex, self._violations = block, complex_, violations
        self._everyone = np.arange(len(block.shift))

    @cached_property
    def folds(self) -> Ids:
        """The facets across which f turns over, and that violate."""
        which, sides = self._violations.turning, self._violations.facets.sides
        if self._block.rest is None:
            return which
        keep = [not self._violations.same_rest(*sides[i].tolist()) for i in which.tolist()]
        return which[np.array(keep, dtype=bool)]

    @cached_property
    def blind(self) -> Ids:
        """The cells on which f is blind to something."""
        suspects = np.flatnonzero(self._violations.signs == 0)
        return np.array([cell for cell in suspects.tolist() if self._violations.blind(cell)], dtype=np.int64)

    def to_folds(self) -> tuple[Array, Array]:
        """(centres, folds): bounds below and above of the distances."""
        ends = self._violations.facets.ends[self.folds]
        points, blur = self._complex.points, self._complex.blur
        rough = blur[ends].max(axis=1, initial=0.0)
        return self._distances(points[ends[:, 0]], points[ends[:, 1]], rough, self._everyone)

    def to_blind_cells(self) -> tuple[Array, Array, Ids]:
        """Bounds below and above of the distance of each centre to the blind cells, and which is nearest."""
        count = len(self._block.shift)
        below, above, which = np.full(count, np.inf), np.full(count, np.inf), np.full(count, -1)
        for cell in self.blind.tolist():
            corners = self._complex.polygons[cell, : self._complex.count[cell]]
            near, far = self._to_polygon(self._everyone, self._complex.points[corners], self._complex.blur[corners])
            which = np.where(far < above, cell, which)
            below, above = np.minimum(below, near), np.minimum(above, far)
        return below, above, which

    def _to_polygon(self, asked: Ids, p: Array, blur: Array) -> tuple[Array, Array]:
        """Bounds of the distances of centres to a convex polygon, given by its corners in order, either way round."""
        q, both = np.roll(p, -1, axis=0), np.maximum(blur, np.roll(blur, -1))
        low, high = self._distances(p, q, both, asked)
        shift = self._block.shift[asked][:, None, :]
        a, b = p - shift, q - shift
        size = np.abs(a).sum(axis=2) + np.abs(b).sum(axis=2) + np.abs(shift).sum(axis=2) + blur.max()
        cross = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
        sure = 8 * (blur.max() + ROUNDING * size) * size
        outside = (cross < -sure).any(axis=1) & (cross > sure).any(axis=1)
        return np.where(outside, low.min(axis=1), 0.0), np.where(outside, high.min(axis=1), 0.0)

    def to_corners(self, asked: Ids, corners: list[list[Fraction]]) -> Array:
        """Bounds below of the distances of the farther point of pairs in K(P, Q): those of the hulls of x and y."""
        if not corners:
            return np.zeros(len(asked))
        pairs = np.array([[float(v) for v in corner] for corner in corners])
        blur = ROUNDING * np.abs(pairs).sum(axis=1)
        return np.maximum(*(self._to_polygon(asked, pairs[:, k : k + 2], blur)[0] for k in (0, 2)))

    def to_discs(self, asked: Ids) -> Array:
        """(asked, cells): bounds below of the distances of centres to discs of the norm around the cells."""
        corners = np.where(self._complex.used[:, :, None], self._complex.points[self._complex.polygons], np.nan)
        middle = (np.nanmin(corners, axis=1) + np.nanmax(corners, axis=1)) / 2
        norm = self._block.norm
        blur = np.where(self._complex.used, self._complex.blur[self._complex.polygons], 0.0).max(axis=1)
        reach = np.nanmax(norm.lengths(corners - middle[:, None, :]), axis=1) * (1 + ROUNDING) + 2 * blur
        away = norm.lengths(self._block.shift[asked][:, None, :] - middle)
        size = np.abs(self._block.shift[asked]).sum(axis=1)[:, None] + np.abs(middle).sum(axis=1)
        return np.maximum(away - reach - 4 * ROUNDING * size, 0.0)

    def _distances(self, p: Array, q: Array, blur: Array, asked: Ids) -> tuple[Array, Array]:
        """(centres, segments): bounds of the distances of centres to segments."""
        shift = self._block.shift[asked][:, None, :]
        size = np.abs(shift).sum(axis=2) + np.abs(p).sum(axis=1) + np.abs(q).sum(axis=1)
        return segment_distances(p - shift, q - shift, blur + ROUNDING * size, self._block.norm)
