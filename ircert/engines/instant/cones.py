"""Directions in which a network stands still although neurons at 0 or the domain allow one way only.

Which neurons at 0 go on along a direction decides the linear part that holds there: all of them off, all on, or as some
other direction turns them. Those that turn them alike form a polyhedral cone: A v = 0 for a cut, K v >= 0 or <= 0 for
the neurons at 0 before it, and the signs that the domain asks for. A linear program in floats proposes an edge of it,
and integers find the vector on that edge and decide whether it lies in the cone; small ones are decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
from flint import fmpz
from scipy.sparse import csr_array

from ircert.engines.instant.cuts import lengths, narrow_cuts
from ircert.engines.instant.derivatives import Arithmetic, M, derivatives
from ircert.engines.instant.directions import Direction, Neighbourhood
from ircert.engines.instant.still import standing
from ircert.exact.dyadics import DyadicArithmetic, product
from ircert.exact.kernels import null_vector
from ircert.exact.linear_program import Program
from ircert.exact.live_program import LiveProgram
from ircert.exact.residues import Floats
from ircert.exact.rows import Rows
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.rational import Integers, integer_array, integer_type
from ircert.limits import OutOfTime, Undecided, checkpoint, left

MOST_NUMBERS, FEW_NUMBERS = 300_000, 600
"""Rows times columns of a program in floats (about a second), and of one that is decided exactly."""
LONGEST = 2.0
"""Seconds for a program in floats, which cannot be interrupted."""
ZERO = 1e-9
FEW_INPUTS, TURNS = 8, 3
"""Neurons at 0 are turned as each of so few inputs does, up and down, and as so many random directions do."""

Pattern = dict[str, Mask]
Found = tuple[Direction, Pattern]


def cone_direction(here: Neighbourhood, sides: dict[int, int], seed: int = 0) -> Found | None:
    """A direction from the point in which the network stands still, and the neurons that are on along it.

    sides: the inputs that may move, with 1 where only up, -1 where only down, and 0 where both ways
    """
    if not any(sides.values()) and not _has_kinks(here):
        return None
    for cone in _cones(here, sides, seed):
        try:
            found = cone.direction()
        except OutOfTime:
            raise
        except Undecided:
            continue
        if found is not None:
            return found, cone.on
    return None


def _has_kinks(here: Neighbourhood) -> bool:
    return any(len(kinks) for kinks in here.kinks.values())


def _cones(here: Neighbourhood, sides: dict[int, int], seed: int) -> Iterator[_Cone]:
    ways, inputs = np.array(list(sides.values())), np.array(list(sides))
    bits = lengths(here.graph)
    seen = set()
    for on in _patterns(here, sides, Random(seed)):
        key = b"".join(mask.tobytes() for mask in on.values())
        if key not in seen:
            seen.add(key)
            for cut in sorted(narrow_cuts(here.graph), key=lambda name: _width(here, name) * bits[name]):
                yield _Cone(here, cut, inputs, ways, on)


def _patterns(here: Neighbourhood, sides: dict[int, int], random: Random) -> Iterator[Pattern]:
    """Ways in which the neurons at 0 can turn."""
    yield here.on
    if not _has_kinks(here):
        return
    yield {name: on | np.isin(np.arange(len(on)), here.kinks[name]) for name, on in here.on.items()}
    for direction in _turns(sides, random):
        vector = [Fraction(direction.get(j, 0)) for j in range(len(here.x))]
        yield here.along(vector).on


def _turns(sides: dict[int, int], random: Random) -> Iterator[dict[int, int]]:
    if len(sides) <= FEW_INPUTS:
        yield from ({j: way} for j, side in sides.items() for way in (1, -1) if way * side >= 0)
    for _ in range(TURNS):
        yield {j: random.randrange(1, 1024) * (side or random.choice((1, -1))) for j, side in sides.items()}


def _width(here: Neighbourhood, cut: str) -> int:
    """How many neurons of a cut may move."""
    return int(here.on[cut].sum()) if cut in here.on else here.graph.sizes[cut]


@dataclass(frozen=True)
class _Cone:
    """All v that move nothing of the cut, no neuron at 0 to the other side, and no input the wrong way."""

    here: Neighbourhood
    cut: str
    inputs: Indices
    ways: Indices
    on: Pattern

    def direction(self) -> Direction | None:
        """A vector of the cone that is not 0, or None if none was found."""
        checkpoint()
        with np.errstate(all="ignore"):
            cut, kinks = self._parts(self.inputs, Floats())
            guess = _guess(cut, kinks, self.ways)
        found = None if guess is None else self._on_edge(*guess)
        if found is None and cut.size + kinks.size <= FEW_NUMBERS:
            found = self._decided()
        return found

    def _parts(self, inputs: Indices, arithmetic: Arithmetic[M]) -> tuple[M, M]:
        """The linear parts of the cut, and of the neurons at 0 before it: none of their rows may become negative."""
        graph, kinks = self.here.graph, self.here.kinks
        found = derivatives(graph, inputs, self.on, arithmetic, [self.cut], kinks)
        cut, *rest = standing(found, self.cut, graph)
        if not rest:
            return cut, arithmetic.of_floats(np.zeros((0, len(inputs))))
        turned = np.concatenate([self.on[name][kinks[name]] for name in list(found.before)[: len(rest)]])
        return cut, arithmetic.signed(arithmetic.stack(rest), turned)

    def _on_edge(self, chosen: Indices, tight: Indices) -> Direction | None:
        """The vector that moves these inputs and leaves these neurons at 0, if it lies in the cone."""
        exact = DyadicArithmetic()
        cut, kinks = self._parts(self.inputs[chosen], exact)
        numbers = null_vector(exact.stack([cut, kinks.rows(tight)]))
        if numbers is None:
            return None
        moved = product(kinks.numerators, np.array([[fmpz(v)] for v in numbers], dtype=object)).ravel()
        signed = [v * way for v, way in zip(numbers, self.ways[chosen].tolist(), strict=True)]
        for way in (1, -1):
            if all(way * v >= 0 for v in [*signed, *moved]):
                return Direction(self.inputs[chosen].tolist(), [way * v for v in numbers])
        return None

    def _decided(self) -> Direction | None:
        """A vector of the cone, or None if there is none but 0 and those that were looked for before."""
        cut, kinks = (_plain(part.numerators) for part in self._parts(self.inputs, DyadicArithmetic()))
        one, size = _plain(np.eye(len(self.inputs), dtype=int)), len(self.inputs)
        signed = one[self.ways != 0] * _plain(self.ways[self.ways != 0][:, None])
        held = np.concatenate([signed, kinks])
        nothing, all_one = (np.full(2 * size + len(held) + len(cut), integer_type()(v), dtype=object) for v in (0, 1))
        rows = [
            Rows.of(np.concatenate([one, -one]), all_one[: 2 * size]),
            Rows.of(-held, nothing[: len(held)], width=size),
            Rows.of(cut, nothing[: len(cut)], width=size, equal=True),
        ]
        point = Program(Rows.joined(rows)).above(held.sum(axis=0))
        if point is None:
            return None
        below = math.lcm(*(v.denominator for v in point))
        moved = [j for j, v in enumerate(point) if v]
        return Direction(self.inputs[moved].tolist(), [int(point[j] * below) for j in moved])


def _plain(numbers: Integers | Indices) -> Integers:
    return integer_array([int(v) for v in numbers.ravel()]).reshape(numbers.shape)


def _guess(cut: Array, kinks: Array, ways: Indices) -> tuple[Indices, Indices] | None:
    """The inputs that an edge of the cone moves, and the neurons at 0 that it leaves there; None if floats see none.

    Vectors that move nothing to one side only were looked for before; so the sum of what does is 1.
    """
    cut = cut[cut.any(axis=1)]
    if cut.size + kinks.size > MOST_NUMBERS or not (np.isfinite(cut).all() and np.isfinite(kinks).all()):
        return None
    size = np.abs(np.concatenate([cut, kinks])).max(axis=0, initial=0.0)
    size[size == 0] = 1.0
    cut, kinks = (_balanced(rows / size) for rows in (cut, kinks))
    rows = csr_array(np.concatenate([kinks, cut, (ways + kinks.sum(axis=0))[None, :]]))
    low = np.append(np.zeros(len(kinks) + len(cut)), 1.0)
    high = np.concatenate([np.full(len(kinks), np.inf), low[len(kinks) :]])
    sides = np.where(ways > 0, 0.0, -np.inf), np.where(ways < 0, 0.0, np.inf)
    live = LiveProgram(rows, (low, high), sides, presolve="off", solver="simplex")
    if live.maximise(np.zeros(len(ways)), seconds=min(LONGEST, left())) != "optimal":
        return None
    return np.flatnonzero(np.abs(live.point) > ZERO), np.flatnonzero(np.abs(kinks @ live.point) <= ZERO)


def _balanced(rows: Array) -> Array:
    """Each row over its largest absolute value."""
    size = np.abs(rows).max(axis=1, initial=0.0)
    size[size == 0] = 1.0
    return rows / size[:, None]
