"""L' by linear programs over all pairs of linear regions: an oracle for norms 1 and inf, in floats."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

import ircert
from ircert.ir.graph import Graph

Array = NDArray[np.float64]


def least_quotient(graph: Graph, ball: Any, norm: str) -> float:
    """min |f(x) - f(y)| / |x - y|: the cone of the differences of vertices, for each side of the unit ball."""
    regions = list(ircert.enumerate_regions(graph, ball))
    return min(_of_pair(graph, p, q, norm) for p, q in combinations_with_replacement(regions, 2))


def _of_pair(graph: Graph, p: Any, q: Any, norm: str) -> float:
    d, e = [], []
    for x, y in product(p.vertices, q.vertices):
        d.append(x - y)
        e.append((p.matrix @ x + p.offset) - (q.matrix @ y + q.offset))
    return min(_program(np.array(d), np.array(e), side, norm) for side in _sides(len(d[0]), norm))


def _sides(size: int, norm: str) -> list[Array]:
    if norm == "1":
        return [np.array(signs) for signs in product((1.0, -1.0), repeat=size)]
    return [sign * row for row in np.eye(size) for sign in (1, -1)]


def _program(d: Array, e: Array, side: Array, norm: str) -> float:
    """min |Σ a_k e_k| where side · Σ a_k d_k = 1, a >= 0; with bounds t on the entries of the sum."""
    k, m = e.shape
    slots = m if norm == "1" else 1
    place = np.eye(m) if norm == "1" else np.ones((m, 1))
    above = np.vstack([np.hstack([e.T, -place]), np.hstack([-e.T, -place])])
    found = linprog(
        np.concatenate([np.zeros(k), np.ones(slots)]),
        A_ub=above,
        b_ub=np.zeros(2 * m),
        A_eq=np.concatenate([d @ side, np.zeros(slots)])[None, :],
        b_eq=[1.0],
    )
    return float(found.fun) if found.status == 0 else np.inf
