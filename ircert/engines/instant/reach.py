"""How far a direction keeps its linear region: bounds on what each neuron moves, in floats rounded outward."""

from __future__ import annotations

import numpy as np

from ircert.bounds.interval import Intervals
from ircert.bounds.rounding import TINY, UNIT, slack
from ircert.engines.instant.directions import Direction, Neighbourhood
from ircert.ir.arrays import Array, Mask
from ircert.ir.ops import Affine
from ircert.ir.rational import Rationals

Moved = tuple[Array, Array]
"""A derivative in floats, and a bound on its error."""


def reach_exponent(place: Neighbourhood, direction: Direction, on: dict[str, Mask]) -> int | None:
    """Some e such that no neuron that is not at 0 gets there before x + 2^e v; None where floats do not tell.

    on: the neurons that are on along the direction; those at 0 stay on their side
    """
    exponents = []
    for name, (slope, error) in _before_relus(place, direction, on).items():
        most = np.abs(slope) + error
        if not np.isfinite(most).all():
            return None
        # |z| >= 2^(size - 1) and most <= 2^exponent, so that z keeps its sign for t < 2^(size - 1 - exponent)
        sizes, above = _sizes(place.before[name]), np.frexp(most)[1].astype(np.int64)
        exponents += [size - 2 - e for size, e in zip(sizes, above.tolist(), strict=True) if size is not None]
    return min(exponents, default=0)


def _sizes(values: Rationals) -> list[int | None]:
    """For each number some e with |z| >= 2^(e - 1); None for 0."""
    below = int(values.denominator).bit_length()
    return [int(v).bit_length() - below if v else None for v in values.numerators]


def _before_relus(place: Neighbourhood, direction: Direction, on: dict[str, Mask]) -> dict[str, Moved]:
    graph = place.graph
    vector, rounding = direction.floats(graph.input_dim), np.zeros(graph.input_dim)
    rounding[direction.inputs] = np.abs(vector[direction.inputs]) * (2 * UNIT) + 2 * TINY
    walk = _Motion(on)
    with np.errstate(all="ignore"):
        walk.walk(graph, (vector, rounding))
    return walk.before


class _Motion(Intervals):
    """Derivatives in floats, with bounds on their errors."""

    def __init__(self, on: dict[str, Mask]) -> None:
        self.on = on
        self.before: dict[str, Moved] = {}

    def affine(self, name: str, op: Affine, x: Moved) -> Moved:
        slope, error = x
        size = abs(op.weight)
        rounding = slack(op.weight.shape[1], size @ (np.abs(slope) + error))
        return np.asarray(op.weight @ slope), np.asarray(size @ error) + rounding

    def relu(self, name: str, x: Moved) -> Moved:
        self.before[name] = x
        return np.where(self.on[name], x[0], 0.0), np.where(self.on[name], x[1], 0.0)

    def add(self, name: str, parts: list[Moved]) -> Moved:
        slopes, errors = (np.array(part) for part in zip(*parts, strict=True))
        return slopes.sum(axis=0), errors.sum(axis=0) + slack(len(slopes), (np.abs(slopes) + errors).sum(axis=0))
