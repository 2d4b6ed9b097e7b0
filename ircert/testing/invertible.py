"""Networks that are injective by design, with their design hidden: the same maps, written in other ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st

from ircert.ir.arrays import Array
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops.curves import Sigmoid, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import LeakyRelu
from ircert.ir.ops.smooth import Product

Draw: TypeAlias = st.DrawFn
Step: TypeAlias = Callable[[Draw, Builder, str], str]

WIDTH = 3
"""Neurons of the networks inside couplings."""


@st.composite
def invertible_networks(draw: Draw, *, inputs: int = 6, steps: int = 6, smooth: bool = True) -> Graph:
    """Couplings, reversible blocks, permutations, regular maps, monotone functions, contractions: injective everywhere.

    All numbers are dyadic. smooth: with tanh, and with scales by exp and sigmoid; else all is piecewise linear
    """
    build = Builder(draw(st.integers(2, inputs)))
    x = build.input
    ways = [_shifted, _permuted, _mixed, _leaky, _contracted, _reversed, _written_otherwise]
    if smooth:
        ways += [_scaled, _squashed]
    for way in draw(st.lists(st.sampled_from(ways), min_size=1, max_size=steps)):
        x = way(draw, build, x)
    if x == build.input:  # a graph of its input alone has no steps to find
        x = _mixed(draw, build, x)
    return build.graph(x)


def _numbers(draw: Draw, *shape: int) -> Array:
    """Some of -2, -15/8 … 2, none of them 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return np.asarray(rng.integers(1, 17, shape) * rng.choice([-1.0, 1.0], shape) / 8)


def _inner(draw: Draw, build: Builder, x: str, size: int) -> str:
    """Any network, not injective as a rule."""
    hidden = build.relu(build.affine(x, _numbers(draw, WIDTH, build.size(x)), _numbers(draw, WIDTH)))
    return build.affine(hidden, _numbers(draw, size, WIDTH), _numbers(draw, size))


def _halves(draw: Draw, build: Builder, x: str) -> tuple[str, str, Array]:
    """Two disjoint parts of the entries, in any order, and which these are."""
    n = build.size(x)
    order = np.array(draw(st.permutations(range(n))))
    k = draw(st.integers(1, n - 1))
    return _taken(draw, build, x, order[:k]), _taken(draw, build, x, order[k:]), order


def _taken(draw: Draw, build: Builder, x: str, entries: Array) -> str:
    """Some entries, by a selection or by a matrix of zeros and ones."""
    if draw(st.booleans()):
        return build.select(x, entries)
    return build.affine(x, np.eye(build.size(x))[entries])


def _joined(draw: Draw, build: Builder, first: str, second: str, order: Array) -> str:
    """Both parts at their old places, by a concatenation or a sum of matrices of zeros and ones."""
    back, k = np.argsort(order), build.size(first)
    if draw(st.booleans()):
        return build.select(build.concat(first, second), back)
    places = np.eye(len(order))[:, order]
    return build.add(build.affine(first, places[:, :k]), build.affine(second, places[:, k:]))


def _shifted(draw: Draw, build: Builder, x: str) -> str:
    kept, moved, order = _halves(draw, build, x)
    return _joined(draw, build, kept, build.add(moved, _inner(draw, build, kept, build.size(moved))), order)


def _scaled(draw: Draw, build: Builder, x: str) -> str:
    kept, moved, order = _halves(draw, build, x)
    size = build.size(moved)
    scale = _inner(draw, build, kept, size)
    if draw(st.booleans()):
        scale = build.node(Exp(), build.node(Tanh(), scale))
    else:
        scale = build.affine(build.node(Sigmoid(), scale), 2 * np.eye(size), np.full(size, 0.125))
    factors = draw(st.permutations([moved, scale]))
    moved = build.add(build.node(Product(), *factors), _inner(draw, build, kept, size))
    return _joined(draw, build, kept, moved, order)


def _reversed(draw: Draw, build: Builder, x: str) -> str:
    """y1 = x1 + F(x2), y2 = x2 + G(y1)."""
    first, second, order = _halves(draw, build, x)
    first = build.add(first, _inner(draw, build, second, build.size(first)))
    second = build.add(_inner(draw, build, first, build.size(second)), second)
    return _joined(draw, build, first, second, order)


def _permuted(draw: Draw, build: Builder, x: str) -> str:
    return _taken(draw, build, x, np.array(draw(st.permutations(range(build.size(x))))))


def _mixed(draw: Draw, build: Builder, x: str) -> str:
    """A regular map: two triangles, in one matrix or one after the other."""
    n = build.size(x)
    lower = np.tril(_numbers(draw, n, n), -1) + np.eye(n)
    upper = np.triu(_numbers(draw, n, n), 1) + np.diag(_numbers(draw, n))
    if draw(st.booleans()):
        return build.affine(x, lower @ upper, _numbers(draw, n))
    return build.affine(build.affine(x, upper), lower, _numbers(draw, n))


def _leaky(draw: Draw, build: Builder, x: str) -> str:
    return build.node(LeakyRelu(np.abs(_numbers(draw, build.size(x)))), x)


def _squashed(draw: Draw, build: Builder, x: str) -> str:
    return build.node(Tanh(), x)


def _contracted(draw: Draw, build: Builder, x: str) -> str:
    """x + P relu(Q x + b) 7/8 with permutations P and Q."""
    n = build.size(x)
    first, last = (np.eye(n)[list(draw(st.permutations(range(n))))] for _ in range(2))
    return build.add(x, build.affine(build.relu(build.affine(x, first, _numbers(draw, n))), 0.875 * last))


def _written_otherwise(draw: Draw, build: Builder, x: str) -> str:
    """x as (x + x) / 2, as an entry of (x, other), or as x + 0."""
    n = build.size(x)
    way = draw(st.integers(0, 2))
    if way == 0:
        return build.affine(build.add(x, x), np.eye(n) / 2)
    if way == 1:
        return build.select(build.concat(_inner(draw, build, x, 2), x), np.arange(2, n + 2))
    return build.add(x, build.affine(x, np.zeros((n, n))))
