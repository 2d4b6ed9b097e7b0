"""Pairs of points of the boundary of a ball of a network with curves: none may have one image.

Slopes of secants lie in intervals. Boxes that are close are closed together, by how slopes move on the least set that
holds both, and by what is known of chords of spheres. There are no phases to make trees of; all is in one process.

Spheres of norms 1 and 2 that the domain does not cut are taken in pieces behind boxes of the sides of a cube
(`enclosures/patches.py`): pairs of these are as flat as pairs of the sides of a ball of norm inf.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ircert.engines.boxes.cutting.chords import Chords
from ircert.engines.boxes.cutting.pair_search import PairFrontier, PairSearch
from ircert.engines.boxes.cutting.turning import turning
from ircert.engines.boxes.enclosures.batches import inverses, times
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures, enclose
from ircert.engines.boxes.enclosures.patches import sides
from ircert.engines.boxes.enclosures.splitting import scores
from ircert.engines.boxes.problem.boxes import Boxes, around
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask

NEAR = 4.0
"""Boxes are close if one of that many times their width holds both."""
HOPEFUL = 2.0
"""How far from 1 the spectral radius of E may seem to be where it is worth to be computed."""


@dataclass
class BoundaryPairs(PairSearch):
    """The search; boxes are those of a cube where the whole sphere is the boundary."""

    boundary: bool = True
    _on_sphere: bool = field(default=False, init=False)
    _bent: Array = field(default_factory=lambda: np.zeros(0), init=False, repr=False)

    # --- pieces ------------------------------------------------------------------------------------------------------

    def _pieces(self, radius: float) -> Boxes:
        box, setting = around(self.setting, radius), self.setting
        uncut = bool(((box.low[0] > setting.low) & (box.high[0] < setting.high)).all())
        self._on_sphere = setting.norm != Norm.INF and uncut
        return sides(setting.size, setting.norm) if self._on_sphere else super()._pieces(radius)

    def _keys(self, x: Boxes, y: Boxes) -> Array:
        return np.zeros(len(x)) if self._on_sphere else super()._keys(x, y)

    def _matters(self, here: PairFrontier, radius: float) -> Mask:
        return np.ones(len(here.keys), dtype=bool) if self._on_sphere else super()._matters(here, radius)

    def _enclose(self, low: Array, high: Array, radius: float) -> Enclosures:
        return enclose(self.network, low, high, radius, on_sphere=self._on_sphere)

    # --- secants -----------------------------------------------------------------------------------------------------

    def _kernel_free(
        self, here: PairFrontier, known: Enclosures, first: Indices, second: Indices
    ) -> tuple[Mask, Array]:
        """Where boxes are close: f(x) - f(y) is the mean of J on the segment, which lies in the least set that holds
        both, times x - y. Not tried again before sets are about small enough."""
        low, high = np.minimum(here.x.low, here.y.low), np.maximum(here.x.high, here.y.high)
        sizes, widths = high - low, np.maximum(here.x.widths, here.y.widths).max(axis=1)
        ripe, near = (here.bent * sizes).sum(axis=1) < HOPEFUL, sizes.max(axis=1) <= NEAR * widths
        closed, excess = np.zeros(len(first), dtype=bool), np.zeros(sizes.shape)
        if self._on_sphere:
            together = self._in_one_piece(low, high)
            self._try(ripe & near & together, (low, high), closed, excess, on_sphere=True)
            near &= ~together
            low, high = self._hulls(known, first, second)
        self._try(ripe & near, (low, high), closed, excess)
        tried = excess.any(axis=1, keepdims=True)
        self._bent = np.where(tried, excess / np.maximum(sizes, 1e-300), here.bent)[~closed]
        return closed, np.zeros((len(known.low), len(first)))

    def _try(
        self, which: Mask, corners: tuple[Array, Array], closed: Mask, excess: Array, *, on_sphere: bool = False
    ) -> None:
        """Boxes that hold both points of a pair, for some pairs: whether they are closed, and how much each side has of
        the radius of E."""
        chosen = np.flatnonzero(which)
        if not len(chosen):
            return
        low, high = (corner[chosen] for corner in corners)
        boxes = enclose(self.network, low, high, self._root, tilted=True, on_sphere=on_sphere)
        chords = (Chords.of_patches if on_sphere else Chords.of)(self.setting, boxes, low, high)
        found = turning(self.network, Slopes.on_boxes(boxes, np.zeros_like(boxes.half, dtype=bool)), chords)
        parts = (scores(boxes, found.weights) + found.gains).T * (high > low) + 1e-300
        closed[chosen], excess[chosen] = found.regular, (found.excess / parts.sum(axis=1))[:, None] * parts

    def _halves(self, here: PairFrontier, x: Enclosures, y: Enclosures, weights: Array) -> list[PairFrontier]:
        return super()._halves(replace(here, bent=self._bent), x, y, weights)

    def _gains(self, known: Enclosures, weights: Array) -> Array:
        """By what neurons are off on each box, in the units of inputs: it is in the way of both tests."""
        network, found = self.network, np.zeros(known.low.shape)

        def neuron(name: str, given: Array) -> Array:
            where = self.setting.relus[name]
            found[where] = np.abs(given).sum(axis=1) * known.spreads[where]
            return given * known.slopes[where][:, None]

        with np.errstate(all="ignore"):
            rows = np.ascontiguousarray(inverses(known.output)[0].swapaxes(0, 1))
            network.backward(rows, lambda name, given: times(network.transposed[name], given), neuron)
        return scores(known, found)

    def _cut_first(self, here: PairFrontier, gains_x: Array, gains_y: Array) -> Mask:
        """Whether x is the box to cut: the one with more to gain, or the longer one where nothing is; sides may be
        long because they do not matter."""
        x, y = gains_x.sum(axis=0), gains_y.sum(axis=0)
        longer = here.x.widths.max(axis=1) >= here.y.widths.max(axis=1)
        return np.where(x == y, longer, x > y)

    def _in_one_piece(self, low: Array, high: Array) -> Mask:
        """Which boxes lie on one side of the cube and, in norm 1, in one orthant."""
        flat: Mask = np.asarray((low == high).any(axis=1))
        return flat & ~((low < 0) & (high > 0)).any(axis=1) if self.setting.norm == Norm.ONE else flat

    def _hulls(self, known: Enclosures, first: Indices, second: Indices) -> tuple[Array, Array]:
        """Boxes (pairs, inputs) that hold both pieces of the sphere."""
        low, high = _corners(known)
        return np.minimum(low[:, first], low[:, second]).T, np.maximum(high[:, first], high[:, second]).T


def _corners(known: Enclosures) -> tuple[Array, Array]:
    """The least and the greatest coordinates of pieces of the sphere (inputs, pieces)."""
    assert known.patches is not None
    wide = known.patches.spread
    # the sum of products in `wide` has one term more than there are inputs
    wide = wide * (1 + 1e-12)
    return np.nextafter(known.middle - wide, -np.inf), np.nextafter(known.middle + wide, np.inf)
