"""The map of the few neurons that read the inputs, against the network in rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.engines.boxes.problem.inner_map import InnerMap
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import setting_of

N = 8
Matrix = list[list[Fraction]]


def dyadic(rng: np.random.Generator, *shape: int) -> Any:
    return rng.integers(-16, 17, shape) / 8


class Example:
    """f(x) = A x + B h(R x + b), A with rows ±2^e e_j in any order, and h of two layers; the second layer may read the
    first sums as well."""

    def __init__(self, seed: int, read: int = 3, more: int = 0, *, past: bool = False) -> None:
        rng = np.random.default_rng(seed)
        powers = np.diag(rng.choice([-2.0, -1.0, 0.5, 1.0, 4.0], N))[rng.permutation(N)]
        self.skip = np.concatenate([powers, dyadic(rng, more, N)])[rng.permutation(N + more)]
        self.inner, self.bias = dyadic(rng, read, N), dyadic(rng, read)
        build = ircert.Builder(N)
        z = build.affine(build.input, self.inner, self.bias)
        first = build.relu(z)
        sums = build.add(build.affine(first, dyadic(rng, read, read)), z) if past else first
        second = build.relu(build.affine(sums, dyadic(rng, 4, read), dyadic(rng, 4)))
        bent = build.affine(build.concat(sums if past else first, second), dyadic(rng, N + more, read + 4))
        self.graph = build.graph(build.add(build.affine(build.input, self.skip, dyadic(rng, N + more)), bent))

    def image(self, x: list[Fraction]) -> list[Fraction]:
        """R x + b."""
        return [b + r for b, r in zip(exact(self.bias), times(self.inner, x), strict=True)]

    def last(self, values: list[Fraction]) -> list[Fraction]:
        """R P^-1 y_P, and y_i - A_i P^-1 y_P for the others, of an output y."""
        alone = [(i, np.flatnonzero(row)) for i, row in enumerate(self.skip)]
        rows: dict[int, int] = {}
        for i, columns in alone:
            if len(columns) == 1 and np.log2(abs(self.skip[i, columns[0]])) % 1 == 0:
                rows.setdefault(int(columns[0]), i)
        solved = [values[rows[j]] / Fraction(self.skip[rows[j], j]) for j in range(N)]
        others = [i for i in range(len(values)) if i not in rows.values()]
        rest = [values[i] - times(self.skip[[i]], solved)[0] for i in others]
        return [*times(self.inner, solved), *rest]


def exact(values: Any) -> list[Fraction]:
    return [Fraction(v) for v in np.asarray(values).tolist()]


def times(matrix: Any, x: list[Fraction]) -> list[Fraction]:
    return [sum((a * v for a, v in zip(exact(row), x, strict=True)), Fraction(0)) for row in matrix]


def less(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    return [v - w for v, w in zip(a, b, strict=True)]


def inner_map(example: Example, center: Any, norm: Norm = Norm.INF) -> InnerMap:
    found = InnerMap.of(setting_of(example.graph, center, norm=norm), 6)
    assert found is not None
    return found


def coordinates(found: InnerMap, example: Example, x: list[Fraction], norm: Norm) -> list[Fraction]:
    """v of a point, by the sizes and the middle that the ball's image has."""
    u0 = [Fraction(float(v)) for v in example.image(exact(found._center))]
    sizes = [norm.dual.length_up(norm.dual.measure(row)) if any(row) else 1.0 for row in map(exact, example.inner)]
    return [d / Fraction(size) for d, size in zip(less(example.image(x), u0), sizes, strict=True)]


@pytest.mark.rule("E-22")
@given(st.integers(0, 10**6), st.sampled_from([0, 2]), st.booleans(), st.sampled_from(list(Norm)))
def test_the_inner_map_is_the_network_times_one_matrix(seed: int, more: int, past: bool, norm: Norm) -> None:
    """F(v(x)) - F(v(y)) = L (f(x) - f(y)) exactly, with one matrix L; and images of balls lie in balls."""
    example, rng = Example(seed, more=more, past=past), np.random.default_rng(seed)
    center = rng.normal(size=N) if seed % 2 else dyadic(rng, N)
    found = inner_map(example, center, norm)
    x, y = (exact(center + dyadic(rng, N) / 2) for _ in range(2))
    images = [coordinates(found, example, point, norm) for point in (x, y)]
    left = less(*(list(found.setting.graph.exact(v)) for v in images))
    assert left == example.last(less(*(list(example.graph.exact(point)) for point in (x, y))))
    for point, image in zip((x, y), images, strict=True):
        radius = norm.length_up(norm.distance(point, exact(center)))
        assert max(map(abs, image)) <= Fraction(found.radius(radius))
        back = Fraction(found.reached(found.radius(radius)))
        assert back + found.slack >= Fraction(radius) * (1 - Fraction(1, 2**50))


@pytest.mark.rule("E-22")
@given(st.integers(0, 10**6))
def test_points_are_lifted(seed: int) -> None:
    """A point of v is the image of the point that it is lifted to."""
    example, rng = Example(seed), np.random.default_rng(seed)
    found = inner_map(example, np.zeros(N))
    v = rng.uniform(-1, 1, (1, 3))
    x = exact(found.points(v)[0])
    if np.linalg.matrix_rank(example.inner) == 3 and np.linalg.cond(example.inner) < 1e3:
        np.testing.assert_allclose([float(t) for t in coordinates(found, example, x, Norm.INF)], v[0], atol=1e-9)


def test_radii_are_rounded_outward() -> None:
    found = inner_map(Example(1), np.full(N, 0.1))
    assert found.slack > 0
    assert Fraction(found.radius(1.0)) >= 1 + found.slack
    assert Fraction(found.reached(1.0)) <= 1 - found.slack
    assert found.reached(np.inf) == np.inf
    assert found.reached(0.0) == 0.0


@pytest.mark.rule("E-22")
def test_others_have_none() -> None:
    """As many neurons as inputs; an input without an output of its own; numbers that would round; other problems."""
    assert InnerMap.of(setting_of(Example(0, read=N).graph, np.zeros(N)), 100) is None
    assert InnerMap.of(setting_of(Example(0, read=5).graph, np.zeros(N)), 4) is None
    assert InnerMap.of(setting_of(Example(0).graph, np.zeros(N), problem="pseudo"), 6) is None
    build = ircert.Builder(2)
    bent = build.affine(build.relu(build.affine(build.input, [[1.0, 1.0]])), [[1.0], [1.0]])
    for skip in ([[3.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]):
        graph = build.graph(build.add(build.affine(build.input, skip), bent))
        assert InnerMap.of(setting_of(graph, np.zeros(2)), 6) is None
    tiny = build.affine(build.relu(build.affine(build.input, [[1.0 + 2.0**-52, 2.0**-1060]])), [[1.0], [1.0]])
    graph = build.graph(build.add(build.affine(build.input, 2.0**40 * np.eye(2)), tiny))
    assert InnerMap.of(setting_of(graph, np.zeros(2)), 6) is None
