"""One test for a whole ball: no secant of two of its points has a kernel.

A ball is convex, so that f(x) - f(y) = J(λ) (x - y) for all its points, with slopes λ in [0, 1] at the neurons that
switch in it and 0 or 1 at the others. Where few of them switch, the determinants at the corners of this cube decide:
for one neuron that is no fold they always do, with many inputs too. Where floats cannot tell their signs, integers do:
a region whose determinant is 1e-17 is no worse than any other.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from flint import fmpz_mat

from ircert.engines.boxes.enclosures.secants import SlopePattern
from ircert.engines.boxes.trees.parts import center_part, part_of
from ircert.engines.boxes.trees.phase_tree import Tools, slopes
from ircert.limits import checkpoint

FEW, MOST_INPUTS = 2, 64
"""Neurons that switch, and inputs, at most, where integers decide."""


def closed_by_secants(tools: Tools, radius: float) -> bool:
    """Whether that shows that a ball is good."""
    setting = tools.setting
    tools.counts.nodes += 1
    first = part_of(setting, radius, *setting.ball(radius).box)
    second = center_part(setting) if setting.pseudo else first
    pattern = slopes(setting, tools.matter, first.phases, second.phases)
    return tools.secants.injective(pattern) or _exactly_closed(tools, pattern)


def _exactly_closed(tools: Tools, pattern: SlopePattern) -> bool:
    """Whether the determinants of all corners have one sign; with more outputs than inputs, the only corner a rank."""
    setting, free = tools.setting, np.flatnonzero(pattern.free)
    spare = setting.constrained - setting.size
    if len(free) > (0 if spare else FEW) or spare < 0 or setting.size > MOST_INPUTS:
        return False
    sign = 0
    for corner in product((-1, 1), repeat=len(free)):
        checkpoint()
        phases = np.where(pattern.on, 1, -1).astype(np.int8)
        phases[free] = corner
        values = tools.descent.maps.of(phases).values[: setting.constrained, :-1]
        matrix = fmpz_mat(*values.shape, [int(v) for v in values.ravel()])
        if spare:
            return int(matrix.rank()) == setting.size
        found = _sign(int(matrix.det()))
        sign = sign or found
        if not found or found != sign:
            return False
    return True


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
