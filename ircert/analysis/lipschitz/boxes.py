"""A bound above of L from boxes that cover the ball: J at the middle slopes of a box, and how far slopes may take it.

With λ within `spare` of the middle slopes, J(λ) = J(middle) + sum over neurons of δ_i u_i w_i, w_i the row below neuron
i at the middle slopes and u_i the column above it, within ρ_i of its middle. Where slopes move with the point,
δ_i = sum over j of G_ij t_j + r_i, |t_j| <= 1, so that entry by entry

    |J(λ)|  <=  |J(middle)| + sum over j of |sum over i of G_ij u_i w_i|
                            + sum over i of (|r_i| |u_i| + spare_i ρ_i) |w_i|.

Two points of the ball are a segment apart whose parts lie in boxes: L is at most the largest of their bounds (L-13).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ircert.bounds.rounding import TINY, UNIT
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.tilts import tilted
from ircert.engines.boxes.one_matrix.definite import positive_definite
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.problem.boxes import Boxes, around, joined, nearest
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.graph import Graph
from ircert.limits import OutOfTime, checkpoint

MOST_INPUTS = 256
"""With more of them boxes are not tried."""
MOST, AT_ONCE = 10_000, 256
"""How many boxes are looked at in all, and at once."""
WORK = 10_000_000_000
"""… as far as they take no more multiplications than that."""
ENTRIES = 1 << 22
"""… and the matrices of those at once have no more entries."""
SHARE = 4
"""One of so many boxes, those with the largest bounds, is cut at a time."""
ENOUGH = 1.005
"""A bound that is nearer to one from below is not made smaller."""
SLACK = 1 + 1e-9
"""A spectral norm in floats is tried with so much more."""

BOXES = "Jacobians on boxes of the ball, as far as their slopes may take them"


@dataclass(frozen=True)
class _Parts:
    """Boxes, a bound of |J| on each, and the side that is cut first."""

    boxes: Boxes
    bounds: Array
    sides: Indices

    def take(self, chosen: Indices) -> _Parts:
        """Some of them."""
        return _Parts(self.boxes.take(chosen), self.bounds[chosen], self.sides[chosen])

    def plus(self, other: _Parts) -> _Parts:
        """These and others."""
        bounds, sides = (np.concatenate([getattr(p, name) for p in (self, other)]) for name in ("bounds", "sides"))
        return _Parts(joined([self.boxes, other.boxes]), bounds, sides)


class _Rows(OneMatrix):
    """Some rows of J, as many as there are inputs at most."""

    def __init__(self, network: Batches, first: int) -> None:
        n, m = network.size, network.constrained
        self.count = min(n, m - first)
        super().__init__(network, np.eye(n, m, first))

    def middles(self, slopes: Slopes) -> tuple[Array, Array]:
        """J at the middle slopes (cubes, outputs, inputs), and the rows below neurons (cubes, neurons, inputs)."""
        jacobian, below = self._ahead(slopes)
        return np.ascontiguousarray(jacobian.transpose(2, 0, 1)), np.ascontiguousarray(below.transpose(2, 0, 1))

    def moves(self, slopes: Slopes, below: Array) -> tuple[Array, Array]:
        """How much slopes may change each entry (cubes, rows, inputs), and what floats get wrong in that."""
        above, reach = self._back(slopes)
        columns, off = (part.transpose(2, 1, 0)[:, : self.count] for part in (above, reach))
        tilts = slopes.tilts
        rests = slopes.spare if tilts is None else tilts.rests
        rest = np.abs(columns) * rests.T[:, None] + off * slopes.spare.T[:, None]
        found = np.matmul(rest, np.abs(below))
        size = found.sum(axis=(1, 2))
        if tilts is not None:
            found = found + np.abs(tilted(above, below.transpose(1, 2, 0), tilts.rates)).sum(axis=0)[:, : self.count]
            steep = np.abs(tilts.rates).sum(axis=1).T
            size = size + (steep * np.abs(columns).sum(axis=1) * np.abs(below).sum(axis=2)).sum(axis=1)
        neurons, n = below.shape[1:]
        # walks are off by as much as in `OneMatrix`, slopes moving by at most twice what they are free to
        return found, 4.0 * self.doubt + 16.0 * (neurons + n + 16) * UNIT * size + neurons * n * TINY


class StretchOnBoxes:
    """The boxes of a ball, more and more of them; `bound` is what they show so far."""

    def __init__(self, graph: Graph, ball: Ball, norm: Norm) -> None:
        self._setting = Setting(graph, "local", graph.output_dim, Place.of(ball), ball.radius)
        self._radius, self._norm = ball.radius, norm
        self._network = Batches(self._setting)
        n, m = self._setting.size, self._setting.constrained
        self._at_once = max(1, min(AT_ONCE, self._network.batch, ENTRIES // (n * n * m)))
        self._looked, self._most = 0, min(MOST, WORK // (n * n * m * max(1, self._setting.neurons)))
        self._parts = _Parts(around(self._setting, self._radius), np.array([np.inf]), np.zeros(1, dtype=np.int64))
        self.bound = np.inf

    @staticmethod
    def serves(graph: Graph) -> bool:
        """Whether there are not too many inputs."""
        return graph.input_dim <= MOST_INPUTS

    def advance(self, least: float) -> None:
        """Cut boxes until the bound is near a number that L is at least, or time is over; what is known stays then."""
        with np.errstate(all="ignore"), suppress(OutOfTime):
            if not self._looked and self._most:
                self._parts = self._seen(self._parts.boxes, self._parts.bounds)
            self.bound = float(self._parts.bounds.max(initial=0.0))
            while self._looked < self._most and ENOUGH * least < self.bound:
                self._cut()
                self.bound = float(self._parts.bounds.max(initial=0.0))

    def _cut(self) -> None:
        """Halve the boxes with the largest bounds."""
        parts = self._parts
        count = max(1, min(self._at_once // 2, len(parts.bounds) // SHARE))
        order = np.argsort(-parts.bounds, kind="stable")
        cut, rest = parts.take(order[:count]), parts.take(order[count:])
        halves = joined(list(cut.boxes.halves(cut.sides)))
        met = nearest(self._setting, halves) <= self._radius
        new = self._seen(halves.take(met), np.concatenate([cut.bounds, cut.bounds])[met])
        self._parts = rest.plus(new)

    # --- bounds ------------------------------------------------------------------------------------------------------

    @cached_property
    def _rows(self) -> list[_Rows]:
        """All rows of J, in blocks; not made before there is time for them, which are many where outputs are."""
        made = []
        for first in range(0, self._setting.constrained, self._setting.size):
            checkpoint()
            made.append(_Rows(self._network, first))
        return made

    def _seen(self, boxes: Boxes, known: Array) -> _Parts:
        """Look at boxes, for which some bounds are known."""
        checkpoint()
        self._looked += len(boxes)
        network, n = self._network, self._setting.size
        enclosed = enclose(network, boxes.low, boxes.high, self._radius, tilted=True)
        slopes = Slopes.on_boxes(enclosed, np.zeros((n, len(boxes)), dtype=bool))
        middles, below = self._rows[0].middles(slopes)
        found = []
        for rows in self._rows:
            checkpoint()
            found.append(rows.moves(slopes, below))
        moves, wrong = np.concatenate([part[0] for part in found], axis=1), np.sum([part[1] for part in found], axis=0)
        middle = np.abs(middles)
        wrong = wrong + 16.0 * (n + moves.shape[1]) * UNIT * (middle + moves).sum(axis=(1, 2))
        bounds = (_sizes(middles, middle, moves, self._norm) + wrong) * (1 + 16 * UNIT)
        bounds = np.where(np.isnan(bounds), np.inf, bounds)
        gains = np.einsum(
            "kb,bkj->bj", slopes.spare, np.nan_to_num(np.abs(below) * np.abs(below).sum(axis=2)[..., None])
        )
        return _Parts(boxes, np.minimum(bounds, known), np.argmax(gains * boxes.widths, axis=1))


def _sizes(middles: Array, middle: Array, moves: Array, norm: Norm) -> Array:
    """Norms of all matrices within `moves` of some (cubes, m, n), but for rounding; `middle` are absolute values."""
    rows, columns = ((middle + moves).sum(axis=axis).max(axis=1) for axis in (2, 1))
    if norm != Norm.TWO:
        return np.asarray(rows if norm == Norm.INF else columns)
    # roots first: products may be too small for floats
    further = np.sqrt(moves.sum(axis=2).max(axis=1)) * np.sqrt(moves.sum(axis=1).max(axis=1))
    return np.fmin(np.sqrt(rows) * np.sqrt(columns), _spectral(middles) + further)


def _spectral(matrices: Array) -> Array:
    """Bounds of norms 2; infinite where floats do not show one. s is one if s² I - A^T A is positive definite."""
    good: Mask = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    matrices = np.where(good[:, None, None], matrices, 0.0)
    size = np.linalg.norm(matrices, ord=2, axis=(1, 2)) * SLACK
    squares = np.matmul(matrices.swapaxes(1, 2), matrices)
    frobenius = (matrices**2).sum(axis=(1, 2))
    gaps = (size**2)[:, None, None] * np.eye(matrices.shape[2]) - squares
    good &= positive_definite(gaps, 16.0 * (sum(matrices.shape[1:]) + 4) * UNIT * frobenius + TINY)
    return np.where(good, size, np.inf)
