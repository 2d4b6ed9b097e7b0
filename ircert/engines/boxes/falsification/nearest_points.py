"""The points nearest to 0 of many small polytopes at once, in floats: dual methods, which raise the distance.

Each polytope has the rows slopes · v + heights >= 0 and perhaps a plane, a row that is 0. All methods start at 0
without any row and take in the row that is violated most, while the multipliers of all rows taken stay >= 0 (that of
the plane may be any number). So distances only grow, and a polytope farther away than 1 is given up on the way, as is
one without a point.

Norms inf and 1: the dual simplex method for min t over (v, t) with t >= w · v for all w of dual length 1, which are
rows as well, made where they are violated. Norm 2: the dual method of Goldfarb and Idnani for min |v|²/2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

ENOUGH = 1e-11
"""Rows, which have the dual length 1, are violated by more."""
SMALL = 1e-10
"""Pivots are larger."""
STEPS = 12
"""Rows that are taken in, for each input, before a polytope is given up."""
APART = 1e-11
"""Costs are changed by about this much, so that no step has length 0."""
PLANE, NONE = -2, -1
"""What stands for the plane, and for no row, among the numbers of rows."""


@dataclass(frozen=True)
class Nearest:
    """lengths: inf where there is no point within 1; holding: the rows that hold a point back, the strongest first,
    then -1; work: rows taken in by all together, and by the slowest."""

    points: Array
    lengths: Array
    holding: Indices
    work: tuple[int, int]


def nearest_points(norm: Norm, slopes: Array, heights: Array, planes: Array) -> Nearest:
    """Of (batch, rows, inputs) and (batch, rows); planes (batch, inputs + 1) are 0 where there is none.

    All rows and planes have the dual length 1, or are (0, 1).
    """
    method = _Round(slopes, heights, planes) if norm == Norm.TWO else _Linear(norm, slopes, heights, planes)
    with np.errstate(all="ignore"):  # steps of those that are over are no numbers
        return method.run()


class _Method(ABC):
    """What both methods share: problems that are not solved yet (`alive`), and the results of the others."""

    slots: int
    """Rows that are taken at a time."""

    def __init__(self, slopes: Array, heights: Array, planes: Array) -> None:
        count, _, self.n = slopes.shape
        self.slopes, self.heights = slopes, heights
        self.planes = planes * np.where(planes[:, -1] > 0, -1.0, 1.0)[:, None]
        self.alive = np.arange(count)
        self.points, self.lengths = np.zeros((count, self.n)), np.full(count, np.inf)
        self.holding = np.full((count, self.n + 1), NONE)
        self.weights = np.zeros((count, self.slots))
        self.basis = np.full((count, self.slots), NONE)

    def run(self) -> Nearest:
        """Take in rows until nobody needs one."""
        total = steps = 0
        while len(self.alive) and steps < STEPS * (self.n + 1):
            checkpoint()
            total, steps = total + len(self.alive), steps + 1
            stays = self.step(first=steps == 1)
            if not stays.all():
                self.keep(stays)
        return Nearest(self.points, self.lengths, self.holding, (total, steps))

    @abstractmethod
    def step(self, *, first: bool) -> Mask:
        """One row for everybody; who goes on."""

    def keep(self, stays: Mask) -> None:
        """Forget the others."""
        for name in ("alive", "slopes", "heights", "weights", "basis"):
            setattr(self, name, getattr(self, name)[stays])

    def worst(self, v: Array) -> tuple[Indices, Array]:
        """The rows that are violated most, and their values."""
        values = np.matmul(self.slopes, v[:, :, None])[:, :, 0] + self.heights
        rows = values.argmin(axis=1)
        return rows, values[np.arange(len(rows)), rows]

    def end(self, done: Mask, points: Array, lengths: Array, least: float) -> None:
        """Note results, with the rows of multipliers above the least."""
        ended = self.alive[done]
        self.points[ended], self.lengths[ended] = points[done], lengths[done]
        weights = np.where(self.basis[done] >= 0, self.weights[done], 0.0)
        order = np.argsort(-weights, axis=1, kind="stable")
        weights, rows = np.take_along_axis(weights, order, 1), np.take_along_axis(self.basis[done], order, 1)
        self.holding[ended, : self.slots] = np.where(weights > least, rows, NONE)


class _Linear(_Method):
    """The dual simplex method; `inverse` is that of the matrix of rows (a, τ) taken, y = (v, t)."""

    def __init__(self, norm: Norm, slopes: Array, heights: Array, planes: Array) -> None:
        self.slots = slopes.shape[2] + 1
        super().__init__(slopes, heights, planes)
        count = len(slopes)
        matrix, weights = _start(norm, self.n)
        self.norm = norm
        self.inverse = np.repeat(np.linalg.inv(matrix)[None], count, axis=0)
        self.weights[:] = weights
        self.y = np.zeros((count, self.n + 1))

    def keep(self, stays: Mask) -> None:
        super().keep(stays)
        self.y, self.inverse = self.y[stays], self.inverse[stays]

    def step(self, *, first: bool) -> Mask:
        n, at = self.n, np.arange(len(self.alive))
        entering, value, chosen = self._entering(first=first)
        done = value >= -ENOUGH
        self.end(done, self.y[:, :n], self.y[:, n], 100 * APART)
        parts = np.matmul(entering[:, None, :], self.inverse)[:, 0]
        may = (parts > SMALL) & (self.basis != PLANE)
        ratios = np.where(may, self.weights / np.maximum(parts, SMALL), np.inf)
        leaving = ratios.argmin(axis=1)
        least = ratios[at, leaving]
        column = self.inverse[at, :, leaving] / parts[at, leaving][:, None]
        self.y = self.y - column * value[:, None]
        self.weights = self.weights - least[:, None] * parts
        self.weights[at, leaving] = least
        self.basis[at, leaving] = chosen
        parts[at, leaving] -= 1.0
        self.inverse = self.inverse - column[:, :, None] * parts[:, None, :]
        return ~done & (least < np.inf) & (self.y[:, n] <= 1.0)

    def _entering(self, *, first: bool) -> tuple[Array, Array, Indices]:
        """The rows (a, τ) that are taken in, their values and numbers."""
        n, at = self.n, np.arange(len(self.alive))
        v, t = self.y[:, :n], self.y[:, n]
        chosen, value = self.worst(v)
        entering = np.zeros((len(at), n + 1))
        entering[:, :n] = self.slopes[at, chosen]
        forms, length = _norm_row(self.norm, v)
        by_norm = t - length < value
        entering[by_norm, :n], entering[by_norm, n] = -forms[by_norm], 1.0
        value, chosen = np.where(by_norm, t - length, value), np.where(by_norm, NONE, chosen)
        if first:
            planes = self.planes.any(axis=1)
            entering[planes, :n], entering[planes, n] = self.planes[planes, :n], 0.0
            # a plane through 0 is taken in as well
            value[planes], chosen[planes] = np.minimum(self.planes[planes, n], -2 * ENOUGH), PLANE
        return entering, value, chosen


def _start(norm: Norm, n: int) -> tuple[Array, Array]:
    """Rows (-w, 1) that meet at 0, two of them with opposite w; and their multipliers: about 1/2 for these two."""
    forms = np.zeros((n + 1, n))
    if norm == Norm.INF:
        forms[0, 0], forms[1:] = -1.0, np.eye(n)
    else:
        forms[0], forms[1:] = -1.0, 1.0 - 2.0 * np.eye(n)
        forms[1] = 1.0
    weights = APART * (1.0 + np.sqrt(np.arange(2, n + 3)) % 1.0)
    weights[:2] += 0.5
    return np.c_[-forms, np.ones(n + 1)], weights


def _norm_row(norm: Norm, v: Array) -> tuple[Array, Array]:
    """w of dual length 1 with w · v = |v|, and |v|."""
    sizes = np.abs(v)
    if norm == Norm.ONE:
        return np.where(v < 0, -1.0, 1.0), sizes.sum(axis=1)
    at, largest = np.arange(len(v)), sizes.argmax(axis=1)
    forms = np.zeros_like(v)
    forms[at, largest] = np.where(v[at, largest] < 0, -1.0, 1.0)
    return forms, sizes[at, largest]


class _Round(_Method):
    """Goldfarb and Idnani; `taken` are the rows taken, 0 in empty slots. A row that is not taken in yet, because others
    had to leave first, is `entering`, with the height and number it has and its multiplier so far (`fresh`)."""

    def __init__(self, slopes: Array, heights: Array, planes: Array) -> None:
        self.slots = n = slopes.shape[2]
        super().__init__(slopes, heights, planes)
        count = len(slopes)
        self.v, self.taken = np.zeros((count, n)), np.zeros((count, n, n))
        self.entering, self.height = np.zeros((count, n)), np.zeros(count)
        self.chosen, self.fresh = np.full(count, NONE), np.zeros(count)

    def keep(self, stays: Mask) -> None:
        super().keep(stays)
        for name in ("v", "taken", "entering", "height", "chosen", "fresh"):
            setattr(self, name, getattr(self, name)[stays])

    def step(self, *, first: bool) -> Mask:
        done = self._choose(first=first)
        at, empty = np.arange(len(self.alive)), self.basis == NONE
        gram = self.taken @ np.swapaxes(self.taken, 1, 2) + empty[:, :, None] * np.eye(self.n)
        back = np.linalg.solve(gram, np.matmul(self.taken, self.entering[:, :, None]))[:, :, 0]
        way = self.entering - np.matmul(back[:, None, :], self.taken)[:, 0]
        square = (way**2).sum(axis=1)
        missing = np.maximum(-((self.entering * self.v).sum(axis=1) + self.height), 0.0)
        full = np.where(square > SMALL, missing / np.maximum(square, SMALL), np.inf)
        may = (back > SMALL) & (self.basis != PLANE) & ~empty
        ratios = np.where(may, self.weights / np.maximum(back, SMALL), np.inf)
        leaving = ratios.argmin(axis=1)
        partial = ratios[at, leaving]
        stays = ~done & (np.minimum(full, partial) < np.inf)
        size = np.where(stays, np.minimum(full, partial), 0.0)
        self.v = self.v + np.where(full < np.inf, size, 0.0)[:, None] * way
        self.weights, self.fresh = self.weights - size[:, None] * back, self.fresh + size
        leaves = stays & (partial < full)
        self._leave(at[leaves], leaving[leaves])
        enters = stays & ~leaves
        self._enter(at[enters], empty.argmax(axis=1)[enters])
        return stays & ((self.v**2).sum(axis=1) <= 1.0)

    def _choose(self, *, first: bool) -> Mask:
        """Choose rows where none is being taken in; who needs none."""
        at = np.arange(len(self.alive))
        rows, value = self.worst(self.v)
        new = self.chosen == NONE
        self.entering = np.where(new[:, None], self.slopes[at, rows], self.entering)
        self.height = np.where(new, self.heights[at, rows], self.height)
        done = new & (value >= -ENOUGH)
        self.chosen = np.where(new, rows, self.chosen)
        if first:
            planes = self.planes.any(axis=1)
            self.entering[planes], self.height[planes] = self.planes[planes, :-1], self.planes[planes, -1]
            self.chosen[planes] = PLANE
            done &= ~planes
        self.end(done, self.v, np.sqrt((self.v**2).sum(axis=1)), 0.0)
        return done

    def _leave(self, which: Indices, slots: Indices) -> None:
        self.taken[which, slots], self.weights[which, slots], self.basis[which, slots] = 0.0, 0.0, NONE

    def _enter(self, which: Indices, slots: Indices) -> None:
        self.taken[which, slots], self.weights[which, slots] = self.entering[which], self.fresh[which]
        self.basis[which, slots] = self.chosen[which]
        self.fresh[which], self.chosen[which] = 0.0, NONE
