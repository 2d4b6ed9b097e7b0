"""Programs for the tests of the file writers: a readable one with every feature, and random ones."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ircert.ir.arrays import Array
from ircert.programs.program import Block, Program, QuadraticRow

NASTY = [0.1, 1 / 3, 1e-7, 123456789.123456789, -0.0, 2.0**48 - 1, 1e14, 1.0, -1.0, 5e-9, 0.30000000000000004]
"""Doubles that need all their digits, and that no reader drops or refuses."""


def example(quadratic: bool = False, maximise: bool = True) -> Program:
    """Free, half-bounded and boxed variables, a binary, a fixed binary and an integer, an empty row, a constant."""
    square, disc = np.zeros((8, 8)), np.zeros((8, 8))
    square[0, 0], square[1, 1], square[0, 1], square[1, 0] = -1.5, -1.0, 0.1, 0.1
    disc[0, 0], disc[1, 1], disc[0, 1], disc[1, 0] = 1 / 3, 1.0, -0.1, -0.1
    matrix = np.zeros((4, 8))
    matrix[0, [0, 2, 5]], matrix[1, [1, 2, 3]], matrix[2, [1, 7]] = [0.1, -1 / 3, 1], [1e-7, 123456789.123456789, -2], 1
    return Program(
        variables=(Block("x", 0, 3), Block("relu.h1.x", 3, 2), Block("F", 5, 2), Block("count", 7, 1)),
        lower=np.array([-1, -np.inf, -np.inf, 2, -0.0, 0, 1, -3]),
        upper=np.array([1 / 3, np.inf, 7.5, np.inf, 1, 1, 1, -1]),
        integer=np.array([False] * 5 + [True] * 3),
        rows=(Block("r", 0, 4),),
        matrix=csr_array(matrix),
        senses=np.array(["<=", ">=", "=", "<="]),
        rhs=np.array([1, -20, 0.1, -0.0]),
        maximise=maximise,
        objective=np.array([1, 0, 0.1, -1, -0.0, 0, 0, 1 / 3]),
        constant=4.25,
        quadratic=csr_array(square) if quadratic else None,
        quadratic_rows=(
            QuadraticRow("disc", csr_array(disc), np.array([0, 0, 0.7, 0, 0, 0, 0, -1]), 9.1),
            QuadraticRow("ball", csr_array(np.diag([1.0, 1, 1, 0, 0, 0, 0, 0])), np.zeros(8), 90.0),
        )
        if quadratic
        else (),
        about={"problem": "local", "norm": "inf", "model": "größe\n" + "0123456789" * 15},
    )


def numbers() -> st.SearchStrategy[float]:
    """Doubles that every reader keeps; zero among them."""
    sizes = st.floats(1e-8, 1e14)
    return st.sampled_from(NASTY) | sizes | sizes.map(lambda v: -v) | st.just(0.0)


@st.composite
def programs(draw: st.DrawFn, *, quadratic: bool = False, integer: bool = True) -> Program:
    """Any small program whose numbers all readers keep."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    names = draw(st.lists(_names, min_size=len(sizes), max_size=len(sizes), unique=True))
    columns, count = sum(sizes), draw(st.integers(0, 4))
    whole = np.repeat([integer and draw(st.booleans()) for _ in sizes], sizes)
    bounds = [draw(_integer_bounds() if w else _bounds()) for w in whole]
    lower, upper = (np.array(ends, dtype=np.float64) for ends in zip(*bounds, strict=True))
    return Program(
        variables=tuple(Block(n, s, w) for n, s, w in zip(names, np.cumsum([0, *sizes]).tolist(), sizes, strict=False)),
        lower=lower,
        upper=upper,
        integer=whole.astype(np.bool_),
        rows=(Block("row", 0, count),) if count else (),
        matrix=csr_array(_array(draw, (count, columns))),
        senses=np.array(
            draw(st.lists(st.sampled_from(["<=", ">=", "="]), min_size=count, max_size=count)), dtype="<U2"
        ),
        rhs=_array(draw, (count,)),
        maximise=draw(st.booleans()),
        objective=_array(draw, (columns,)),
        constant=draw(numbers()),
        quadratic=csr_array(_symmetric(draw, columns)) if quadratic else None,
        quadratic_rows=tuple(
            QuadraticRow(f"q{i}", csr_array(_symmetric(draw, columns)), _array(draw, (columns,)), draw(numbers()))
            for i in range(draw(st.integers(0, 2)) if quadratic else 0)
        ),
    )


_names = st.from_regex(r"[xyzF_][a-zA-Z0-9.]{0,12}|relu\.h[0-9]\.[xy]|e_[a-z]", fullmatch=True)


@st.composite
def _bounds(draw: st.DrawFn) -> tuple[float, float]:
    low, high = sorted([draw(numbers()), draw(numbers())])
    return (-np.inf if draw(st.booleans()) else low), (np.inf if draw(st.booleans()) else high)


@st.composite
def _integer_bounds(draw: st.DrawFn) -> tuple[float, float]:
    low, high = sorted([draw(st.integers(-5, 5)), draw(st.integers(-5, 10**6))])
    return draw(st.sampled_from([(0.0, 1.0), (1.0, 1.0), (float(low), float(high))]))


def _array(draw: st.DrawFn, shape: tuple[int, ...]) -> Array:
    size = int(np.prod(shape))
    return np.array(draw(st.lists(numbers(), min_size=size, max_size=size)), dtype=np.float64).reshape(shape)


def _symmetric(draw: st.DrawFn, columns: int) -> Array:
    upper = np.triu(_array(draw, (columns, columns)))
    return upper + np.triu(upper, 1).T


def solvable(seed: int, quadratic: bool = False) -> Program:
    """A bounded program with 0 among its points; with `quadratic`, a concave objective and a disc."""
    rng = np.random.default_rng(seed)
    columns, count = 8, 6
    return Program(
        variables=(Block("x", 0, 5), Block("k", 5, 3)),
        lower=np.r_[-rng.uniform(0.5, 2, 5), 0, 0, -2],
        upper=np.r_[rng.uniform(0.5, 2, 5), 1, 1, 3],
        integer=np.arange(columns) >= 5,
        rows=(Block("row", 0, count),),
        matrix=csr_array(rng.standard_normal((count, columns))),
        senses=np.array(["<=", ">=", "<=", ">=", "<=", "<="]),
        rhs=np.array([1, -1, 1, -1, 1, 1]) * rng.uniform(0.1, 1, count),
        maximise=True,
        objective=rng.standard_normal(columns),
        constant=float(rng.standard_normal()),
        quadratic=csr_array(-np.diag([1.0, 1, 1, 0, 0, 0, 0, 0])) if quadratic else None,
        quadratic_rows=(QuadraticRow("disc", csr_array(np.diag([1.0] * 5 + [0.0] * 3)), np.zeros(columns), 0.75),)
        if quadratic
        else (),
    )
