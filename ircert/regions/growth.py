"""Complexes that grow outward from the centre, so that the work is that of the cells near the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.query import Norm
from ircert.regions.complex import MOST_CELLS, Complex, build, segments
from ircert.regions.forms import applied, input_forms
from ircert.regions.outline import outline, round_outlines

NEIGHBOURS = 8
"""The first complex reaches about this many neurons' lines."""
SMALLEST_STEP = 1.4
"""A complex has at least this many times the radius of the one before."""


@dataclass(frozen=True)
class Surroundings:
    """A canonical graph with one or two inputs, seen from a centre, inside a box."""

    graph: Graph
    center: Array
    norm: Norm
    low: Array
    high: Array

    @property
    def box(self) -> list[tuple[Fraction | None, Fraction | None]]:
        """The domain relative to the centre, None where it is unbounded."""
        sides: list[tuple[Fraction | None, Fraction | None]] = [
            (
                Fraction(low) - Fraction(at) if np.isfinite(low) else None,
                Fraction(high) - Fraction(at) if np.isfinite(high) else None,
            )
            for at, low, high in zip(self.center.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        ]
        return sides

    @property
    def strip(self) -> list[tuple[Fraction | None, Fraction | None]]:
        """The domain with the second coordinate that a network with one input is given: any interval around 0 will do,
        and a short one keeps the strips that its cells are in proportion."""
        half = Fraction(min(self.first_radius(), 1.0))
        return self.box if len(self.center) == 2 else [*self.box, (-half, half)]

    def complex(self, radius: Fraction, between: Callable[[], None] = lambda: None, most: int = MOST_CELLS) -> Complex:
        """The complex inside the ball (norm 2: inside the square around it), of at most so many cells."""
        return build(self.graph, self.center, outline(radius, self.norm, self.strip), most=most, between=between)

    def around_disc(self, radius: Fraction, sides: int) -> tuple[Complex, Complex]:
        """The complexes inside polygons in and around the disc of norm 2."""
        inner, outer = (build(self.graph, self.center, o) for o in round_outlines(radius, self.box, sides))
        return inner, outer

    def covered(self, radius: Fraction) -> bool:
        """Whether the ball holds the whole domain, so that larger balls are the same."""
        reach = Fraction(0)
        for low, high in self.box:
            if low is None or high is None:
                return False
            size = max(-low, high)
            reach = reach + size if self.norm != "inf" else max(reach, size)  # norm 2: on the safe side
        return reach <= radius

    def first_radius(self) -> float:
        """Where the first few neurons change their phase; infinite if there are none."""
        relus, _ = segments(self.graph)
        if not relus:
            return np.inf
        values = {self.graph.input: input_forms(self.center, 1.0)}
        node, before = relus[0]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for earlier in before:
                values[earlier.name] = applied(earlier, [values[name] for name in earlier.operands])
            a, b, c = np.abs(values[node.operands[0]].value[0])
            away = np.sort(c / (a + b))
        away = away[np.isfinite(away) & (away > 0)]
        return float(away[min(NEIGHBOURS, len(away)) - 1]) if len(away) else 1.0

    def growing(
        self,
        reach: float,
        between: Callable[[], None] = lambda: None,
        *,
        beyond: float = 0.0,
        most: int = MOST_CELLS,
    ) -> Iterator[tuple[Fraction, Complex]]:
        """Larger and larger (radius, complex), the last one of radius `reach`; steps shrink as they cost more.

        The first radius lies beyond one that is good already; no complex has more cells than `most`.
        """
        radius = min(max(self.first_radius(), SMALLEST_STEP * beyond, np.finfo(float).tiny), reach)
        while True:
            complex_ = self.complex(Fraction(radius), between, most)
            yield Fraction(radius), complex_
            if radius >= reach or self.covered(Fraction(radius)):
                return
            cells = len(complex_)
            radius = min(radius * (4.0 if cells < 100 else 2.0 if cells < 10_000 else SMALLEST_STEP), reach)
