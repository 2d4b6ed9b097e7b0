"""Where f1(x) = f1(y) does not determine the rest: the nearest such pair to the centre, exactly.

`local` asks that x = y, `transform` that f2(x) = f2(y). A violation comes from

* a blind cell: f1 has a kernel there that the rest sees (`local`: a singular cell);
* a fold: a facet where f1 turns over (planar f1);
* a pair of cells K(P, Q) with different rest: windings, far collisions, everything else.

Blind cells and folds come first: they are cheap, and leave only the cells nearer than they are to look at for pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ircert.engines.regions.coincidence import Polytope, Row, Vector, coincidence, difference, map_rows
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.facets import Facets, determinants, facets
from ircert.engines.regions.fibres import fibre_of
from ircert.engines.regions.metric import (
    Point,
    cell_distances,
    farthest_points,
    nearest_of_polygon,
    nearest_of_segment,
    segment_distances,
)
from ircert.engines.regions.pairs import doubtful_pairs
from ircert.engines.regions.roundness import nearest_pair
from ircert.engines.regions.tables import Ids
from ircert.exact.rounding import rounded_down
from ircert.exact.solutions import rank
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair

SMALL = Fraction(1, 2**30)


@dataclass(frozen=True)
class Violation:
    """Pairs that violate come arbitrarily near the measure, which lies in [low, high], and no nearer from this source.

    nearest: a pair of K(P, Q) at the measure `high`; it may be x = y, with violating pairs around it.
    """

    low: Fraction
    high: Fraction
    kind: str
    cells: tuple[int, int]
    nearest: Pair


class Violations:
    """The violations of one complex. outputs: those of f1; rest: those of f2, or None for the identity."""

    def __init__(
        self,
        complex_: Complex,
        norm: Norm,
        outputs: list[int],
        rest: list[int] | None,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        self.complex = complex_
        self.norm = norm
        self.outputs = outputs
        self.rest = rest
        self.between = between
        self.pairs_asked = 0
        self._floor: Fraction | None = None
        self._points: dict[int, tuple[Fraction, Point]] = {}

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Bounds below of the cells' distances."""
        return cell_distances(self.complex, self.norm)

    @cached_property
    def facets(self) -> Facets:
        """The facets of the complex."""
        return facets(self.complex)

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """For planar f1 the cells' orientation; otherwise 0 where f1 may be singular, 1 where it surely is not."""
        planar = len(self.outputs) == 2
        return determinants(self.complex, self.outputs)[1] if planar else self._surely_injective()

    def _surely_injective(self) -> NDArray[np.int8]:
        """1 where an output's gradient is surely not parallel to the largest one: if all are, f1 is singular."""
        forms = self.complex.maps.value[self.outputs][:, :2]
        errors = self.complex.maps.error[self.outputs][:, :2]
        found = np.zeros(len(self.complex), dtype=np.int8)
        largest = np.abs(forms).sum(axis=1).argmax(axis=0), slice(None), np.arange(len(self.complex))
        pivot, blur = forms[largest].T, errors[largest].T
        for form, error in zip(forms, errors, strict=True):
            if found.all():
                break
            self.between()
            found |= _surely_apart(form, error, pivot, blur)
        return found

    # --- the search --------------------------------------------------------------------------------------------------

    def nearest(self, below: Fraction | None = None) -> Violation | None:
        """The nearest violation with a measure under `below` (of the whole complex without)."""
        best = self.nearest_single(below)
        return self.floored(self.nearest_pair(self._under(best, below)) or best)

    def nearest_single(self, below: Fraction | None = None) -> Violation | None:
        """The nearest blind cell or fold."""
        best = self._nearest_blind_cell(below)
        return self._nearest_fold(self._under(best, below)) or best

    def floored(self, best: Violation | None) -> Violation | None:
        """With the brackets of pairs that lie no farther for all that is known (norm 2)."""
        if best is not None and self._floor is not None and self._floor < best.low:
            return replace(best, low=self._floor)
        return best

    @staticmethod
    def _under(best: Violation | None, below: Fraction | None) -> Fraction | None:
        return below if best is None else best.high

    def _near(self, distances: NDArray[np.float64], below: Fraction | None) -> NDArray[np.bool_]:
        """Which of the distances (bounds below) may have a measure under the limit."""
        if below is None:
            return np.ones(len(distances), dtype=bool)
        return distances <= self.norm.length_up(below) * (1 + 2.0**-40)

    # --- blind cells -------------------------------------------------------------------------------------------------

    def _nearest_blind_cell(self, below: Fraction | None) -> Violation | None:
        best: Violation | None = None
        suspects = np.flatnonzero((self.signs == 0) & self._near(self.distances, below))
        for cell in suspects[np.argsort(self.distances[suspects], kind="stable")].tolist():
            if not self._near(self.distances[[cell]], self._under(best, below))[0]:
                break
            self.between()
            if self.blind(cell):
                measure, point = nearest_of_polygon(self.complex.exact_polygon(cell), self.norm)
                limit = self._under(best, below)
                if limit is None or measure < limit:
                    best = Violation(measure, measure, "singular cell", (cell, cell), Pair(point, point))
        return best

    def blind(self, cell: int) -> bool:
        """Whether f1 has a kernel on the cell that the rest sees."""
        numbers = [[int(t) for t in row[:2]] for row in self.complex.exact_map(cell)[0]]
        first = [numbers[i] for i in self.outputs]
        rest = [[1, 0], [0, 1]] if self.rest is None else [numbers[i] for i in self.rest]
        return rank(first + rest) > rank(first)

    # --- folds -------------------------------------------------------------------------------------------------------

    @cached_property
    def turning(self) -> Ids:
        """The facets where planar f1 turns over."""
        if len(self.outputs) != 2:
            return np.empty(0, dtype=np.int64)
        signs = self.signs[self.facets.sides].astype(np.int64)
        return np.flatnonzero(signs[:, 0] * signs[:, 1] < 0)

    def _nearest_fold(self, below: Fraction | None) -> Violation | None:
        which = self.turning
        ends = self.facets.ends[which]
        points, blur = self.complex.points, self.complex.blur
        low, _ = segment_distances(points[ends[:, 0]], points[ends[:, 1]], blur[ends].max(axis=1), self.norm)

        def fold(i: int, limit: Fraction | None) -> Violation | None:
            p, q = (self.complex.exact.coordinates(v) for v in ends[i].tolist())
            measure, point = nearest_of_segment(p, q, self.norm)
            first, second = self.facets.sides[which[i]].tolist()
            if (limit is not None and measure >= limit) or self.same_rest(first, second):
                return None
            return Violation(measure, measure, "fold", (first, second), Pair(point, point))

        return self._nearest(low, below, fold)

    def _nearest(
        self,
        low: NDArray[np.float64],
        below: Fraction | None,
        found: Callable[[int, Fraction | None], Violation | None],
    ) -> Violation | None:
        """The nearest of candidates that lie at least `low` away; `found` gives that of one, if it is under a limit."""
        best: Violation | None = None
        for i in np.argsort(low, kind="stable").tolist():
            limit = self._under(best, below)
            if not self._near(low[[i]], limit)[0]:
                break
            self.between()
            best = found(i, limit) or best
        return best

    def same_rest(self, first: int, second: int) -> bool:
        """Whether the rest is one affine function of f1 on both cells."""
        if self.rest is None:
            return False
        columns = []
        (p, a), (q, b) = self.complex.exact_map(first), self.complex.exact_map(second)
        for row, other in zip(p.tolist(), q.tolist(), strict=True):
            x, y = [int(t) * int(b) for t in row], [int(t) * int(a) for t in other]
            columns.append([*x[:2], *y[:2], x[2] - y[2]])
        seen = [columns[i] for i in self.outputs]
        return rank(seen + [columns[i] for i in self.rest]) == rank(seen)

    # --- pairs -------------------------------------------------------------------------------------------------------

    def nearest_pair(self, below: Fraction | None, clear: Fraction = Fraction(0)) -> Violation | None:
        """The nearest violation of two cells; the open ball of radius `clear` is known to hold none."""
        cells = np.flatnonzero(self._near(self.distances, below))
        beyond = farthest_points(self.complex, self.norm)[cells] >= rounded_down(clear)
        pairs = doubtful_pairs(self.complex, cells, self.outputs, beyond, self.between)
        low = self.distances[pairs].max(axis=1, initial=0.0)
        return self._nearest(low, below, lambda i, limit: self._pair(int(pairs[i, 0]), int(pairs[i, 1]), limit))

    def _pair(self, first: int, second: int, below: Fraction | None) -> Violation | None:
        """The violation of a pair of cells, if it has one under the limit."""
        if below is not None and max(self._measure(first), self._measure(second)) >= below:
            return None
        self.pairs_asked += 1
        if self.same_rest(first, second):
            return None
        polytope = coincidence(self.complex, first, second, self.outputs)
        if self.farthest(polytope, first, second) is None:
            return None
        near = nearest_pair(polytope, self.norm, below)
        if near is None:
            return None
        if below is not None and near.high >= below:  # norm 2: the bracket is tight, but not a point
            self._floor = near.low if self._floor is None else min(self._floor, near.low)
            return None
        kind = "far collision" if near.pair.x != near.pair.y else "touching cells"
        return Violation(near.low, near.high, kind, (first, second), near.pair)

    def _measure(self, cell: int) -> Fraction:
        """The exact distance of a cell."""
        return self._nearest_point(cell)[0]

    def _nearest_point(self, cell: int) -> tuple[Fraction, Point]:
        """The exact distance of a cell and where it is."""
        if cell not in self._points:
            self._points[cell] = nearest_of_polygon(self.complex.exact_polygon(cell), self.norm)
        return self._points[cell]

    # --- the rim of a round ball -------------------------------------------------------------------------------------

    def on_rim(self, limit: Fraction) -> tuple[Pair | None, bool]:
        """For a closed ball of norm 2 with no violation nearer than its rim: a violating pair on the rim, if one was
        found; and whether that is sure. Folds and blind cells that begin on the rim leave one point in the ball."""
        cells = np.flatnonzero(self._near(self.distances, limit))
        sure = True
        for first, second in doubtful_pairs(self.complex, cells, self.outputs).tolist():
            self.between()
            if max(self._measure(first), self._measure(second)) > limit or self.same_rest(first, second):
                continue
            pair, decided = self._pair_on_rim(first, second, limit)
            if pair is not None:
                return pair, True
            sure = sure and decided
        return None, sure

    def _pair_on_rim(self, first: int, second: int, limit: Fraction) -> tuple[Pair | None, bool]:
        if self._measure(second) < limit:
            first, second = second, first
        if self._measure(second) == limit:  # it has a single point in the ball
            y = self._nearest_point(second)[1]
            rows = map_rows(self.complex, second)
            value = [rows[i][0] * y[0] + rows[i][1] * y[1] + rows[i][2] for i in self.outputs]
            fibre = fibre_of(self.complex, first, value, self.outputs)
            if fibre is None:
                return None, True
            measure, x = fibre.nearest(self.norm)
            pair = Pair(x, y)
            return (pair if measure <= limit and self._violates(first, second, pair) else None), True
        polytope = coincidence(self.complex, first, second, self.outputs)
        near = None if self.farthest(polytope, first, second) is None else nearest_pair(polytope, self.norm)
        if near is None or near.low > limit:
            return None, True
        if near.high <= limit and self._violates(first, second, near.pair):
            return near.pair, True
        return None, self.rest is None and near.low == near.high

    # --- pairs that violate ------------------------------------------------------------------------------------------

    def gaps(self, first: int, second: int) -> list[Row]:
        """The forms over (x, y, 1) of which one is not zero at a violating pair."""
        if self.rest is None:
            return [[1, 0, -1, 0, 0], [0, 1, 0, -1, 0]]
        f, g = map_rows(self.complex, first), map_rows(self.complex, second)
        return difference([f[i] for i in self.rest], [g[i] for i in self.rest])

    def farthest(self, polytope: Polytope, first: int, second: int) -> Pair | None:
        """The pair with the largest gap in one coordinate, or None if no pair violates."""
        best: tuple[Fraction, Vector] | None = None
        for form in self.gaps(first, second):
            for sign in (1, -1):
                found = polytope.maximise([sign * Fraction(t) for t in form])
                if found is not None and found[0] > (0 if best is None else best[0]):
                    best = found
        return None if best is None else Pair.of(best[1])

    def witness(self, violation: Violation, limit: Fraction) -> Pair | None:
        """A violating pair of a measure up to the limit, as far apart as simple means make it.

        Pairs between the nearest one and the farthest one lie in K(P, Q) as well: go as far as the limit allows. At a
        limit of zero, which holds no pair, a pair close by.
        """
        first, second = violation.cells
        far = self.farthest(coincidence(self.complex, first, second, self.outputs), first, second)
        assert far is not None, "a violation has a violating pair"
        if not limit:
            return violation.nearest.towards(far, SMALL)
        share = Fraction(1)
        while share > SMALL**4:
            pair = violation.nearest.towards(far, share)
            if pair.measure(self.norm) <= limit:
                return pair
            share /= 2
        nearest = violation.nearest.measure(self.norm)
        if nearest < limit:  # tiny beside the cells: the measure is convex, so that this share is small enough
            return violation.nearest.towards(far, (limit - nearest) / (far.measure(self.norm) - nearest))
        near = nearest == limit and self._violates(first, second, violation.nearest)
        return violation.nearest if near else None

    def _violates(self, first: int, second: int, pair: Pair) -> bool:
        """Whether the rest tells apart the points of a pair of K(P, Q)."""
        z: Vector = [*pair.x, *pair.y, Fraction(1)]
        return any(
            sum((Fraction(a) * b for a, b in zip(form, z, strict=True)), Fraction(0))
            for form in self.gaps(first, second)
        )


def _surely_apart(
    form: NDArray[np.float64], blur: NDArray[np.float64], other: NDArray[np.float64], its_blur: NDArray[np.float64]
) -> NDArray[np.int8]:
    """Where two gradients (2, cells), each known up to its blur, are not parallel for certain."""
    with np.errstate(invalid="ignore", over="ignore"):
        length, its_length = np.abs(form).sum(axis=0), np.abs(other).sum(axis=0)
        error = blur.sum(axis=0) * (np.abs(other) + its_blur).sum(axis=0) + length * its_blur.sum(axis=0)
        error = error + 2.0**-50 * length * its_length
        determinant = np.abs(form[0] * other[1] - form[1] * other[0])
        return (determinant > error * (1 + 2.0**-20) + 1e-300).astype(np.int8)
