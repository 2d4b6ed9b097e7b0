"""Smooth networks against what is known of them: closed forms, and dense grids in interval arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.ir.enclosure import enclosed_determinant
from ircert.ir.graph import Graph
from ircert.ir.ops import CURVES, Curve
from ircert.ir.ops.curves import Tanh
from tests.effort import examples

SECONDS, MORE_SECONDS = 0.6, 2.0
"""For one question, mostly enough to close it; what stays open is not wrong."""
CASES, SEVERAL = 4, 120
"""Of every kind by default, and of `slow`."""
GRID = 12


def shears(rng: np.random.Generator) -> Graph:
    """Compositions of (x, y) -> (x, y + a tanh(b x + c)) and the same with x and y exchanged: injective everywhere."""
    build = ircert.Builder(2)
    here = build.input
    for k in range(int(rng.integers(1, 4))):
        read, write = k % 2, 1 - k % 2
        inner = build.affine(build.select(here, [read]), [[rng.normal() * 2]], [rng.normal()])
        column = np.zeros((2, 1))
        column[write] = rng.normal() * 2
        here = build.add(here, build.affine(build.node(Tanh(), inner), column))
    return build.graph(here)


def bends(rng: np.random.Generator, product: float) -> tuple[Graph, float, float]:
    """x + a tanh(b x) with a b given, in one to three inputs, mixed by a regular matrix; and b, a."""
    n, b = int(rng.integers(1, 4)), float(rng.uniform(0.5, 2.0))
    a = product / b
    build = ircert.Builder(n)
    bent = build.node(Tanh(), build.affine(build.input, b * np.eye(n)))
    whole = build.add(build.input, build.affine(bent, a * np.eye(n)))
    mix = np.eye(n) + np.triu(rng.normal(size=(n, n)), 1)
    return build.graph(build.affine(whole, mix)), b, a


def network(rng: np.random.Generator) -> Graph:
    """Two layers of any curve beside the input, one or two inputs."""
    n = int(rng.integers(1, 3))
    curve: Curve = CURVES[int(rng.integers(len(CURVES)))]()
    build = ircert.Builder(n)
    here = build.input
    for _ in range(2):
        here = build.affine(here, rng.normal(size=(4, build.size(here))), rng.normal(size=4))
        here = build.node(curve, here)
    skip = build.affine(build.input, (1 + rng.random()) * np.eye(n))
    return build.graph(build.add(build.affine(here, rng.normal(size=(n, 4)) * 0.7), skip))


def injective_everywhere(seed: int, seconds: float) -> str:
    rng = np.random.default_rng(seed)
    norm = ["inf", "1", "2"][seed % 3]
    result = ircert.certify(shears(rng), rng.normal(size=2), max_radius=4.0, time_limit=seconds, tol=1e-2, norm=norm)
    assert result.radius.refuted is None
    assert result.witness is None
    return result.verdict


def known_fold(seed: int, seconds: float) -> str:
    """The nearest fold is where 1 + a b sech(b x)² = 0."""
    rng = np.random.default_rng(seed)
    product = -float(np.exp(rng.uniform(0.0, 2.0))) * 1.001
    graph, b, a = bends(rng, product)
    fold = math.acosh(math.sqrt(-a * b)) / b
    center = fold + rng.uniform(0.1, 3.0, graph.input_dim)
    exact = float((center - fold).min())
    result = ircert.certify(graph, center, time_limit=seconds, tol=1e-3, norm=["inf", "1", "2"][seed % 3])
    assert result.radius.certified <= exact * (1 + 1e-12)
    assert result.radius.refuted is None or result.radius.refuted >= exact * (1 - 1e-12)
    return result.verdict


def sheared_fold(seed: int, seconds: float) -> str:
    """A fold along one input, seen through shears, which turn too much for one matrix: its distance is the radius."""
    rng = np.random.default_rng(seed)
    b, product = float(rng.uniform(0.5, 2.0)), -float(np.exp(rng.uniform(0.1, 1.5)))
    build = ircert.Builder(2)
    bent = build.node(Tanh(), build.affine(build.select(build.input, [0]), [[b]]))
    folded = build.add(build.input, build.affine(bent, [[product / b], [0.0]]))
    graph = build.graph(build.insert(shears(rng), folded))
    fold = math.acosh(math.sqrt(-product)) / b
    center = np.array([fold + rng.uniform(0.1, 2.0), rng.normal()])
    exact = float(center[0] - fold)
    result = ircert.certify(graph, center, time_limit=seconds, tol=1e-3, norm=["inf", "1", "2"][seed % 3])
    assert result.radius.certified <= exact * (1 + 1e-12)
    assert result.radius.refuted is None or result.radius.refuted >= exact * (1 - 1e-12)
    return result.verdict


def critical(seed: int, seconds: float) -> str:
    """a b = -1, where the derivative touches 0 without changing its sign: injective, and never proved beyond."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    build = ircert.Builder(n)
    whole = build.graph(build.add(build.input, build.affine(build.node(Tanh(), build.input), -np.eye(n))))
    center = rng.uniform(0.2, 1.0, n)
    norm = ["inf", "1", "2"][seed % 3]
    result = ircert.certify(whole, center, time_limit=seconds, tol=1e-3, norm=norm)
    assert result.radius.refuted is None
    assert result.radius.certified <= center.min()
    inside = ircert.certify(whole, center, radius=2.0, time_limit=seconds, norm=norm)
    assert inside.verdict == "unresolved"
    return result.verdict


def dense_grid(seed: int, seconds: float) -> str:
    """Determinants of one proved sign in the certified ball, and images that differ; of two signs where refuted."""
    rng = np.random.default_rng(seed)
    graph, norm = network(rng), ["inf", "1", "2"][seed % 3]
    n = graph.input_dim
    center = rng.normal(size=n)
    result = ircert.certify(graph, center, max_radius=5.0, time_limit=seconds, tol=1e-2, norm=norm)
    certified = float(result.radius.certified)
    line = np.linspace(-1, 1, GRID if n == 2 else 4 * GRID) * min(certified, 5.0)
    steps = np.stack(np.meshgrid(*[line] * n), axis=-1).reshape(-1, n)
    steps = steps[np.linalg.norm(steps, ord=float(norm), axis=1) < certified * (1 - 1e-9)]
    signs = set()
    for step in steps:
        value = enclosed_determinant(graph, (center + step).tolist(), 200)
        signs.add(1 if value > 0 else -1 if value < 0 else 0)
    assert len(signs) <= 1
    assert 0 not in signs
    values = np.asarray(graph(center + steps))
    gaps = np.abs(values[:, None] - values[None]).max(axis=2) + np.eye(len(values))
    assert gaps.min(initial=1.0) > 0
    if result.turned is not None:
        (a, b), (c, d) = result.turned.determinants
        assert (a > 0 and d < 0) or (b < 0 and c > 0)
    return result.verdict


KINDS = [injective_everywhere, known_fold, sheared_fold, critical, dense_grid]


@pytest.mark.rule("E-17", "E-18")
@pytest.mark.parametrize("kind", KINDS)
@examples(CASES)
@given(seed=st.integers(0, 10**6))
def test_nothing_is_wrong(kind: Callable[[int, float], str], seed: int) -> None:
    kind(seed, SECONDS)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wrong_in_many(kind: Callable[[int, float], str]) -> None:
    verdicts = Counter(kind(seed, MORE_SECONDS) for seed in range(SEVERAL))
    print(kind, dict(verdicts))
    if kind is not critical:
        assert verdicts["certified"] > SEVERAL / 3
