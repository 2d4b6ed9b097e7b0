"""Jacobians of many boxes at once, to second order: each entry of J(x) is an affine form of x, off by little.

The slope of a curve lies between two parallel lines over z (`ircert/bounds/curvature.py`), and z between two parallel
planes over the box, so every slope is an affine form of x, and J, made of sums and products of slopes, is one too. The
slopes of open relus and those at kinks are numbers between two others. Where f has a derivative, it is within these;
so are all secants of two points of the box *within the ranges of the forms* (a slope between two points lies between
the least and the greatest there).
"""

from __future__ import annotations

import numpy as np

from ircert.bounds import forms
from ircert.bounds.curvature import slope_lines
from ircert.bounds.rounding import UNIT, slack
from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.ir.arrays import Array
from ircert.ir.ops import Curve


def jacobians(network: Batches, known: Enclosures) -> Array:
    """The Jacobians of the constrained outputs, as forms (constrained, inputs, inputs + 2, boxes)."""
    n, half = network.size, known.half
    lost = forms.UNDERFLOW * (1.0 + half.sum(axis=0))

    def affine(name: str, state: Array) -> Array:
        result = times(network.weights[name], state)
        off = np.stack([state[..., -1, :], forms.sizes(state, half)], axis=2)
        off = times(network.absolute[name], off)
        error = off[..., 0, :] * (1 + 8 * network.terms * UNIT) + slack(2 * network.terms, off[..., 1, :])
        result[..., -1, :] = error + lost
        return result

    def neuron(name: str, state: Array) -> Array:
        return forms.product(_slopes(network, known, name)[:, None], state, half)

    start = np.zeros((n, n, n + 2, half.shape[1]))
    start[np.arange(n), np.arange(n), 0] = 1.0
    with np.errstate(all="ignore"):
        found = network.forward(start, affine, neuron, lambda parts: forms.total(parts, half))
        return network.output(found)


def _slopes(network: Batches, known: Enclosures, name: str) -> Array:
    """The slopes of the neurons of a node, as forms (neurons, inputs + 2, boxes)."""
    where = network.setting.relus[name]
    least, most = known.least[where], known.most[where]
    result = np.zeros((least.shape[0], network.size + 2, least.shape[1]))
    op = network.setting.graph[name].op
    if not isinstance(op, Curve):
        result[:, 0], result[:, -1] = (least + most) / 2, (most - least) / 2  # 0, 1/2 or 1
        return result
    lines = slope_lines(op).around(known.low[where], known.high[where], least, most)
    value, off = known.values[where], known.errors[where]
    result[:, 0] = lines.slope * value + lines.shift
    result[:, 1:-1] = lines.slope[:, None] * known.lines[where]
    size = np.abs(lines.slope) * known.depths[where] + np.abs(lines.shift)
    lost = forms.UNDERFLOW * (1.0 + known.half.sum(axis=0))
    result[:, -1] = (lines.error + np.abs(lines.slope) * off) * (1 + 8 * UNIT) + slack(network.terms, size) + lost
    # where nothing is known of z, the slope is a number between two
    flat = lines.slope == 0.0
    result[:, 0][flat], result[:, -1][flat] = lines.shift[flat], lines.error[flat]
    return result
