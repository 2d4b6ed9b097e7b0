"""Small programs with known answers: the cases of the conformance suite for solver backends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ircert.backends.base import Status
from ircert.programs.program import Block, Program, QuadraticRow, Sense

OPTIMAL = frozenset({Status.OPTIMAL})
INFEASIBLE = frozenset({Status.INFEASIBLE})
UNBOUNDED = frozenset({Status.UNBOUNDED, Status.INFEASIBLE_OR_UNBOUNDED})
"""Few solvers prove that an unbounded program has a feasible point."""


@dataclass(frozen=True)
class Case:
    """A program and its answer: the statuses that are right, and the optimum if there is one.

    may_refuse: a BackendError with a remedy is right too; search: used for checks of limits, seeds and progress.
    """

    name: str
    program: Program
    statuses: frozenset[Status]
    value: float | None
    may_refuse: bool = False
    search: bool = False


Row = tuple[Sequence[float], Sense, float]


def small_program(
    cost: Sequence[float],
    rows: Sequence[Row] = (),
    *,
    lower: Any = 0.0,
    upper: Any = math.inf,
    integer: Any = False,
    maximise: bool = True,
    constant: float = 0.0,
    squares: Any = None,
    balls: Sequence[tuple[Any, Sequence[float], float]] = (),
) -> Program:
    """A program of one block of variables `x` and one of rows `row`, from dense lists.

    squares: the matrix of the objective's quadratic part; balls: rows (Q, linear, bound) for x'Qx + linear·x <= bound.
    """
    n = len(cost)
    matrix = csr_array(np.array([row[0] for row in rows], dtype=np.float64).reshape(len(rows), n))
    return Program(
        variables=(Block("x", 0, n),),
        lower=_full(lower, n),
        upper=_full(upper, n),
        integer=np.broadcast_to(np.asarray(integer, dtype=np.bool_), n).copy(),
        rows=(Block("row", 0, len(rows)),) if rows else (),
        matrix=matrix,
        senses=np.array([row[1] for row in rows], dtype="<U2"),
        rhs=np.array([row[2] for row in rows], dtype=np.float64),
        maximise=maximise,
        objective=np.array(cost, dtype=np.float64),
        constant=constant,
        quadratic=None if squares is None else csr_array(np.array(squares, dtype=np.float64)),
        quadratic_rows=tuple(
            QuadraticRow(f"ball_{i}", csr_array(np.array(form, dtype=np.float64)), _full(linear, n), bound)
            for i, (form, linear, bound) in enumerate(balls)
        ),
    )


def _full(numbers: Any, n: int) -> Any:
    return np.broadcast_to(np.asarray(numbers, dtype=np.float64), n).copy()


def _linear() -> list[Case]:
    wedge: list[Row] = [([1, 2], "<=", 4), ([3, 1], "<=", 6)]
    corner: list[Row] = [([1, 0], "<=", 1), ([0, 1], "<=", 1), ([1, 1], "<=", 2), ([1, 2], "<=", 3), ([2, 1], "<=", 3)]
    return [
        Case("lp-maximise", small_program([1, 1], wedge), OPTIMAL, 2.8),
        Case("lp-minimise", small_program([2, 3], [([1, 1], ">=", 4)], maximise=False), OPTIMAL, 8.0),
        Case("lp-constant", small_program([1, 1], wedge, constant=-10.25), OPTIMAL, -7.45),
        Case("lp-constant-only", small_program([0, 0], wedge, constant=4.25), OPTIMAL, 4.25),
        Case("lp-degenerate", small_program([1, 1], corner), OPTIMAL, 2.0),
        Case("lp-equality", small_program([1, -1], [([1, 1], "=", 3), ([1, -1], "=", 1)]), OPTIMAL, 1.0),
        Case("lp-free", small_program([1, 0], [([1, 1], "<=", -2), ([0, 1], ">=", -5)], lower=-math.inf), OPTIMAL, 3.0),
        Case("lp-negative-bounds", small_program([1, -2], lower=[-5, -7], upper=[-1, -3]), OPTIMAL, 13.0),
        Case("lp-fixed", small_program([1, 1], [([1, 1], "<=", 9)], lower=[2, 0], upper=[2, 3]), OPTIMAL, 5.0),
        Case("lp-no-rows", small_program([1, 1, 0], lower=-1, upper=[2, 3, math.inf]), OPTIMAL, 5.0),
        Case("lp-empty-row", small_program([1], [([0], "<=", 1), ([1], "<=", 2), ([0], "=", 0)]), OPTIMAL, 2.0),
        Case("lp-empty-row-infeasible", small_program([1], [([0], "<=", -1)], upper=2), INFEASIBLE, None),
        Case("lp-unused-variable", small_program([1, 0], [([1, 0], "<=", 2)], upper=[9, 1]), OPTIMAL, 2.0),
        Case("lp-cancelling", small_program([1, -1], [([1, -1], "<=", 0)], upper=7), OPTIMAL, 0.0),
        Case("lp-infeasible", small_program([1, 1], [*wedge, ([1, 1], ">=", 3)], upper=9), INFEASIBLE, None),
        Case("lp-unbounded", small_program([1, 1], [([1, -1], "<=", 1)]), UNBOUNDED, None),
        Case("lp-unbounded-below", small_program([1], lower=-math.inf, maximise=False), UNBOUNDED, None),
        Case("lp-unbounded-feasible", _far(), UNBOUNDED, None),
        Case("lp-no-variables", small_program([], constant=2.5), OPTIMAL, 2.5),
        Case("lp-no-variables-infeasible", small_program([], [([], ">=", 1)]), INFEASIBLE, None),
    ]


def _far() -> Program:
    """HiGHS 1.15 calls it infeasible, though it is unbounded."""
    rows: list[Row] = [([3, 1, -1, -4, 3], "<=", 0), ([1, 4, 1, 4, -3], "<=", 0)]
    lower, upper = [-2, -1.5, -2, -1, -math.inf], [2.5, 1, -1, math.inf, math.inf]
    return small_program([-2, 3, 0, 4, 2], rows, lower=lower, upper=upper)


def _relu(slack: float) -> Program:
    """max y - x over x in [-slack, 0], y = relu(x): the unit of x as a big-M."""
    rows: list[Row] = [([-1, 1, 0], ">=", 0), ([-1, 1, slack], "<=", slack), ([0, 1, -slack], "<=", 0)]
    return small_program([0, 1, 0], rows, lower=[-slack, 0, 0], upper=[0, slack, 1], integer=[False, False, True])


def _subset_sum(count: int) -> Program:
    """A knapsack with weights that take some branching, in the worst case all of it."""
    weights = [(k * k * 7919 + 104729 * k) % 997 + 500 for k in range(1, count + 1)]
    values = [weight + (k * 31) % 17 for k, weight in enumerate(weights)]
    return small_program(values, [(weights, "<=", sum(weights) // 2)], upper=1, integer=True)


def best_knapsack(program: Program) -> float:
    """The optimum of a knapsack with integer data, by dynamic programming over the capacity."""
    capacity = int(program.rhs[0])
    best = np.zeros(capacity + 1)
    for weight, value in zip(program.matrix.toarray()[0].astype(int), program.objective, strict=True):
        best[weight:] = np.maximum(best[weight:], best[: capacity + 1 - weight] + value)
    return float(best[capacity])


def _postsolved() -> Program:
    """HiGHS 1.15 finds its optimum, and then spoils the point beyond its own tolerance in postsolve."""
    rows: list[Row] = [
        ([2, 3, -3], "<=", 1),
        ([3, 0, -1], ">=", 1),
        ([4, 3, 1], ">=", 3),
        ([-1, -4, 3], ">=", -3),
        ([0, 2, 2], "<=", 2),
    ]
    bounds: dict[str, Any] = {"lower": [-1.5, -3, -4.5], "upper": [3.5, 4.5, 0.5]}
    return small_program([-3, -3, -3], rows, **bounds, integer=[True, False, False], maximise=False)


def _integer() -> list[Case]:
    bag = small_program([10, 13, 7, 8], [([5, 7, 4, 3], "<=", 10)], upper=1, integer=True)
    hard = _subset_sum(24)
    odd: list[Row] = [([2, 2], "=", 3)]
    both: list[Row] = [([1, 1], "<=", 3.5), ([1, -1], "<=", 0.5)]
    mixed = [True, False]
    return [
        Case("milp-binaries", bag, OPTIMAL, 21.0),
        Case("milp-knapsack", hard, OPTIMAL, best_knapsack(hard), search=True),
        Case("milp-integers", small_program([3, 2], both, lower=-4, upper=9, integer=True), OPTIMAL, 7.0, search=True),
        Case("milp-negative", small_program([2, 1], lower=-3.5, upper=-1.5, integer=True), OPTIMAL, -6.0),
        Case("milp-minimise", small_program([-1, -1], both, upper=9, integer=mixed, maximise=False), OPTIMAL, -3.5),
        Case("milp-constant", small_program([5], upper=1, integer=True, constant=-7.5), OPTIMAL, -2.5),
        Case("milp-infeasible", small_program([1, 1], odd, upper=3, integer=True), INFEASIBLE, None),
        Case(
            "milp-unbounded",
            small_program([1, 1], [([1, -1], "<=", 1)], upper=[3, math.inf], integer=mixed),
            UNBOUNDED,
            None,
            may_refuse=True,
        ),
        Case(
            "milp-fractional-bounds",
            small_program([2], [([1], "<=", 2)], lower=-0.5, upper=6.5, integer=True, maximise=False),
            OPTIMAL,
            0.0,
        ),
        Case("milp-no-integer", small_program([1], lower=0.25, upper=0.75, integer=True), INFEASIBLE, None),
        Case("milp-postsolved", _postsolved(), OPTIMAL, -7.0),
        Case("milp-relu", _relu(10.0), OPTIMAL, 0.0),
        Case("milp-relu-wide", _relu(1e4), OPTIMAL, 0.0),
    ]


def _quadratic() -> list[Case]:
    one, disc = np.eye(2), [(np.eye(2), [0, 0], 1.0)]
    box: dict[str, Any] = {"lower": -1, "upper": 2}
    half = small_program([1, 1], upper=1, lower=-1, integer=[True, False], balls=[(one, [0, 0], 1.25)])
    hyperbola = small_program([1, 1], upper=4, maximise=False, balls=[([[0, -0.5], [-0.5, 0]], [0, 0], -1.0)])
    return [
        Case("qp-minimise", small_program([-2, 0], [([1, 1], ">=", 3)], maximise=False, squares=one), OPTIMAL, 1.0),
        Case("qp-maximise", small_program([2, 0], [([1, 1], ">=", 3)], squares=-one, constant=1), OPTIMAL, 0.0),
        Case(
            "miqp",
            small_program([-3, -3], upper=5, integer=True, maximise=False, squares=[[1, 0.5], [0.5, 1]]),
            OPTIMAL,
            -3.0,
        ),
        Case("qcp-disc", small_program([1, 1], lower=-2, upper=2, balls=disc), OPTIMAL, math.sqrt(2)),
        Case("qcp-infeasible", small_program([1, 1], [([1, 1], ">=", 2)], upper=2, balls=disc), INFEASIBLE, None),
        Case("miqcp", half, OPTIMAL, 1.5),
        Case("nonconvex-box", small_program([0, 0], squares=one, **box), OPTIMAL, 8.0),
        Case("nonconvex-polytope", small_program([0, 0], [([1, 1], "<=", 2)], squares=one, **box), OPTIMAL, 5.0),
        Case("nonconvex-binary", small_program([-1, 1], squares=one, integer=[True, False], **box), OPTIMAL, 8.0),
        Case("nonconvex-row", hyperbola, OPTIMAL, 2.0),
    ]


def _extreme() -> list[Case]:
    """Numbers that solvers drop or refuse: they may do neither in silence."""
    tiny = small_program([1, 0], [([1, -1e-10], "<=", 0)], upper=[10, 1e10])
    tinier = small_program([1, 0], [([1, -1e-14], "<=", 0)], upper=[10, 1e14])
    huge = small_program([1, 0], [([1, -1e16], "<=", 0)], upper=[10, 1])
    far = small_program([1, 0], [([1, 1], "<=", 1e21)], upper=[2e21, 1])
    return [
        Case("tiny-coefficient", tiny, OPTIMAL, 1.0, may_refuse=True),
        Case("tinier-coefficient", tinier, OPTIMAL, 1.0, may_refuse=True),
        Case("huge-coefficient", huge, OPTIMAL, 10.0, may_refuse=True),
        Case("beyond-infinity", far, OPTIMAL, 1e21, may_refuse=True),
    ]


CASES: tuple[Case, ...] = (*_linear(), *_integer(), *_quadratic(), *_extreme())
