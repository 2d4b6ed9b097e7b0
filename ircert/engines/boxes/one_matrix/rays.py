"""A ball in rays from its centre, for centres at which many neurons are 0.

A box that holds such a centre leaves all these neurons open, however small it is. In (u, s), x = c + u / s (see
`homogenized`), there is no such box: all x != c of a ball of radius r lie on the sides |u_j| = 1 with s >= 1 / r. Nor
need s go on without an end. Let Q be a box around the centre on which every neuron that is not 0 at the centre keeps
its strict side. On a ray from the centre, as far as Q goes, every neuron is affine (those below it keep their phases,
by induction), so that one that is 0 at the centre has one sign on the rest of the ray. So a point of Q has the phases
of the point with s = t on its ray, if all points of the sides with s >= t lie in Q: boxes that cover the sides with
1 / r <= s <= t are enough, or those with s = t alone where the ball lies in Q.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.falsification.work import first_radius
from ircert.engines.boxes.linear_regions.exact_map import center_signs
from ircert.engines.boxes.one_matrix.homogenized import homogenized
from ircert.engines.boxes.problem.boxes import SAFE, Boxes
from ircert.engines.boxes.problem.setting import Setting, neurons_that_matter
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array, Mask

MANY = 16
"""Neurons that are 0 at the centre; fewer are better cut into their phases."""
WITHIN, HALVES = 0.9, 60
"""Of the radius at which another neuron switches, what the first Q takes; how often Q is halved at most."""
SMALLEST = 2.0**-900
"""Half a side of Q at least, so that t and its multiples are far from the largest floats."""
CLOSE = 1e-9
"""Neurons that are worth an exact look, in parts of the largest one."""


@dataclass(frozen=True, eq=False)
class RaySetting(Setting):
    """The network in (u, s) around the centre of another setting, `origin`; s is at most t, where Q begins."""

    origin: Setting = None  # type: ignore[assignment]  # fields before it have defaults

    @staticmethod
    def of(setting: Setting) -> RaySetting | None:
        """None where few neurons are 0 at the centre, or floats show no Q."""
        half = still_half(setting)
        if half is None or not half > SMALLEST:
            return None
        n, t = setting.size, (1 + 1e-9) / half
        place = Place(np.zeros(n + 1), Norm.INF, np.r_[np.full(n, -1.0), 0.0], np.r_[np.ones(n), t])
        return RaySetting(homogenized(setting.graph, setting.center), "local", setting.constrained, place, 1.0, setting)

    @property
    def t(self) -> float:
        """Where Q begins."""
        return float(self.high[-1])

    def sides(self, radius: float) -> Boxes:
        """The sides, as far as the ball goes."""
        n = self.size - 1
        with np.errstate(over="ignore", divide="ignore"):  # of radii whose inverse is no float
            first = min((1 - SAFE) / np.float64(radius), self.t)
        low, high = np.r_[np.full(n, -1.0), first], np.r_[np.ones(n), self.t]
        lows, highs = np.tile(low, (2 * n, 1)), np.tile(high, (2 * n, 1))
        for j in range(n):
            highs[2 * j, j], lows[2 * j + 1, j] = -1.0, 1.0
        return Boxes(lows, highs)

    def nearest(self, boxes: Boxes) -> Array:
        """A lower bound on the distance of each box from the centre; 0 where it stands for the rays to the centre."""
        u = np.clip(0.0, boxes.low[:, :-1], boxes.high[:, :-1])
        found = self.origin.norm.lengths(u) / boxes.high[:, -1] * (1 - SAFE)
        return np.where(boxes.high[:, -1] >= self.t, 0.0, found)

    def farthest(self, boxes: Boxes) -> Array:
        """An upper bound on the distance of the farthest point of each box."""
        u = np.maximum(np.abs(boxes.low[:, :-1]), np.abs(boxes.high[:, :-1]))
        return np.asarray(self.origin.norm.lengths(u) / boxes.low[:, -1] * (1 + SAFE))

    def beyond(self, boxes: Boxes, radius: float) -> Boxes:
        """Boxes that hold all points of the given ones outside of the ball."""
        if not 0 < radius < np.inf:
            return boxes
        u = np.maximum(np.abs(boxes.low[:, :-1]), np.abs(boxes.high[:, :-1]))
        most = self.origin.norm.lengths(u) / radius * (1 + SAFE)
        high = boxes.high.copy()
        high[:, -1] = np.maximum(np.minimum(high[:, -1], most), boxes.low[:, -1])
        return Boxes(boxes.low, high)

    def in_domain(self, boxes: Boxes) -> Mask:
        """Which boxes may have points of the domain."""
        c, low, high = (part[None] for part in (self.origin.center, self.origin.low, self.origin.high))
        first, last = (side[:, -1:] for side in (boxes.low, boxes.high))
        with np.errstate(all="ignore"):
            least = boxes.low[:, :-1] / np.where(boxes.low[:, :-1] < 0, first, last)
            most = boxes.high[:, :-1] / np.where(boxes.high[:, :-1] > 0, first, last)
        room = SAFE * (np.abs(c) + np.abs(least) + np.abs(most))
        outside = (c + least - room > high) | (c + most + room < low)
        return np.asarray(~outside.any(axis=1) | (boxes.high[:, -1] >= self.t))


def still_half(setting: Setting) -> float | None:
    """Half a side of a cube around the centre, within Q and the domain."""
    zero = zeros_at_center(setting)
    if zero.sum() <= MANY:
        return None
    moving = ~zero & neurons_that_matter(setting)
    plain = replace(setting, place=replace(setting.place, norm=Norm.INF))
    network, c = Batches(plain), setting.center
    room = float(min((c - setting.low).min(), (setting.high - c).min()))
    half = min(room, WITHIN * first_radius(setting), max(1.0, float(np.abs(c).max())))
    for _ in range(HALVES):
        low, high = c - half, c + half
        if not ((low < c).all() and (c < high).all()):
            return None
        known = enclose(network, low[None], high[None], np.inf)
        if ((known.low > 0) | (known.high < 0))[moving].all():
            return float(min((c - low).min(), (high - c).min()))
        half /= 2
    return None


def zeros_at_center(setting: Setting) -> Mask:
    """Which neurons that matter are 0 at the centre, exactly, if they are many; none where there are curves, whose
    slopes change along rays."""
    known = _ZEROS.get(setting)
    if known is None:
        known = np.zeros(setting.neurons, dtype=bool)
        values = np.abs(setting.preactivations(setting.center[None])[0])
        close = (values <= CLOSE * (1.0 + values.max(initial=0.0))) & neurons_that_matter(setting)
        if not setting.is_smooth and close.sum() > MANY:
            known = close & (center_signs(setting) == 0)
        _ZEROS[setting] = known
    return known


_ZEROS: WeakKeyDictionary[Setting, Mask] = WeakKeyDictionary()
"""Of settings that are in use: several ask."""
