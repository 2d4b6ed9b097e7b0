"""A tree over the phases of single points: whether all linear regions of a part have the reference orientation."""

from __future__ import annotations

from fractions import Fraction

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes, contractions
from ircert.engines.boxes.enclosures.cubes import MOST_FREE, kernel_free
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.linear_regions.exact_signs import signs_of_floats
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Phases
from ircert.engines.boxes.trees.parts import Part
from ircert.engines.boxes.trees.region_tree import RegionTree


class CellTree(RegionTree):
    """Determinants of the reference sign: those of all slopes of a node, or the exact one of a region."""

    def __init__(self, network: Batches, falsifier: Falsifier, counts: Counts) -> None:
        super().__init__(network, falsifier.descent.maps, counts)
        self.falsifier = falsifier

    def _holds_for(self, slopes: Slopes) -> bool:
        found = contractions(self.network, slopes)
        if not found.positive[0] or signs_of_floats(found.fixed)[0] != self.falsifier.reference:
            return False
        few = int(slopes.free.sum()) <= MOST_FREE
        return bool(found.proved[0] or (few and kernel_free(self.network, slopes, found)[0]))

    def _holds_in(self, phases: Phases) -> bool:
        return bool(self.falsifier.signs.of(phases) == self.falsifier.reference)

    def _fails(self, part: Part, phases: Phases, point: list[Fraction]) -> None:
        """Look for the violation that a region of another orientation, or of none, comes with."""
        if self.falsifier.signs.of(phases) == 0:
            self.falsifier.try_patterns(phases, phases, part.ball.radius)
        self.falsifier.walk_to(point, part.ball.radius)
