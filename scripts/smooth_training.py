"""Training networks with smooth activations that scikit-learn does not have: L-BFGS on the same loss as its own.

The loss is half the mean squared error (over points and coordinates) plus alpha / (2 points) times the sum of squared
weights, from Glorot's random start; scipy's L-BFGS minimises it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import training
from scipy import special
from scipy.optimize import minimize

import ircert
from ircert.ir.ops import Curve
from ircert.ir.ops.curves import Gelu, Silu, Tanh

ITERATIONS, CORRECTIONS = 3000, 20

Function = Callable[[training.Array], training.Array]


@dataclass(frozen=True)
class Activation:
    """A curve, with its value and its slope in floats."""

    curve: Curve
    value: Function
    slope: Function


def _tanh_slope(x: training.Array) -> training.Array:
    return 1 - np.tanh(x) ** 2


def _silu_slope(x: training.Array) -> training.Array:
    gate = special.expit(x)
    return np.asarray(gate * (1 + x * (1 - gate)))


def _gelu_slope(x: training.Array) -> training.Array:
    return np.asarray(special.ndtr(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


ACTIVATIONS = {
    "tanh": Activation(Tanh(), np.tanh, _tanh_slope),
    "silu": Activation(Silu(), lambda x: x * special.expit(x), _silu_slope),
    "gelu": Activation(Gelu(), lambda x: x * special.ndtr(x), _gelu_slope),
}


def fit(
    x: training.Array, y: training.Array, hidden: tuple[int, ...], activation: Activation, *, alpha: float = 1e-2
) -> training.Layers:
    """The layers (W, b), rounded to float32 numbers."""
    sizes = [x.shape[1], *hidden, y.shape[1]]
    rng = np.random.default_rng(training.SEED)
    start = np.concatenate([_glorot(rng, a, b) for a, b in pairwise(sizes)])

    def loss(flat: training.Array) -> tuple[float, training.Array]:
        return _loss(_layers(flat, sizes), x, y, activation, alpha / len(x))

    options = {"maxiter": ITERATIONS, "maxfun": 10 * ITERATIONS, "maxcor": CORRECTIONS, "ftol": 1e-15, "gtol": 1e-8}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return _layers(found.astype(np.float32).astype(np.float64), sizes)


def graph(layers: training.Layers, activation: Activation) -> ircert.Graph:
    """The network of these layers, with the activation between them."""
    build = ircert.Builder(layers[0][0].shape[1])
    here = build.input
    for k, (weight, bias) in enumerate(layers):
        here = build.affine(here if k == 0 else build.node(activation.curve, here), weight, bias)
    return build.graph(here)


def train(
    name: str, f: Callable[[training.Array], training.Array], low: list[float], high: list[float], *, points: int
) -> None:
    """Learn f on a box from random points, with the activation and the layer sizes in the name (…-tanh-2-32-32-2)."""
    words = name.split("-")
    activation = ACTIVATIONS[next(word for word in words if word in ACTIVATIONS)]
    x = training.sample(low, high, points, training.SEED)
    test = training.sample(low, high, training.TEST_POINTS, training.TEST_SEED)
    hidden = tuple(int(word) for word in words if word.isdigit())[1:-1]
    training.save(name, graph(fit(x, f(x), hidden, activation), activation), test, f(test))


def _glorot(rng: np.random.Generator, inputs: int, outputs: int) -> training.Array:
    bound = np.sqrt(6 / (inputs + outputs))
    return np.asarray(rng.uniform(-bound, bound, (inputs + 1) * outputs))


def _layers(flat: training.Array, sizes: list[int]) -> training.Layers:
    layers, here = [], 0
    for inputs, outputs in pairwise(sizes):
        weight = flat[here : here + inputs * outputs].reshape(outputs, inputs)
        here += inputs * outputs
        layers.append((weight, flat[here : here + outputs]))
        here += outputs
    return layers


def _loss(
    layers: training.Layers, x: training.Array, y: training.Array, activation: Activation, decay: float
) -> tuple[float, training.Array]:
    """The loss and its gradient, backwards through the layers."""
    inputs, sums = [x], []
    for weight, bias in layers:
        sums.append(inputs[-1] @ weight.T + bias)
        inputs.append(activation.value(sums[-1]))
    off = sums[-1] - y
    value = float(np.mean(off**2) / 2 + decay / 2 * sum(np.sum(weight**2) for weight, _ in layers))
    back, parts = off / off.size, []
    for k in range(len(layers) - 1, -1, -1):
        weight, _ = layers[k]
        parts += [back.sum(axis=0), (back.T @ inputs[k] + decay * weight).ravel()]
        if k:
            back = (back @ weight) * activation.slope(sums[k - 1])
    return value, np.concatenate(parts[::-1])
