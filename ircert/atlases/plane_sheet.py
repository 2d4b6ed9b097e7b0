"""Two inputs: the brackets of a block of centres in one complex."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ircert.atlases.plane_block import Block
from ircert.atlases.plane_distances import Distances
from ircert.atlases.plane_pairs import CellPairs
from ircert.atlases.plane_witnesses import Points, Witnesses
from ircert.engines.regions.coincidence import Polytope
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.roundness import nearest_pair
from ircert.engines.regions.violations import Violations
from ircert.geometry.pair import Pair


@dataclass(frozen=True)
class Found:
    """The bracket of one centre: the violation lies between `low` and about `high`, at `pair` (absolute, exact)."""

    low: float
    kind: str
    pair: Points


class Sheet:
    """One complex and the distances of all centres in it: `above` bounds those to folds and blind cells."""

    def __init__(self, block: Block, complex_: Complex, radius: float) -> None:
        self.radius = radius
        self._block = block
        violations = Violations(complex_, block.norm, block.outputs, block.rest)
        self._distances = Distances(block, complex_, violations)
        self._pairs = CellPairs(block, complex_, violations)
        self._witnesses = Witnesses(block, complex_, violations, self._pairs)
        low, high = self._distances.to_folds()
        below, above, self._blind = self._distances.to_blind_cells()
        self._nearest_fold = high.argmin(axis=1) if high.shape[1] else np.zeros(len(low), dtype=np.int64)
        least = low.min(axis=1, initial=np.inf)
        self._fold_above = high.min(axis=1, initial=np.inf)
        self._below, self.above = np.minimum(least, below), np.minimum(self._fold_above, above)

    def answers(self, inside: NDArray[np.bool_]) -> list[Found | None]:
        """Brackets of the centres whose balls lie inside the complex."""
        asked = np.flatnonzero(inside & (self._below > 0) & np.isfinite(self.above))
        pairs = self._pairs.near(asked, self.above, self._distances)
        found: list[Found | None] = [None] * len(self._block.centers)
        if pairs is None:
            return found
        for k, i in enumerate(asked.tolist()):
            bounds = [(float(low[k]), pair) for pair, low in pairs if low[k] < self._below[i]]
            enough = self._below[i] * (1 - self._block.slack)
            near = sorted((low, pair) for low, pair in bounds if low < enough)
            # pairs that are no nearer, for all that matters, as those that touch the fold
            least = min((low for low, _ in bounds if low >= enough), default=float(self._below[i]))
            found[i] = self._with_pairs(i, near, least) if near else self._alone(i, least)
        return found

    def _alone(self, i: int, low: float) -> Found | None:
        """The bracket where no pair of cells is nearer than folds and blind cells, and all else than a bound."""
        by_fold = self._fold_above[i] <= self.above[i]
        distance = float(self.above[i])
        if by_fold:
            facet = int(self._distances.folds[self._nearest_fold[i]])
            pair = self._witnesses.at_fold(i, facet, distance)
        else:
            pair = self._witnesses.in_blind_cell(i, int(self._blind[i]), distance)
        kind = "fold" if by_fold else "singular cell"
        return None if pair is None else Found(low, kind, pair)

    def _with_pairs(self, i: int, near: list[tuple[float, tuple[int, int]]], low: float) -> Found | None:
        """The nearest of pairs of cells, if one is nearer than the rest, which lies beyond a bound."""
        norm = self._block.norm
        best: tuple[Fraction, Fraction, tuple[int, int], Polytope, Pair] | None = None
        for bound, (first, second) in near:
            if best is not None and bound > norm.length_up(best[1]):
                break
            polytope = self._pairs.coincidence(first, second, self._block.relative(self._block.centers[i]))
            found = nearest_pair(polytope, norm, None if best is None else best[1])
            if found is not None and (best is None or found.high < best[1]):
                best = found.low, found.high, (first, second), polytope, found.pair
            elif found is not None:
                low = min(low, norm.length_down(found.low))
        if best is None or norm.length_down(best[0]) > self.above[i]:
            return self._alone(i, low)
        low = min(low, norm.length_down(best[0]))
        pair = self._witnesses.towards(i, best[3], best[2], best[4])
        return None if pair is None else Found(low, "far collision", pair)
