"""Pairs of boxes: which may hold x and y with equal constrained outputs? A search over all pairs of a ball, or of its
boundary.

A pair of boxes is closed when rows of the constrained outputs have separate ranges on them, when the secants of its
pairs have no kernel, when unknown outputs (`transform`) read nothing but neurons that are off on both, or by a tree of
phases; else the box that matters most is cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ircert.bounds.contraction import kernels_within
from ircert.engines.boxes.cutting.orientation import DEEPEST
from ircert.engines.boxes.effort.divisible import Processes, Subject, ViolationSearch
from ircert.engines.boxes.effort.scheduling import PATIENCE, Schedule
from ircert.engines.boxes.enclosures.batches import Batches, inverses
from ircert.engines.boxes.enclosures.contractions import Slopes, contractions
from ircert.engines.boxes.enclosures.cubes import MOST_FREE, kernel_free
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose, ranges
from ircert.engines.boxes.enclosures.splitting import scores, sides
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.exact_map import center_signs
from ircert.engines.boxes.problem.boxes import Boxes, around, faces, farthest, inside, joined, nearest
from ircert.engines.boxes.problem.outcome import Counts, Stopped, TooLarge, Violated
from ircert.engines.boxes.problem.setting import neurons_that_matter
from ircert.engines.boxes.problem.unknown_outputs import UnknownOutputs
from ircert.engines.boxes.trees.parts import center_part, part_of
from ircert.engines.boxes.trees.phase_tree import PhaseTree, Tools
from ircert.ir.arrays import Array, Indices, Mask

FEW_OPEN = 14
SHRINKINGS = 3
HARD = 400
"""Nodes of a tree for a pair that is known to have equal constrained outputs."""

COLUMNS = ("same", "hard", "keys", "opens", "ages", "bent")


@dataclass
class PairFrontier:
    """Pairs of boxes that are not closed; below the radius `keys` nothing is wrong in them.

    same: x and y are in one box, so that their order does not matter
    hard: pairs with equal constrained outputs are known there (for `transform`, where they need not be violations)
    bent: how far secants were from having no kernel when that was last tried, in parts of the sides of a box around
          both (pairs, inputs); 0 before
    """

    x: Boxes
    y: Boxes
    same: Mask
    hard: Mask
    keys: Array
    opens: Indices
    ages: Indices
    bent: Array

    def take(self, chosen: Indices | Mask) -> PairFrontier:
        rest = (getattr(self, name)[chosen] for name in COLUMNS)
        return PairFrontier(self.x.take(chosen), self.y.take(chosen), *rest)

    def plus(self, *others: PairFrontier) -> PairFrontier:
        all_ = (self, *others)
        rest = (np.concatenate([getattr(f, name) for f in all_]) for name in COLUMNS)
        return PairFrontier(joined([f.x for f in all_]), joined([f.y for f in all_]), *rest)


@dataclass
class PairSearch(ViolationSearch):
    """All pairs of a ball; `reached` is the radius below which none is a violation.

    tools:    trees of phases: for the constrained outputs alone (where pairs with equal constrained outputs are not yet
              violations), and for all; none where there are no phases
    boundary: only pairs of points on the boundary of the ball
    nearer:   only pairs with |x - y| at most this in every coordinate
    clear:    a radius that is known to be good: pairs inside are not looked at
    """

    network: Batches
    tools: list[Tools]
    counts: Counts
    report: Callable[[], None]
    boundary: bool = False
    nearer: float = math.inf
    clear: float = 0.0
    processes: Processes | None = None
    reached: float = 0.0
    _frontier: PairFrontier | None = field(default=None, repr=False)
    _root: float = 0.0

    def __post_init__(self) -> None:
        self.setting = self.network.setting
        self.schedule = Schedule(self.counts)
        self.matter = neurons_that_matter(self.setting)[:, None]
        self.center = center_part(self.setting) if self.setting.pseudo else None
        self.signs = center_signs(self.setting)[:, None] if self.setting.pseudo else None
        self.unknown = UnknownOutputs(self.setting)

    @property
    def descent(self) -> Descent:
        """That of the trees for all that must agree."""
        return self.tools[-1].descent

    @property
    def _batch(self) -> int:
        return self.network.batch

    @property
    def subject(self) -> Subject:
        """The settings, and which pairs are looked at."""
        settings, descents = zip(*((tools.setting, tools.descent.setting) for tools in self.tools), strict=True)
        return Subject("pairs", settings, descents, self.boundary, self.nearer)

    @property
    def _clear(self) -> float:
        return max(self.clear, self.reached)

    def begin(self, radius: float) -> None:
        if self._frontier is None or radius > self._root:
            self._start(radius)

    def _start(self, radius: float) -> None:
        pieces = self._pieces(radius)
        first, second = np.triu_indices(len(pieces))
        x, y = pieces.take(first), pieces.take(second)
        if self.setting.pseudo:
            y = Boxes(self.setting.center[None], self.setting.center[None])
        count = np.zeros(len(first), dtype=np.int64)
        same = np.asarray(first == second) if not self.setting.pseudo else np.zeros(len(first), dtype=bool)
        hard = np.full(len(first), len(self.tools) == 1)
        # small networks may go to a tree of phases at once
        ages = count + PATIENCE * self.network.size
        self._frontier = PairFrontier(
            x, y, same, hard, self._keys(x, y), count, ages, np.zeros(pieces.low[first].shape)
        )
        self._root = radius

    def _pieces(self, radius: float) -> Boxes:
        """What pairs are made of at first."""
        root = around(self.setting, radius)
        return faces(root) if self.boundary and self.setting.norm == "inf" else root

    def _keys(self, x: Boxes, y: Boxes) -> Array:
        return np.maximum(nearest(self.setting, x), nearest(self.setting, y))

    def _popped(self, radius: float, count: int) -> PairFrontier:
        """The pairs nearest to the centre; on the boundary, the last ones."""
        assert self._frontier is not None
        keys = self._frontier.keys
        order = np.arange(max(0, len(keys) - count), len(keys))
        if not self.boundary and len(keys) > count:
            order = np.argpartition(keys, count)[:count]
        chosen = np.zeros(len(keys), dtype=bool)
        chosen[order] = keys[order] < radius
        here, rest = self._frontier.take(chosen), ~chosen
        if self.boundary:  # pairs outside the ball would stand in the way of others
            rest &= keys < radius
        self._frontier = self._frontier.take(rest)
        return here.take(self._matters(here, radius))

    def _matters(self, here: PairFrontier, radius: float) -> Mask:
        if self.boundary:
            return ~inside(self.setting, here.x, radius) & ~inside(self.setting, here.y, radius)
        kept = np.maximum(farthest(self.setting, here.x), farthest(self.setting, here.y)) > self._clear
        gap = np.maximum(here.x.low - here.y.high, here.y.low - here.x.high).max(axis=1)
        return np.asarray(kept & ~(gap > self.nearer))

    # --- one wave ----------------------------------------------------------------------------------------------------

    def _worked(self, here: PairFrontier, radius: float, stop: Callable[[], bool]) -> PairFrontier:
        """What is left of some pairs."""
        self.counts.waves += 1
        self.counts.pairs += len(here.keys)
        if not len(here.keys):
            return here
        known, first, second = self._enclosed(here, radius)
        closed = np.zeros(len(here.keys), dtype=bool)
        if self.setting.unknowns:
            closed = self.unknown.agree(known.off[:, first] & known.off[:, second])
        gap = np.maximum(here.x.low - here.y.high, here.y.low - here.x.high).max(axis=1)
        apart = np.flatnonzero((gap > 0) & ~closed)
        closed[apart] = self._separate(known, first[apart], second[apart])
        rest = np.flatnonzero(~closed)
        closed[rest], weights = self._kernel_free(here.take(rest), known, first[rest], second[rest])
        weights = weights[:, ~closed[rest]]
        done = self._beyond(here.take(closed), radius)
        rest = np.flatnonzero(~closed)
        here, first, second = here.take(rest), first[rest], second[rest]
        if not len(rest):
            return done
        open_ = ~known.on & ~known.off
        opens = open_.sum(axis=0)[first] + (0 if self.setting.pseudo else open_.sum(axis=0)[second])
        ages = np.where(opens < here.opens, 0, here.ages + 1)
        good = self._in_trees(here, opens, ages, radius, stop)
        done = done.plus(self._beyond(here.take(good), radius))
        cut = np.flatnonzero(~good)
        here = here.take(cut)
        here.opens, here.ages = opens[cut], ages[cut]
        return done.plus(*self._halves(here, known.take(first[cut]), known.take(second[cut]), weights[:, cut]))

    def _beyond(self, good: PairFrontier, radius: float) -> PairFrontier:
        """Pairs that are good within the radius, as far as they go further: there they are not closed."""
        reach = np.maximum(farthest(self.setting, good.x), farthest(self.setting, good.y))
        good = good.take(np.flatnonzero(reach > radius) if not self.boundary else np.zeros(0, dtype=np.int64))
        good.keys[:] = radius
        return good

    def _enclosed(self, here: PairFrontier, radius: float) -> tuple[Enclosures, Indices, Indices]:
        """Enclosures of all different boxes, and which ones x and y have."""
        corners = np.concatenate([np.hstack([here.x.low, here.x.high]), np.hstack([here.y.low, here.y.high])])
        different, place = np.unique(corners, axis=0, return_inverse=True)
        place = place.ravel()
        n = self.network.size
        known = self._enclose(different[:, :n], different[:, n:], radius)
        return known, place[: len(here.keys)], place[len(here.keys) :]

    def _enclose(self, low: Array, high: Array, radius: float) -> Enclosures:
        return enclose(self.network, low, high, radius)

    def _separate(self, known: Enclosures, first: Indices, second: Indices) -> Mask:
        """Whether rows of the constrained outputs have ranges on both boxes that do not meet: rows that suit both, x or
        y."""
        found = np.zeros(len(first), dtype=bool)
        with np.errstate(all="ignore"):
            for share in (0.5, 1.0, 0.0):
                rest = np.flatnonzero(~found)
                if not len(rest):
                    break
                x, y = first[rest], second[rest]
                rows = telling_rows(share * known.output[..., x] + (1 - share) * known.output[..., y])
                (a, b), (c, d) = (ranges(self.network, known.take(which), rows) for which in (x, y))
                found[rest] = (np.abs(a - c) * (1 - 1e-15) > (b + d) * (1 + 1e-15)).any(axis=0)
        return found

    def _kernel_free(
        self, here: PairFrontier, known: Enclosures, first: Indices, second: Indices
    ) -> tuple[Mask, Array]:
        """Whether the secants of a pair of boxes have no kernel, and how much each neuron costs."""
        low, high = (here.x.low - here.y.high).T, (here.x.high - here.y.low).T
        still: Mask = np.asarray((low == 0) & (high == 0))
        below, above = known.low[:, second], known.high[:, second]
        if self.signs is not None:  # the exact signs at the centre: 0 leaves the slope to x
            below, above = (
                np.where(self.signs >= 0, np.fmax(below, 0.0), below),
                np.where(self.signs <= 0, np.fmin(above, 0.0), above),
            )
        slopes = self._slopes((known.low[:, first], below), (known.high[:, first], above), still)
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        # J has no kernel at all, or none among the vectors that are 0 in the still coordinates: either is enough.
        flat = still.any(axis=0)
        closed, weights = self._contracted(slopes.moving(), low, high)
        rest = np.flatnonzero(flat & ~closed)
        if len(rest):
            closed[rest], _ = self._contracted(slopes.take(rest), low[:, rest], high[:, rest])
        return closed, weights

    def _slopes(self, low: tuple[Array, Array], high: tuple[Array, Array], still: Mask) -> Slopes:
        """Slopes of secants from bounds on neurons at x and y."""
        return Slopes.between(low, high, self.matter, still)

    def _contracted(self, slopes: Slopes, low: Array, high: Array) -> tuple[Mask, Array]:
        """Whether secants with these slopes have no kernel, at least not between low and high."""
        found = contractions(self.network, slopes)
        if self.network.constrained < self.network.size:
            return np.zeros(low.shape[1], dtype=bool), found.weights
        closed = found.proved | kernels_within(found.bounds, low, high, SHRINKINGS)[1]
        few = np.flatnonzero(~closed & (slopes.wide <= MOST_FREE))
        if len(few):
            self.counts.slopes += len(few)
            closed[few] = kernel_free(self.network, slopes.take(few), found.take(few))
        return closed, found.weights

    def _in_trees(
        self, here: PairFrontier, opens: Indices, ages: Indices, radius: float, stop: Callable[[], bool]
    ) -> Mask:
        """Pairs that are closed within the ball by trees of phases; marks those that turn out to be hard."""
        good = np.zeros(len(opens), dtype=bool)
        if not self.tools:
            return good
        for i in self.schedule.turns(opens <= FEW_OPEN, ages, self.network.size, 2 * DEEPEST, stop):
            good[i] = self._in_tree(here, i, radius, stop)
        return good

    def _in_tree(self, here: PairFrontier, i: int, radius: float, stop: Callable[[], bool]) -> bool:
        tools = self.tools[-1] if here.hard[i] else self.tools[0]
        x = part_of(tools.setting, radius, here.x.low[i], here.x.high[i])
        y = x if here.same[i] else part_of(tools.setting, radius, here.y.low[i], here.y.high[i])
        # cutting a hard pair only makes more of them
        nodes = max(self.schedule.nodes, HARD if len(self.tools) > 1 and here.hard[i] else 0)
        tree = PhaseTree(tools, x, y if self.center is None else self.center)
        try:
            tree.close(nodes, stop)
        except TooLarge:
            self.schedule.was_too_large()
            return False
        except Violated:
            if here.hard[i]:
                raise
            here.hard[i] = True
            return self._in_tree(here, i, radius, stop)
        if tree.undecided:
            raise Stopped
        return True

    def _halves(self, here: PairFrontier, x: Enclosures, y: Enclosures, weights: Array) -> list[PairFrontier]:
        """Both halves of one box of every pair."""
        gains_x, gains_y = self._gains(x, weights), self._gains(y, weights)
        wide_x, wide_y = sides(gains_x, here.x.widths.T), sides(gains_y, here.y.widths.T)
        side_x, side_y = np.argmax(wide_x, axis=0), np.argmax(wide_y, axis=0)
        first = here.same | self._cut_first(here, gains_x, gains_y)
        parts: list[PairFrontier] = []
        alone = here.take(here.same)
        if len(alone.keys):
            left, right = alone.x.halves(side_x[here.same])
            parts += [self._child(alone, left, left), self._child(alone, right, right)]
            mixed = self._child(alone, left, right)
            mixed.same = np.zeros_like(mixed.same)
            parts.append(mixed)
        for chosen, cut_x in ((first & ~here.same, True), (~first, False)):
            pairs = here.take(chosen)
            if len(pairs.keys):
                halves = (pairs.x if cut_x else pairs.y).halves((side_x if cut_x else side_y)[chosen])
                parts += [self._child(pairs, h if cut_x else pairs.x, pairs.y if cut_x else h) for h in halves]
        return parts

    def _gains(self, known: Enclosures, weights: Array) -> Array:
        """How much is gained by cutting each side of boxes (inputs, boxes)."""
        return scores(known, weights)

    def _cut_first(self, here: PairFrontier, gains_x: Array, gains_y: Array) -> Mask:
        """Whether x is the box to cut: the one with more to gain, unless it is far smaller already."""
        if self.setting.pseudo:
            return np.ones(len(here.keys), dtype=bool)
        long_x, long_y = here.x.widths.max(axis=1), here.y.widths.max(axis=1)
        more = gains_x.sum(axis=0) >= gains_y.sum(axis=0)
        return np.where(long_x > 4 * long_y, True, np.where(long_y > 4 * long_x, False, more))

    def _child(self, parent: PairFrontier, x: Boxes, y: Boxes) -> PairFrontier:
        keys = np.maximum(parent.keys, self._keys(x, y))
        return PairFrontier(x, y, parent.same, parent.hard, keys, parent.opens, parent.ages, parent.bent)


def telling_rows(slope: Array) -> Array:
    """Rows (constrained, rows, pairs) that tell points apart where the slope (constrained, inputs, pairs) is about
    this.

    They are those of its inverse and, with more constrained outputs than inputs, of what is orthogonal to it.
    """
    m, n = slope.shape[:2]
    unit = np.eye(m)[:, :, None]
    if m < n:
        return np.repeat(unit, slope.shape[2], axis=2)
    found, good = inverses(slope)
    found = np.where(good, found, unit[:n])
    if m > n:
        across = np.where(good, unit - np.einsum("mjb,jkb->mkb", slope, found), unit)
        found = np.concatenate([found, across])
    return np.ascontiguousarray(np.swapaxes(found, 0, 1))
