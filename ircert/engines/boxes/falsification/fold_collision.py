"""Exact collisions next to a point of a fold or of a flat region, without any program.

Let a point lie inside the common facet of two regions P and Q of opposite orientation, and d lead from it into P. The
solution of A_Q e = A_P d leads into Q: A_Q = A_P + a g with g = 0 on the facet, and det A_Q / det A_P = 1 + g A_P⁻¹ a
< 0 is also g·d / g·e. So the points at small steps along d and e collide. All of that is checked in integers: the
argument says why it works, the checks that it did.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from ircert.engines.boxes.linear_regions.coincidence import values_at
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps, RegionMap
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.geometry.pair import Pair
from ircert.ir.arrays import Array
from ircert.ir.rational import Integers, integer_array
from ircert.limits import checkpoint

INWARDS = (2.0**-44, 2.0**-36, 2.0**-28, 2.0**-20, 2.0**-12, 2.0**-6)
"""How far from the nearest point to one inside the facet: as little as rounding allows."""
STEP = Fraction(1, 2**46)
"""The longest step into the regions, in parts of the distance from the centre …"""
LEAST = 1e-290
"""… which is a number that floats can hold."""

Vector = tuple[Fraction, ...]


class FoldCollisions:
    """Exact violations of a setting next to folds, where there are as many constrained outputs as inputs, and inside
    flat regions."""

    def __init__(self, setting: Setting, maps: ExactMaps) -> None:
        self._setting = setting
        self._maps = maps

    def beside(self, sides: tuple[Phases, Phases], neuron: int, nearest: Array, inside: Array) -> Pair | None:
        """A collision of two regions as near to a point of their facet as rounding allows; None if none was found.

        neuron: it is 0 on the facet; inside: a point in the facet's interior, in floats
        """
        here, there = (self._maps.of(phases) for phases in sides)
        plane = here.z[neuron]
        directions = _directions(here, there, plane * int(sides[0][neuron]), self._setting.constrained)
        if directions is None:
            return None
        for share in INWARDS:
            checkpoint()
            point = _on_plane(plane, nearest + share * (inside - nearest))
            pair = None if point is None else self._from(point, directions, (here, there), sides)
            if pair is not None:
                return pair
        return None

    def within(self, phases: Phases, nearest: Array, inside: Array) -> Pair | None:
        """A collision inside a flat region, as near to a point of its closure as rounding allows; None if none is."""
        region = self._maps.of(phases)
        kernel = _kernel(region.values[: self._setting.constrained, :-1])
        if kernel is None:
            return None
        backward = tuple(-v for v in kernel)
        for share in INWARDS:
            checkpoint()
            point = nearest + share * (inside - nearest)
            if not np.isfinite(point).all():
                return None
            start = tuple(Fraction(v) for v in point.tolist())
            pair = self._from(start, (kernel, backward), (region, region), (phases, phases))
            if pair is not None:
                return pair
        return None

    def _from(
        self, point: Vector, directions: tuple[Vector, Vector], maps: tuple[RegionMap, ...], sides: tuple[Phases, ...]
    ) -> Pair | None:
        size = max(max(map(abs, point)), Fraction(LEAST))
        step = STEP * size / max(abs(v) for d in directions for v in d)
        for region, phases, direction in zip(maps, sides, directions, strict=True):
            most = _longest(region.z * phases.astype(object)[:, None], point, direction)
            if most is None:
                return None
            step = min(step, most)
        # a power of two below it: short numbers
        step = Fraction(2) ** (math.floor(math.log2(step.numerator) - math.log2(step.denominator)) - 1)
        x, y = (tuple(a + step * b for a, b in zip(point, d, strict=True)) for d in directions)
        return Pair(x, y) if self._collide(x, y, maps) else None

    def _collide(self, x: Vector, y: Vector, maps: tuple[RegionMap, ...]) -> bool:
        """Whether both points lie in the domain, and the maps of both regions agree."""
        setting = self._setting
        ends = zip(setting.exact_center, setting.low.tolist(), setting.high.tolist(), strict=True)
        inside = all(
            low <= c + u <= high and low <= c + v <= high for (c, low, high), u, v in zip(ends, x, y, strict=True)
        )
        gaps = np.concatenate([maps[0].values[:, :-1], -maps[1].values[:, :-1],
                               (maps[0].values[:, -1] - maps[1].values[:, -1])[:, None]], axis=1)  # fmt: skip
        values = values_at(gaps, (*x, *y))
        differ = any(values[setting.constrained :]) if setting.unknowns else x != y
        return inside and differ and not any(values[: setting.constrained])


def _directions(here: RegionMap, there: RegionMap, inwards: Integers, outputs: int) -> tuple[Vector, Vector] | None:
    """d with inwards · d > 0, and e with A_Q e = A_P d; None where floats or the second matrix fail."""
    slope = inwards[:-1]
    top = max(slope.tolist(), key=abs)
    if not top:
        return None
    d = integer_array([int(Fraction(int(v) * 64, int(abs(top)))) for v in slope])
    right = here.values[:outputs, :-1].dot(d)
    matrix = fmpz_mat(len(right), len(d), [int(v) for v in there.values[:outputs, :-1].ravel()])
    try:
        e = matrix.solve(fmpz_mat(len(right), 1, [int(v) for v in right]))
    except ZeroDivisionError:
        return None
    second = tuple(Fraction(int(v.p), int(v.q)) for v in e.entries())
    return tuple(Fraction(int(v)) for v in d), second


def _kernel(matrix: Integers) -> Vector | None:
    """A vector that a matrix maps to 0; None if there is none but 0."""
    found, count = fmpz_mat(*matrix.shape, [int(v) for v in matrix.ravel()]).nullspace()
    if not count:
        return None
    vector = [int(found[j, 0]) for j in range(matrix.shape[1])]
    top = max(map(abs, vector))
    return tuple(Fraction(v, top) for v in vector)


def _on_plane(plane: Integers, point: Array) -> Vector | None:
    """The point, with one coordinate changed so that it lies on the plane."""
    if not np.isfinite(point).all():
        return None
    numbers = [Fraction(v) for v in point.tolist()]
    steepest = max(range(len(numbers)), key=lambda j: abs(plane[j]))
    rest = sum((int(a) * v for j, (a, v) in enumerate(zip(plane, numbers, strict=False)) if j != steepest), Fraction(0))
    numbers[steepest] = -(rest + int(plane[-1])) / int(plane[steepest])
    return tuple(numbers)


def _longest(rows: Integers, point: Vector, direction: Vector) -> Fraction | None:
    """How far a direction leads into rows >= 0 from a point; None if not at all."""
    below, above = (math.lcm(*(v.denominator for v in vector)) for vector in (point, direction))
    values = values_at(rows, point)
    slopes = rows[:, :-1].dot(integer_array([int(v * above) for v in direction]))
    if any(v < 0 or (v == 0 and s < 0) for v, s in zip(values, slopes, strict=True)):
        return None
    # (value / below) / (-slope / above)
    steps = (Fraction(int(v) * above, -int(s) * below) for v, s in zip(values, slopes, strict=True) if s < 0)
    return min(steps, default=Fraction(1))
