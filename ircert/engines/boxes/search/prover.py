"""Which balls are good: by one matrix, by degree, or pair by pair; and whether the whole space is, by one matrix.

One matrix (`one_matrix`) looks at points alone, and mostly wins. Degree, where there are as many constrained outputs as
inputs: let f be continuous on a ball and piecewise linear, with all regions inside of one orientation, and let it tell
the points of the boundary apart. Then f is injective on the ball: a value has as many preimages inside as its degree,
which is 0 outside the image of the boundary, a sphere, and 1 or -1 inside. So the inside is searched for single
regions, and only the boundary for pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ircert.engines.boxes.cutting.orientation import Orientation
from ircert.engines.boxes.cutting.pair_search import PairSearch
from ircert.engines.boxes.effort.divisible import Processes
from ircert.engines.boxes.effort.portfolio import Portfolio, Stop, Way
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import MOST_INPUTS
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.falsification.falsifier import Falsifier
from ircert.engines.boxes.falsification.work import FARTHEST
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.everywhere import Everywhere, busy_radius
from ircert.engines.boxes.one_matrix.layer_weights import holds_by_layers
from ircert.engines.boxes.one_matrix.ray_cover import alike, covering_of
from ircert.engines.boxes.problem.boxes import around, reach_of_box
from ircert.engines.boxes.problem.inner_map import InnerMap
from ircert.engines.boxes.problem.outcome import NODE_BEYOND, Counts, Outcome, Violated
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.search import arguments
from ircert.engines.boxes.search.ball_secants import closed_by_secants
from ircert.engines.boxes.search.growing_trees import GrowingTrees
from ircert.engines.boxes.trees.cell_tree import CellTree
from ircert.engines.boxes.trees.phase_tree import Tools
from ircert.engines.boxes.trees.signed_tree import SignedTree
from ircert.engines.boxes.trees.whole import FEW_BEYOND, FEW_OPEN, MOST_CUT, WholeCells, WholeTree, few_open, most_open
from ircert.ir.arrays import Array
from ircert.limits import OutOfTime

MANY_INPUTS = 64
"""With more inputs one matrix for all slopes is tried before intervals of secants, which take as long and show less."""
FEW_INPUTS = 4
"""With more inputs a ball is not begun that one matrix is expected to take too long for."""
LEAST_FOR_TREE = 3
"""With fewer inputs boxes are cut in no time, and one tree for balls of all sizes takes longer."""
WORK = 10_000
"""Boxes and pairs, a node of a tree counting for many, before a smaller boundary is tried for a while."""
STEP = 0.01
"""How much larger than a good ball the next one is at least."""
MATRIX = {1: 1.0, 2: 2.0}
MATRIX_BEYOND = 8.0
"""How much more than other ways one matrix gets, by the number of inputs: points where others look for pairs."""
TREE = 2.0
"""… and trees of phases for whole balls, where few neurons are open."""
TREE_OF_FEW, MATRIX_BESIDE_TREE = 8.0, 0.25
"""… beside which one matrix gets no more, with many inputs and few neurons: to find one takes seconds then …"""
MATRIX_BEYOND_TREE = 2.0
"""… or this, with many of both: boxes take about as long as nodes."""
DEAR_NODES, DEAR_SIGNED = 16.0, 2.0
"""How much longer nodes of trees take where there are few neurons, and more outputs than inputs; if they know signs."""


@dataclass
class Prover:
    """Proves one ball after the other; `reached` is the radius of the largest that is good.

    injective: for `transform`, the constrained outputs alone: where they tell points apart nothing else matters
    stop:      whether time is over, also inside trees
    processes: who shares large frontiers, if anyone does
    follow:    who follows up points beyond folds that one matrix meets, if it is somebody else
    """

    setting: Setting
    descent: Descent
    counts: Counts
    stop: Callable[[], bool]
    report: Callable[[], None]
    injective: Setting | None = None
    reached: float = 0.0
    processes: Processes | None = None
    follow: Callable[[Array], None] | None = None
    argument: str = ""
    """What proves the ball of the radius `reached`."""
    orientation: Orientation | None = None
    _pairs: PairSearch | None = field(default=None, repr=False)
    _boundaries: dict[float, PairSearch] = field(default_factory=dict, repr=False)
    _ways: dict[float, Portfolio] = field(default_factory=dict, repr=False)
    _insides: dict[float, Portfolio] = field(default_factory=dict, repr=False)
    _tree: Way | None = field(default=None, repr=False)
    """That for the ball that was asked about last, if few neurons are open there."""

    def __post_init__(self) -> None:
        if self.setting.size > MOST_CUT:
            self.counts.node = NODE_BEYOND
        self.network = Batches(self.setting)
        self.tools = [Tools.of(self.setting, self.descent, self.counts)]
        self.inner: Prover | None = None
        if self.injective is not None:
            own = Descent(self.injective, ExactMaps(self.injective), self.descent.goes_on)
            self.inner = Prover(self.injective, own, self.counts, self.stop, self.report, processes=self.processes)
            self.tools.insert(0, self.inner.tools[0])
        if self.setting.problem == "local" and self.setting.constrained == self.setting.size <= min(
            MOST_CUT, MOST_INPUTS
        ):
            falsifier = Falsifier(self.setting, self.descent)
            if falsifier.reference:
                # a ball on which the map is injective has one orientation
                given = self.network, falsifier, self.counts, self.report
                self.orientation = Orientation(*given, self.reached, self.processes)
        self.inner_map = InnerMap.of(self.setting, MOST_CUT) if self.setting.size > MOST_CUT else None
        self.reduced = None if self.inner_map is None else self._reduced(self.inner_map)
        self.covering: Covering | None = None
        enough = self.setting.problem != "transform" and self.setting.constrained >= self.setting.size
        if enough and self.reduced is None:
            self.covering = covering_of(self.network, self.counts, self.report, self.processes)

    def _reduced(self, inner_map: InnerMap) -> Prover:
        """Who proves that few neurons follow from the outputs, in the place of one matrix for all inputs."""
        own = Descent(inner_map.setting, ExactMaps(inner_map.setting), self.descent.goes_on)
        given = self.counts, self.stop, self.report
        return Prover(inner_map.setting, own, *given, processes=self.processes, follow=self._follow_lifted)

    def _follow_lifted(self, points: Array) -> None:
        if self.follow is not None and self.inner_map is not None:
            self.follow(self.inner_map.points(points))

    def prove(
        self, radius: float, *, nearer: float = math.inf, stop: Stop | None = None, effort: float = math.inf
    ) -> Outcome:
        """Whether the closed ball is good; with `nearer`, as far as pairs at most that far apart are concerned.

        Asked again about the same ball, it goes on. With many inputs, what is expected to take more than an effort is
        not begun.
        """
        stop = self.stop if stop is None else stop
        self._allow(effort)
        try:
            return self._proved(radius, nearer, stop)
        except OutOfTime:  # in the middle of something, all of which stays open
            return "stopped"

    def _allow(self, effort: float) -> None:
        """What a cover by one matrix may take; with few inputs there are other ways, and nothing is known before."""
        if self._other is not None:
            self._other._allow(effort)
        if self.covering is not None:
            self.covering.effort, self.covering.expected = self._worth(effort), 0.0  # what was said of another ball

    @property
    def _other(self) -> Prover | None:
        """Who is asked about another network, if somebody is."""
        return self.inner or self.reduced

    def _worth(self, effort: float) -> float:
        return effort if self.setting.size > FEW_INPUTS else math.inf

    @property
    def too_long(self) -> float | None:
        """How many boxes the last ball takes, if that is more than the effort it was given."""
        own = None if self.covering is None else self.covering.too_long
        return self._other.too_long if own is None and self._other is not None else own

    @property
    def guess(self) -> float | None:
        """How many boxes the last ball takes, as far as is known; None where nothing is."""
        own = None if self.covering is None else self.covering.guess or None
        return self._other.guess if own is None and self._other is not None else own

    @property
    def busy(self) -> float:
        """The radius within which many neurons switch; infinite where the whole space cannot be proved."""
        if self.inner is not None:
            return self.inner.busy
        return busy_radius(self.setting) if Everywhere.applies(self.setting) else math.inf

    @cached_property
    def everywhere(self) -> Everywhere | None:
        """Who proves the whole space, where that is asked about: made when it is first needed, which takes a while."""
        applies = Everywhere.applies(self.setting)
        return Everywhere(self.setting, self.counts, self.report) if applies else None

    @property
    def is_free_of_kernels(self) -> bool:
        """Whether no secant has a kernel, with so many inputs that this is worth knowing before any ball."""
        return bool(self._for_all_slopes)

    @cached_property
    def _for_all_slopes(self) -> str:
        """Why that is so; empty where it is not known."""
        if self.inner is not None:
            return self.inner._for_all_slopes
        if self.setting.size <= MOST_CUT:
            return ""
        ways: list[tuple[Callable[[], bool], str]] = [
            (lambda: self.tools[0].has_no_kernel_anywhere, arguments.ALL_SECANTS),
            (lambda: holds_by_layers(self.network, self.tools[0].secants), arguments.ALL_SLOPES),
        ]
        ordered = ways[::-1] if self.setting.size > MANY_INPUTS else ways
        return next((why for holds, why in ordered if holds()), "")

    @property
    def has_few_neurons(self) -> bool:
        """Whether trees are tried for balls of any size, with many inputs."""
        return self.setting.size > MOST_CUT and int(self.tools[0].matter.sum()) <= most_open(self.setting)

    @property
    def grows_one_tree(self) -> bool:
        """Whether one tree serves balls of all sizes; with few inputs, only where there are as many outputs or more."""
        setting = self.setting
        few = setting.size >= LEAST_FOR_TREE and int(self.tools[0].matter.sum()) <= FEW_BEYOND
        few &= setting.constrained == setting.size or SignedTree.suits(self.tools[0])
        return len(self.tools) == 1 and (self.has_few_neurons or few)

    @property
    def _leads_by_one_tree(self) -> bool:
        """Whether one tree for balls of all sizes is expected to win: with few inputs and more outputs, if neurons are
        few as well."""
        few = self.setting.constrained == self.setting.size or int(self.tools[0].matter.sum()) <= FEW_OPEN
        return self.grows_one_tree and (self.has_few_neurons or few)

    def fits_a_tree(self, radius: float) -> bool:
        """Whether one tree is what a ball takes, so that smaller ones lead nowhere: where trees take balls of any size,
        and for a `transform`, whose violations lie among collisions of the givens: boxes close hardly a pair there."""
        hard = self.inner is not None and few_open(self.setting, min(radius, FARTHEST))
        return self.has_few_neurons or self._leads_by_one_tree or hard

    @property
    def dearness(self) -> float:
        """How much longer effort takes than elsewhere: trees with more outputs than inputs have nodes that do."""
        dear = self.has_few_neurons and self.setting.constrained > self.setting.size
        return (DEAR_SIGNED if SignedTree.suits(self.tools[0]) else DEAR_NODES) if dear else 1.0

    @property
    def is_saturated(self) -> bool:
        """Whether larger balls than the one that was reached are hardly harder, for trees with many inputs."""
        return self.setting.size > MOST_CUT and self.tools[0].all_open(self.reached)

    @property
    def alike(self) -> float:
        """The radius up to which all balls are as hard, if any are."""
        own = 0.0 if self.covering is None else alike(self.covering)
        return own if self._other is None else self._other.alike

    def prove_everywhere(self, stop: Stop, effort: float = math.inf) -> Outcome:
        """Whether the whole space is good; asked again, it goes on. As for balls, not much more than an effort."""
        if self.inner is not None:
            outcome = self.inner.prove_everywhere(stop, effort)
            if outcome == "closed":
                self._reach_to(math.inf, f"{arguments.GIVEN_OUTPUTS}: {self.inner.argument}")
            return outcome
        if not Everywhere.applies(self.setting):
            return "stopped"
        if self.is_free_of_kernels:
            self._reach_to(math.inf, self._for_all_slopes)
            return "closed"
        if self.reduced is not None:
            outcome = self.reduced.prove_everywhere(stop, effort)
            self._reach_to(self.reduced.reached if outcome == "closed" else 0.0, self._by_reduced)
            return outcome
        if self.everywhere is None:
            return "stopped"
        try:
            outcome = self.everywhere.advance(stop, self._worth(effort))
        except OutOfTime:
            return "stopped"
        if outcome == "closed":
            self._reach_to(math.inf, arguments.EVERYWHERE)
        return outcome

    @property
    def left_everywhere(self) -> float:
        """What a proof of the whole space that was begun is expected to take; infinite where none was."""
        if self._other is not None:
            return self._other.left_everywhere
        made: Everywhere | None = self.__dict__.get("everywhere")
        return math.inf if made is None else made.left

    def turned(self) -> list[Array]:
        """Points beyond folds that were met since this was asked last."""
        found, covering = [], self.covering
        if covering is not None:
            found, covering.turned = [*map(covering.points.places, covering.turned)], []
        everywhere = self.__dict__.get("everywhere")
        if everywhere is not None:
            found = [*found, *everywhere.turned()]
        if self.reduced is not None and self.inner_map is not None:
            found = [*found, *map(self.inner_map.points, self.reduced.turned())]
        return found

    def _proved(self, radius: float, nearer: float, stop: Stop) -> Outcome:
        if nearer < math.inf:
            return self._by_pairs(radius, nearer, stop)
        if self.descent.has_within(radius):
            return "violated"
        if radius not in self._ways:
            self._tree = None
            self._ways = {radius: Portfolio(self.counts, self._ways_for(radius))}
        outcome = self._ways[radius].advance(lambda: stop() or self.too_long is not None)
        if outcome == "stopped" and self._tree is not None and self.too_long is not None:
            outcome = self._tree(stop)
        if outcome == "stopped" and not stop() and self.too_long is None:  # all ways have given up
            outcome = self._at_last(radius, stop)
        return outcome

    def _at_last(self, radius: float, stop: Stop) -> Outcome:
        """What has an end, however far away it is."""
        if self.orientation is not None:
            return self._by_pairs(radius, math.inf, stop)
        if self.setting.size > MOST_CUT and len(self.tools) == 1 and not few_open(self.setting, radius):
            return self._by_growing_trees(radius, stop, at_last=True)
        return "stopped"

    def _reach_to(self, radius: float, argument: str) -> None:
        """A ball is good."""
        if radius > self.reached:
            self.reached, self.argument = radius, argument

    def _ways_for(self, radius: float) -> list[tuple[Way, float]]:
        """One matrix, boxes by degree or in pairs, one tree for all pairs; for `transform` also the givens alone."""
        ways: list[tuple[Way, float]] = []
        share = MATRIX.get(self.setting.size, MATRIX_BEYOND)
        if self.inner is not None:
            ways.append((lambda stop: self._by_constrained_outputs(radius, stop), share))
        if self.covering is not None:
            ways.append((lambda stop: self._by_matrix(radius, stop), share))
        if self.reduced is not None:
            ways.append((lambda stop: self._by_inner_map(radius, stop), share))
        if self.setting.size <= MOST_CUT:
            boxes = self._by_degree if self.orientation is not None else self._by_all_pairs
            ways.append((lambda stop: boxes(radius, stop), 1.0))
        if not ways or few_open(self.setting, radius) or self.grows_one_tree:
            self._tree = self._tree_for(radius)
            first = self.setting.size > MOST_CUT and self.reduced is None
            few = first and self.has_few_neurons
            if first:
                share = MATRIX_BESIDE_TREE if few else MATRIX_BEYOND_TREE
                ways = [(way, share) for way, _ in ways]
            ways.insert(0 if few else len(ways), (self._tree, TREE_OF_FEW if few or self._leads_by_one_tree else TREE))
        if self.setting.size > MOST_CUT:
            ways.insert(0, (lambda _: self.by_secants(radius), 1.0))
        return ways

    def by_secants(self, radius: float) -> Outcome:
        """At once, or not at all: where few neurons switch, that takes less than looking for a matrix."""
        try:
            if closed_by_secants(self.tools[0], radius):
                self._reach_to(radius, arguments.SECANTS)
            elif self.is_free_of_kernels:
                self._reach_to(math.inf, self._for_all_slopes)
            else:
                return "stopped"
        except OutOfTime:
            return "stopped"
        return "closed"

    def _tree_for(self, radius: float) -> Way:
        """Those of all balls, where trees are tried for balls of any size; else one for this ball."""
        if self.grows_one_tree:
            return lambda stop: self._by_growing_trees(radius, stop)
        whole = WholeTree(self.tools, radius)
        return lambda stop: self._by_tree(whole, stop)

    def _by_tree(self, whole: WholeTree, stop: Stop) -> Outcome:
        outcome = whole.advance(stop)
        if outcome == "closed":
            self._reach_to(whole.radius, arguments.PHASES)
        return outcome

    @cached_property
    def _trees(self) -> GrowingTrees:
        return GrowingTrees(self.tools[0], self.counts)

    def _by_growing_trees(self, radius: float, stop: Stop, *, at_last: bool = False) -> Outcome:
        outcome = self._trees.advance(radius, stop, at_last=at_last)
        self._reach_to(self._trees.reached, arguments.PHASES)
        return outcome

    def _by_all_pairs(self, radius: float, stop: Stop) -> Outcome:
        return self._by_pairs(radius, math.inf, stop)

    def _by_constrained_outputs(self, radius: float, stop: Stop) -> Outcome:
        """Where the constrained outputs tell points apart nothing else matters; where they do not, nothing is said."""
        assert self.inner is not None
        outcome = self.inner.prove(radius, stop=stop)
        self._reach_to(self.inner.reached, f"{arguments.GIVEN_OUTPUTS}: {self.inner.argument}")
        return "closed" if outcome == "closed" else "stopped"

    def _by_matrix(self, radius: float, stop: Stop) -> Outcome:
        """One matrix for the whole ball; a smaller ball that it covers is good as well."""
        assert self.covering is not None
        outcome = self.covering.advance(radius, stop)
        self._reach_to(self.covering.reached, arguments.ONE_MATRIX)
        return "violated" if outcome == "stopped" and self._turned_to_violation(radius) else outcome

    def _by_inner_map(self, radius: float, stop: Stop) -> Outcome:
        """The few neurons that read the inputs; a violation of theirs need not have points in the ball."""
        assert self.reduced is not None
        assert self.inner_map is not None
        outcome = self.reduced.prove(self.inner_map.radius(radius), stop=stop)
        self._reach_to(self.inner_map.reached(self.reduced.reached), self._by_reduced)
        return "closed" if outcome == "closed" else "stopped"

    @property
    def _by_reduced(self) -> str:
        return "" if self.reduced is None else f"{arguments.FEW_READ}: {self.reduced.argument}"

    def _turned_to_violation(self, radius: float) -> bool:
        """Whether points beyond folds that were met lead to a violation in the ball."""
        turned = self.turned()
        if not turned:
            return False
        points = np.concatenate(turned)
        if self.follow is not None:
            self.follow(points)
        elif self.orientation is not None:
            with suppress(Violated):
                self.orientation.falsifier.look(points, radius)
        return self.descent.has_within(radius)

    def _by_degree(self, radius: float, stop: Stop) -> Outcome:
        """The inside, then the boundary; where the inside is hard, smaller boundaries come in between."""
        assert self.orientation is not None
        work = WORK
        while True:
            until = self._until(self.counts.work + work, stop)
            outcome = self._inside(radius, until)
            if outcome == "closed":
                outcome = self._boundary(radius, stop)
                if outcome == "closed":
                    self._reach_to(radius, arguments.DEGREE)
                return outcome
            if outcome == "violated" or stop() or not until():
                return self._in_ball(outcome, radius)
            smaller = self.orientation.reached * (1 - STEP / 2)
            if smaller > self.reached * (1 + STEP) and self._reach(smaller) <= self.orientation.reached:
                outcome = self._boundary(smaller, self._until(self.counts.work + work, stop))
                if outcome == "violated":
                    return outcome
                if outcome == "closed":
                    self._reach_to(smaller, arguments.DEGREE)
            work *= 4

    def _inside(self, radius: float, stop: Stop) -> Outcome:
        """Whether all regions inside turn like home: one tree, or boxes."""
        assert self.orientation is not None
        orientation, reach = self.orientation, self._reach(radius)
        if reach <= orientation.reached:
            return "closed"
        if radius not in self._insides:
            ways: list[tuple[Way, float]] = [(lambda until: orientation.advance(reach, until), 1.0)]
            if few_open(self.setting, reach):
                tree = CellTree(self.network, orientation.falsifier, self.counts)
                ways.append((WholeCells(tree, reach).advance, TREE))
            self._insides = {radius: Portfolio(self.counts, ways)}
        outcome = self._insides[radius].advance(stop)
        if outcome == "closed":
            orientation.reached = max(orientation.reached, reach)
        return outcome

    def _until(self, work: int, stop: Stop) -> Stop:
        return lambda: stop() or self.counts.work > work

    def _reach(self, radius: float) -> float:
        """The radius of a ball that holds the body whose boundary is looked at (norm inf: a box of floats)."""
        return reach_of_box(self.setting, radius) if self.setting.norm == "inf" else radius

    def _boundary(self, radius: float, stop: Stop) -> Outcome:
        """Pairs on the boundary of the ball; in norm inf, of the least box of floats that holds it."""
        reach = self._reach(radius)
        if radius not in self._boundaries:
            network, tools = self.network, self.tools
            if reach > radius:
                box = around(self.setting, radius)
                setting = replace(self.setting, place=self.setting.place.within(box.low[0], box.high[0]))
                network, tools = Batches(setting), [Tools.of(setting, self.descent, self.counts)]
            search = PairSearch(network, tools, self.counts, self.report, boundary=True, processes=self.processes)
            self._boundaries = {radius: search}
        return self._in_ball(self._boundaries[radius].advance(reach, stop), radius)

    def _in_ball(self, outcome: Outcome, radius: float) -> Outcome:
        """A violation in a slightly larger body says nothing."""
        return "stopped" if outcome == "violated" and not self.descent.has_within(radius) else outcome

    def _by_pairs(self, radius: float, nearer: float, stop: Stop) -> Outcome:
        if self._pairs is None or self._pairs.nearer != nearer:
            given = self.network, self.tools, self.counts, self.report
            self._pairs = PairSearch(*given, nearer=nearer, processes=self.processes)
        self._pairs.clear = max(self.reached, 0.0 if self.inner is None else self.inner.reached)
        outcome = self._pairs.advance(radius, stop)
        if nearer == math.inf:
            self._reach_to(self._pairs.reached, arguments.PAIRS)
        return outcome
