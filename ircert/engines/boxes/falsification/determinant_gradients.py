"""Gradients of log |det J|. J depends on a neuron by its slope times u wᵀ, w the row below it, u the column above it.

With slopes that change by `bends` along what neurons read, the gradient is the sum over neurons of bend (w J⁻¹ u) w.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.ir.arrays import Array, Mask

Slopes = Callable[[slice, Array], tuple[Array, Array]]
"""Slopes and bends (neurons, points) of some neurons, given the rows below them (neurons, inputs, points)."""


def determinant_gradients(network: Batches, count: int, slopes: Slopes) -> tuple[Array, Array, Mask]:
    """The gradients (points, inputs), signs of the determinants, and where all of it is made of numbers."""
    setting = network.setting
    n, neurons = setting.size, setting.neurons
    rows, columns = (np.zeros((neurons, n, count)) for _ in range(2))
    steep, bends = (np.zeros((neurons, count)) for _ in range(2))

    def neuron(name: str, given: Array) -> Array:
        where = setting.relus[name]
        rows[where] = given
        steep[where], bends[where] = slopes(where, given)
        return given * steep[where][:, None]

    def back(name: str, given: Array) -> Array:
        where = setting.relus[name]
        columns[where] = given
        return given * steep[where][:, None]

    start = np.repeat(np.eye(n)[:, :, None], count, axis=2)
    found = network.forward(start, lambda name, v: times(network.weights[name], v), neuron)
    jacobians = np.moveaxis(network.output(found), 2, 0)
    sound: Mask = np.asarray(np.isfinite(jacobians).all(axis=(1, 2)))
    jacobians = np.where(sound[:, None, None], jacobians, 0.0)
    signs = np.linalg.slogdet(jacobians)[0]
    inverses = np.linalg.inv(np.where((signs != 0.0)[:, None, None], jacobians, np.eye(n)))
    ends = np.ascontiguousarray(np.transpose(inverses, (2, 1, 0)))  # row i of J⁻¹ as coefficients of the outputs
    network.backward(ends, lambda name, v: times(network.transposed[name], v), back)
    pulls = np.einsum("knb,knb->kb", rows, columns) * bends
    return np.einsum("kb,knb->bn", pulls, rows), signs, sound
