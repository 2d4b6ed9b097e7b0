"""The ends of a bracket with what they rest on, and the violation at the refuted one."""

from __future__ import annotations

import math
from fractions import Fraction

from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.judge import NOTHING
from ircert.result.radius import End

CLEAR = "no violation in this ball: {}; proved in exact or safely rounded arithmetic"
NOWHERE = "no violation anywhere: {}; proved in exact or safely rounded arithmetic"
ELSEWHERE = "known from another engine"
COLLISION = "the nearest collision of its linear regions, found by exact linear programs"


def clear_end(radius: float, argument: str) -> End:
    """A ball that is good, and why; without an argument it is known from elsewhere."""
    if not radius:
        return End(0.0, NOTHING)
    clear = CLEAR if radius < math.inf else NOWHERE
    return End(radius, clear.format(argument or ELSEWHERE))


def refuted_end(descent: Descent) -> End:
    """The radius of the nearest violation found, of which there is one."""
    assert descent.best is not None
    root = End.root_above if descent.setting.norm == "2" else End.above
    return root(descent.best[0], COLLISION)


def witness_of(descent: Descent) -> tuple[list[Fraction], list[Fraction]]:
    """Its two points."""
    assert descent.best is not None
    pair, center = descent.best[1], descent.setting.exact_center
    x, y = ([c + t for c, t in zip(center, w, strict=True)] for w in (pair.x, pair.y))
    return x, y
