"""Small networks as settings, and boxes in which they are looked at."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import ircert
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.questions.network import lowered as canonical

Generator = np.random.Generator


def setting_of(
    graph: ircert.Graph, center: Any, problem: str = "local", norm: Any = Norm.INF, **domain: Any
) -> Setting:
    n = graph.input_dim
    low, high = domain.get("low", np.full(n, -np.inf)), domain.get("high", np.full(n, np.inf))
    return Setting(
        canonical(graph), problem, graph.output_dim, Place(np.asarray(center, dtype=float), norm, np.asarray(low), high)
    )


def residual(rng: Generator, n: int, hidden: int, scale: float = 1.0, outputs: int | None = None) -> ircert.Graph:
    """x + g(x) with a skip in the graph, two layers, and perhaps more outputs than inputs."""
    m = n if outputs is None else outputs
    build = ircert.Builder(n)
    first = build.relu(build.affine(build.input, rng.standard_normal((hidden, n)), rng.standard_normal(hidden)))
    second = build.relu(
        build.affine(first, rng.standard_normal((hidden, hidden)) / np.sqrt(hidden), rng.standard_normal(hidden))
    )
    skip = build.affine(build.input, np.vstack([np.eye(n), rng.standard_normal((m - n, n))]), np.zeros(m))
    inner = build.affine(build.concat(first, second), scale * rng.standard_normal((m, 2 * hidden)) / hidden)
    return build.graph(build.add(skip, inner))


def deep(
    rng: Generator, n: int, width: int, layers: int, scale: float = 1.0, outputs: int | None = None
) -> ircert.Graph:
    """x + g(x) with a skip in the graph, few neurons in each of some layers, and perhaps more outputs than inputs."""
    m = n if outputs is None else outputs
    build = ircert.Builder(n)
    inner = build.input
    for size in (n, *[width] * (layers - 1)):
        weight, bias = rng.standard_normal((width, size)) / np.sqrt(size), 0.5 * rng.standard_normal(width)
        inner = build.relu(build.affine(inner, weight, bias))
    last = scale * rng.standard_normal((m, width)) / np.sqrt(width)
    skip = build.input if m == n else build.affine(build.input, np.vstack([np.eye(n), rng.standard_normal((m - n, n))]))
    return build.graph(build.add(skip, build.affine(inner, last)))


def boxes_in(rng: Generator, n: int, count: int, width: float = 0.5) -> tuple[Any, Any]:
    middle, half = rng.uniform(-2, 2, (count, n)), rng.uniform(0, width, (count, n))
    half[rng.uniform(size=(count, n)) < 0.1] = 0.0
    return middle - half, middle + half


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    if not matrix:
        return Fraction(1)
    head, *rest = matrix
    minors = [[row[:j] + row[j + 1 :] for row in rest] for j in range(len(head))]
    return sum(((-1) ** j * a * determinant(m) for j, (a, m) in enumerate(zip(head, minors, strict=True))), Fraction(0))


def fold(at: float = 0.5) -> ircert.Graph:
    """(x1 - 2 relu(x1 - at), x2), which folds along x1 = at: x and y collide iff x1 + y1 = 2 at and x2 = y2."""
    build = ircert.Builder(2)
    kink = build.relu(build.affine(build.input, [[1.0, 0.0]], [-at]))
    return build.graph(build.affine(build.concat(build.input, kink), [[1.0, 0.0, -2.0], [0.0, 1.0, 0.0]]))
