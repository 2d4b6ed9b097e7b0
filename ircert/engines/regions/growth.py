"""Complexes that grow outward from the centre, so that the work is that of the cells near the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.engines.regions.beyond import Open, open_cells
from ircert.engines.regions.complex import MOST_CELLS, Complex, build, segments
from ircert.engines.regions.forms import applied, input_forms
from ircert.engines.regions.outline import outline, round_outlines
from ircert.geometry.place import Place, Placed
from ircert.ir.graph import Graph

NEIGHBOURS = 8
"""The first complex reaches about this many neurons' lines."""
SMALLEST_STEP = 1.4
"""A complex has at least this many times the radius of the one before …"""
FASTEST = 2.0**64
"""… and at most this many times."""
FARTHEST = 2.0**1000
"""No complex is larger: coordinates are floats."""


@dataclass(frozen=True)
class Surroundings(Placed):
    """A canonical graph with one or two inputs, seen from a centre, inside a box."""

    graph: Graph
    place: Place

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

    @property
    def everywhere(self) -> bool:
        """Whether there is no domain."""
        return not (np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def open_cells(self, radius: Fraction, complex_: Complex) -> list[Open] | None:
        """The cells of a complex that go on to infinity; None where they do not go on as they are, or may not."""
        ends = [abs(end) for side in self.box for end in side if end is not None]
        if max(ends, default=Fraction(0)) >= radius:  # the ball's sides must be its own
            return None
        return open_cells(complex_, outline(radius, self.norm, []).lines)

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
        ahead: Callable[[Fraction, Complex], float] = lambda radius, complex_: 0.0,
    ) -> Iterator[tuple[Fraction, Complex]]:
        """Larger and larger (radius, complex), the last one of radius `reach`, or none if that is infinite.

        Steps shrink as they cost more, and grow while no cell is added. The first radius lies beyond one that is good
        already; no complex has more cells than `most`. `ahead` is asked after each complex: up to the radius it gives
        there is nothing to find.
        """
        first = self.first_radius()
        radius = min(max(first if first < np.inf else 1.0, SMALLEST_STEP * beyond, np.finfo(float).tiny), reach)
        factor, before = 1.0, -1
        while True:
            complex_ = self.complex(Fraction(radius), between, most)
            yield Fraction(radius), complex_
            nothing = ahead(Fraction(radius), complex_)
            if max(radius, nothing) >= reach or self.covered(Fraction(radius)):
                return
            cells = len(complex_)
            step = 4.0 if cells < 100 else 2.0 if cells < 10_000 else SMALLEST_STEP
            factor, before = min(factor * factor, FASTEST) if cells == before else step, cells
            radius = min(max(radius * factor, 2.0 * nothing), reach)
            if radius > FARTHEST and reach == np.inf:
                return
