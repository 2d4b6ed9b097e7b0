"""The bounds of any curve: by its table, or without one where its slopes have no bound."""

from __future__ import annotations

from functools import lru_cache

from ircert.bounds.curves import CurveBounds, bounds_of
from ircert.bounds.exponentials import ExpBounds
from ircert.bounds.squares import SquareBounds
from ircert.bounds.steep import SteepBounds
from ircert.ir.ops import Curve, Exp, Square

STEEP: dict[type[Curve], type[SteepBounds]] = {Square: SquareBounds, Exp: ExpBounds}


@lru_cache(maxsize=64)
def all_bounds_of(curve: Curve) -> CurveBounds:
    """The bounds of a curve; slopes without a bound are followed however steep they are."""
    return STEEP[type(curve)]() if curve.steep else bounds_of(curve)
