"""Small convolutional networks with pools, and the same functions as plain layers, written by hand for the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops import AveragePool, Conv, MaxPool

Layers = list[tuple[Any, Any]]


def convolution(weight: Any, bias: Any, length: int, stride: int) -> tuple[Any, Any]:
    """The matrix and the bias of a convolution along one axis."""
    outputs, inputs, taps = weight.shape
    positions = (length - taps) // stride + 1
    matrix, added = np.zeros((outputs * positions, inputs * length)), np.zeros(outputs * positions)
    for o in range(outputs):
        for p in range(positions):
            added[o * positions + p] = bias[o]
            for i in range(inputs):
                for t in range(taps):
                    matrix[o * positions + p, i * length + p * stride + t] = weight[o, i, t]
    return matrix, added


def largest_of_two(channels: int, length: int, step: int) -> tuple[Layers, int]:
    """Pools of two neighbours that are at least 0: max(a, b) = relu(a - b) + relu(b)."""
    places = range(0, length - 1, step)
    rows, joins = [], []
    for c in range(channels):
        for p in places:
            first, second = np.eye(channels * length)[[c * length + p, c * length + p + 1]]
            rows += [first - second, second]
    for k in range(channels * len(places)):
        joins.append(np.eye(2 * channels * len(places))[[2 * k, 2 * k + 1]].sum(axis=0))
    return [(np.array(rows), np.zeros(len(rows))), (np.array(joins), np.zeros(len(joins)))], len(places)


def means_of_two(channels: int, length: int, step: int) -> tuple[Any, int]:
    """Means of two neighbours, as a matrix."""
    places = range(0, length - 1, step)
    eye = np.eye(channels * length)
    rows = [(eye[c * length + p] + eye[c * length + p + 1]) / 2 for c in range(channels) for p in places]
    return np.array(rows), len(places)


def network(seed: int, inputs: int, outputs: int, kind: str) -> tuple[Graph, Layers]:
    """Convolution, relu, a pool of two neighbours (or a stride in its place), a dense layer; numbers are quarters."""
    rng = np.random.default_rng(seed)
    stride, channels = (2, 3) if kind == "strided" else (1, 2)
    weight = rng.integers(-6, 7, (channels, 1, 2)) / 4
    bias = rng.integers(1, 9, channels) / 4
    first = Conv((1, inputs), weight, bias, stride=(stride,))
    length = first.windows.output[0]
    build = ircert.Builder(inputs)
    x = build.relu(build.node(first, build.input))
    layers: Layers = [convolution(weight, bias, inputs, stride)]
    joined = np.eye(channels * length)
    if kind != "strided":
        pool = MaxPool if kind == "largest" else AveragePool
        x = build.node(pool((channels, length), (2,), stride=(1,)), x)
        if kind == "largest":
            (compared, (joined, _)), _ = largest_of_two(channels, length, 1)
            layers.append(compared)
        else:
            joined, _ = means_of_two(channels, length, 1)
    dense, added = rng.integers(-6, 7, (outputs, build.size(x))) / 4, rng.integers(-4, 5, outputs) / 4
    skip = rng.integers(-2, 3, (outputs, inputs)) / 4 if inputs == 3 or (inputs == 4 and kind != "strided") else None
    last = build.affine(x, dense, added)
    layers.append((dense @ joined, added))
    if skip is not None:
        return build.graph(build.add(last, build.affine(build.input, skip))), beside_input(layers, skip)
    return build.graph(last), layers


def beside_input(layers: Layers, skip: Any) -> Layers:
    """The same network with skip x added: x goes along as relu(x) - relu(-x)."""
    size = skip.shape[1]
    eye = np.eye(size)
    found = []
    for k, (w, b) in enumerate(layers[:-1]):
        carried = np.vstack([eye, -eye]) if k == 0 else np.eye(2 * size)
        joint = np.vstack(
            [
                np.hstack([w] if k == 0 else [w, np.zeros((len(w), 2 * size))]),
                carried if k == 0 else np.hstack([np.zeros((2 * size, w.shape[1])), carried]),
            ]
        )
        found.append((joint, np.concatenate([b, np.zeros(2 * size)])))
    w, b = layers[-1]
    return [*found, (np.hstack([w, skip, -skip]), b)]
