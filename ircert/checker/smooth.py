"""Certificates that balls of networks with curves are not good: boxes that hold a collision, and points of opposite
orientation, by interval arithmetic (C-16, C-17)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ircert.checker.collision import Pair
from ircert.checker.limits import MOST_WEIGHTS, require_evaluation, require_few_weights
from ircert.checker.reading import Integer, Stop
from ircert.errors import IrcertError
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine

MOST_WORK, MOST_UNKNOWNS = 2**29, 2**9
"""Entries of all matrices of a network times the columns of a Jacobian, and unknowns: minutes (C-18)."""
MOST_ENTRIES, MOST_SLOPES, LONGEST = 2**18, 2**23, 2**14
"""Entries of all nodes, these times the columns, and bits of a number over the common denominator: half a minute for
each of the first two, though a line of text may ask for them."""
BITS = (128, 512)
"""Of determinants: more where the first do not tell."""


class Enclosed(Pair):
    """A claim that interval arithmetic shows."""

    def fault(self, stop: Stop) -> str | None:
        """ValueError if it would take too long."""
        try:
            from ircert.ir import boxed_pair, enclosure
        except ImportError as error:  # the checker needs it for these claims alone
            raise IrcertError(f"interval arithmetic is missing ({error})", remedy="pip install python-flint") from None
        try:
            self.require_effort(enclosure.lowered)
            return self.shown(boxed_pair, enclosure.enclosed_determinant)
        except IrcertError as error:  # a network without an enclosure
            return str(error)

    @abstractmethod
    def shown(self, pairs: Any, determinant: Callable[..., Any]) -> str | None:
        """The fault, by Krawczyk's test for pairs or by determinants."""

    @property
    def radii(self) -> list[Integer]:
        """How far boxes reach."""
        return []

    def require_effort(self, lowered: Callable[[Graph], Graph]) -> None:
        """Refuse what would take too long, or fill the memory."""
        columns = max(1, sum(r != 0 for r in self.radii)) if self.radii else len(self.x)
        numbers = [self.unit, self.radius, *self.center, *self.x, *self.y, *self.radii]
        if max(number.bit_length() for number in numbers) > LONGEST or columns > MOST_UNKNOWNS:
            raise ValueError("its numbers are too long, or too many, for interval arithmetic")
        for graph in (self.model, self.other):
            if graph is None:
                continue
            require_few_weights(graph)
            core = lowered(graph)
            maps = (node.op for node in core.nodes if isinstance(node.op, Affine))
            weights, entries = sum(math.prod(op.weight.shape) for op in maps), sum(core.sizes.values())
            if weights > MOST_WEIGHTS or weights * columns > MOST_WORK:
                raise ValueError("interval arithmetic with its network is too long to be checked")
            if entries > MOST_ENTRIES or entries * columns > MOST_SLOPES:
                raise ValueError("interval arithmetic with its network takes too much room to be checked")


@dataclass(frozen=True)
class Boxes(Enclosed):
    """A claim: boxes of these radii around x and y, in the ball, hold a collision (C-16)."""

    fields: ClassVar[tuple[str, ...]] = ("x", "y", "x_radii", "y_radii")
    points: ClassVar[tuple[str, ...]] = fields
    x_radii: list[Integer]
    y_radii: list[Integer]

    @property
    def radii(self) -> list[Integer]:
        """Of both."""
        return self.x_radii + self.y_radii

    def require_effort(self, lowered: Callable[[Graph], Graph]) -> None:
        """Points alone are evaluated exactly, as far as the first curves."""
        super().require_effort(lowered)
        if not any(self.radii):
            from ircert.ir.stem import stem

            require_evaluation(stem(self.model), self.unit, self.x + self.y)

    def shown(self, pairs: Any, determinant: Callable[..., Any]) -> str | None:
        """Boxes in the ball and the domain, and Krawczyk's test."""
        for name, middle, radii in (("x", self.x, self.x_radii), ("y", self.y, self.y_radii)):
            if any(r < 0 for r in radii):
                return f"a radius of {name} is negative"
            if not self.in_ball(middle, radii):
                return f"the box of {name} does not lie in the ball"
            if not self.in_box(middle, radii):
                return f"the box of {name} does not lie in the domain"
        if self.problem == "pseudo" and (self.y != self.center or any(self.y_radii)):
            return "y is not the centre"
        parts = (_fractions(values, self.unit) for values in (self.x, self.y, self.x_radii, self.y_radii))
        found: str | None = pairs.fault_of(self.model, pairs.BoxedPair(*parts), self.other)
        return found


class Turned(Enclosed):
    """A claim: x and y, inside the ball, have determinants of opposite signs (C-17)."""

    def shown(self, pairs: Any, determinant: Callable[..., Any]) -> str | None:
        """Points in the interior, and determinants."""
        pinned = self.pinned
        free = [j for j in range(len(self.x)) if j not in pinned]
        if self.problem != "local" or self.model.output_dim != len(free):
            return "orientations say nothing here: they are for `local`, with as many outputs as free inputs"
        for name, point in (("x", self.x), ("y", self.y)):
            if not self.in_ball(point, strictly=True):
                return f"{name} does not lie in the interior of the ball"
            if not self.in_box(point) or any(point[j] in (self.low[j], self.high[j]) for j in free):
                return f"{name} does not lie in the interior of the domain"
        points = [_fractions(point, self.unit) for point in (self.x, self.y)]
        if not pairs.is_defined_between(self.model, *points):
            return "the network is not shown to be defined between x and y"
        for bits in BITS:
            first, second = (determinant(self.model, point, bits, free) for point in points)
            if (first > 0 and second < 0) or (first < 0 and second > 0):
                return None
        return "interval arithmetic does not show determinants of opposite signs"


def _fractions(values: list[Integer], unit: Integer) -> list[Fraction]:
    return [Fraction(int(value), int(unit)) for value in values]
