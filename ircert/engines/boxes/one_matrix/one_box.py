"""A first ball for smooth networks with many inputs: one box, closed by the centre's own inverse.

Looking for a matrix takes seconds where Jacobians are large, and is not needed in balls so small that slopes hardly
move: C = J(c)⁺ closes one of these, the sooner found the smaller it may be. Slopes that move with the point are not
followed, which takes a matrix for each input.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.boxes import around
from ircert.limits import checkpoint


def first_closed(network: Batches, points: Points, radii: Iterable[float]) -> float:
    """The first of some radii whose ball is closed; 0 where none is."""
    setting = network.setting
    jacobian = points.jacobians(setting.center[None])[0]
    if not np.isfinite(jacobian).all():
        return 0.0
    matrix = OneMatrix(network, np.linalg.pinv(jacobian))
    still = np.zeros((network.size, 1), dtype=bool)
    for radius in radii:
        checkpoint()
        box = around(setting, radius)
        slopes = Slopes.on_boxes(enclose(network, box.low, box.high, radius), still)
        if matrix.dominations(slopes).closed[0]:
            return radius
    return 0.0
