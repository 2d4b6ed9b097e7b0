"""Two inputs: one complex of linear regions for a block of centres.

Let F be the set of points where f turns over or is blind: facets between cells of opposite orientation, and cells on
which f has a kernel. The largest good radius at c is the distance from c to F, unless a pair of cells has a nearer
violation. Inside the open ball of radius dist(c, F) all cells have one orientation, and facets inside the ball lead
from each to each (a ball without finitely many points is connected). So only pairs of cells of one sheet are asked
about, a sheet being what is connected by facets that are no part of F (A-6).

Distances are floats with bounds; signs, maps and witnesses are exact, and each witness is replayed on the network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ircert.engines.regions.coincidence import Polytope, Row, difference, map_rows, polygon_rows
from ircert.engines.regions.complex import Complex, TooManyCells
from ircert.engines.regions.growth import Surroundings
from ircert.engines.regions.metric import nearest_of_segment, segment_distances
from ircert.engines.regions.pairs import doubtful_pairs
from ircert.engines.regions.roundness import nearest_pair
from ircert.engines.regions.tables import Ids
from ircert.engines.regions.violations import Violations
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import checkpoint

MOST_CELLS = 200_000
"""Of the complex of a block; centres whose balls need more are answered one by one."""
GROWTHS, LARGEST = 8, 2.0**12
"""How often a complex grows, and to how many times its first size."""
FIRST = 1.5
"""The first complex is so much larger than the block …"""
FARTHER = 2.0
"""… and the next one so much larger than the one before, where nothing is found."""
MOST_PAIRS = 3_000
"""Pairs of cells that a block asks about exactly; more are left to searches of single centres."""
MARGIN = 2.0**-40
"""How far beyond what is needed a complex reaches, relatively."""
DEPTHS = (1 / 4, 1 / 32, 1 / 256, 1 / 2048)
"""How far from a fold the points of a pair lie, in parts of how far they lie from its ends."""
ROUNDING = 2.0**-50
"""Differences of coordinates are off by less than this part of them."""

Exact = tuple[Fraction, ...]


@dataclass(frozen=True)
class Found:
    """The bracket of one centre: the violation lies between `low` and about `high`, at `pair` (absolute, exact)."""

    low: float
    kind: str
    pair: tuple[list[Fraction], list[Fraction]]


@dataclass
class Plane:
    """A complex around a block of centres; `graph` is lowered, `outputs` are the constrained ones, `rest` the others.

    slack: witnesses lie within this relative distance of the nearest violation
    """

    graph: Graph
    centers: Array
    norm: Norm
    low: Array
    high: Array
    outputs: list[int]
    rest: list[int] | None
    slack: float
    middle: Array = field(init=False)

    def __post_init__(self) -> None:
        self.middle = (self.centers.min(axis=0) + self.centers.max(axis=0)) / 2
        self._middle = [Fraction(v) for v in self.middle.tolist()]
        self._around = Surroundings(self.graph, Place(self.middle, Norm.INF, self.low, self.high))

    def answers(self) -> list[Found | None]:
        """What is known about each centre; None where a search of its own has to answer."""
        away = np.abs(self.centers - self.middle).max(axis=1) * (1 + ROUNDING)
        half = float(away.max())
        radius = first = FIRST * half if half > 0 else min(self._around.first_radius(), 1.0)
        sheet: _Sheet | None = None
        for _ in range(GROWTHS):
            try:
                complex_ = self._around.complex(Fraction(radius), checkpoint, MOST_CELLS)
            except TooManyCells:
                break
            sheet = _Sheet(self, complex_, radius)
            reach = (away + np.minimum(sheet.above, 2 * radius)) * (1 + MARGIN)
            if (reach <= radius).all() or self._around.covered(Fraction(radius)):
                break
            wanted = float(reach.max()) if np.isfinite(sheet.above).all() else FARTHER * radius
            if wanted > LARGEST * first:
                break
            radius = max(wanted, radius * 1.01)
        if sheet is None:
            return [None] * len(self.centers)
        whole = self._around.covered(Fraction(sheet.radius))
        return sheet.answers(((away + sheet.above) * (1 + MARGIN) <= sheet.radius) | whole)

    def absolute(self, u: tuple[Fraction, ...]) -> list[Fraction]:
        """A point of the complex in the network's coordinates."""
        return [m + t for m, t in zip(self._middle, u, strict=True)]

    def relative(self, point: Array) -> list[Fraction]:
        """A float point in the complex's coordinates, exactly."""
        return [Fraction(v) - m for v, m in zip(point.tolist(), self._middle, strict=True)]


class _Sheet:
    """One complex and the distances of all centres in it."""

    def __init__(self, plane: Plane, complex_: Complex, radius: float) -> None:
        self.plane, self.complex, self.radius = plane, complex_, radius
        self.violations = Violations(complex_, plane.norm, plane.outputs, plane.rest)
        self.shift = plane.centers - plane.middle
        low, high = self._to_folds()
        below, above, self._blind = self._to_blind_cells()
        self.nearest_fold = high.argmin(axis=1) if high.shape[1] else np.zeros(len(low), dtype=np.int64)
        least = low.min(axis=1, initial=np.inf)
        self._fold_above = high.min(axis=1, initial=np.inf)
        self.below, self.above = np.minimum(least, below), np.minimum(self._fold_above, above)

    @cached_property
    def folds(self) -> Ids:
        """The facets across which f turns over, and that violate."""
        which, sides = self.violations.turning, self.violations.facets.sides
        if self.plane.rest is None:
            return which
        keep = [not self.violations._same_rest(*sides[i].tolist()) for i in which.tolist()]
        return which[np.array(keep, dtype=bool)]

    @cached_property
    def blind(self) -> Ids:
        """The cells on which f is blind to something."""
        suspects = np.flatnonzero(self.violations.signs == 0)
        return np.array([cell for cell in suspects.tolist() if self.violations.blind(cell)], dtype=np.int64)

    def _distances(self, p: Array, q: Array, blur: Array, asked: Ids) -> tuple[Array, Array]:
        """(centres, segments): bounds of the distances of centres to segments."""
        shift = self.shift[asked][:, None, :]
        size = np.abs(shift).sum(axis=2) + np.abs(p).sum(axis=1) + np.abs(q).sum(axis=1)
        return segment_distances(p - shift, q - shift, blur + ROUNDING * size, self.plane.norm)

    def _to_folds(self) -> tuple[Array, Array]:
        ends = self.violations.facets.ends[self.folds]
        points, blur = self.complex.points, self.complex.blur
        rough = blur[ends].max(axis=1, initial=0.0)
        return self._distances(points[ends[:, 0]], points[ends[:, 1]], rough, np.arange(len(self.shift)))

    def _to_blind_cells(self) -> tuple[Array, Array, Ids]:
        """Bounds below and above of the distance of each centre to the blind cells, and which is nearest."""
        count = len(self.shift)
        below, above, which = np.full(count, np.inf), np.full(count, np.inf), np.full(count, -1)
        everyone = np.arange(count)
        for cell in self.blind.tolist():
            corners = self.complex.polygons[cell, : self.complex.count[cell]]
            near, far = self._to_polygon(everyone, self.complex.points[corners], self.complex.blur[corners])
            which = np.where(far < above, cell, which)
            below, above = np.minimum(below, near), np.minimum(above, far)
        return below, above, which

    def _to_polygon(self, asked: Ids, p: Array, blur: Array) -> tuple[Array, Array]:
        """Bounds of the distances of centres to a convex polygon, given by its corners in order, either way round."""
        q, both = np.roll(p, -1, axis=0), np.maximum(blur, np.roll(blur, -1))
        low, high = self._distances(p, q, both, asked)
        shift = self.shift[asked][:, None, :]
        a, b = p - shift, q - shift
        size = np.abs(a).sum(axis=2) + np.abs(b).sum(axis=2) + np.abs(shift).sum(axis=2) + blur.max()
        cross = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
        sure = 8 * (blur.max() + ROUNDING * size) * size
        outside = (cross < -sure).any(axis=1) & (cross > sure).any(axis=1)
        return np.where(outside, low.min(axis=1), 0.0), np.where(outside, high.min(axis=1), 0.0)

    # --- answers -----------------------------------------------------------------------------------------------------

    def answers(self, inside: NDArray[np.bool_]) -> list[Found | None]:
        """Brackets of the centres whose balls lie inside the complex."""
        asked = np.flatnonzero(inside & (self.below > 0) & np.isfinite(self.above))
        pairs = self._pairs(asked)
        found: list[Found | None] = [None] * len(self.shift)
        if pairs is None:
            return found
        for k, i in enumerate(asked.tolist()):
            bounds = [(float(low[k]), pair) for pair, low in pairs if low[k] < self.below[i]]
            enough = self.below[i] * (1 - self.plane.slack)
            near = sorted((low, pair) for low, pair in bounds if low < enough)
            # pairs that are no nearer, for all that matters, as those that touch the fold
            least = min((low for low, _ in bounds if low >= enough), default=float(self.below[i]))
            found[i] = self._with_pairs(i, near, least) if near else self._alone(i, least)
        return found

    def _alone(self, i: int, low: float) -> Found | None:
        """The bracket where no pair of cells is nearer than folds and blind cells, and all else than a bound."""
        by_fold = self._fold_above[i] <= self.above[i]
        pair = self._at_fold(i, int(self.nearest_fold[i])) if by_fold else self._in_blind_cell(i, int(self._blind[i]))
        kind = "fold" if by_fold else "singular cell"
        return None if pair is None else Found(low, kind, pair)

    def _with_pairs(self, i: int, near: list[tuple[float, tuple[int, int]]], low: float) -> Found | None:
        """The nearest of pairs of cells, if one is nearer than the rest, which lies beyond a bound."""
        norm = self.plane.norm
        best: tuple[Fraction, Fraction, tuple[int, int], Polytope, Pair] | None = None
        for bound, (first, second) in near:
            if best is not None and bound > norm.length_up(best[1]):
                break
            polytope = self._coincidence(first, second, self.plane.relative(self.plane.centers[i]))
            found = nearest_pair(polytope, norm, None if best is None else best[1])
            if found is not None and (best is None or found.high < best[1]):
                best = found.low, found.high, (first, second), polytope, found.pair
            elif found is not None:
                low = min(low, norm.length_down(found.low))
        if best is None or norm.length_down(best[0]) > self.above[i]:
            return self._alone(i, low)
        low = min(low, norm.length_down(best[0]))
        pair = self._towards(i, best[3], best[2], best[4])
        return None if pair is None else Found(low, "far collision", pair)

    def _towards(
        self, i: int, polytope: Polytope, cells: tuple[int, int], near: Pair
    ) -> tuple[list[Fraction], list[Fraction]] | None:
        """A violating pair close to the nearest pair of K(P, Q), all relative to a centre: a little of the way to the
        pair that lies farthest apart."""
        norm = self.plane.norm
        far = self.violations.farthest(polytope, *cells)
        if far is None:
            return None
        size, reach = norm.length(near.measure(norm)), norm.length(far.measure(norm))
        share = Fraction(min(1.0, self.plane.slack / 4 * size / reach)) if reach > 0 else Fraction(1)
        pair = near.towards(far, share)
        center = [Fraction(v) for v in self.plane.centers[i].tolist()]
        x, y = ([c + t for c, t in zip(center, point, strict=True)] for point in (pair.x, pair.y))
        return x, y

    # --- pairs of cells ----------------------------------------------------------------------------------------------

    def _pairs(self, asked: Ids) -> list[tuple[tuple[int, int], Array]] | None:
        """Pairs of cells with a violation, and bounds below of their distances from the asked centres; None where
        they are too many."""
        below = self._to_discs(asked)
        limit = self.above[asked][:, None]
        needed = (below <= limit).any(axis=0)
        found = []
        count = 0
        for cells in self._sheets(needed):
            pairs = doubtful_pairs(self.complex, cells, self.plane.outputs)
            for first, second in pairs.tolist():
                low = np.maximum(below[:, first], below[:, second])
                if not (low <= limit[:, 0]).any():
                    continue
                count += 1
                if count > MOST_PAIRS:
                    return None
                corners = self._violating(first, second)
                if corners is not None:
                    found.append(((first, second), np.maximum(low, self._to_corners(asked, corners))))
        return found

    def _to_corners(self, asked: Ids, corners: list[list[Fraction]]) -> Array:
        """Bounds below of the distances of the farther point of pairs in K(P, Q): those of the hulls of x and y."""
        if not corners:
            return np.zeros(len(asked))
        pairs = np.array([[float(v) for v in corner] for corner in corners])
        blur = ROUNDING * np.abs(pairs).sum(axis=1)
        return np.maximum(*(self._to_polygon(asked, pairs[:, k : k + 2], blur)[0] for k in (0, 2)))

    def _to_discs(self, asked: Ids) -> Array:
        """(asked, cells): bounds below of the distances of centres to discs of the norm around the cells."""
        corners = np.where(self.complex.used[:, :, None], self.complex.points[self.complex.polygons], np.nan)
        middle = (np.nanmin(corners, axis=1) + np.nanmax(corners, axis=1)) / 2
        norm = self.plane.norm
        blur = np.where(self.complex.used, self.complex.blur[self.complex.polygons], 0.0).max(axis=1)
        reach = np.nanmax(norm.lengths(corners - middle[:, None, :]), axis=1) * (1 + ROUNDING) + 2 * blur
        away = norm.lengths(self.shift[asked][:, None, :] - middle)
        size = np.abs(self.shift[asked]).sum(axis=1)[:, None] + np.abs(middle).sum(axis=1)
        return np.maximum(away - reach - 4 * ROUNDING * size, 0.0)

    def _sheets(self, needed: NDArray[np.bool_]) -> list[Ids]:
        """The cells that may have nearer violations in pairs: those of one sheet together."""
        planar = len(self.plane.outputs) == 2 and self.plane.rest is None
        if not planar:
            return [np.flatnonzero(needed)]
        signs, sides = self.violations.signs, self.violations.facets.sides
        kept = sides[(signs[sides[:, 0]] == signs[sides[:, 1]]) & (signs[sides[:, 0]] != 0)]
        size = len(self.complex)
        graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(size, size))
        _, label = connected_components(graph, directed=False)
        wanted = needed & (signs != 0)
        return [np.flatnonzero(wanted & (label == k)) for k in np.unique(label[wanted]).tolist()]

    def _violating(self, first: int, second: int) -> list[list[Fraction]] | None:
        """The corners of K(P, Q), if it has pairs that violate, or none where they are not known; else None."""
        violations = self.violations
        if violations._same_rest(first, second):
            return None
        polytope = self._coincidence(first, second, [Fraction(0), Fraction(0)])
        if violations.farthest(polytope, first, second) is None:
            return None
        return [polytope.at(corner) for corner in polytope.corners or []]

    def _coincidence(self, first: int, second: int, shift: list[Fraction]) -> Polytope:
        """K(P, Q) in coordinates relative to a point, which is given relative to the complex's own."""

        def moved(row: Row) -> list[Fraction]:
            a, b, c = (Fraction(v) for v in row)
            return [a, b, c + a * shift[0] + b * shift[1]]

        zero = [Fraction(0), Fraction(0)]
        upper = [[*row[:2], *zero, row[2]] for row in map(moved, polygon_rows(self.complex, first))]
        lower = [[*zero, *row] for row in map(moved, polygon_rows(self.complex, second))]
        f, g = ([moved(row) for row in map_rows(self.complex, cell)] for cell in (first, second))
        equations = difference([f[i] for i in self.plane.outputs], [g[i] for i in self.plane.outputs])
        reach = self.complex.reach + max(abs(t) for t in shift)
        return Polytope(4, equations, [*upper, *lower], reach)

    # --- witnesses ---------------------------------------------------------------------------------------------------

    def _at_fold(self, i: int, number: int) -> tuple[list[Fraction], list[Fraction]] | None:
        """A pair across a fold, close to its point that is nearest to a centre: x a float on one side, y exact."""
        ends = self.violations.facets.ends[self.folds[number]]
        first, second = self.violations.facets.sides[self.folds[number]].tolist()
        p, q = self.complex.points[ends]
        room = self.plane.slack * float(self.above[i])
        spot = _nearest_on(p - self.shift[i], q - self.shift[i], self.plane.norm)
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

    def _at_fold_exactly(
        self, i: int, ends: list[int], cells: tuple[int, int]
    ) -> tuple[list[Fraction], list[Fraction]] | None:
        """The same by exact programs, where cells are too narrow for floats."""
        shift = self.plane.relative(self.plane.centers[i])
        p, q = (tuple(a - b for a, b in zip(self.complex.exact.coordinates(v), shift, strict=True)) for v in ends)
        point = nearest_of_segment(p, q, self.plane.norm)[1]
        return self._towards(i, self._coincidence(*cells, shift), cells, Pair(point, point))

    def _stretch(self, first: int, second: int, normal: Array) -> float:
        """How much farther from the fold y lies than x, about."""
        forms = self.complex.maps.value[self.plane.outputs][:, :2]
        try:
            other = np.linalg.solve(forms[:, :, second], forms[:, :, first] @ normal)
        except np.linalg.LinAlgError:
            return 1.0
        return max(1.0, float(np.abs(other).sum()))

    def _completed(self, u: Array, first: int, second: int) -> tuple[list[Fraction], list[Fraction]] | None:
        """The pair of a point of one cell with that of the other cell that has its output; None unless each lies well
        inside its cell, so that the network is surely affine there, and in the domain."""
        x = self.plane.middle + u
        if not self._is_well_inside(x - self.plane.middle, first):
            return None
        rows = self.plane.outputs
        f, g = ([map_rows(self.complex, cell)[k] for k in rows] for cell in (first, second))
        at = self.plane.relative(x)
        value = [a * at[0] + b * at[1] + c for a, b, c in f]
        (a, b, c), (d, e, h) = g
        below = a * e - b * d
        s, t = value[0] - c, value[1] - h
        y = (s * e - b * t) / below, (a * t - d * s) / below
        if not self._is_well_inside(np.array([float(v) for v in y]), second):
            return None
        return [Fraction(v) for v in x.tolist()], self.plane.absolute(y)

    def _is_well_inside(self, u: Array, cell: int) -> bool:
        corners = self.complex.polygons[cell, : self.complex.count[cell]]
        p, blur = self.complex.points[corners], float(self.complex.blur[corners].max())
        a, b = p - u, np.roll(p, -1, axis=0) - u
        size = np.abs(a).sum(axis=1) + np.abs(b).sum(axis=1)
        rough = blur + ROUNDING * (size + np.abs(u).sum() + np.abs(self.plane.middle).sum())
        return bool((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] > 8 * rough * size).all())

    def _in_blind_cell(self, i: int, cell: int) -> tuple[list[Fraction], list[Fraction]] | None:
        """Two points of a blind cell with one output, close to its point that is nearest to a centre."""
        corners = self.complex.polygons[cell, : self.complex.count[cell]]
        p = self.complex.points[corners]
        q = np.roll(p, -1, axis=0)
        low, _ = segment_distances(p - self.shift[i], q - self.shift[i], np.zeros(len(p)), self.plane.norm)
        k = int(low.argmin())
        spot = p[k] + _nearest_on(p[k] - self.shift[i], q[k] - self.shift[i], self.plane.norm) * (q[k] - p[k])
        middle = p.mean(axis=0)
        room = self.plane.slack * float(self.above[i])
        kernel = self._kernel(cell)
        if kernel is None:
            return None
        for step in (room / 2, room / 64, room / 2048):
            u = spot + (middle - spot) * min(0.5, step / max(math.hypot(*(middle - spot)), 1e-300))
            x = self.plane.middle + u
            size = max(abs(float(t)) for t in kernel)
            away = [t * Fraction(step / 64) / Fraction(size) for t in kernel]
            y = [s + t for s, t in zip(self.plane.relative(x), away, strict=True)]
            points = x - self.plane.middle, np.array([float(v) for v in y])
            if all(self._is_well_inside(point, cell) for point in points):
                return [Fraction(v) for v in x.tolist()], self.plane.absolute(tuple(y))
        return None

    def _kernel(self, cell: int) -> list[Fraction] | None:
        """A direction in which the constrained outputs do not change, and the rest does."""
        rows = map_rows(self.complex, cell)
        steep = next(([-b, a] for a, b, _ in (rows[k] for k in self.plane.outputs) if a or b), None)
        rest = [[1, 0, 0], [0, 1, 0]] if self.plane.rest is None else [rows[k] for k in self.plane.rest]
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
