"""One matrix for all slopes of networks with many inputs that few neurons read: C, and one weight for each layer.

Let R be the rows of the neurons that read the inputs, J and u the Jacobian and the columns above all neurons where all
slopes are 1/2, and C0 = J^-1. For C = (R^T R + ε I) C0 the form of `sectors` is, up to ε, one in u = R x and p alone:

    [[I, R C0 u / 2], [.., diag(τ)]] - sum over i of τ_i / 4 (B_i R^+, D_i)^T (B_i R^+, D_i),

which is small. With one weight τ for each layer, those are taken for which its least eigenvalue is largest; ε takes
some of it, so that what R does not see counts as well. All of this chooses; C and τ are tested on the network itself.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import rough_left_inverse
from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.problem.setting import first_layer
from ircert.ir.arrays import Array, Indices
from ircert.limits import checkpoint

MOST = 320
"""Neurons, and neurons that read the inputs, together at most."""
TRIES = 40
"""Weights that are tried for each layer, at most."""
LEAST = 1e-3
"""A form with a smaller eigenvalue is not worth a test."""


def holds_by_layers(network: Batches, secants: Secants) -> bool:
    """Whether some C closes the cube of all slopes, for sure, with one weight for each layer."""
    setting = network.setting
    first = first_layer(setting)
    few = 0 < int(first.sum()) + setting.neurons <= MOST
    if setting.is_smooth or not few or setting.constrained < setting.size:
        return False
    half = np.full((1, setting.neurons), 0.5)
    try:
        with np.errstate(all="ignore"):
            found = _chosen(network, secants.jacobians(half)[0], secants.rows(half)[0], np.flatnonzero(first))
    except np.linalg.LinAlgError:
        return False
    if found is None or not np.isfinite(found[0]).all():
        return False
    matrix, weights = found
    checkpoint()
    return OneMatrix(network, matrix).closed_with(_all_slopes(network), weights)


def _all_slopes(network: Batches) -> Slopes:
    neurons = network.setting.neurons
    still = np.zeros((network.size, 1), dtype=bool)
    return Slopes.within(np.zeros((neurons, 1)), np.ones((neurons, 1)), network.setting.curved, still)


def _chosen(network: Batches, jacobian: Array, below: Array, first: Indices) -> tuple[Array, Array] | None:
    """C and the weights of all neurons; None where the small form has no positive least eigenvalue."""
    rows = below[first]
    checkpoint()
    inverse = rough_left_inverse(jacobian)
    above = inverse @ _columns(network)
    back = np.linalg.pinv(rows)
    form = _Form(network, rows @ above, below @ back, _couplings(network))
    weights, margin = form.best()
    if margin < LEAST:
        return None
    checkpoint()
    share = margin / max(1.0, float(np.linalg.norm(above, 2)) ** 2)
    return rows.T @ (rows @ inverse) + share * inverse, weights


def _columns(network: Batches) -> Array:
    """Those of the constrained outputs above all neurons (constrained, neurons), where slopes are 1/2."""
    found = np.zeros((network.constrained, network.setting.neurons))

    def relu(name: str, given: Array) -> Array:
        found[:, network.setting.relus[name]] = given[:, :, 0].T
        return given / 2

    start = np.eye(network.constrained)[:, :, None]
    network.backward(start, lambda name, given: times(network.transposed[name], given), relu)
    return found


def _couplings(network: Batches) -> Array:
    """D: how each neuron moves with the others below it (neurons, neurons), where slopes are 1/2."""
    neurons, relus = network.setting.neurons, network.setting.relus
    found = np.zeros((neurons, neurons))

    def relu(name: str, given: Array) -> Array:
        where = relus[name]
        found[where] = given[:, :, 0]
        result = given / 2
        result[np.arange(len(given)), np.arange(where.start, where.stop)] = 1.0
        return result

    network.forward(np.zeros((network.size, neurons, 1)), lambda name, given: times(network.weights[name], given), relu)
    return found


class _Form:
    """The form in u and p, for any weights of layers."""

    def __init__(self, network: Batches, side: Array, below: Array, couplings: Array) -> None:
        self.size, self.side = len(side), side
        self.rows = np.concatenate([below, couplings], axis=1) / 2
        self.layers = np.concatenate(
            [np.full(where.stop - where.start, k) for k, where in enumerate(network.setting.relus.values())]
        )

    def best(self) -> tuple[Array, float]:
        """Weights of all neurons, and about the least eigenvalue, with p in units of their roots."""
        from scipy.optimize import minimize  # it takes long to import, and few searches come here

        count = int(self.layers.max()) + 1
        found = minimize(self._lack, np.zeros(count), method="Nelder-Mead", options={"maxfev": TRIES * count})
        return np.exp(found.x[self.layers]), -float(found.fun)

    def _lack(self, logarithms: Array) -> float:
        checkpoint()
        root = np.exp(np.clip(logarithms, -50, 50) / 2)[self.layers]
        rows = root[:, None] * self.rows
        rows[:, self.size :] /= root
        table = -rows.T @ rows
        table[np.diag_indices_from(table)] += 1.0
        table[self.size :, : self.size] += self.side.T / (2 * root)[:, None]
        table[: self.size, self.size :] += self.side / (2 * root)
        return -float(np.linalg.eigvalsh(table)[0]) if np.isfinite(table).all() else np.inf
