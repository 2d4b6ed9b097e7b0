"""Which balls are good: by degree where there are as many givens as inputs, else pair by pair.

Degree: let f be continuous on a ball and piecewise linear, with all regions inside of one orientation, and let it tell
the points of the boundary apart. Then f is injective on the ball: a value has as many preimages inside as its degree,
which is 0 outside the image of the boundary, a sphere, and 1 or -1 inside. So the inside is searched for single
regions, and only the boundary for pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ircert.proofs.batches import Batches
from ircert.proofs.boxes import SAFE, around
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
FEW_OPEN = 16
SMALL = 400
"""Nodes of a tree that is tried for the whole ball, where at most that many neurons are open in it."""
WORK = 10_000
"""Boxes and pairs, a node of a tree counting for many, before something else is tried for a while."""
STEP = 0.01
"""How much larger than a good ball the next one is at least."""


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
    _too_large: float = math.inf
    """From this radius on one tree is too large."""

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
        if self.orientation is None and nearer == math.inf:
            outcome = self._one_small_tree(radius)
            if outcome is not None:
                return outcome
        if self.orientation is not None and nearer == math.inf:
            outcome = self._by_degree(self.orientation, radius)
            if outcome != "stopped" or self.stop():
                return outcome
        return self._by_pairs(radius, nearer)

    def _by_degree(self, orientation: Orientation, radius: float) -> Outcome:
        """The inside, then the boundary; where the inside is hard, smaller boundaries come in between."""
        work = WORK
        while True:
            end = self.counts.work + work
            outcome = orientation.advance(self._reach(radius), self._until(end))
            if outcome == "closed":
                return self._one_small_tree(radius) or self._boundary(radius, self.stop)
            if outcome == "violated" or self.stop() or self.counts.work <= end:
                return self._in_ball(outcome, radius)
            smaller = orientation.reached * (1 - STEP / 2)
            if smaller > self.reached * (1 + STEP) and self._reach(smaller) <= orientation.reached:
                outcome = self._boundary(smaller, self._until(self.counts.work + work))
                if outcome == "violated":
                    return outcome
                if outcome == "closed":
                    self.reached = max(self.reached, smaller)
            work *= 4

    def _until(self, work: int) -> Callable[[], bool]:
        return lambda: self.stop() or self.counts.work > work

    def _reach(self, radius: float) -> float:
        """The radius of a ball that holds the body whose boundary is looked at (norm inf: a box of floats)."""
        return _beyond(self.setting, radius) if self.setting.norm == "inf" else radius

    def _boundary(self, radius: float, stop: Callable[[], bool]) -> Outcome:
        """Pairs on the boundary of the ball; in norm inf, of the least box of floats that holds it."""
        network, tools, reach = self.network, self.tools, self._reach(radius)
        if reach > radius:
            box = around(self.setting, radius)
            setting = replace(self.setting, low=box.low[0], high=box.high[0])
            network, tools = Batches(setting), [self._tools(setting, self.descent)]
        search = PairSearch(network, tools, self.counts, self.report, boundary=True)
        return self._in_ball(search.advance(reach, stop), radius)

    def _in_ball(self, outcome: Outcome, radius: float) -> Outcome:
        """A violation in a slightly larger body says nothing."""
        return "stopped" if outcome == "violated" and not self.descent.has_within(radius) else outcome

    def _by_pairs(self, radius: float, nearer: float) -> Outcome:
        if self._pairs is None or self._pairs.nearer != nearer:
            self._pairs = PairSearch(self.network, self.tools, self.counts, self.report, nearer=nearer)
        self._pairs.clear = max(self.reached, 0.0 if self.inner is None else self.inner.reached)
        outcome = self._pairs.advance(radius, self.stop)
        if nearer == math.inf:
            self.reached = max(self.reached, self._pairs.reached)
        return outcome

    def _one_small_tree(self, radius: float) -> Outcome | None:
        """One tree for all pairs, where few neurons are open; None where that would take long."""
        if radius >= self._too_large:
            return None
        part = part_of(self.setting, radius, *self.setting.ball(radius).box)
        if not part.open or part.open > FEW_OPEN:
            return None
        outcome = self._one_tree(radius, SMALL)
        if outcome != "stopped":
            return outcome
        self._too_large = radius
        return None

    def _one_tree(self, radius: float, budget: int = MANY) -> Outcome:
        box = self.setting.ball(radius).box
        undecided = self.counts.undecided
        for tools in self.tools:
            first = part_of(tools.setting, radius, *box)
            second = center_part(tools.setting) if tools.setting.pseudo else first
            try:
                PhaseTree(tools, first, second, budget).close()
            except Violated:
                if tools is self.tools[-1]:
                    return "violated"
                continue
            except (Stopped, TooLarge):
                return "stopped"
            return "closed" if self.counts.undecided == undecided else "stopped"
        return "stopped"


def _beyond(setting: Setting, radius: float) -> float:
    """The radius itself where floats hold center ± radius, or the domain ends before; else one that reaches further."""
    box = around(setting, radius)
    exact, most = Fraction(radius), Fraction(radius)
    for c, low, high in zip(setting.exact_center, box.low[0].tolist(), box.high[0].tolist(), strict=True):
        most = max(most, c - Fraction(low), Fraction(high) - c)
    return radius if most <= exact else math.nextafter(float(most), math.inf) * (1 + 8 * SAFE)
