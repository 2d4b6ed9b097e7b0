"""One matrix for the whole space: sym(C J) is positive definite for all slopes that neurons have anywhere."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.ir.arrays import Array


def holds_everywhere(network: Batches, matrix: Array) -> bool:
    """Whether C closes the one cube of all slopes: of relus 0 to 1, of curves what their tables say; some
    have no bound."""
    if network.steep:
        return False
    least, most = np.zeros((network.setting.neurons, 1)), np.ones((network.setting.neurons, 1))
    for name, curve in network.curves.items():
        least[network.setting.relus[name]], most[network.setting.relus[name]] = curve.least, curve.most
    still = np.zeros((network.size, 1), dtype=bool)
    slopes = Slopes.within(least, most, network.setting.curved, still)
    return bool(OneMatrix(network, matrix).closed(slopes).closed[0])
