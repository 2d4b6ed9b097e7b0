"""Directions in which a network stands still although neurons at 0 or the domain allow one way only.

If every neuron at 0 goes off, or stays, the linear part is that with these neurons off; if none goes off, that with
them on. Either way the directions form a polyhedral cone: A v = 0 for the cut, K v <= 0 (or >= 0) for the neurons at 0
before it, and the signs that the domain asks for. A linear program in floats proposes one of its edges; integers find
the vector on that edge and decide whether it lies in the cone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpz

from ircert.engines.cuts import lengths, narrow_cuts
from ircert.engines.derivatives import Arithmetic, Floats, M, derivatives
from ircert.engines.directions import Direction, Neighbourhood
from ircert.engines.still import standing
from ircert.exact.dyadics import DyadicArithmetic, product
from ircert.exact.kernels import null_vector
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import OutOfTime, Undecided, checkpoint, left

MOST_NUMBERS = 300_000
"""Rows times columns of a program: about a second."""
LONGEST = 2.0
"""Seconds for a program, which cannot be interrupted."""
ZERO = 1e-9

Found = tuple[Direction, dict[str, Mask]]


def cone_direction(here: Neighbourhood, sides: dict[int, int]) -> Found | None:
    """A direction from the point in which the network stands still, and the neurons that are on along it.

    sides: the inputs that may move, with 1 where only up, -1 where only down, and 0 where both ways
    """
    if not any(sides.values()) and not any(len(kinks) for kinks in here.kinks.values()):
        return None
    for cone in _cones(here, sides):
        try:
            found = cone.edge()
        except OutOfTime:
            raise
        except Undecided:
            continue
        if found is not None:
            return found, cone.on
    return None


def _cones(here: Neighbourhood, sides: dict[int, int]) -> Iterator[_Cone]:
    ways = np.array(list(sides.values()))
    inputs = np.array(list(sides))
    turned = {name: here.on[name].copy() for name in here.on}
    for name, kinks in here.kinks.items():
        turned[name][kinks] = True
    bits = lengths(here.graph)
    for cut in sorted(narrow_cuts(here.graph), key=lambda name: _width(here, name) * bits[name]):
        yield _Cone(here, cut, inputs, ways, here.on, -1)
        if any(len(kinks) for kinks in here.kinks.values()):
            yield _Cone(here, cut, inputs, ways, turned, 1)


def _width(here: Neighbourhood, cut: str) -> int:
    """How many neurons of a cut may move."""
    return int(here.on[cut].sum()) if cut in here.on else here.graph.sizes[cut]


@dataclass(frozen=True)
class _Cone:
    """All v that move nothing of the cut, no neuron at 0 to the other side (1: on, -1: off), no input the wrong way."""

    here: Neighbourhood
    cut: str
    inputs: Indices
    ways: Indices
    on: dict[str, Mask]
    side: int

    def edge(self) -> Direction | None:
        """A vector of the cone that is not 0, or None if none was found."""
        checkpoint()
        with np.errstate(all="ignore"):
            guess = _guess(*self._parts(self.inputs, Floats()), self.ways, self.side)
        if guess is None:
            return None
        chosen, tight = guess
        exact = DyadicArithmetic()
        cut, kinks = self._parts(self.inputs[chosen], exact)
        numbers = null_vector(exact.stack([cut, kinks.rows(tight)]))
        if numbers is None:
            return None
        moved = product(kinks.numerators, np.array([[fmpz(v)] for v in numbers], dtype=object)).ravel()
        for way in (1, -1):
            inside = all(way * v * side >= 0 for v, side in zip(numbers, self.ways[chosen].tolist(), strict=True))
            if inside and all(way * v * self.side >= 0 for v in moved):
                return Direction(self.inputs[chosen].tolist(), [way * v for v in numbers])
        return None

    def _parts(self, inputs: Indices, arithmetic: Arithmetic[M]) -> tuple[M, M]:
        """The linear parts of the cut, and of the neurons at 0 before it."""
        graph, kinks = self.here.graph, self.here.kinks
        found = derivatives(graph, inputs, self.on, arithmetic, [self.cut], kinks)
        cut, *rest = standing(found, self.cut, graph)
        return cut, arithmetic.stack(rest) if rest else arithmetic.of_floats(np.zeros((0, len(inputs))))


def _guess(cut: Array, kinks: Array, ways: Indices, side: int) -> tuple[Indices, Indices] | None:
    """The inputs that an edge of the cone moves, and the neurons at 0 that it leaves there; None if floats see none.

    The edges that move nothing to one side only were looked for before; so the sum of what does is 1.
    """
    from scipy.optimize import linprog

    cut, kinks = cut[cut.any(axis=1)], side * kinks
    if cut.size + kinks.size > MOST_NUMBERS or not (np.isfinite(cut).all() and np.isfinite(kinks).all()):
        return None
    size = np.abs(np.concatenate([cut, kinks])).max(axis=0, initial=0.0)
    size[size == 0] = 1.0
    cut, kinks = (_balanced(rows / size) for rows in (cut, kinks))
    total = ways + kinks.sum(axis=0)
    bounds = [(0.0 if way > 0 else None, 0.0 if way < 0 else None) for way in ways.tolist()]
    target = np.append(np.zeros(len(cut)), 1.0)
    found = linprog(
        np.zeros(len(ways)),
        A_ub=-kinks,
        b_ub=np.zeros(len(kinks)),
        A_eq=np.concatenate([cut, total[None, :]]),
        b_eq=target,
        bounds=bounds,
        method="highs-ds",
        options={"presolve": False, "time_limit": min(LONGEST, left())},
    )
    if found.x is None:
        return None
    return np.flatnonzero(np.abs(found.x) > ZERO), np.flatnonzero(np.abs(kinks @ found.x) <= ZERO)


def _balanced(rows: Array) -> Array:
    """Each row over its largest absolute value."""
    size = np.abs(rows).max(axis=1, initial=0.0)
    size[size == 0] = 1.0
    return rows / size[:, None]
