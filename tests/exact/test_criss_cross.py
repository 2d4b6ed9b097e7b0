"""The exact linear programs against the enumeration of all vertices."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.exact.criss_cross import integers, maximise

Matrix = list[list[Fraction]]


def solved(rows: Matrix, right: list[Fraction]) -> list[Fraction] | None:
    """The solution of a square system, None if there is not exactly one."""
    work = [[*row, value] for row, value in zip(rows, right, strict=True)]
    size = len(rows)
    for k in range(size):
        pivot = next((i for i in range(k, size) if work[i][k]), None)
        if pivot is None:
            return None
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [v / work[k][k] for v in work[k]]
        for i in range(size):
            if i != k:
                work[i] = [v - work[i][k] * w for v, w in zip(work[i], work[k], strict=True)]
    return [row[-1] for row in work]


def dot(a: Any, b: Any) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def vertices(rows: Matrix, limits: list[Fraction]) -> Iterator[list[Fraction]]:
    """All vertices of {s : rows s <= limits}."""
    for chosen in combinations(range(len(rows)), len(rows[0])):
        point = solved([rows[i] for i in chosen], [limits[i] for i in chosen])
        if point is not None and all(dot(row, point) <= limit for row, limit in zip(rows, limits, strict=True)):
            yield point


def boxed(rows: Matrix, limits: list[Fraction], size: int, reach: int) -> tuple[Matrix, list[Fraction]]:
    """The rows, and a box that makes the feasible set bounded."""
    unit = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    box = [[sign * v for v in row] for row in unit for sign in (1, -1)]
    return rows + box, limits + [Fraction(reach)] * len(box)


@st.composite
def programs(draw: Any) -> tuple[list[Fraction], Matrix, list[Fraction]]:
    """Up to three variables; few distinct numbers, so that many are degenerate, infeasible or have several optima."""
    size = draw(st.integers(1, 3))
    entry = st.one_of(st.integers(-2, 2), st.fractions(-2, 2, max_denominator=3)).map(Fraction)
    row = st.lists(entry, min_size=size, max_size=size)
    rows = draw(st.lists(row, max_size=5))
    limits = draw(st.lists(entry, min_size=len(rows), max_size=len(rows)))
    rows, limits = boxed(rows, limits, size, 3)
    order = draw(st.permutations(range(len(rows))))
    return draw(row), [rows[i] for i in order], [limits[i] for i in order]


@given(programs())
def test_the_optimum_is_that_of_the_best_vertex(program: tuple[list[Fraction], Matrix, list[Fraction]]) -> None:
    objective, rows, limits = program
    best = max((dot(objective, v) for v in vertices(rows, limits)), default=None)
    found = maximise(objective, rows, limits)
    if best is None:
        assert found is None
        return
    assert found is not None
    assert found.value == best == dot(objective, found.point)
    assert all(dot(row, found.point) <= limit for row, limit in zip(rows, limits, strict=True))


@given(programs(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_their_scale_do_not_matter(
    program: tuple[list[Fraction], Matrix, list[Fraction]], random: Any
) -> None:
    objective, rows, limits = program
    first = maximise(objective, rows, limits)
    order = list(range(len(rows)))
    random.shuffle(order)
    scale = [Fraction(random.randint(1, 9), random.randint(1, 9)) for _ in order]
    again = maximise(
        objective,
        [[v * s for v in rows[i]] for i, s in zip(order, scale, strict=True)],
        [limits[i] * s for i, s in zip(order, scale, strict=True)],
    )
    assert (first is None) == (again is None)
    assert first is None or again is None or first.value == again.value


@given(programs(), st.randoms(use_true_random=False))
def test_where_it_begins_does_not_matter(program: tuple[list[Fraction], Matrix, list[Fraction]], random: Any) -> None:
    """Any rows may be given as a start: too few, dependent or far from the optimum."""
    objective, rows, limits = program
    start = random.sample(range(len(rows)), random.randint(0, len(rows)))
    first, again = maximise(objective, rows, limits), maximise(objective, rows, limits, start)
    assert (first is None) == (again is None)
    assert first is None or again is None or first.value == again.value


@given(st.integers(0, 2**32 - 1))
def test_floats_as_coefficients(seed: int) -> None:
    """Full mantissas of very different size: nothing is rounded."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 4))
    numbers = rng.normal(size=(4, size + 1)) * 10.0 ** rng.integers(-12, 13, (4, size + 1))
    rows, limits = boxed(
        [[Fraction(v) for v in row[1:]] for row in numbers], [Fraction(v) for v in numbers[:, 0]], size, 1
    )
    objective = [Fraction(v) for v in rng.normal(size=size).tolist()]
    best = max((dot(objective, v) for v in vertices(rows, limits)), default=None)
    found = maximise(objective, rows, limits)
    assert (None if found is None else found.value) == best


def test_many_rows_through_one_vertex() -> None:
    """A cone of 24 rows with its tip at the optimum, where simplex methods without a rule go round in circles."""
    tip = [Fraction(1, 3), Fraction(-2, 7)]
    rows = [[Fraction(x), Fraction(y)] for x in range(-2, 3) for y in range(-2, 3) if (x, y) != (0, 0)]
    limits = [dot(row, tip) for row in rows]
    found = maximise([Fraction(5), Fraction(-3)], rows, limits)
    assert found is not None
    assert list(found.point) == tip


def test_a_slit_is_feasible_and_a_gap_is_not() -> None:
    unit, down = [Fraction(1)], [Fraction(-1)]
    third = Fraction(1, 3)
    found = maximise(unit, [unit, down], [third, -third])
    assert found is not None
    assert found.point == (third,)
    assert maximise(unit, [unit, down], [third, -third - Fraction(1, 10**40)]) is None


def test_an_unbounded_set_is_refused() -> None:
    with pytest.raises(ValueError, match="not bounded"):
        maximise([1, 0], [[1, 0], [-1, 0]], [1, 1])


@given(st.lists(st.fractions(), min_size=1, max_size=5))
def test_integers_keep_the_proportions(numbers: list[Fraction]) -> None:
    found = [int(v) for v in integers(numbers)]
    assert all(a * y == b * x for a, x in zip(found, numbers, strict=True) for b, y in zip(found, numbers, strict=True))
    assert all((a > 0) == (x > 0) and (a == 0) == (x == 0) for a, x in zip(found, numbers, strict=True))
