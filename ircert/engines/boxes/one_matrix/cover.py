"""A ball covered by boxes that one matrix closes: its points lie in regions with sym(C J) positive definite.

All boxes are closed with the same C: two halves with two matrices say nothing about pairs across them. What fails is
kept for whoever makes a better matrix: points of regions where C is wrong, and corners of slopes where it may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ircert.engines.boxes.effort.divisible import MOST, Divisible, Processes, Subject
from ircert.engines.boxes.effort.scheduling import Schedule
from ircert.engines.boxes.enclosures.batches import LEAST, Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix.cuts import FEW_INPUTS, cuts_at_once, gains_of, halves
from ircert.engines.boxes.one_matrix.definite_tree import DefiniteTree
from ircert.engines.boxes.one_matrix.domination import Closed, OneMatrix
from ircert.engines.boxes.one_matrix.foresight import Foresight
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.boxes import Boxes, around, beyond, farthest, joined, nearest, trimmed
from ircert.engines.boxes.problem.outcome import Counts, TooLarge, Violated
from ircert.engines.boxes.trees.parts import part_of
from ircert.ir.arrays import Array, Indices, Mask

MOST_CORNERS = 300
"""Corners that are kept, of boxes that failed."""
LOOKED_AT = 128
"""Boxes of a wave in which points are looked at, and regions that are: C may be wrong there."""
ENOUGH = 3
"""Points where C is wrong after which it is given up."""
CUBES = 500_000
"""Boxes of a wave times the cube of the number of inputs, which eigenvalues take."""
FAR = 3
"""Of so many waves one has the boxes farthest away: C fails there if anywhere, and that is known early then."""
LARGER = 1.1
"""How many times as large a ball may be whose boxes serve a smaller one."""
FEW_OPEN, DEEP = 12, 6
"""Boxes with at most so many open neurons may go to a tree of phases, when every side was cut more often than that."""


@dataclass
class Frontier:
    """Boxes that are not closed; below the radius `keys` they have no points; `depths` counts their cuts; `excess` is
    what is expected of them (`foresight`), if anything is."""

    boxes: Boxes
    keys: Array
    depths: Indices
    excess: Array

    @staticmethod
    def fresh(boxes: Boxes, keys: Array, depths: Indices) -> Frontier:
        """Boxes of which nothing is expected."""
        return Frontier(boxes, keys, depths, np.full(len(boxes), np.nan))

    def take(self, chosen: Indices | Mask) -> Frontier:
        """Some of them."""
        return Frontier(self.boxes.take(chosen), self.keys[chosen], self.depths[chosen], self.excess[chosen])

    def plus(self, *others: Frontier) -> Frontier:
        """These and others."""
        all_ = (self, *others)
        rest = (np.concatenate([getattr(f, name) for f in all_]) for name in ("keys", "depths", "excess"))
        return Frontier(joined([f.boxes for f in all_]), *rest)


class MatrixFails(Violated):
    """Regions of the ball have directions in which C J is not positive; `failing` has points of them."""


@dataclass(frozen=True, eq=False)
class Failures:
    """What a share of a cover taught: boxes that were looked at, points where C is wrong, and corners."""

    spent: int
    failing: list[Array]
    corners: list[tuple[Array, Array]]


@dataclass
class Cover(Divisible):
    """The search with one matrix; `reached` is the radius of the largest ball that it proves.

    A wave or round that ends early leaves its boxes open; it is "violated" where C is wrong, which says nothing bad
    about the ball.

    roots:   the boxes to begin with; by default the one around the ball
    by_size: the largest boxes come first, to see where C is bad; else those nearest to the centre
    spent:   how many boxes were looked at; inner: … and before, for smaller balls with the same matrix
    failing: points where C is wrong
    corners: slopes of corners where it may be (count, neurons), and from which radius on each may be met
    """

    matrix: OneMatrix
    points: Points
    counts: Counts
    report: Callable[[], None]
    processes: Processes | None = None
    roots: Boxes | None = None
    by_size: bool = False
    spent: int = 0
    inner: int = 0
    reached: float = 0.0
    failing: list[Array] = field(default_factory=list, repr=False)
    corners: list[tuple[Array, Array]] = field(default_factory=list, repr=False)
    _frontier: Frontier | None = field(default=None, repr=False)
    _root: float = 0.0
    _turn: int = 0
    _foresight: Foresight = field(default_factory=Foresight, repr=False)

    @property
    def network(self) -> Batches:
        """The network."""
        return self.matrix.network

    @property
    def _batch(self) -> int:
        return min(self.network.batch, max(LEAST, CUBES // self.network.size**3))

    @property
    def subject(self) -> Subject:
        """The setting, and all of the matrix that another process needs to close boxes as this one does."""
        made = self.matrix
        if type(made) is not OneMatrix:
            raise TypeError(f"covers with {type(made).__name__} are not shared")
        return Subject(
            "cover", (made.network.setting,), matrix=tuple(map(tuple, made.matrix.tolist())), least=made.least
        )

    def open_share(self, radius: float) -> float:
        """How much of the box around the ball is not closed."""
        assert self._frontier is not None
        return float(np.exp2(-self._frontier.depths[self._frontier.keys < radius].astype(np.float64)).sum())

    def left_of(self, radius: float) -> float:
        """How many boxes it will still take, as far as those it has say."""
        assert self._frontier is not None
        return 4.0 * float((self._frontier.keys < radius).sum())

    def some_open(self, radius: float, most: int) -> tuple[Frontier, float]:
        """Some of the boxes of a ball that are open, and how many of them each stands for."""
        assert self._frontier is not None
        below = np.flatnonzero(self._frontier.keys < radius)
        chosen = below[self.points.chosen(len(below), most)]
        return self._frontier.take(chosen), len(below) / max(1, len(chosen))

    @property
    def is_full(self) -> bool:
        """Whether there are more boxes than memory should hold, or one whose distance is no number: nothing goes on."""
        assert self._frontier is not None
        return len(self._frontier.keys) > MOST or bool(np.isnan(self._frontier.keys).any())

    def holds(self, radius: float) -> bool:
        """Whether the cover is of a ball at least that large, and hardly larger: boxes of a ball that was too large are
        too many, and its matrix is for more than has to be."""
        return self._frontier is not None and radius <= self._root <= LARGER * radius

    def for_larger(self) -> Cover:
        """A cover of larger balls with the same matrix, which looks at what lies outside of the ball proved here."""
        given = self.matrix, self.points, self.counts, self.report
        made = type(self)(*given, roots=self.roots, reached=self.reached)
        made.inner = self.inner + self.spent
        made._foresight = self._foresight
        return made

    def begin_with(self, frontier: Frontier, radius: float) -> None:
        """Start from what another cover of the ball with the same matrix has left."""
        self._frontier, self._root = frontier, radius

    def begin(self, radius: float) -> None:
        """Start from the roots; what is closed is not looked at again."""
        if self._frontier is None or radius > self._root:
            self._frontier, self._root = self.roots_of(radius), radius

    def roots_of(self, radius: float) -> Frontier:
        """What a cover of a ball begins with."""
        roots = around(self.network.setting, radius) if self.roots is None else self.roots
        return Frontier.fresh(roots, np.zeros(len(roots)), np.zeros(len(roots), dtype=np.int64))

    def cut(self, here: Frontier, radius: float) -> tuple[Mask, Frontier]:
        """Which boxes are closed, and the halves of the others: all first ones, then all second ones."""
        known, found = self._tested(here, radius)
        rest = np.flatnonzero(~found.closed)
        left, known, weights = here.take(rest), known.take(rest), found.weights[:, rest]
        if len(rest):
            self._look(left, known, weights, radius)
            self._keep(found.corners, here.keys[found.cornered])
        gains = gains_of(known, weights, found.sides, rest)
        return found.closed, self._halves(left, known, gains, radius, 1, found.excess[rest])

    def _round(self, processes: Processes, radius: float) -> None:
        super()._round(processes, radius)
        self._judge()

    def _told(self) -> None:
        """Nothing: what failed elsewhere is known there."""

    def _hear(self, told: None) -> None:
        self.spent, self.failing, self.corners = 0, [], []

    def _found(self) -> Failures:
        return Failures(self.spent, self.failing, self.corners)

    def _learn(self, found: Failures) -> None:
        self.spent += found.spent
        self.failing += found.failing
        for slopes, radii in found.corners:
            self._remember(slopes, radii)

    def _popped(self, radius: float, count: int) -> Frontier:
        assert self._frontier is not None
        whole = self._frontier
        below = np.flatnonzero(whole.keys < radius)
        if len(below) > count:
            self._turn += 1
            order = whole.depths[below] if self.by_size else whole.keys[below]
            if self._turn % FAR == 0:
                order = -order
            below = below[np.argpartition(order, count)[:count]]
        chosen = np.zeros(len(whole.keys), dtype=bool)
        chosen[below] = True
        here, self._frontier = whole.take(chosen), whole.take(~chosen)
        return here.take(self.matters(here))

    def matters(self, here: Frontier) -> Mask:
        """Which boxes have points outside of the ball that is proved."""
        return np.asarray(self.farthest(here.boxes) > self.reached)

    def nearest(self, boxes: Boxes) -> Array:
        """Lower bounds on the distances of boxes from the centre."""
        return nearest(self.network.setting, boxes)

    def farthest(self, boxes: Boxes) -> Array:
        """Upper bounds on those of their farthest points."""
        return farthest(self.network.setting, boxes)

    def fitted(self, boxes: Boxes, radius: float) -> Boxes:
        """Boxes that hold all points of the given ones in the ball and outside of the one that is proved."""
        return beyond(self.network.setting, trimmed(self.network.setting, boxes, radius), self.reached)

    def _worked(self, here: Frontier, radius: float, stop: Callable[[], bool]) -> Frontier:
        """What is left of some boxes: their halves, or what lies beyond the radius."""
        if not len(here.keys):
            return here
        known, found = self._tested(here, radius)
        done = self._beyond(here.take(found.closed), radius)
        rest = np.flatnonzero(~found.closed)
        if not len(rest):
            return done
        left, known, weights = here.take(rest), known.take(rest), found.weights[:, rest]
        self._look(left, known, weights, radius)
        self._keep(found.corners, here.keys[found.cornered])
        good = self._in_trees(left, known, radius, stop)
        cut = np.flatnonzero(~good)
        done = done.plus(self._beyond(left.take(good), radius))
        left, known, excess = left.take(cut), known.take(cut), found.excess[rest[cut]]
        gains = gains_of(known, weights[:, cut], found.sides, rest[cut])
        cuts: int | Indices = self._cuts_at_once(len(cut))
        if self.network.size > FEW_INPUTS:
            cuts = np.maximum(cuts, self._foresight.cuts(excess))
        return done.plus(self._halves(left, known, gains, self._root, cuts, excess))

    def _tested(self, here: Frontier, radius: float) -> tuple[Enclosures, Closed]:
        """What is known on boxes, and which are closed by it."""
        self.counts.waves += 1
        self.counts.boxes += len(here.keys)
        self.spent += len(here.keys)
        known = enclose(self.network, here.boxes.low, here.boxes.high, radius, tilted=True)
        still = np.zeros((self.network.size, len(here.keys)), dtype=bool)
        found = self.matrix.closed(Slopes.on_boxes(known, still), known)
        self._foresight.learn(here.excess, found.excess, found.closed)
        self.counts.slopes += found.cut
        return known, found

    def _beyond(self, good: Frontier, radius: float) -> Frontier:
        """Boxes that are closed within the radius, as far as they go further: there they are not."""
        good = good.take(self.farthest(good.boxes) > radius)
        good.keys[:], good.excess[:] = radius, np.nan
        return good

    def _in_trees(self, here: Frontier, known: Enclosures, radius: float, stop: Callable[[], bool]) -> Mask:
        """Which boxes are closed by the phases of their points: those cut very often, with few open neurons."""
        good = np.zeros(len(here.keys), dtype=bool)
        if not DefiniteTree.serves(self.matrix):
            return good
        # a tree leaves out regions without an interior, which is all of them in flat boxes
        few = (known.open.sum(axis=0) <= FEW_OPEN) & ~here.boxes.flat
        ages = here.depths // self.network.size - DEEP
        for i in self._schedule.ripe(few, ages):
            if stop() or not self._schedule.has_room(int(ages[i])):
                break
            part = part_of(self.network.setting, radius, here.boxes.low[i], here.boxes.high[i])
            try:
                self._tree.close(part, self._schedule.nodes, stop)
                good[i] = True
            except TooLarge:
                self._schedule.was_too_large()
            except Violated:
                assert self._tree.failing is not None
                self.failing.append(self._tree.failing)
                self._judge()
        return good

    @cached_property
    def _schedule(self) -> Schedule:
        return Schedule(self.counts)

    @cached_property
    def _tree(self) -> DefiniteTree:
        return DefiniteTree(self.matrix, ExactMaps(self.network.setting), self.counts)

    def _keep(self, slopes: Array, radii: Array) -> None:
        """Corners of the boxes that failed last: those of large boxes ask too much."""
        chosen = self.points.chosen(len(radii), MOST_CORNERS)
        self._remember(slopes[chosen], radii[chosen])

    def _remember(self, slopes: Array, radii: Array) -> None:
        self.corners.append((slopes, radii))
        while sum(len(kept) for _, kept in self.corners[1:]) >= MOST_CORNERS:
            self.corners.pop(0)

    def _look(self, here: Frontier, known: Enclosures, weights: Array, radius: float) -> None:
        """Look for a point where C is wrong: anywhere in boxes, and where their heaviest neurons are on or off."""
        if len(here.keys) > LOOKED_AT:
            chosen = np.arange(LOOKED_AT)
            here, known, weights = here.take(chosen), known.take(chosen), weights[:, chosen]
        points = self.points
        looked = suspicious_points(points, here.boxes, known, weights)
        looked = looked[points.radii(looked) < radius]
        if not len(looked):
            return
        looked = points.of_different_regions(looked)
        if len(looked) > LOOKED_AT:
            looked = looked[points.chosen(len(looked), LOOKED_AT)]
        bad = wrong_at(points, self.matrix.matrix, looked)
        if bad.any():
            self.failing.append(looked[bad])
            self._judge()

    def _judge(self) -> None:
        if sum(map(len, self.failing)) >= ENOUGH:
            raise MatrixFails

    def _halves(
        self, here: Frontier, known: Enclosures, gains: Array, radius: float, cuts: int | Indices, excess: Array
    ) -> Frontier:
        """Cut where most is gained, each box so many times."""
        boxes, which = halves(here.boxes, known, gains, cuts)
        boxes = self.fitted(boxes, radius)
        keys = np.maximum(here.keys[which], self.nearest(boxes))
        times = np.broadcast_to(cuts, here.keys.shape)[which]
        return Frontier(boxes, keys, here.depths[which] + times, self._foresight.expected(excess[which], times))

    def _cuts_at_once(self, boxes: int) -> int:
        return cuts_at_once(self._batch, boxes)


def suspicious_points(points: Points, boxes: Boxes, known: Enclosures, weights: Array) -> Array:
    """Points of boxes where C may be wrong: anywhere, and where their heaviest neurons are on or off; the first ones of
    all boxes, then the second ones, then the third."""
    open_ = known.most > known.least
    heaviest = np.argmax(np.where(open_, weights, -1.0), axis=0)
    line = known.lines[heaviest, :, np.arange(len(heaviest))]
    shares = [points.shares(boxes.low.shape), *(0.5 + sign * 0.499 * np.sign(line) for sign in (1.0, -1.0))]
    return np.concatenate([boxes.low + share * boxes.widths for share in shares])


def wrong_at(points: Points, matrix: Array, looked: Array) -> Mask:
    """At which points sym(C J) has an eigenvalue that is not positive, in floats."""
    return np.asarray(least_at(points, matrix, looked) <= 0)


def least_at(points: Points, matrix: Array, looked: Array) -> Array:
    """The least eigenvalue of sym(C J) at some points, in floats; 1 where there is no J."""
    product = np.matmul(matrix, points.jacobians(looked))
    return np.asarray(np.linalg.eigvalsh(_finite((product + product.transpose(0, 2, 1)) / 2))[:, 0])


def _finite(matrices: Array) -> Array:
    good: Mask = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    return np.where(good[:, None, None], matrices, np.eye(matrices.shape[1]))
