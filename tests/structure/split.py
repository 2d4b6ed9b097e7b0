"""Networks that fall into parts, written as one, and hard heads below injective tails."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

import ircert
from ircert.ir.arrays import Array
from ircert.ir.build import Builder
from ircert.ir.graph import Graph


def some(rng: np.random.Generator, *shape: int) -> Array:
    """Short dyadic numbers."""
    return np.asarray(rng.integers(-8, 9, shape) / 8)


def hard(build: Builder, rng: np.random.Generator, x: str, size: int, width: int = 3) -> str:
    """Some network, which may or may not be injective."""
    hidden = build.relu(build.affine(x, some(rng, width, build.size(x)), some(rng, width)))
    linear = build.affine(x, some(rng, size, build.size(x)))
    return build.add(build.affine(hidden, some(rng, size, width), some(rng, size)), linear)


def tail(build: Builder, rng: np.random.Generator, x: str) -> str:
    """A permutation, an additive coupling and a regular map: injective whatever comes."""
    n = build.size(x)
    x = build.select(x, rng.permutation(n))
    if n > 1:
        kept, moved = build.select(x, [0]), build.select(x, np.arange(1, n))
        hidden = build.relu(build.affine(kept, some(rng, 2, 1), some(rng, 2)))
        x = build.concat(kept, build.add(moved, build.affine(hidden, some(rng, n - 1, 2))))
    lower = np.tril(some(rng, n, n), -1) + np.eye(n)
    return build.affine(x, lower)


def blocks(rng: np.random.Generator, sizes: list[int], *, linked: bool, tails: int = 1) -> Graph:
    """A hard block of the inputs of each size; with `linked`, later blocks read outputs of the first one as well."""
    n = sum(sizes)
    order, build = rng.permutation(n), ircert.Builder(n)
    ends = np.cumsum([0, *sizes])
    made: list[str] = []
    for first, last in pairwise(ends.tolist()):
        own = build.select(build.input, order[first:last])
        read = build.concat(made[0], own) if linked and made else own
        made.append(hard(build, rng, read, last - first))
    x = build.concat(*made)
    for _ in range(tails):
        x = tail(build, rng, x)
    return build.graph(x)


@st.composite
def split_networks(draw: st.DrawFn, sizes: st.SearchStrategy[list[int]]) -> Graph:
    """Blocks below tails."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return blocks(rng, draw(sizes), linked=draw(st.booleans()), tails=draw(st.integers(0, 2)))
