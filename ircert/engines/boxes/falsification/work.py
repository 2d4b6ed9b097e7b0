"""What all that look for violations share: the unit of their work, and where it is worth while to look."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array

UNIT = 1_000_000
"""Nanoseconds, about, that count as one unit of work; they are counted, not timed."""
FARTHEST = 1e150
"""How far floats are sure to reach."""
NEARER = 1 - 1e-9
"""Violations are news if they are nearer than the best one by this factor."""
RESOLUTION = 2.0**-46
"""Balls that are smaller than this, times the largest number of the centre, are too small for floats …"""
LEAST_RADIUS = 2.0**-900
"""… and all that are smaller than this, because products of small numbers have to be numbers as well."""


def news_within(descent: Descent, reach: float) -> float:
    """The radius of the ball in which a violation would be news; 0 where none is."""
    if descent.infimum_is_zero:
        return 0.0
    best = descent.best
    return reach if best is None else min(reach, NEARER * descent.setting.norm.length(best[0]))


def first_radius(setting: Setting) -> float:
    """About the radius of the ball in which no neuron switches that is not 0 at the centre; infinite without one."""
    return float(switching_radii(setting).min(initial=np.inf))


def first_ball(setting: Setting) -> float:
    """The first radius of what floats can tell from the centre: a nearer switch is met by all balls they prove."""
    radii = switching_radii(setting)
    resolution = max(LEAST_RADIUS, RESOLUTION * float(np.abs(setting.center).max(initial=0.0)))
    return float(radii[radii > resolution].min(initial=np.inf))


def switching_radii(setting: Setting) -> Array:
    """About how far from the centre each neuron switches, as far as floats say; not those that are 0 there. In
    ascending order."""
    known = _RADII.get(setting)
    if known is None:
        known = _RADII[setting] = _switching_radii(setting)
    return known


_RADII: WeakKeyDictionary[Setting, Array] = WeakKeyDictionary()
"""Of settings that are in use: several ask, and in large networks they take a while."""


def _switching_radii(setting: Setting) -> Array:
    values = setting.preactivations(setting.center[None])[0]
    with np.errstate(all="ignore"):
        slopes = _gradients(setting)
        size = np.linalg.norm(slopes, ord=setting.norm.dual.order, axis=1)
        distances = np.abs(values) / size
    useful = (values != 0.0) & np.isfinite(distances) & (distances > 0)
    return np.sort(distances[useful])


def least_radius(setting: Setting) -> float:
    """About where folds begin: the first radius; any where neurons switch at the centre alone, infinite where none."""
    first = first_radius(setting)
    if first < np.inf:
        return max(first, LEAST_RADIUS)
    return 1.0 if (_gradients(setting) != 0.0).any() else np.inf


def _gradients(setting: Setting) -> Array:
    """The rows below all neurons at the centre (neurons, inputs)."""
    on = (setting.preactivations(setting.center[None]) > 0).astype(np.float64)
    return Secants(setting).rows(on)[0]
