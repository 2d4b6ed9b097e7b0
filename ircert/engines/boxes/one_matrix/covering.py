"""A ball covered by boxes that one matrix closes: its points lie in regions with sym(C J) positive definite.

All boxes are closed with the same C: after C has changed, every box is closed anew (two halves with two matrices say
nothing about pairs across them). Boxes near the centre come first, so that a smaller ball is proved on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.one_matrix.domination import Dominations, OneMatrix
from ircert.engines.boxes.one_matrix.finding import Finder
from ircert.engines.boxes.problem.boxes import Boxes, around, farthest, joined, nearest
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import OutOfTime

MOST = 3_000_000
"""Boxes that memory should hold."""
SAMPLES = 600
"""Points whose Jacobians a matrix is made for, before the proof meets others."""
FIRST, FACTOR = 8, 2
"""Boxes before C is made anew from what failed, and how many times as many before the next time."""
SOFT = 48
"""Corners that are taken into account at a time."""
RENEWAL = 40
"""What a new matrix takes, in boxes whose slopes are cut."""
DEEPEST = 60
"""Cuts of every side after which floats are used up."""


@dataclass
class _Frontier:
    """Boxes that are not closed; below the radius `keys` they have no points."""

    boxes: Boxes
    keys: Array
    ages: Indices

    def take(self, chosen: Indices | Mask) -> _Frontier:
        return _Frontier(self.boxes.take(chosen), self.keys[chosen], self.ages[chosen])

    def plus(self, *others: _Frontier) -> _Frontier:
        all_ = (self, *others)
        rest = (np.concatenate([getattr(f, name) for f in all_]) for name in ("keys", "ages"))
        return _Frontier(joined([f.boxes for f in all_]), *rest)


@dataclass
class Covering:
    """The search; `reached` is the radius of the largest ball that was proved, with whatever matrix."""

    network: Batches
    counts: Counts
    report: Callable[[], None]
    look: Callable[[Array, float], None] = lambda points, radius: None
    seed: int = 0
    reached: float = 0.0
    matrix: OneMatrix | None = None
    gave_up: float = np.inf
    _finder: Finder | None = field(default=None, repr=False)
    _frontier: _Frontier | None = field(default=None, repr=False)
    _root: float = 0.0
    _clear: float = 0.0
    _spent: int = 0
    _allowed: int = FIRST
    _soft: list[Array] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.secants = Secants(self.network.setting)
        self._generator = np.random.default_rng(self.seed)

    def advance(self, radius: float, stop: Callable[[], bool]) -> Outcome:
        """Go on until the ball is covered; stops of its own accord where no matrix is left."""
        if radius <= self.reached:
            return "closed"
        try:
            while True:
                if radius >= self.gave_up or (self.matrix is None and not self._renewed(radius)):
                    return "stopped"
                self._begin(radius)
                outcome = self._step(radius, stop)
                if outcome is not None:
                    return outcome
        except (OutOfTime, np.linalg.LinAlgError):
            return "stopped"

    # --- the matrix --------------------------------------------------------------------------------------------------

    def _renewed(self, radius: float) -> bool:
        """Make C anew; False, and the radius is given up, where there is none."""
        finder = self._finder
        self.counts.slopes += RENEWAL
        with np.errstate(all="ignore"):
            if finder is None:
                finder = self._finder = Finder(self._reference(radius), self._sampled(radius))
                found = finder.find()
            elif self._soft and self.matrix is not None:
                slopes, self._soft = np.stack(self._soft), []
                if not finder.soften(self.secants.jacobians(slopes)):
                    return True  # the matrix stays as it is
                found = True
            else:
                found = finder.find()
        if not found or finder.matrix is None:
            self.gave_up = min(self.gave_up, radius)
            return False
        self.matrix = OneMatrix(self.network, finder.matrix)
        self._frontier, self._clear, self._spent = None, 0.0, 0
        return True

    def _reference(self, radius: float) -> Array:
        """The Jacobian of full rank at a point near the centre."""
        setting = self.network.setting
        steps = self._generator.uniform(-1, 1, (64, setting.size)) * np.geomspace(1e-9, 1e-2, 64)[:, None] * radius
        points = np.clip(setting.center + steps, setting.low, setting.high)
        return self._jacobians(points)[0]

    def _sampled(self, radius: float) -> Array:
        setting = self.network.setting
        steps = self._generator.uniform(-1, 1, (SAMPLES, setting.size))
        if setting.norm != "inf":
            order = 1 if setting.norm == "1" else 2
            steps /= np.maximum(np.linalg.norm(steps, order, axis=1, keepdims=True), 1.0)
        corners = np.arange(SAMPLES) % 3 == 0
        if setting.norm == "inf":
            # close to corners, and not at them: where a neuron is 0 no region has the slopes that floats see
            steps[corners] = np.sign(steps[corners]) * (1 - 0.01 * np.abs(steps[corners]))
        points = np.clip(setting.center + radius * steps, setting.low, setting.high)
        self.look(points, radius)
        return self._jacobians(points)

    def _jacobians(self, points: Array) -> Array:
        phases = self.network.setting.preactivations(points) > 0
        step = max(1, 50_000_000 // max(1, self.secants.products))
        parts = [self.secants.jacobians(phases[k : k + step].astype(np.float64)) for k in range(0, len(points), step)]
        return np.concatenate([np.zeros((0, self.network.constrained, self.network.size)), *parts])

    # --- boxes -------------------------------------------------------------------------------------------------------

    def _begin(self, radius: float) -> None:
        """Start from the box around the ball; what is closed with the same matrix is not looked at again."""
        if self._frontier is None or radius > self._root:
            root = around(self.network.setting, radius)
            self._frontier = _Frontier(root, np.zeros(1), np.zeros(1, dtype=np.int64))
            self._root = radius

    def _step(self, radius: float, stop: Callable[[], bool]) -> Outcome | None:
        assert self._frontier is not None
        keys = self._frontier.keys
        # in this order: what is not a number says nothing
        self._clear = max(self._clear, min(float(keys.min(initial=np.inf)), self._root))
        self.reached = max(self.reached, min(self._clear, radius))
        if self._clear >= radius:
            return "closed"
        if stop() or len(keys) > MOST:
            return "stopped"
        if self._spent > self._allowed and self._soft:
            self._allowed *= FACTOR
            return None if self._renewed(radius) else "stopped"
        self._wave(radius)
        self.report()
        return None

    def _wave(self, radius: float) -> None:
        assert self._frontier is not None
        whole = self._frontier
        count = min(self.network.batch, max(16, len(whole.keys)))
        order = np.argpartition(whole.keys, count)[:count] if len(whole.keys) > count else np.arange(len(whole.keys))
        chosen = np.zeros(len(whole.keys), dtype=bool)
        chosen[order] = whole.keys[order] < radius
        here = whole.take(chosen)
        left = self._worked(here.take(farthest(self.network.setting, here.boxes) > self._clear), radius)
        self._frontier = whole.take(~chosen).plus(left)

    def _worked(self, here: _Frontier, radius: float) -> _Frontier:
        """What is left of some boxes: their halves, or what lies beyond the radius."""
        assert self.matrix is not None
        self.counts.waves += 1
        self.counts.boxes += len(here.keys)
        self._spent += len(here.keys)
        if not len(here.keys):
            return here
        known = enclose(self.network, here.boxes.low, here.boxes.high, radius)
        slopes = Slopes.of(known.on, ~known.on & ~known.off, np.zeros((self.network.size, len(here.keys)), dtype=bool))
        found = self.matrix.dominations(slopes)
        closed = found.closed.copy()
        few = np.flatnonzero(~closed)
        if len(few):
            self.counts.slopes += len(few)
            part = slopes.take(few)
            closed[few] = self.matrix.closes(part, _taken(found, few))
        done = here.take(closed)
        done = done.take(farthest(self.network.setting, done.boxes) > radius)
        done.keys[:] = radius
        rest = np.flatnonzero(~closed)
        if not len(rest):
            return done
        self._note_failures(here, slopes, found, rest, radius)
        return done.plus(self._halves(here.take(rest), known.take(rest), found.weights[:, rest]))

    def _note_failures(self, here: _Frontier, slopes: Slopes, found: Dominations, rest: Indices, radius: float) -> None:
        """Jacobians of points where C fails, and corners where it may."""
        assert self._finder is not None
        assert self.matrix is not None
        setting = self.network.setting
        # anywhere inside: neurons are often 0 at the middles of boxes
        share = self._generator.uniform(0.3, 0.7, (len(rest), setting.size))
        middles = here.boxes.low[rest] + share * here.boxes.widths[rest]
        self.look(middles, radius)
        inside = nearest(setting, Boxes(middles, middles)) < radius
        with np.errstate(all="ignore"):
            jacobians = self._jacobians(middles[inside][:256])
            product = np.matmul(self.matrix.matrix, jacobians)
            values = np.linalg.eigvalsh((product + product.transpose(0, 2, 1)) / 2)[:, 0]
            bad = np.flatnonzero(values <= 0)
            if len(bad):
                self._finder.learn(jacobians[bad])
                self.matrix = None  # made anew before the next wave
                return
            if len(self._soft) < SOFT:
                small = rest[: SOFT - len(self._soft)]
                corners, _ = self.matrix.worst_slopes(slopes, found, small)
                self._soft += list(corners.T)

    def _halves(self, here: _Frontier, known: Enclosures, weights: Array) -> _Frontier:
        """Cut where free neurons that take away most change most."""
        length = np.sqrt((known.lines**2).sum(axis=1, keepdims=True))
        shares = np.abs(known.lines) / np.maximum(length, 1e-300) * known.half
        open_ = ~known.on & ~known.off
        gains = np.nan_to_num(np.einsum("kib,kb->ib", shares, np.nan_to_num(weights) * open_))
        wanted = np.argmax(np.where(known.half > 0, gains + 1e-9 * known.half, -1.0), axis=0)
        halves = joined(list(here.boxes.halves(wanted)))
        keys = np.maximum(np.tile(here.keys, 2), nearest(self.network.setting, halves))
        return _Frontier(halves, keys, np.tile(here.ages + 1, 2))


def _taken(found: Dominations, chosen: Indices) -> Dominations:
    return Dominations(
        found.closed[chosen],
        found.middle[chosen],
        found.rest[chosen],
        found.weights[:, chosen],
        found.above[..., chosen],
        found.below[..., chosen],
    )
