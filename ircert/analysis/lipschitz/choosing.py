"""Which matrix C to take: one for which the least positivity of C J over many Jacobians is large beside |C|.

The quotient is what bounds L' below, and both problems are convex on |C| <= 1. Norm 2: a descent of its soft minimum.
Norms 1 and inf: linear programs over the rows or columns, and signs, that were least so far. Floats: what a matrix is
worth is proved elsewhere.
"""

from __future__ import annotations

import numpy as np

from ircert.analysis.lipschitz.positivity import positivity, symmetric
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.limits import checkpoint, left

MOST_VARIABLES = 400
"""With more entries C is not looked for."""
SOFTNESS = (0.1, 0.04, 0.02)
"""Temperatures of the soft minimum, in parts of the least singular value of a Jacobian."""
STEPS = 60
MOST = 300
"""Jacobians that a descent looks at: the least positive ones, which change with the matrix."""
ROUNDS = 60
AT_ONCE = 12
MOST_FORMS, FAR = 400, 4.0
CLOSE = 0.98
"""A matrix whose quotient is this part of the program's bound is good enough."""


def quotient(matrix: Array, jacobians: Array, norm: Norm) -> float:
    """The least positivity of C J over |C|."""
    size = float(np.linalg.norm(matrix, norm.order))
    return float(positivity(np.matmul(matrix, jacobians), norm).min()) / size if size > 0 else -np.inf


def chosen(start: Array, jacobians: Array, norm: Norm) -> Array:
    """C of norm about 1 with a large quotient, not worse than where it starts."""
    if not start.any() or not np.isfinite(start).all():
        raise np.linalg.LinAlgError("there is no matrix to start from")
    tried = [start]
    if start.size <= MOST_VARIABLES:
        tried.append(_descended(start, jacobians) if norm == "2" else _by_programs(start, jacobians, norm))
    best = max(tried, key=lambda matrix: quotient(matrix, jacobians, norm))
    return np.asarray(best / np.linalg.norm(best, norm.order))


def _descended(start: Array, jacobians: Array) -> Array:
    """Norm 2."""
    from scipy.optimize import minimize

    unit = float(np.linalg.svd(jacobians, compute_uv=False)[:, -1].min())
    matrix = start / np.linalg.norm(start, 2)
    for softness in SOFTNESS if unit > 0 else ():
        order = np.argsort(positivity(np.matmul(matrix, jacobians), Norm.TWO)[:, 0], kind="stable")
        lowest = jacobians[order[:MOST]]

        def loss(entries: Array, lowest: Array = lowest, heat: float = softness * unit) -> tuple[float, Array]:
            checkpoint()
            value, slope = _soft_quotient(entries.reshape(start.shape), lowest, heat)
            return -value / unit, -slope.ravel() / unit

        found = minimize(loss, matrix.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
        matrix = found.x.reshape(start.shape)
    return np.asarray(matrix)


def _soft_quotient(matrix: Array, jacobians: Array, heat: float) -> tuple[float, Array]:
    """The soft minimum of the eigenvalues of sym(C J) over |C|, and its derivative."""
    if not np.isfinite(matrix).all() or not matrix.any():
        raise np.linalg.LinAlgError("the descent has left the floats")
    left_vectors, sizes, right_vectors = np.linalg.svd(matrix)
    values, vectors = np.linalg.eigh(symmetric(np.matmul(matrix, jacobians)))
    values = values / sizes[0]
    least = float(values.min())
    shares = np.exp(-(values - least) / heat)
    total = float(shares.sum())
    shares /= total
    along = np.matmul(vectors * shares[:, None, :], vectors.transpose(0, 2, 1))
    slope = np.einsum("sij,saj->ia", along, jacobians, optimize=True)
    slope -= float((shares * values).sum()) * np.outer(left_vectors[:, 0], right_vectors[0])
    return least - heat * np.log(total), slope / sizes[0]


def _by_programs(start: Array, jacobians: Array, norm: Norm) -> Array:
    """Norms 1 and inf: C maximises the least of some linear forms, and what is less near that C gives the next ones.

    Half of these are from the middle between it and the best C so far: optima of programs alone jump from side to side.
    """
    best = start / np.linalg.norm(start, norm.order)
    reached, forms = quotient(best, jacobians, norm), _least_forms(best, jacobians, norm)
    for _ in range(ROUNDS):
        checkpoint()
        solved = _program(forms, start.shape, norm)
        if solved is None:
            break
        optimum, bound = solved
        if bound <= 0 or reached >= CLOSE * bound:
            break
        tried = [optimum, (best + optimum) / 2]
        if len(forms) > MOST_FORMS:  # those that are far from mattering
            forms = forms[forms @ optimum.ravel() < FAR * bound]
        forms = np.concatenate([forms, *(_least_forms(matrix, jacobians, norm) for matrix in tried)])
        for matrix in tried:
            if quotient(matrix, jacobians, norm) > reached:
                best = matrix / np.linalg.norm(matrix, norm.order)
                reached = quotient(best, jacobians, norm)
    return np.asarray(best)


def _least_forms(matrix: Array, jacobians: Array, norm: Norm) -> Array:
    """(C J)_ii less the rest of a row (or column), as a linear form of C with the signs of now, where it is least."""
    products = np.matmul(matrix, jacobians)
    least = positivity(products, norm)
    forms = []
    for s, i in zip(*np.unravel_index(np.argsort(least, axis=None)[:AT_ONCE], least.shape), strict=True):
        signs = -np.sign(products[s, i] if norm == "inf" else products[s, :, i])
        signs[i] = 1.0
        form = np.zeros(matrix.shape)
        if norm == "inf":
            form[i] = jacobians[s] @ signs
        else:
            form = np.outer(signs, jacobians[s][:, i])
        forms.append(form.ravel())
    return np.array(forms)


def _program(forms: Array, shape: tuple[int, ...], norm: Norm) -> tuple[Array, float] | None:
    """C with |C| <= 1 that maximises the least of some forms, and that number."""
    from scipy.optimize import linprog

    rows, columns = shape
    size = rows * columns
    # C = P - N with P, N >= 0: sums of rows (norm inf) or of columns (norm 1) are at most 1
    sums = np.kron(np.eye(rows), np.ones(columns)) if norm == "inf" else np.kron(np.ones(rows), np.eye(columns))
    scale = float(np.abs(forms).max(initial=0.0)) or 1.0
    above = np.concatenate([-forms / scale, forms / scale, np.ones((len(forms), 1))], axis=1)
    if not np.isfinite(above).all():
        return None
    limits = np.concatenate([sums, sums, np.zeros((len(sums), 1))], axis=1)
    found = linprog(
        np.r_[np.zeros(2 * size), -1.0],
        np.concatenate([above, limits]),
        np.r_[np.zeros(len(forms)), np.ones(len(sums))],
        bounds=[(0.0, None)] * (2 * size) + [(None, None)],
        method="highs",
        options={"time_limit": max(min(left(), 1e6), 0.01)},
    )
    if found.x is None:
        return None
    return (found.x[:size] - found.x[size : 2 * size]).reshape(shape), float(found.x[-1]) * scale
