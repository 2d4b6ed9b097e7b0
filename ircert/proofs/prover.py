"""Which balls are good: by degree where there are as many givens as inputs, else pair by pair.

Degree: let f be continuous on a ball and piecewise linear, with all regions inside of one orientation, and let it tell
the points of the boundary apart. Then f is injective on the ball: a value has as many preimages inside as its degree,
which is 0 outside the image of the boundary, a sphere, and 1 or -1 inside. So the inside is searched for single
regions, and only the boundary for pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from ircert.proofs.batches import Batches
from ircert.proofs.contractions import MOST_INPUTS
from ircert.proofs.descent import Descent
from ircert.proofs.exact_map import ExactMaps
from ircert.proofs.hunt import Hunter
from ircert.proofs.orientation import Orientation
from ircert.proofs.outcome import Counts, Outcome, Stopped, TooLarge, Violated
from ircert.proofs.pair_search import PairSearch
from ircert.proofs.parts import center_part, part_of
from ircert.proofs.phase_tree import PhaseTree, Tools
from ircert.proofs.relaxation import Relaxation
from ircert.proofs.secants import Secants
from ircert.proofs.setting import Setting, neurons_that_matter

MOST_CUT = 6
"""With more inputs, cutting boxes leads nowhere: one tree of phases has to do."""
MANY = 10**9


@dataclass
class Prover:
    """Proves one ball after the other; `reached` is the radius of the largest that is good.

    injective: for `transform`, the givens alone: where they tell points apart nothing else matters
    stop:      whether time is over, also inside trees
    """

    setting: Setting
    descent: Descent
    counts: Counts
    stop: Callable[[], bool]
    report: Callable[[], None]
    injective: Setting | None = None
    reached: float = 0.0
    orientation: Orientation | None = None
    _pairs: PairSearch | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.network = Batches(self.setting)
        self.tools = [self._tools(self.setting, self.descent)]
        self.inner: Prover | None = None
        if self.injective is not None:
            own = Descent(self.injective, ExactMaps(self.injective), self.descent.goes_on)
            self.inner = Prover(self.injective, own, self.counts, self.stop, self.report)
            self.tools.insert(0, self.inner.tools[0])
        if self.setting.problem == "local" and self.setting.givens == self.setting.size <= min(MOST_CUT, MOST_INPUTS):
            hunter = Hunter(self.setting, self.descent)
            if hunter.home:
                self.orientation = Orientation(self.network, hunter, self.counts, self.report)

    def _tools(self, setting: Setting, descent: Descent) -> Tools:
        matter = neurons_that_matter(setting)
        return Tools(setting, descent, Secants(setting), matter, self.counts, self.stop, Relaxation(setting))

    def prove(self, radius: float, *, nearer: float = math.inf) -> Outcome:
        """Whether the closed ball is good; with `nearer`, as far as pairs at most that far apart are concerned."""
        outcome = self._proved(radius, nearer)
        if outcome == "closed" and nearer == math.inf:
            self.reached = max(self.reached, radius)
        return outcome

    def _proved(self, radius: float, nearer: float) -> Outcome:
        if self.setting.size > MOST_CUT:
            return self._one_tree(radius)
        if self.inner is not None and self.inner.prove(radius) == "closed":
            return "closed"
        if self.orientation is not None and nearer == math.inf:
            outcome = self._by_degree(self.orientation, radius)
            if outcome != "stopped" or self.stop():
                return outcome
        return self._by_pairs(radius, nearer)

    def _by_degree(self, orientation: Orientation, radius: float) -> Outcome:
        outcome = orientation.advance(radius, self.stop)
        if outcome != "closed":
            return outcome
        boundary = PairSearch(self.network, self.tools, self.counts, self.report, boundary=True)
        return boundary.advance(radius, self.stop)

    def _by_pairs(self, radius: float, nearer: float) -> Outcome:
        if self._pairs is None or self._pairs.nearer != nearer:
            self._pairs = PairSearch(self.network, self.tools, self.counts, self.report, nearer=nearer)
        self._pairs.clear = max(self.reached, 0.0 if self.inner is None else self.inner.reached)
        outcome = self._pairs.advance(radius, self.stop)
        if nearer == math.inf:
            self.reached = max(self.reached, self._pairs.reached)
        return outcome

    def _one_tree(self, radius: float) -> Outcome:
        box = self.setting.ball(radius).box
        undecided = self.counts.undecided
        for tools in self.tools:
            first = part_of(tools.setting, radius, *box)
            second = center_part(tools.setting) if tools.setting.pseudo else first
            try:
                PhaseTree(tools, first, second, MANY).close()
            except Violated:
                if tools is self.tools[-1]:
                    return "violated"
                continue
            except (Stopped, TooLarge):
                return "stopped"
            return "closed" if self.counts.undecided == undecided else "stopped"
        return "stopped"
