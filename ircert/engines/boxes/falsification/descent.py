"""From one collision to nearer ones: the nearest pair of its regions, then regions next to that pair, and so on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import isqrt

import numpy as np

from ircert.engines.boxes.enclosures.secants import Secants, SlopePattern
from ircert.engines.boxes.falsification.pair_memory import PairMemory
from ircert.engines.boxes.linear_regions.coincidence import Coincidence, values_at
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.setting import Phases, Setting, flipped
from ircert.geometry.norm import Norm
from ircert.geometry.pair import Pair
from ircert.limits import OutOfTime, Undecided, checkpoint

SHARE = Fraction(1, 2**44)
"""Where the nearest pair of two regions is not a collision itself, collisions come arbitrarily close."""

HARDLY = 1 - 2.0**-40
"""Pairs that other centres show to be no nearer than this part of the best one's distance are left out."""
FEW = 4
"""Neurons in which patterns differ whose determinants are looked at first."""


def _goes_on() -> bool:
    return True


@dataclass
class Descent:
    """The nearest violation found so far: `best` is (measure, pair), or None.

    memory: what patterns have shown, here or at other centres
    programs: how many pairs of patterns were measured by exact programs
    """

    setting: Setting
    maps: ExactMaps
    goes_on: Callable[[], bool] = _goes_on
    best: tuple[Fraction, Pair] | None = None
    tried: set[bytes] = field(default_factory=set)
    infimum_is_zero: bool = False
    memory: PairMemory = field(default_factory=PairMemory)
    programs: int = 0
    _at: tuple[Phases, Phases, Pair] | None = None

    def improve(self, first: Phases, second: Phases, far: Pair | None = None, *, onward: bool = True) -> bool:
        """Start from two patterns (and perhaps a violation of theirs); whether the best pair got nearer.

        onward: whether patterns next to their nearest pair are looked at as well; else `further` does it later
        """
        if not self.goes_on() or self.infimum_is_zero:
            return False
        near = self._nearest(first, second, far)
        if near is None:
            return False
        self._at = first, second, near
        if onward:
            self.further()
        return True

    def further(self, programs: float = math.inf) -> bool:
        """Go on from the best pair to nearer ones of patterns next to it, and so on; whether there were any.

        programs: about how many may be solved; the next call goes on from there
        """
        found, end = False, self.programs + programs
        while self._is_at_best() and self.programs < end and self.goes_on() and not self.infimum_is_zero:
            assert self._at is not None
            self._at = self._next(*self._at)
            found |= self._at is not None
        return found

    def _is_at_best(self) -> bool:
        """Whether there is a pair to go on from, and nothing nearer came from elsewhere since."""
        if self._at is None or self.best is None:
            return False
        return self.best[0] >= self._at[2].measure(self.setting.norm)

    def corner(self) -> bytes:
        """What tells the place of the best pair from others, where `further` was not asked: patterns, and zeros."""
        if self._at is None:
            return b""
        first, second, pair = self._at
        return first.tobytes() + second.tobytes() + repr(self._zeros(first, second, pair)).encode()

    def offer(self, pair: Pair) -> bool:
        """Take an exact violation from elsewhere; whether it is nearer than the best one."""
        size = pair.measure(self.setting.norm)
        if self.best is not None and size >= self.best[0]:
            return False
        self.best = size, pair
        return True

    def has_within(self, radius: float) -> bool:
        """Whether the best violation lies in the closed ball."""
        return self.best is not None and self.best[0] <= Fraction(radius) ** self.setting.norm.power

    def search(self, first: Phases, second: Phases, radius: float) -> bool:
        """Whether two patterns have a violation within this radius; it becomes the best, and leads to nearer ones."""
        if self.improve(first, second) and self.has_within(radius):
            return True
        try:
            found = Coincidence(self.setting, self.maps, first, second, radius).violation(Fraction(radius))
        except Undecided:
            found = None
        if found is not None:
            self.best = found.measure(self.setting.norm), found
            self.tried.discard(first.tobytes() + second.tobytes())
            self.improve(first, second, found)
        return self.has_within(radius)

    def _next(self, first: Phases, second: Phases, pair: Pair) -> tuple[Phases, Phases, Pair] | None:
        """Patterns that share the boundary point and have a nearer pair, and that pair."""
        for here, there in self._around(first, second, pair):
            if not self.goes_on():
                return None
            near = self._nearest(here, there, None)
            if near is not None:
                return here, there, near
        return None

    def _around(self, first: Phases, second: Phases, pair: Pair) -> list[tuple[Phases, Phases]]:
        zeros = self._zeros(first, second, pair)
        both = [i for i in zeros[0] if i in zeros[1]]
        found = [(flipped(first, [i]), flipped(second, [i])) for i in both]
        found += [(flipped(first, [i]), second) for i in zeros[0]]
        if not self.setting.pseudo:
            found += [(first, flipped(second, [i])) for i in zeros[1]]
        if len(both) == 2:
            found += [(flipped(first, [i]), flipped(second, [j])) for i, j in product(both, both) if i != j]
        return found

    def _zeros(self, first: Phases, second: Phases, pair: Pair) -> list[list[int]]:
        """The neurons that are 0 at both points of a pair of two patterns."""
        checkpoint()
        found = ((self.maps.of(first).z, pair.x), (self.maps.of(second).z, pair.y))
        return [np.flatnonzero(values_at(z, u) == 0).tolist() for z, u in found]

    def _nearest(self, first: Phases, second: Phases, far: Pair | None) -> Pair | None:
        """The nearest pair of two patterns, if that improves on the best; its collision becomes the best."""
        if far is not None and self._hold_center(first, second):
            return self._from_center(far)
        key = first.tobytes() + second.tobytes()
        if key in self.tried:
            return None
        self.tried.add(key)
        norm, center = self.setting.norm, self.setting.exact_center
        if self.best is not None and self.memory.least(key, self.setting) > HARDLY * norm.length(self.best[0]):
            return None
        far = far or self.memory.violation(key, center)
        if far is None and self._tell_apart(key, first, second):
            return None
        try:
            polytope, found = self._measured(key, first, second, self._scale(far))
            self.memory.measured(key, self.setting, None if found is None else found[0], polytope.slope)
            if found is None or (self.best is not None and found[0] >= self.best[0]):
                return None
            pair = near = found[1]
            if not polytope.violates(near):
                far = far or polytope.violation(_radius_above(near.measure(norm), norm) * 2 + self._room())
                if far is None:
                    return None
                self.memory.keep(key, center, far)
                pair = near.towards(far, SHARE)
        except OutOfTime:
            self.tried.discard(key)  # nothing is known yet: another time it may be
            return None
        except Undecided:
            return None
        size = pair.measure(norm)
        if not any(near.x) and not any(near.y):  # the bound alone may be 0 without a pair there
            self.infimum_is_zero = True
        if self.best is not None and size >= self.best[0]:
            return None
        self.best = size, pair
        return near

    def _hold_center(self, first: Phases, second: Phases) -> bool:
        """Whether the regions of both patterns hold the centre; norm 2 alone, which comes near it by ever shorter steps
        where programs of the other norms end in it."""
        if self.setting.norm != "2":
            return False
        zero = (Fraction(0),) * self.setting.size
        sides = (first,) if self.setting.pseudo else (first, second)
        return all((values_at(self.maps.of(phases).z, zero) * phases >= 0).all() for phases in sides)

    def _from_center(self, far: Pair) -> Pair:
        """The centre, twice, from which violations of two regions that hold it go all the way to one of theirs."""
        zero = (Fraction(0),) * self.setting.size
        near = Pair(zero, zero)
        pair = near.towards(far, SHARE)
        self.infimum_is_zero = True
        self.offer(pair)
        return near

    def _tell_apart(self, key: bytes, first: Phases, second: Phases) -> bool:
        """Whether determinants show that two patterns have no collision: much quicker than programs."""
        known = self.memory.apart
        if key not in known:
            apart = first != second
            few = int(apart.sum()) <= FEW
            known[key] = few and self._secants.injective(SlopePattern((first > 0) & ~apart, apart))
        return known[key]

    @cached_property
    def _secants(self) -> Secants:
        return Secants(self.setting, most_free=FEW)

    def _measured(
        self, key: bytes, first: Phases, second: Phases, scale: float
    ) -> tuple[Coincidence, tuple[Fraction, Pair] | None]:
        """The polytope in a unit that suits it, and its nearest pair."""
        norm = self.setting.norm
        for attempt in range(8):
            self.programs += 1
            polytope = Coincidence(self.setting, self.maps, first, second, scale)
            polytope.basis = self.memory.bases.get(key)
            try:
                found = polytope.nearest(patient=False, goes_on=self.goes_on)
            except Undecided:
                if attempt > 3 or not self.goes_on():
                    raise
                scale *= 2.0**-10
                continue
            if polytope.basis is not None:
                self.memory.bases[key] = polytope.basis
            size = 0.0 if found is None else _float_above(found[1].measure(norm), norm)
            if size == 0.0 or 2.0**-8 <= size / scale <= 2.0**8:
                break
            scale = size
        return polytope, found

    def _scale(self, far: Pair | None) -> float:
        if far is not None:
            return _float_above(far.measure(self.setting.norm), self.setting.norm)
        if self.best is not None:
            return _float_above(self.best[0], self.setting.norm)
        return 1.0

    def _room(self) -> Fraction:
        """Where the nearest pair is the centre itself, violations are looked for within this distance."""
        return Fraction(self._scale(None)) / 1024


def _float_above(measure: Fraction, norm: Norm) -> float:
    """The radius of this measure as a float; Undecided beyond the floats, where no ball reaches."""
    try:
        return float(_radius_above(measure, norm))
    except OverflowError:
        raise Undecided from None


def _radius_above(measure: Fraction, norm: Norm) -> Fraction:
    """A rational radius of at least this measure, close to it."""
    if norm != "2":
        return measure
    shift = max(0, 80 - measure.numerator.bit_length() + measure.denominator.bit_length())
    return Fraction(isqrt((measure.numerator << 2 * shift) // measure.denominator) + 1, 1 << shift)
