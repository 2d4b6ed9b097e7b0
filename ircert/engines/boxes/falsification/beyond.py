"""Points beyond folds that come nearer to the centre: each takes random steps to nearer points of another orientation.

In wide networks facets are tiny, and such steps lead down much faster than from facet to facet. Where a point gets
stuck it is at an end; it starts anew from any point beyond a fold, or next to one of the nearest ends.
"""

from __future__ import annotations

import math

import numpy as np

from ircert.engines.boxes.falsification.float_regions import FloatRegions
from ircert.engines.boxes.falsification.population import HUGE, STEP, Population, between
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Mask

COUNT, FEWEST, PRODUCTS = 64, 16, 20_000_000
"""Points, and at least: one step of all of them takes so many multiplications, about."""
FIRST, WIDEST, WIDER, NARROWER = 0.2, 0.3, 2.0, 0.87
"""How long steps are, in parts of the distance: at first and at most, and how that changes with success and failure."""
STUCK = 2e-3
"""Steps that are shorter lead nowhere."""
DOWN, AT_LEAST = 0.3, 1e-6
"""How much nearer a step leads: at most and at least, in parts of its length and of the distance."""
ENDS = 16
"""Ends next to which points start anew, …"""
BESIDE = 0.05, 0.6
"""… how far away from them, in parts of their distance, …"""
ANYWHERE, BEYOND = 0.3, (1.3, 8.0)
"""… how often points start anywhere else, and in how much larger balls than that of the nearest point."""
FARTHEST = 2.0
"""How far away those are at most that start next to ends, in parts of that distance."""
SOME = 0.4
"""How many coordinates every other step changes."""


class Beyond:
    """Points that are oriented otherwise than the centre; `ends` are where some got stuck."""

    def __init__(self, regions: FloatRegions, generator: np.random.Generator, least: float, reference: float) -> None:
        self._regions, self._generator = regions, generator
        self._setting = regions.setting
        self._least, self._reference = least, reference
        self.most = int(min(COUNT, max(FEWEST, PRODUCTS // regions.cost)))
        self.offsets = np.zeros((0, self._setting.size))
        self._widths = np.zeros(0)
        self._ends = np.zeros((0, self._setting.size))
        self._begun = 0

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, offsets: Array) -> None:
        """More points beyond folds; the farthest of too many are forgotten."""
        offsets = np.concatenate([self.offsets, offsets])
        widths = np.r_[self._widths, np.full(len(offsets) - len(self._widths), FIRST)]
        nearest = np.argsort(self._lengths(offsets), kind="stable")[: self.most]
        self.offsets, self._widths = offsets[nearest], widths[nearest]

    @property
    def nearest(self) -> Array:
        """The nearest point."""
        return np.asarray(self.offsets[self._lengths(self.offsets).argmin()])

    def step(self, population: Population) -> Array:
        """A step of everybody, and new points in place of those that got stuck, which are returned."""
        offsets, lengths = self.offsets, self._lengths(self.offsets)
        self._regions.spent += STEP[0] + STEP[1] * offsets.size
        steps = self._widths * lengths
        nearer = lengths * (1.0 - DOWN * self._generator.random(len(lengths)) ** 2 * self._widths - AT_LEAST)
        tried = self._within(offsets + self._steps(steps), nearer)
        good = self._beyond(tried)
        self.offsets = np.where(good[:, None], tried, offsets)
        self._widths = np.where(good, np.minimum(WIDEST, WIDER * self._widths), NARROWER * self._widths)
        stuck = self._widths < STUCK
        ended = self.offsets[stuck]
        if len(ended):
            self._remember(ended)
            self.offsets, self._widths = self.offsets[~stuck], self._widths[~stuck]
        if len(self.offsets) < self.most:
            self._start_anew(population)
        return ended

    def _steps(self, sizes: Array) -> Array:
        """Random steps of about these lengths, of all coordinates or some."""
        shape = len(sizes), self._setting.size
        steps = self._generator.standard_normal(shape) * (sizes / math.sqrt(shape[1]))[:, None]
        some = self._generator.random(shape) < SOME
        return np.where((self._generator.random(len(sizes)) < 0.5)[:, None], steps * some, steps)

    def _within(self, offsets: Array, radii: Array) -> Array:
        """Points of balls and the domain, next to others; of huge balls also points much nearer to the centre."""
        setting = self._setting
        offsets = np.clip(offsets, setting.low - setting.center, setting.high - setting.center)
        huge = (radii > HUGE * self._least) & (self._generator.random(len(radii)) < 0.3)
        radii = np.where(huge, radii * np.exp(-np.abs(self._generator.standard_normal(len(radii)))), radii)
        lengths = np.maximum(self._lengths(offsets), 1e-300)
        if setting.norm == Norm.INF:
            clipped = np.clip(offsets, -radii[:, None], radii[:, None])
            return np.where(huge[:, None], offsets * np.minimum(1.0, radii / lengths)[:, None], clipped)
        return offsets * np.minimum(1.0, radii / lengths)[:, None]

    def _beyond(self, offsets: Array) -> Mask:
        return np.asarray(self._regions.orientations(self._regions.phases(offsets)) != self._reference)

    def _remember(self, ended: Array) -> None:
        ends = np.concatenate([self._ends, ended])
        self._ends = ends[np.argsort(self._lengths(ends), kind="stable")[:ENDS]]

    def _start_anew(self, population: Population) -> None:
        """Anywhere, which makes the first points differ, or next to one of the nearest ends."""
        generator, room = self._generator, self.most - len(self.offsets)
        nearest = float(self._lengths(np.concatenate([self.offsets, self._ends])).min())
        if self._begun < self.most or generator.random() < ANYWHERE:
            found = population.across(nearest * float(between(generator, BEYOND, 1)[0]))
            self._begun += min(len(found), room)
        else:
            which = (len(self._ends) * generator.random(2 * self.most) ** 2).astype(np.int64)
            ends = self._ends[which]
            sizes = between(generator, BESIDE, len(ends)) * self._lengths(ends)
            tried = self._within(ends + self._steps(sizes), np.full(len(ends), FARTHEST * nearest))
            found = tried[self._beyond(tried)]
        self.add(found[:room])

    def _lengths(self, offsets: Array) -> Array:
        return self._setting.norm.lengths(offsets)
