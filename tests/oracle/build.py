"""Parts from which the families of networks are made: lists of layers (W, b), ReLU between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any
Network: TypeAlias = list[tuple[Array, Array]]
Generator: TypeAlias = np.random.Generator


def numbers(rng: Generator, shape: Any, full: bool) -> Array:
    """Random weights: all 53 bits of the mantissa, or integers / 8."""
    return rng.normal(size=shape) if full else rng.integers(-12, 13, shape) / 8


def rounded(x: Array, full: bool) -> Array:
    """Computed weights, as they are or as integers / 64."""
    return x if full else np.round(x * 64) / 64


def plain(rng: Generator, sizes: Sequence[int], full: bool) -> Network:
    """A random network."""
    return [(numbers(rng, (b, a), full), numbers(rng, b, full)) for a, b in pairwise(sizes)]


def line(n: int, hidden: int = 1) -> Network:
    """The identity, written relu(x) - relu(-x)."""
    split, join = np.vstack([np.eye(n), -np.eye(n)]), np.hstack([np.eye(n), -np.eye(n)])
    middle = [(split @ join, np.zeros(2 * n)) for _ in range(hidden - 1)]
    return [(split, np.zeros(2 * n)), *middle, (join, np.zeros(n))]


def straight(n: int) -> Network:
    """The identity on [-64, ∞)^n, without a kink near 0."""
    return [(np.eye(n), np.full(n, 64.0)), (np.eye(n), np.full(n, -64.0))]


def then(first: Network, second: Network) -> Network:
    """second ∘ first."""
    (w, b), (v, a) = first[-1], second[0]
    return [*first[:-1], (v @ w, v @ b + a), *second[1:]]


def beside(first: Network, second: Network) -> Network:
    """(x, y) -> (first(x), second(y)), for networks of the same depth."""
    found = []
    for (w, b), (v, a) in zip(first, second, strict=True):
        joint = np.zeros((len(b) + len(a), w.shape[1] + v.shape[1]))
        joint[: len(b), : w.shape[1]], joint[len(b) :, w.shape[1] :] = w, v
        found.append((joint, np.concatenate([b, a])))
    return found


def stacked(first: Network, second: Network) -> Network:
    """x -> (first(x), second(x)), for networks of the same depth."""
    (w, b), *rest = beside(first, second)
    n = first[0][0].shape[1]
    return [(w[:, :n] + w[:, n:], b), *rest]


def summed(first: Network, second: Network, factor: float = 1.0) -> Network:
    """first + factor * second."""
    *rest, (w, b) = stacked(first, second)
    m = len(b) // 2
    return [*rest, (w[:m] + factor * w[m:], b[:m] + factor * b[m:])]


def winding(rng: Generator, lines: int, full: bool) -> Network:
    """sum b_i |a_i·x| in the plane, going round 0 twice as x goes round once: every determinant is positive."""
    angles = (np.arange(lines) + rng.uniform(-0.2, 0.2, lines)) * np.pi / lines
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    normals = rounded(np.column_stack([-rays[:, 1], rays[:, 0]]), full)
    turns = (np.arange(lines) + rng.uniform(-0.15, 0.15, lines)) * 2 * np.pi / lines
    images = rng.uniform(0.8, 1.2, lines)[:, None] * np.column_stack([np.cos(turns), np.sin(turns)])
    weights = rounded(np.linalg.solve(np.abs(rays @ normals.T), images), full)
    return [(np.vstack([normals, -normals]), np.zeros(2 * lines)), (np.vstack([weights, weights]).T, np.zeros(2))]


def square() -> Network:
    """s(x) = (|x1| - |x2|, |x1 + x2| - |x1 - x2|), a piecewise-linear z²."""
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    out = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    return [(np.vstack([rows, -rows]), np.zeros(8)), (np.hstack([out, out]), np.zeros(2))]


def curve(kinks: Array, slopes: Array) -> Network:
    """The piecewise-linear curve through 0 at t = 0 with the given slope before, between and after the kinks."""
    kinks, slopes = np.asarray(kinks, float), np.asarray(slopes, float)
    first = np.vstack([[[1.0], [-1.0]], np.ones((len(kinks), 1))])
    out = np.vstack([slopes[0], -slopes[0], np.diff(slopes, axis=0)]).T
    return [(first, np.concatenate([[0.0, 0.0], -kinks])), (out, np.zeros(slopes.shape[1]))]


def loop(rng: Generator, full: bool, fold: bool = False) -> tuple[Network, Array]:
    """A curve in the plane that turns round and mostly crosses itself, perhaps with a fold near its end; a centre."""
    kinks = 4 + int(rng.integers(3))
    times = np.cumsum(rounded(rng.uniform(0.5, 1.5, kinks), False))
    angles = np.cumsum(rng.uniform(0.3, 0.55, kinks + 1)) * np.pi
    slopes = rounded(np.column_stack([np.cos(angles), np.sin(angles)]), full)
    if fold:
        slopes[-1] = -slopes[-2] / 2
    return curve(times, slopes), np.array([rounded(times.mean() + rng.uniform(-0.5, 0.5), False)])


def changed(rng: Generator, network: Network, center: Array, full: bool, move: bool = True) -> tuple[Network, Array]:
    """The network in other coordinates of input and output, and the centre there (exact for dyadic changes)."""
    n, m = network[0][0].shape[1], len(network[-1][1])
    center, forth = np.asarray(center, float), _matrix(rng, n, full)
    shift = numbers(rng, n, full) * move
    (w, b), *rest = network
    network = [(w @ forth, b + w @ shift), *rest]
    w, b = network[-1]
    out = _matrix(rng, m, full)
    network[-1] = out @ w, out @ b + numbers(rng, m, full)
    return network, np.linalg.solve(forth, center - shift) if full else _exact_solve(forth, center - shift)


def with_units(rng: Generator, network: Network, count: int, full: bool) -> Network:
    """The network with a few more units of little weight in each hidden layer."""
    sizes = [network[0][0].shape[1], *(count for _ in network[:-1]), len(network[-1][1])]
    extra = plain(rng, sizes, full)
    return summed(network, extra, 1 / 64) if count else network


def _matrix(rng: Generator, n: int, full: bool) -> Array:
    """An invertible matrix: near a rotation, or a product of shears with a dyadic inverse."""
    if full:
        turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
        return turn * rng.uniform(0.6, 1.6, n)
    matrix = np.diag(rng.choice([-1.0, 1.0, 0.5, 2.0], n))[rng.permutation(n)]
    if n > 1:
        i, j = rng.permutation(n)[:2]
        matrix[i] += rng.choice([-1.0, 0.5, 1.0]) * matrix[j]
    return matrix


def _exact_solve(matrix: Array, right: Array) -> Array:
    """The solution for a product of a shear and a signed scaled permutation; it is a short dyadic number."""
    solved = np.round(np.linalg.solve(matrix, right) * 2**40) / 2**40
    assert (matrix @ solved == right).all()
    return solved
