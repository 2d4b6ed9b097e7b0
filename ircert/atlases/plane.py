"""Two inputs: one complex of linear regions for a block of centres.

Let F be the set of points where f turns over or is blind: facets between cells of opposite orientation, and cells on
which f has a kernel. The largest good radius at c is the distance from c to F, unless a pair of cells has a nearer
violation. Inside the open ball of radius dist(c, F) all cells have one orientation, and facets inside the ball lead
from each to each (a ball without finitely many points is connected). So only pairs of cells of one sheet are asked
about, a sheet being what is connected by facets that are no part of F (A-6).

Distances are floats with bounds; signs, maps and witnesses are exact, and each witness is replayed on the network.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ircert.atlases.plane_block import ROUNDING, Block
from ircert.atlases.plane_sheet import Found, Sheet
from ircert.engines.regions.complex import TooManyCells
from ircert.engines.regions.growth import Surroundings
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.limits import checkpoint

MOST_CELLS = 200_000
"""Of the complex of a block; centres whose balls need more are answered one by one."""
GROWTHS, LARGEST = 8, 2.0**12
"""How often a complex grows, and to how many times its first size."""
FIRST = 1.5
"""The first complex is so much larger than the block …"""
FARTHER = 2.0
"""… and the next one so much larger than the one before, where nothing is found."""
MARGIN = 2.0**-40
"""How far beyond what is needed a complex reaches, relatively."""


class Plane:
    """Complexes around a block of centres, until one holds all that matters."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._around = Surroundings(block.graph, Place(block.middle, Norm.INF, block.low, block.high))

    def answers(self) -> list[Found | None]:
        """What is known about each centre; None where a search of its own has to answer."""
        away = np.abs(self._block.centers - self._block.middle).max(axis=1) * (1 + ROUNDING)
        half = float(away.max())
        radius = first = FIRST * half if half > 0 else min(self._around.first_radius(), 1.0)
        sheet: Sheet | None = None
        for _ in range(GROWTHS):
            try:
                complex_ = self._around.complex(Fraction(radius), checkpoint, MOST_CELLS)
            except TooManyCells:
                break
            sheet = Sheet(self._block, complex_, radius)
            reach = (away + np.minimum(sheet.above, 2 * radius)) * (1 + MARGIN)
            if (reach <= radius).all() or self._around.covered(Fraction(radius)):
                break
            wanted = float(reach.max()) if np.isfinite(sheet.above).all() else FARTHER * radius
            if wanted > LARGEST * first:
                break
            radius = max(wanted, radius * 1.01)
        if sheet is None:
            return [None] * len(self._block.centers)
        whole = self._around.covered(Fraction(sheet.radius))
        return sheet.answers(((away + sheet.above) * (1 + MARGIN) <= sheet.radius) | whole)
