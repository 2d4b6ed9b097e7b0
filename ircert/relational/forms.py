"""Linear forms of shared symbols, for many boxes at once: zonotopes that know what they have in common.

A number that depends on a point is  c + G·s ± e.  The first symbols are x_j - m_j, the offsets of the point from the
middle of its box (of both points, where there are two); each further one lies in [-1, 1] and stands for what a line
around an activation misses. All numbers of one walk share the symbols: the difference of two forms is a form, and what
they have in common cancels.

Rounding: products and sums of floats are off by at most a multiple of the sums of absolute values, which `size` bounds
for every form (|c| + |G| times the range of each symbol + e); each step adds that to e. `slack` has a factor 4 in
store, which pays for sizes that were themselves rounded. What is no number any more (overflow) ends in infinite ranges.

Beside every form there is an interval, low to high, that its number is in as well (`intervals`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ircert.bounds.interval import Interval
from ircert.bounds.rounding import TINY, UNIT, slack
from ircert.ir.arrays import Array, Indices, Matrix
from ircert.relational import intervals
from ircert.relational.points import Points

SYMBOLS = 1024
"""New symbols at most: what further lines miss is kept as an error, without a sign."""

FEW = 64
"""Coordinates up to which is known what each is to blame for."""


@dataclass(frozen=True, eq=False)
class Forms:
    """center (boxes, entries), symbols (boxes, entries, symbols so far), error, size and interval (boxes, entries)."""

    center: Array
    symbols: Array
    error: Array
    size: Array
    interval: Interval

    @property
    def reach(self) -> Array:
        """How far it is from its centre at most, about."""
        return self.size - np.abs(self.center)

    def take(self, entries: Indices) -> Forms:
        """Some entries."""
        low, high = self.interval
        center, symbols, error, size = (part[:, entries] for part in (self.center, self.symbols, self.error, self.size))
        return Forms(center, symbols, error, size, (low[:, entries], high[:, entries]))

    def within(self, interval: Interval) -> Forms:
        """The same numbers, of which more is known."""
        return replace(self, interval=intervals.cut(self.interval, interval))


class Symbols:
    """Makes forms over some boxes, and counts their symbols."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.count = points.columns
        self._half = points.middles[1]
        self._far = 1.0 + float(self._half.max(initial=0.0))
        self._parents: list[Array] = []

    def inputs(self) -> list[Forms]:
        """The coordinates of each point."""
        middle, size = self.points.middles[0], self.points.columns // self.points.copies
        unit = np.broadcast_to(np.eye(self.points.columns), (self.points.count, *[self.points.columns] * 2))
        nothing = np.zeros((self.points.count, size))
        parts = [slice(start, start + size) for start in range(0, self.points.columns, size)]
        low, high = self.points.low, self.points.high
        return [self._made(middle[:, at], unit[:, at], nothing, (low[:, at], high[:, at])) for at in parts]

    def numbers(self, values: Array) -> Forms:
        """Forms that depend on nothing: (boxes, entries)."""
        return self._made(values, np.zeros((*values.shape, 0)), np.zeros(values.shape), (values, values))

    def _made(self, center: Array, symbols: Array, error: Array, interval: Interval) -> Forms:
        return Forms(center, symbols, error, np.abs(center) + self._spread(symbols) + error, interval)

    def _spread(self, symbols: Array) -> Array:
        """|G| times the ranges of the symbols, about."""
        absolute, inputs = np.abs(symbols), self.points.columns
        given = min(inputs, symbols.shape[2])
        near = (absolute[:, :, :given] @ self._half[:, :given, None])[:, :, 0]
        return np.asarray(near + absolute[:, :, given:].sum(axis=2))

    def scaled(self, forms: Forms) -> Array:
        """All that forms depend on, with errors as symbols of their own, in units of the symbols' ranges, about."""
        inputs = min(self.points.columns, forms.symbols.shape[2])
        symbols = forms.symbols.copy()
        symbols[:, :, :inputs] *= self._half[:, None, :inputs]
        return np.concatenate([symbols, forms.error[:, :, None] * np.eye(forms.error.shape[1])], axis=2)

    def ranges(self, forms: Forms) -> tuple[Array, Array]:
        """Bounds that hold at all points; infinite where floats hold none."""
        inputs = self.points.columns
        new = np.abs(forms.symbols[:, :, inputs:]).sum(axis=2) + forms.error
        if forms.symbols.shape[2] >= inputs:
            low, high = self.points.extremes(forms.symbols[:, :, :inputs])
        else:
            low = high = np.zeros(forms.center.shape)
        wide = np.abs(forms.center) + new + np.maximum(np.abs(low), np.abs(high))
        error = slack(forms.symbols.shape[2] + 4, wide)
        found = intervals.known(forms.center + low - new - error, forms.center + high + new + error)
        return intervals.cut(found, forms.interval)

    # --- maps --------------------------------------------------------------------------------------------------------

    def mapped(self, parts: list[tuple[Matrix, Forms]], bias: Array) -> Forms:
        """The sum of matrices times forms, plus numbers; the matrices may be off by a unit in their last place."""
        columns = max(forms.symbols.shape[2] for _, forms in parts)
        rows, count = len(bias), self.points.count
        center, symbols = np.broadcast_to(bias, (count, rows)).copy(), np.zeros((count, rows, columns))
        error, size = np.zeros((count, rows)), np.broadcast_to(np.abs(bias), (count, rows)).copy()
        terms = 4
        for weight, forms in parts:
            absolute = abs(weight)
            center += forms.center @ weight.T
            symbols[:, :, : forms.symbols.shape[2]] += _times(weight, forms.symbols)
            error += forms.error @ absolute.T
            size += forms.size @ absolute.T
            terms += weight.shape[1] + 2
        interval = intervals.mapped([(weight, forms.interval) for weight, forms in parts], bias)
        return self._made(center, symbols, error + self._rounding(terms, size, columns), interval)

    def added(self, parts: list[Forms], signs: tuple[float, ...] = ()) -> Forms:
        """Their sum; or with signs, which are ± 1."""
        columns = max(part.symbols.shape[2] for part in parts)
        signs = signs or (1.0,) * len(parts)
        center, symbols = np.zeros(parts[0].center.shape), np.zeros((*parts[0].center.shape, columns))
        for sign, part in zip(signs, parts, strict=True):
            center += sign * part.center
            symbols[:, :, : part.symbols.shape[2]] += sign * part.symbols
        error, size = (np.sum([getattr(part, name) for part in parts], axis=0) for name in ("error", "size"))
        interval = intervals.added([part.interval for part in parts], signs)
        return self._made(center, symbols, error + self._rounding(len(parts) + 1, size, columns), interval)

    def weighed(self, forms: Forms, weights: Array) -> Forms:
        """Weights of each box (boxes, rows, entries), or of one row (boxes, entries), times its forms."""
        weights = weights[:, None, :] if weights.ndim == 2 else weights
        absolute = np.abs(weights)
        center = (weights @ forms.center[:, :, None])[:, :, 0]
        symbols = np.matmul(weights, forms.symbols)
        error, size = ((absolute @ part[:, :, None])[:, :, 0] for part in (forms.error, forms.size))
        columns = forms.symbols.shape[2]
        interval = intervals.weighed(weights, forms.interval)
        return self._made(center, symbols, error + self._rounding(weights.shape[2] + 2, size, columns), interval)

    def joined(self, parts: list[Forms]) -> Forms:
        """The entries of all, one after the other."""
        columns = max(part.symbols.shape[2] for part in parts)
        wide = [_padded(part.symbols, columns) for part in parts]
        rest = (np.concatenate([getattr(p, name) for p in parts], axis=1) for name in ("center", "error", "size"))
        center, error, size = rest
        ends = [np.concatenate(side, axis=1) for side in zip(*(part.interval for part in parts), strict=True)]
        return Forms(center, np.concatenate(wide, axis=1), error, size, (ends[0], ends[1]))

    def lined(
        self,
        forms: Forms,
        slope: Array,
        shift: Array,
        missed: Array,
        interval: Interval,
        causes: tuple[Forms, ...] = (),
    ) -> Forms:
        """slope * form + shift ± missed, entry by entry; each that misses something gets a symbol of its own.

        interval: what these numbers are in, besides
        causes:   numbers whose width is to blame for what is missed, besides that of the form itself
        """
        size = np.abs(slope) * forms.size + np.abs(shift)
        error = np.abs(slope) * forms.error + self._rounding(4, size, forms.symbols.shape[2])
        center, symbols = slope * forms.center + shift, slope[:, :, None] * forms.symbols
        new = np.flatnonzero((missed > 0).any(axis=0))
        room = SYMBOLS + self.points.columns - self.count
        if len(new) > room:
            heaviest = np.argsort(-missed[:, new].max(axis=0), kind="stable")
            new, kept = np.sort(new[heaviest[:room]]), missed.copy()
            kept[:, new] = 0.0
            error = error + kept * (1 + 4 * UNIT)
        symbols = _padded(symbols, self.count + len(new))
        symbols[:, new, self.count + np.arange(len(new))] = missed[:, new]
        self.count += len(new)
        if self.points.columns <= FEW:
            self._parents.append(self._shares((forms, *causes), new))
        return self._made(center, symbols, error, interval)

    def _shares(self, causes: tuple[Forms, ...], entries: Indices) -> Array:
        """How much each coordinate is to blame for the width of entries: (boxes, entries, columns).

        A number that is far from 0 for its width, such as a difference that hardly varies, gets little of the blame.
        """
        columns = self.points.columns
        found = np.zeros((self.points.count, len(entries), columns))
        for forms in causes:
            if forms.symbols.shape[2]:
                parts = np.abs(forms.symbols[:, entries, :columns]) * self._half[:, None, :]
                wide = (forms.reach / np.maximum(forms.size, 1e-300))[:, entries, None]
                found += wide * parts / np.maximum(parts.sum(axis=2, keepdims=True), 1e-300)
        return np.asarray(found / np.maximum(found.sum(axis=2, keepdims=True), 1e-300))

    def blame(self, forms: Forms) -> Array:
        """How much of what forms miss is due to the width of each coordinate, about: (boxes, columns).

        Every further symbol counts by its coefficients, and is due to coordinates as the number is that its line was
        drawn for. Only where there are few coordinates.
        """
        columns = self.points.columns
        weights = np.abs(forms.symbols[:, :, columns:]).sum(axis=1)
        found = np.zeros((self.points.count, columns))
        start = 0
        for shares in self._parents:
            stop = min(start + shares.shape[1], weights.shape[1])
            found += np.einsum("bk,bkj->bj", weights[:, start:stop], shares[:, : stop - start])
            start += shares.shape[1]
        return found

    def tighter(self, one: Forms, other: Forms) -> Forms:
        """Of two forms of each number, the one that says more."""
        first = ~(other.reach < one.reach)
        columns = max(one.symbols.shape[2], other.symbols.shape[2])
        symbols = np.where(first[:, :, None], _padded(one.symbols, columns), _padded(other.symbols, columns))
        center, error, size = (
            np.where(first, getattr(one, name), getattr(other, name)) for name in ("center", "error", "size")
        )
        return Forms(center, symbols, error, size, intervals.cut(one.interval, other.interval))

    def _rounding(self, terms: int, size: Array, columns: int) -> Array:
        """What sums of so many products may be off by; the second part is for coefficients too small for floats."""
        return slack(terms, size) + 4.0 * (terms + 2) * (columns + 2) * TINY * self._far


def _padded(symbols: Array, columns: int) -> Array:
    """With zeros for the symbols that it does not depend on; always a new array."""
    wide = np.zeros((*symbols.shape[:2], columns))
    wide[:, :, : symbols.shape[2]] = symbols
    return wide


def _times(weight: Matrix, symbols: Array) -> Array:
    if isinstance(weight, np.ndarray):
        return np.asarray(np.matmul(weight, symbols))
    return np.stack([np.asarray(weight @ each) for each in symbols])
