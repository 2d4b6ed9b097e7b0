"""Two inputs: exact pairs that violate, close to the nearest point of a fold, a blind cell or a polytope."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ircert.atlases.plane_block import ROUNDING, Block
from ircert.atlases.plane_pairs import CellPairs
from ircert.engines.regions.coincidence import Polytope, map_rows
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.metric import nearest_of_segment, segment_distances
from ircert.engines.regions.violations import Violations
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array

DEPTHS = (1 / 4, 1 / 32, 1 / 256, 1 / 2048)
"""How far from a fold the points of a pair lie, in parts of how far they lie from its ends."""
Points: TypeAlias = tuple[list[Fraction], list[Fraction]]


class Witnesses:
    """Pairs of points (absolute, exact) of a complex around a block of centres."""

    def __init__(self, block: Block, complex_: Complex, violations: Violations, pairs: CellPairs) -> None:
        self._block, self._complex, self._violations, self._pairs = block, complex_, violations, pairs

    def at_fold(self, i: int, facet: int, distance: float) -> Points | None:
        """A pair across a fold, close to its point that is nearest to a centre: x a float on one side, y exact."""
        ends = self._violations.facets.ends[facet]
        first, second = self._violations.facets.sides[facet].tolist()
        p, q = self._complex.points[ends]
        room = self._block.slack * distance
        spot = _nearest_on(p - self._block.shift[i], q - self._block.shift[i], self._block.norm)
        length = math.hypot(*(q - p))
        normal = np.array([p[1] - q[1], q[0] - p[0]]) / length  # into the first cell, which lies on the left
        stretch = self._stretch(first, second, normal)
        share = min(0.5, room / (4 * length))
        along = min(max(spot, share), 1 - share)
        # near a corner of the cells both points must stay within their angles there
        for part in DEPTHS:
            x = p + along * (q - p) + normal * (part * share * length / stretch)
            pair = self._completed(x, first, second)
            if pair is not None:
                return pair
        return self._at_fold_exactly(i, ends.tolist(), (first, second))

    def in_blind_cell(self, i: int, cell: int, distance: float) -> Points | None:
        """Two points of a blind cell with one output, close to its point that is nearest to a centre."""
        corners = self._complex.polygons[cell, : self._complex.count[cell]]
        p = self._complex.points[corners]
        q = np.roll(p, -1, axis=0)
        low, _ = segment_distances(
            p - self._block.shift[i], q - self._block.shift[i], np.zeros(len(p)), self._block.norm
        )
        k = int(low.argmin())
        spot = p[k] + _nearest_on(p[k] - self._block.shift[i], q[k] - self._block.shift[i], self._block.norm) * (
            q[k] - p[k]
        )
        middle = p.mean(axis=0)
        room = self._block.slack * distance
        kernel = self._kernel(cell)
        if kernel is None:
            return None
        for step in (room / 2, room / 64, room / 2048):
            u = spot + (middle - spot) * min(0.5, step / max(math.hypot(*(middle - spot)), 1e-300))
            x = self._block.middle + u
            size = max(abs(float(t)) for t in kernel)
            away = [t * Fraction(step / 64) / Fraction(size) for t in kernel]
            y = [s + t for s, t in zip(self._block.relative(x), away, strict=True)]
            points = x - self._block.middle, np.array([float(v) for v in y])
            if all(self._is_well_inside(point, cell) for point in points):
                return [Fraction(v) for v in x.tolist()], self._block.absolute(tuple(y))
        return None

    def towards(self, i: int, polytope: Polytope, cells: tuple[int, int], near: Pair) -> Points | None:
        """A violating pair close to the nearest pair of K(P, Q), all relative to a centre: a little of the way to the
        pair that lies farthest apart."""
        norm = self._block.norm
        far = self._violations.farthest(polytope, *cells)
        if far is None:
            return None
        size, reach = norm.length(near.measure(norm)), norm.length(far.measure(norm))
        share = Fraction(min(1.0, self._block.slack / 4 * size / reach)) if reach > 0 else Fraction(1)
        pair = near.towards(far, share)
        center = [Fraction(v) for v in self._block.centers[i].tolist()]
        x, y = ([c + t for c, t in zip(center, point, strict=True)] for point in (pair.x, pair.y))
        return x, y

    def _at_fold_exactly(self, i: int, ends: list[int], cells: tuple[int, int]) -> Points | None:
        """The same by exact programs, where cells are too narrow for floats."""
        shift = self._block.relative(self._block.centers[i])
        p, q = (tuple(a - b for a, b in zip(self._complex.exact.coordinates(v), shift, strict=True)) for v in ends)
        point = nearest_of_segment(p, q, self._block.norm)[1]
        return self.towards(i, self._pairs.coincidence(*cells, shift), cells, Pair(point, point))

    def _stretch(self, first: int, second: int, normal: Array) -> float:
        """How much farther from the fold y lies than x, about."""
        forms = self._complex.maps.value[self._block.outputs][:, :2]
        try:
            other = np.linalg.solve(forms[:, :, second], forms[:, :, first] @ normal)
        except np.linalg.LinAlgError:
            return 1.0
        return max(1.0, float(np.abs(other).sum()))

    def _completed(self, u: Array, first: int, second: int) -> Points | None:
        """The pair of a point of one cell with that of the other cell that has its output; None unless each lies well
        inside its cell, so that the network is surely affine there, and in the domain."""
        x = self._block.middle + u
        if not self._is_well_inside(x - self._block.middle, first):
            return None
        rows = self._block.outputs
        f, g = ([map_rows(self._complex, cell)[k] for k in rows] for cell in (first, second))
        at = self._block.relative(x)
        value = [a * at[0] + b * at[1] + c for a, b, c in f]
        (a, b, c), (d, e, h) = g
        below = a * e - b * d
        s, t = value[0] - c, value[1] - h
        y = (s * e - b * t) / below, (a * t - d * s) / below
        if not self._is_well_inside(np.array([float(v) for v in y]), second):
            return None
        return [Fraction(v) for v in x.tolist()], self._block.absolute(y)

    def _is_well_inside(self, u: Array, cell: int) -> bool:
        corners = self._complex.polygons[cell, : self._complex.count[cell]]
        p, blur = self._complex.points[corners], float(self._complex.blur[corners].max())
        a, b = p - u, np.roll(p, -1, axis=0) - u
        size = np.abs(a).sum(axis=1) + np.abs(b).sum(axis=1)
        rough = blur + ROUNDING * (size + np.abs(u).sum() + np.abs(self._block.middle).sum())
        return bool((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] > 8 * rough * size).all())

    def _kernel(self, cell: int) -> list[Fraction] | None:
        """A direction in which the constrained outputs do not change, and the rest does."""
        rows = map_rows(self._complex, cell)
        steep = next(([-b, a] for a, b, _ in (rows[k] for k in self._block.outputs) if a or b), None)
        rest = [[1, 0, 0], [0, 1, 0]] if self._block.rest is None else [rows[k] for k in self._block.rest]
        for v in [steep] if steep is not None else [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]:
            if any(row[0] * v[0] + row[1] * v[1] for row in rest):
                return v
        return None


def _nearest_on(p: Array, q: Array, norm: Norm) -> float:
    """Where on a segment the point nearest to the origin lies, from 0 to 1, about."""
    step = q - p
    if norm is Norm.TWO:
        spots = [-float(p @ step) / max(float(step @ step), 1e-300)]
    else:
        forms = [(p[0], step[0]), (p[1], step[1])]
        if norm is Norm.INF:
            forms += [(p[0] - p[1], step[0] - step[1]), (p[0] + p[1], step[0] + step[1])]
        spots = [-float(a) / float(d) for a, d in forms if d]
    spots = [0.0, 1.0, *(t for t in spots if 0 < t < 1)]
    lengths = norm.lengths(p + np.array(spots)[:, None] * step)
    return spots[int(np.argmin(lengths))]
