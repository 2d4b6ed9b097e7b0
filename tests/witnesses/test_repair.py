"""Float pairs of solvers become exact collisions: on the rim of the ball and of the domain, and on kinks."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.ir.rational import integer_array
from ircert.questions.network import lowered as canonical
from ircert.questions.query import Query
from ircert.result.witness import length
from ircert.witnesses.repair import solve
from ircert.witnesses.replay import judge

NORMS = tuple(Norm)


def layers(seed: int, *sizes: int) -> Graph:
    rng = np.random.default_rng(seed)
    pairs = pairwise(sizes)
    return canonical(ircert.load([(rng.normal(size=(b, a)), rng.normal(size=b) / 4) for a, b in pairs]))


def fibre(graph: Graph, center: Array, low: Array, high: Array, seed: int) -> Array:
    """A float point on the rim of a box with about the centre's image, by a linear program in the centre's region."""
    from scipy.optimize import linprog

    from ircert.exact.linear_regions import float_maps, pattern_at

    maps = float_maps(graph, pattern_at(graph, [Fraction(v) for v in center.tolist()]), center)
    rows = [np.where(maps_on[:, None], -form, form) for form, maps_on in _signs(graph, maps.read, center)]
    above = np.concatenate(rows)
    found = linprog(
        np.random.default_rng(seed).normal(size=len(center)),
        A_ub=above[:, :-1],
        b_ub=-above[:, -1],
        A_eq=maps.output[:, :-1],
        b_eq=np.zeros(graph.output_dim),
        bounds=np.column_stack([low - center, high - center]),
    )
    return center + found.x


def _signs(graph: Graph, read: dict[str, Array], center: Array) -> list[tuple[Array, Any]]:
    return [(form, form[:, -1] >= 0) for form in read.values()]


@pytest.mark.rule("PR-9")
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-7])
@pytest.mark.parametrize("seed", range(6))
def test_a_pair_at_the_corners_of_a_domain_is_repaired_where_it_is(seed: int, noise: float) -> None:
    """As solvers give it: most coordinates at a bound of ball or domain, some neurons at a kink, off by a tolerance."""
    graph = layers(seed, 8, 6, 3)
    rng = np.random.default_rng(seed)
    center = np.where(rng.random(8) < 0.4, 0.0, rng.random(8))
    query = Query("pseudo", center, 0.25, domain=(0.0, 1.0))
    low, high = np.maximum(center - 0.25, 0.0), np.minimum(center + 0.25, 1.0)
    x = fibre(graph, center, low, high, seed)
    given_x = (x + noise * rng.uniform(-1, 1, 8)).tolist()
    witness, reason = judge(graph, query, given_x, center.tolist())
    assert witness is not None, reason
    assert max(abs(float(a) - b) for a, b in zip(witness.x, x.tolist(), strict=True)) < 1e-3
    assert length(Norm.INF, witness.x, witness.y) >= np.abs(x - center).max() - 1e-6


@pytest.mark.rule("PR-9")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_all_problems_and_norms_at_the_rim(problem: str, norm: str) -> None:
    """(|x1|, |x2|) at 0 in the unit ball: (a, b) and (-a, -b), a little outside."""
    fold = canonical(
        ircert.load([(np.vstack([np.eye(2), -np.eye(2)]), None), (np.hstack([np.eye(2), np.eye(2)]), None)])
    )
    end = {"inf": [1.0, 1.0], "1": [0.5, 0.5], "2": [0.5**0.5, 0.5**0.5]}[norm]
    x = [v * (1 + 1e-7) for v in end]
    center, y = [0.0, 0.0], [-v for v in x]
    other = ircert.load([([[1.0, 1.0], [3.0, 0.0]], None)]) if problem == "transform" else None
    if problem == "pseudo":
        center, y = [-0.5 * v for v in end], [0.0, 0.0]
        x = [0.5 * v * (1 + 1e-7) for v in end]
    radius = 1.0 if problem != "pseudo" else 1 + 1e-9
    witness, reason = judge(fold, Query(problem, center, radius, norm, other), x, y)
    assert witness is not None, reason
    assert max(abs(float(a) - b) for a, b in zip(witness.x, x, strict=True)) <= 1.1e-3
    before, after = ([x, y], [witness.x, witness.y])
    if other is not None:
        before, after = ([other.exact(point).tolist() for point in pair] for pair in (before, after))
    apart = [[Fraction(v) for v in point] for point in before]
    assert length(norm, *after) >= length(norm, *apart) - 1e-6  # type: ignore[arg-type]


def test_a_pair_on_a_kink_that_leaves_no_room() -> None:
    """(relu(x1) + relu(x2), relu(-x1), relu(-x2)) is (1, 0, 0) on the segment from (1, 0) to (0, 1) alone."""
    weight = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    graph = canonical(
        ircert.load([(weight, None), ([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]], None)])
    )
    witness, _ = judge(graph, Query("local", [0.5, 0.5], 0.5), [1.0, -1e-9], [-1e-9, 1.0])
    assert witness is not None
    assert length(Norm.INF, witness.x, witness.y) == 1.0


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=3),
    st.lists(st.fractions(-3, 3), min_size=3, max_size=3),
)
def test_linear_systems_are_solved_exactly(rows: list[list[int]], known: list[Fraction]) -> None:
    table = np.array([integer_array(row) for row in rows])
    rest = [sum((a * b for a, b in zip(row, known, strict=True)), Fraction(0)) for row in rows]
    step = solve(table, rest)
    assert step is not None
    assert [sum((a * b for a, b in zip(row, step, strict=True)), Fraction(0)) for row in rows] == rest


def test_many_equations_are_solved_by_lifting() -> None:
    rng = np.random.default_rng(0)
    rows = np.array([integer_array(row) for row in rng.integers(-(2**40), 2**40, (30, 30)).tolist()])
    rest = [Fraction(int(v), 7) for v in rng.integers(-9, 9, 30)]
    step = solve(rows, rest)
    assert step is not None
    assert [sum((int(a) * b for a, b in zip(row, step, strict=True)), Fraction(0)) for row in rows] == rest
    assert solve(rows[:, :29], rest) is None
    assert solve(rows * 0, rest) is None


def test_systems_without_a_solution() -> None:
    assert solve(np.array([[1, 1], [2, 2]], dtype=object), [Fraction(1), Fraction(3)]) is None
    assert solve(np.array([[0]], dtype=object), [Fraction(1)]) is None
    assert solve(np.zeros((2, 0), dtype=object), [Fraction(1), Fraction(0)]) is None
    assert solve(np.zeros((2, 0), dtype=object), [Fraction(0), Fraction(0)]) == []
