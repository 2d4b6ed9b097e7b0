"""Two points of a ball with equal outputs: how large the norm of what else differs at them can be, by boxes of pairs.

One network h = (f, e) is walked at x and at y: f(x) - f(y) is known to be 0, and e(x) - e(y) is measured. For any
matrix M

    e(x) - e(y)  =  (e(x) - e(y)) - M (f(x) - f(y)),

and the right side is a form again: with M from least squares over all symbols, what e has in common with f cancels and
only the directions are left that f does not see. Boxes of pairs (x, y) where f(x) - f(y) is not 0 for sure are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.build import Builder
from ircert.ir.compose import stack
from ircert.ir.graph import Graph
from ircert.limits import checkpoint
from ircert.questions.network import lowered
from ircert.relational import intervals
from ircert.relational.differential_bounds import DifferentialBounds, Limits, Pair
from ircert.relational.forms import Forms, Symbols
from ircert.relational.input_branching import InputBranching
from ircert.relational.objectives import Bounded, Bounding, Length
from ircert.relational.points import Points

DAMPING = 1e-12
"""What is added to the diagonal of least squares, relatively."""
SMOOTH = 1e-2
"""Least squares are weighed anew to come closer to the least sum of absolute values, which is the width of a form;
entries below this part of the mean count alike."""
WEIGHED = 400_000_000
"""… where that takes no more multiplications than this for one box: every row has a system of its own then."""
TOGETHER = 4_000_000
"""Numbers of an array of several such systems, about."""


@dataclass(frozen=True)
class GapLength(Bounding):
    """The norm of e(x) - e(y), which come after `given` outputs that agree."""

    norm: Norm
    given: int

    def bounded(self, found: DifferentialBounds, output: str) -> Bounded:
        symbols, forms = found.symbols, found.forms[2]
        low, high = (side[:, self.given :] for side in found.difference[output])
        plain = forms.take(np.arange(self.given, forms.center.shape[1])).within((low, high))
        with np.errstate(all="ignore"):
            weights = self._weights(symbols.scaled(forms))
            checkpoint()
            reduced = symbols.weighed(forms, weights).within((low, high))
            checkpoint()
            ranges = intervals.cut(symbols.ranges(reduced), symbols.ranges(plain))
            tighter = symbols.tighter(reduced, plain)
        low, high = ranges[0], np.maximum(*ranges)
        bounded = Length(self.norm).of_forms(symbols, tighter, (low, high))
        if self.norm is Norm.INF:
            return bounded
        return replace(bounded, guide=self._guide(symbols, tighter, low, high))

    def _guide(self, symbols: Symbols, gaps: Forms, low: Array, high: Array) -> Forms:
        """What to cut for: chords over ranges around 0 are flat, though all that widens them costs."""
        sizes = np.ones(low.shape) if self.norm is Norm.ONE else 2 * np.maximum(-low, high)
        with np.errstate(all="ignore"):
            return symbols.weighed(gaps, np.where(high >= -low, sizes, -sizes))

    def _weights(self, scaled: Array) -> Array:
        """[-M, I] of each box, from all that forms depend on (boxes, entries, symbols): any M is sound."""
        given, rest = scaled[:, : self.given], scaled[:, self.given :]
        good = np.isfinite(scaled).all(axis=(1, 2), keepdims=True)
        given, rest = np.where(good, given, 0.0), np.where(good, rest, 0.0)
        found = _least_squares(given[:, None], rest[:, None])[:, 0]
        if rest.shape[1] * self.given**2 * scaled.shape[2] <= WEIGHED:
            for rows in _few_rows(len(scaled) * given[0].size, rest.shape[1]):
                found[:, rows] = _weighed_squares(given, rest[:, rows], found[:, rows])
        one = np.broadcast_to(np.eye(rest.shape[1]), (len(scaled), *[rest.shape[1]] * 2))
        return np.concatenate([-found, one], axis=2)


def _few_rows(size: int, count: int) -> Iterator[slice]:
    """Rows in parts whose arrays are not large, `size` numbers for each row; the clock is looked at before each."""
    step = max(1, TOGETHER // max(1, size))
    for start in range(0, count, step):
        checkpoint()
        yield slice(start, start + step)


def _weighed_squares(given: Array, rest: Array, found: Array) -> Array:
    """M again, each row with weights that bring it closer to the least sum of absolute values."""
    missed = np.abs(rest - found @ given)
    weights = 1 / (missed + SMOOTH * missed.mean(axis=2, keepdims=True) + 1e-300)
    weights = weights / weights.max(axis=2, keepdims=True, initial=1e-300)
    return _least_squares(given[:, None], rest[:, :, None], weights[:, :, None])[:, :, 0]


def _least_squares(given: Array, rest: Array, weights: Array | float = 1.0) -> Array:
    """M (…, rows, given) with rest (…, rows, symbols) ≈ M given, where symbols count by their weights."""
    square = (given * weights) @ given.swapaxes(-1, -2)
    size = np.trace(square, axis1=-2, axis2=-1)[..., None, None]
    checkpoint()
    square = square + (DAMPING * size + 1e-300) * np.eye(given.shape[-2])
    across = given @ (weights * rest).swapaxes(-1, -2)
    try:
        found = np.linalg.solve(square, across).swapaxes(-1, -2)
    except np.linalg.LinAlgError:
        found = np.zeros(across.swapaxes(-1, -2).shape)
    return np.where(np.isfinite(found), found, 0.0)


class PairBranching(InputBranching):
    """The largest |e(x) - e(y)| of points of a ball with f(x) = f(y): at most `bound` after any number of steps.

    other:  e; None for the points themselves
    center: whether y is the centre; value: what is known to be attained
    """

    def __init__(
        self, graph: Graph, other: Graph | None, ball: Ball, norm: Norm, *, center: bool = False, tol: float = 0.0
    ) -> None:
        both = lowered(stack(graph, _identity(graph.input_dim) if other is None else other))
        points = Points.of(ball, 2)
        if center:
            sides = [np.append(side, ball.center)[None] for side in ball.box]
            points = Points(ball, sides[0], sides[1], 2)
        free = np.full(both.output_dim - graph.output_dim, np.inf)
        same = np.zeros(graph.output_dim)
        limits = Limits(difference={both.output: (np.append(same, -free), np.append(same, free))})
        self._begin(Pair(both, both), points, GapLength(norm, graph.output_dim), limits, tol)
        self.value = 0.0

    def learn(self, value: float) -> None:
        """A value that is attained."""
        self.value = max(self.value, value)

    @property
    def most(self) -> float:
        """No pair is farther apart."""
        return max(self.bound, 0.0) if not math.isnan(self.bound) else math.inf

    def _look(self, points: Points, guide: Forms) -> Array:
        """Middles of boxes are no pairs with equal outputs. What is linear in the inputs is taken for attained, so that
        boxes are cut where lines around activations miss something."""
        return np.full(points.count, np.inf)


def _identity(size: int) -> Graph:
    build = Builder(size)
    return build.graph(build.input)
