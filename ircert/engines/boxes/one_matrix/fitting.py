"""A matrix that suits all Jacobians seen as well as it can: smooth, so that one more region moves it a little.

For Jacobians J, all eigenvalues of sym(M J) should be positive, by as much as can be: M minimises the sum of
softplus(-eigenvalue / τ), which is convex in M (spectral functions of a linear map), with a small penalty on its size.
The least eigenvalue alone (`finding`'s linear programs) says nothing about all the other regions, and jumps with every
cut that is added; how many boxes a proof takes depends on all of them.

M has few entries, so that Newton's method ends after a few steps. With φ the softplus and v_i, e_i the eigenvectors and
eigenvalues of sym(M J), the second derivative along D is the sum over i, j of h_ij (v_i sym(D J) v_j)², where h_ij is
(φ'(e_i) - φ'(e_j)) / (e_i - e_j), or φ'' where these are equal; terms that are small beside the penalty are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.one_matrix.definite import positive_definite
from ircert.ir.arrays import Array
from ircert.limits import checkpoint

TEMPERATURE = 0.05
"""τ: eigenvalues of about this size count as small; M has entries up to 1."""
RIDGE = 1e-3
STEPS, SHORTEST = 30, 1e-3
"""Newton steps, and the part of one below which nothing more is gained …"""
CLOSE = 1e-3
"""… nor when a step would gain less than this part of the sum."""
MOST, WORK = 400, 200_000
"""Jacobians that come at a time, at most, and their number times the cube of the inputs: those with the lowest
eigenvalues matter."""
ROUNDS = 3
PIECE = 100_000_000
"""Multiplications between two looks at the time, about."""
ENOUGH = 4 * TEMPERATURE
"""Eigenvalues that need not be looked at."""
EQUAL = 1e-3 * TEMPERATURE
NEGLIGIBLE = 0.1
"""Second derivatives that are left out, in parts of the penalty's."""


def fitted(inner: Array, jacobians: Array, weights: Array, ridge: float = RIDGE) -> Array:
    """M near a given one for (count, m, n) Jacobians with weights.

    The less the penalty (`ridge`), the more only the lowest eigenvalues matter, because M becomes large.
    """
    n = jacobians.shape[2]
    most = max(32, min(MOST, WORK // n**3))
    active = np.zeros(len(jacobians), dtype=bool)
    found = inner
    for _ in range(ROUNDS):
        values = low_eigenvalues(found, jacobians, ENOUGH)
        values[active] = np.inf  # the others with the lowest eigenvalues come in addition
        lowest = np.argsort(values, kind="stable")[:most]
        lowest = lowest[values[lowest] < ENOUGH]
        if not len(lowest):
            break
        active[lowest] = True
        found = _Sum(jacobians[active], weights[active], ridge).descended(found)
    return found


def normalized(inner: Array) -> Array | None:
    """M with 1 or -1 as its largest entry, if floats can do that."""
    largest = float(np.abs(inner).max(initial=0.0))
    return inner / largest if 0.0 < largest < np.inf else None


def in_pieces(work: Callable[[Array], Array], jacobians: Array) -> Array:
    """What is found for each Jacobian of a stack; time that ends is noticed between pieces of it."""
    count, rows, columns = jacobians.shape
    step = max(1, PIECE // max(1, rows * rows * columns))
    if count <= step:
        return work(jacobians)
    parts = []
    for start in range(0, count, step):
        checkpoint()
        parts.append(work(jacobians[start : start + step]))
    return np.concatenate(parts)


def least_eigenvalues(inner: Array, jacobians: Array) -> Array:
    """The least eigenvalue of sym(M J) for every J."""
    return in_pieces(lambda part: np.asarray(np.linalg.eigvalsh(_symmetric(inner, part))[:, 0]), jacobians)


def low_eigenvalues(inner: Array, jacobians: Array, bound: float) -> Array:
    """The same where it is below a bound; infinite where elimination, which is much faster, says that it is not."""
    return in_pieces(lambda part: _low_eigenvalues(inner, part, bound), jacobians)


def _low_eigenvalues(inner: Array, jacobians: Array, bound: float) -> Array:
    symmetric = _symmetric(inner, jacobians)
    values = np.full(len(jacobians), np.inf)
    low = ~positive_definite(symmetric, np.full(len(jacobians), bound))
    values[low] = np.linalg.eigvalsh(symmetric[low])[:, 0]
    return values


def lowest_directions(inner: Array, jacobians: Array) -> tuple[Array, Array]:
    """The least eigenvalue of sym(M J) for every J, and its eigenvector."""
    values, vectors = np.linalg.eigh(_symmetric(inner, jacobians))
    return values[:, 0], vectors[:, :, 0]


def missed(inner: Array, jacobians: Array) -> float:
    """The sum that `fitted` makes small, without weights and penalty."""
    return float(_missed(np.asarray(np.linalg.eigvalsh(_symmetric(inner, jacobians)), dtype=np.float64)).sum())


def _missed(values: Array) -> Array:
    """For each row of eigenvalues how much too small they are, smoothly."""
    return np.asarray(TEMPERATURE * np.logaddexp(0.0, -values / TEMPERATURE).sum(axis=1))


def _symmetric(inner: Array, jacobians: Array) -> Array:
    products = np.matmul(inner, jacobians)
    return np.asarray((products + products.transpose(0, 2, 1)) / 2)


@dataclass(frozen=True)
class _Place:
    """M, the sum there, and the eigenvalues and eigenvectors of all sym(M J)."""

    inner: Array
    total: float
    values: Array
    vectors: Array


@dataclass(frozen=True)
class _Sum:
    """What is minimised, for Jacobians (count, m, n) with weights."""

    jacobians: Array
    weights: Array
    ridge: float

    @property
    def _penalty(self) -> float:
        return self.ridge * float(self.weights.sum())

    def descended(self, inner: Array) -> Array:
        """M of about the least sum; where floats fail, the best one so far."""
        here = self._at(inner)
        for _ in range(STEPS):
            checkpoint()
            try:
                step, gain = self._newton(here)
            except np.linalg.LinAlgError:
                break
            there = self._along(here, step, gain) if gain > CLOSE * here.total else None
            if there is None:
                break
            here = there
        return here.inner

    def _at(self, inner: Array) -> _Place:
        values, vectors = np.linalg.eigh(_symmetric(inner, self.jacobians))
        total = float(_missed(values) @ self.weights) + self._penalty * float((inner**2).sum()) / 2
        return _Place(inner, total, values, vectors)

    def _along(self, here: _Place, step: Array, gain: float) -> _Place | None:
        """A place on the way with a sum that is clearly less."""
        share = 1.0
        while share > SHORTEST:
            there = self._at(here.inner + share * step)
            if there.total <= here.total - 0.1 * share * gain:
                return there
            share /= 2
        return None

    def _newton(self, here: _Place) -> tuple[Array, float]:
        """The step to the least value of the second-order model, and twice what the model gains by it."""
        pulls = 1.0 / (1.0 + np.exp(np.minimum(here.values / TEMPERATURE, 700.0)))
        along = np.matmul(here.vectors * (pulls * self.weights[:, None])[:, None, :], here.vectors.transpose(0, 2, 1))
        gradient = self._penalty * here.inner - np.einsum("sij,saj->ia", along, self.jacobians, optimize=True)
        table = self._second_derivatives(here, pulls)
        step = -np.linalg.solve(table, gradient.ravel()).reshape(gradient.shape)
        return step, -float((gradient * step).sum())

    def _second_derivatives(self, here: _Place, pulls: Array) -> Array:
        """Between all pairs of entries of M."""
        values, vectors = here.values, here.vectors
        gaps = values[:, :, None] - values[:, None, :]
        equal = np.abs(gaps) < EQUAL
        slopes = (pulls[:, None, :] - pulls[:, :, None]) / np.where(equal, 1.0, gaps)
        bends = np.where(equal, (pulls * (1.0 - pulls) / TEMPERATURE)[:, :, None], slopes) * self.weights[:, None, None]
        bends = np.triu(bends) + np.triu(bends, 1)  # both orders of a pair at once
        which, i, j = np.nonzero(bends > NEGLIGIBLE * self._penalty)
        moved = np.matmul(self.jacobians, vectors)
        root = np.sqrt(bends[which, i, j] / 4)[:, None]
        first = (vectors[which, :, i] * root)[:, :, None] * moved[which, :, j][:, None, :]
        second = (vectors[which, :, j] * root)[:, :, None] * moved[which, :, i][:, None, :]
        rows = (first + second).reshape(len(which), here.inner.size)
        table = rows.T @ rows
        table[np.diag_indices_from(table)] += self._penalty
        return np.asarray(table)
