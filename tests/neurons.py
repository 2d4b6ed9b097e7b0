"""Changes of the hidden neurons that leave the function as it is (dyadic weights: nothing rounds)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.oracle.build import Array, Generator, Network

Hidden = tuple[Array, Array, Array]
"""Weights and biases of the first hidden layer, and the weights that read it."""


def permuted(rng: Generator, w: Array, b: Array, v: Array) -> Hidden:
    order = rng.permutation(len(b))
    return w[order], b[order], v[:, order]


def rescaled(rng: Generator, w: Array, b: Array, v: Array) -> Hidden:
    """By powers of two."""
    scale = 2.0 ** rng.integers(-12, 13, len(b))
    return w * scale[:, None], b * scale, v / scale


def split(rng: Generator, w: Array, b: Array, v: Array) -> Hidden:
    """One neuron as two halves."""
    k = int(rng.integers(len(b)))
    v = np.hstack([v, v[:, [k]] / 2])
    v[:, k] /= 2
    return np.vstack([w, w[k]]), np.append(b, b[k]), v


def dead(rng: Generator, w: Array, b: Array, v: Array) -> Hidden:
    """Two more that are never active where anyone looks."""
    k = int(rng.integers(len(b)))
    ones = np.ones((len(v), 2))
    far = -(2.0**40) * (1.0 + np.abs(w[k]).max())
    return np.vstack([w, 0 * w[k], -np.abs(w[k])]), np.append(b, [-1.0, far]), np.hstack([v, ones])


def cancelled(rng: Generator, w: Array, b: Array, v: Array) -> Hidden:
    """Two more that are equal, and read with opposite signs."""
    extra = np.outer(np.ones(len(v)), [1.0, -1.0])
    row = rng.integers(-8, 9, w.shape[1]) / 8
    return np.vstack([w, row, row]), np.append(b, [0.25, 0.25]), np.hstack([v, extra])


CHANGES: tuple[Callable[[Generator, Array, Array, Array], Hidden], ...] = (permuted, rescaled, split, dead, cancelled)


def changed_hidden(rng: Generator, network: Network, change: Callable[..., Hidden]) -> Network:
    """The network with the neurons of its first hidden layer changed."""
    (w, b), (v, a), *rest = network
    w, b, v = change(rng, w, b, v)
    return [(w, b), (v, a), *rest]
