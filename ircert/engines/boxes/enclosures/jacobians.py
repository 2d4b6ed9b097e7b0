"""Jacobians of many boxes at once, to second order: each entry of J(x) is an affine form of x, off by little.

The slope of a curve moves with the point as an affine form (`tilts.py`), and J, made of sums and products of slopes, is
one too (`ircert/bounds/forms.py`). The slopes of open relus and those at kinks are numbers between two others. Where f
has a derivative, it is within these; so are all one-sided ones.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds import forms
from ircert.bounds.rounding import UNIT, slack
from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.ir.arrays import Array


def jacobians(network: Batches, known: Enclosures) -> Array:
    """The Jacobians of the constrained outputs, as forms (constrained, inputs, inputs + 2, boxes).

    known: enclosures with tilts
    """
    n = network.size
    slopes = _slopes(known)

    def affine(name: str, state: Array) -> Array:
        result = times(network.weights[name], state)
        off = times(network.absolute[name], np.stack([state[..., -1, :], forms.sizes(state)], axis=2))
        error = off[..., 0, :] * (1 + 8 * network.terms * UNIT) + slack((n + 2) * network.terms, off[..., 1, :])
        result[..., -1, :] = error
        return result

    def neuron(name: str, state: Array) -> Array:
        return forms.product(slopes[network.setting.relus[name], None], state)

    start = np.zeros((n, n, n + 2, known.half.shape[1]))
    start[np.arange(n), np.arange(n), 0] = 1.0
    with np.errstate(all="ignore"):
        return network.output(network.forward(start, affine, neuron, forms.total))


def _slopes(known: Enclosures) -> Array:
    """The slopes of all neurons, as forms (neurons, inputs + 2, boxes)."""
    if known.tilts is None:  # relus alone
        middle, rest, rates = (known.least + known.most) / 2, (known.most - known.least) / 2, 0.0 * known.lines
    else:
        _, _, tilts = known.tilts.within(known.least, known.most)
        middle, rest, rates = tilts.middles, tilts.rests, tilts.rates
    return np.concatenate([middle[:, None], rates, rest[:, None]], axis=1)
