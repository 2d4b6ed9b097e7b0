"""Networks that are injective by design, and twins in which one step is spoilt."""

from __future__ import annotations

import numpy as np

import ircert
from ircert.ir.arrays import Array
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Sigmoid, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.smooth import Product


def numbers(rng: np.random.Generator, *shape: int) -> Array:
    """Short dyadic numbers, none of them 0."""
    return np.asarray((rng.integers(1, 9, shape) * rng.choice([-1, 1], shape)) / 8)


def inner(build: Builder, rng: np.random.Generator, x: str, size: int, middle: Op | None = None) -> str:
    """Some network of x with so many outputs."""
    hidden = build.affine(x, numbers(rng, 5, build.size(x)), numbers(rng, 5))
    hidden = build.relu(hidden) if middle is None else build.node(middle, hidden)
    return build.affine(hidden, numbers(rng, size, 5), numbers(rng, size))


def regular(rng: np.random.Generator, n: int) -> Array:
    """A regular matrix: triangular factors."""
    return np.asarray((np.tril(numbers(rng, n, n), -1) + np.eye(n)) @ (np.triu(numbers(rng, n, n), 1) + np.eye(n)))


def couplings(rng: np.random.Generator, n: int, layers: int, *, scaled: bool = False, spoilt: str = "") -> Graph:
    """Couplings with permutations and regular maps between them; in the first layer something may be spoilt."""
    build = ircert.Builder(n)
    x, k = build.input, n // 2
    for layer in range(layers):
        bad = spoilt if layer == 0 else ""
        order = rng.permutation(n)
        if bad == "permutation":
            order[0] = order[1]
        x = build.select(x, order)
        kept, moved = build.select(x, np.arange(k)), build.select(x, np.arange(k, n))
        if scaled:
            scale = inner(build, rng, kept, n - k, Tanh())
            scale = scale if bad == "scale" else build.node(Exp(), scale)
            moved = build.node(Product(), moved, scale)
        if bad == "relu":
            moved = build.relu(moved)
        read = x if bad == "reads itself" else kept
        x = build.concat(kept, build.add(moved, inner(build, rng, read, n - k)))
        matrix = regular(rng, n)
        if bad == "singular":
            matrix[0] = matrix[1]
        x = build.affine(x, matrix, numbers(rng, n))
    return build.graph(x)


def reversible(rng: np.random.Generator, n: int, blocks: int) -> Graph:
    """y1 = x1 + F(x2), y2 = x2 + G(y1), again and again; 2 n inputs."""
    build = ircert.Builder(2 * n)
    first, second = build.select(build.input, np.arange(n)), build.select(build.input, np.arange(n, 2 * n))
    for _ in range(blocks):
        first = build.add(first, inner(build, rng, second, n))
        second = build.add(second, inner(build, rng, first, n))
    return build.graph(build.concat(second, first))


def autoregressive(rng: np.random.Generator, n: int, *, spoilt: bool = False) -> Graph:
    """y_i = x_i (1/8 + sigmoid(s_i)) + t_i, where s_i and t_i read the inputs before; spoilt, s_1 reads x_1."""
    build = ircert.Builder(n)
    x = build.input
    mask = np.tril(np.ones((n, n)), 0 if spoilt else -1)
    hidden = build.relu(build.affine(x, numbers(rng, n, n) * mask, numbers(rng, n)))
    same = np.tril(np.ones((n, n)))
    scale = build.node(Sigmoid(), build.affine(hidden, numbers(rng, n, n) * same, numbers(rng, n)))
    scale = build.affine(scale, np.eye(n), np.full(n, 0.125))
    shift = build.affine(hidden, numbers(rng, n, n) * same, numbers(rng, n))
    return build.graph(build.add(build.node(Product(), x, scale), shift))


def residual(rng: np.random.Generator, n: int, blocks: int, size: float, middle: Op | None = None) -> Graph:
    """x + g(x), again and again, where the weights of g have the norm `size`, in all norms."""
    build = ircert.Builder(n)
    x = build.input
    for _ in range(blocks):
        first, last = (np.eye(n)[rng.permutation(n)] for _ in range(2))
        hidden = build.affine(x, first, numbers(rng, n))
        hidden = build.relu(hidden) if middle is None else build.node(middle, hidden)
        x = build.add(x, build.affine(hidden, size * last, np.zeros(n)))
    return build.graph(x)
