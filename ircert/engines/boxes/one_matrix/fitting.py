"""A matrix that is good for many Jacobians at once: a smooth convex problem, which a little more data moves a little.

For every Jacobian J the eigenvalues of sym(M J) should be positive, by as much as can be: M minimises the sum of
softplus(-eigenvalue / τ), which is convex in M (spectral functions of a linear map), with a small penalty on its size.
The least eigenvalue alone (`finding`'s linear programs) says nothing about all the other regions, and jumps with every
cut that is added; how many boxes a proof takes depends on all of them.
"""

from __future__ import annotations

import numpy as np

from ircert.ir.arrays import Array
from ircert.limits import checkpoint

TEMPERATURE = 0.05
"""τ: eigenvalues of about this size count as small; M has entries up to 1."""
RIDGE = 1e-3
STEPS = 60
MOST, WORK = 400, 200_000
"""Jacobians that come at a time, at most, and their number times the cube of the inputs: those with the lowest
eigenvalues matter."""
ROUNDS = 4
ENOUGH = 4 * TEMPERATURE
"""Eigenvalues that need not be looked at."""


def fitted(inner: Array, jacobians: Array, weights: Array) -> Array:
    """M near a given one for (count, m, n) Jacobians with weights; its largest entry is 1 or -1."""
    n = jacobians.shape[2]
    most = max(32, min(MOST, WORK // n**3))
    active = np.zeros(len(jacobians), dtype=bool)
    for _ in range(ROUNDS):
        values = least_eigenvalues(inner, jacobians)[0]
        values[active] = np.inf  # the others with the lowest eigenvalues come in addition
        lowest = np.argsort(values, kind="stable")[:most]
        lowest = lowest[values[lowest] < ENOUGH]
        if not len(lowest):
            break
        active[lowest] = True
        inner = _descended(inner, jacobians[active], weights[active])
    return inner


def least_eigenvalues(inner: Array, jacobians: Array) -> tuple[Array, Array]:
    """The least eigenvalue of sym(M J) for every J, and its eigenvector."""
    products = np.matmul(inner, jacobians)
    values, vectors = np.linalg.eigh((products + products.transpose(0, 2, 1)) / 2)
    return values[:, 0], vectors[:, :, 0]


def _descended(inner: Array, jacobians: Array, weights: Array) -> Array:
    from scipy.optimize import minimize

    size = RIDGE * float(weights.sum())

    def loss(entries: Array) -> tuple[float, Array]:
        checkpoint()
        products = np.matmul(entries.reshape(inner.shape), jacobians)
        values, vectors = np.linalg.eigh((products + products.transpose(0, 2, 1)) / 2)
        missed = TEMPERATURE * np.logaddexp(0.0, -values / TEMPERATURE)
        pulls = -1.0 / (1.0 + np.exp(np.minimum(values / TEMPERATURE, 700.0))) * weights[:, None]
        along = np.matmul(vectors * pulls[:, None, :], vectors.transpose(0, 2, 1))
        gradient = np.einsum("sij,saj->ia", along, jacobians, optimize=True)
        total = float((missed.sum(axis=1) * weights).sum()) + size * float(entries @ entries) / 2
        return total, gradient.ravel() + size * entries

    found = minimize(loss, inner.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "maxcor": 20})
    largest = float(np.abs(found.x).max(initial=0.0))
    if not np.isfinite(largest) or largest == 0.0:
        return inner
    return np.asarray(found.x / largest).reshape(inner.shape)
