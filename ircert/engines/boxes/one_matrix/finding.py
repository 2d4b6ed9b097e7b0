"""Finding a matrix C with v C J v > 0 for all v and all Jacobians J seen.

C = M Q, |M| <= 1 entry by entry, with Q = [J, N]^-1 for one Jacobian J of full rank and N a basis of the complement of
its range: for more constrained outputs than inputs M J^+ alone would miss matrices. M is fitted to all Jacobians
(`fitting`). Where that leaves one of them with a negative direction, cutting planes decide whether there is a matrix at
all: for a fixed v, v C J v is linear in C. All in floats: what C is worth is proved elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ircert.engines.boxes.one_matrix.fitting import (
    RIDGE,
    fitted,
    in_pieces,
    least_eigenvalues,
    low_eigenvalues,
    lowest_directions,
    missed,
    normalized,
)
from ircert.ir.arrays import Array, Mask
from ircert.limits import checkpoint, left

MOST_VARIABLES = 400
"""With more entries M is not looked for: C is the inverse of one Jacobian."""
HARD = 3.0
"""How much the Jacobian of a point counts beside a corner that may have no point."""
STRESS = 10.0
"""… and how much more where it has a negative direction: a fit that leaves some is done again with that."""
TRIES, SHARPER = 3, 0.1
HOPELESS = 0.2
"""How far below 0 an eigenvalue of a corner may be before it is forgotten."""
ROUNDS = 40
CLOSE = 0.7
"""A matrix whose least eigenvalue is this part of the program's bound is good enough."""
AT_ONCE = 12
MOST_CUTS = 400
WORST = 1e12
"""The largest condition of a Jacobian of full rank: the product of the norms of it and of its inverse, for each row."""
MOST_SOFT = 2_000
LEAST = 1e-7
"""A program whose optimum is below this has no matrix that floats could use."""


@dataclass(frozen=True)
class _Seen:
    """Q J of Jacobians, and from which radius on each is met."""

    moved: Array
    radii: Array

    def plus(self, moved: Array, radii: Array) -> _Seen:
        if not len(self.radii):
            return _Seen(moved, radii)
        return _Seen(np.concatenate([self.moved, moved]), np.concatenate([self.radii, radii]))

    def within(self, radius: float) -> Array:
        """Those that a ball meets."""
        return np.asarray(self.moved[self.radii < radius])


class Finder:
    """Looks for C among M Q, for Jacobians of points (hard) and corners of slopes that may have no point (soft)."""

    def __init__(self, base: Array) -> None:
        m, n = base.shape
        self.frame = _inverse(base if m == n else _completed(base))
        self.inner: Array = np.eye(n, m)
        none = _Seen(np.zeros((0, m, n)), np.zeros(0))
        self._hard = self._soft = none

    @property
    def matrix(self) -> Array:
        """C."""
        return np.asarray(self.inner @ self.frame)

    @property
    def is_small(self) -> bool:
        """Whether M can be looked for."""
        return self.inner.size <= MOST_VARIABLES

    def learn(self, jacobians: Array, radii: Array) -> None:
        """Take Jacobians of points into account, which balls of more than these radii have."""
        self._hard = self._hard.plus(*self._finite(jacobians, radii))

    def learn_corners(self, jacobians: Array, radii: Array) -> None:
        """Take corners into account that may have no point; the latest ones are kept."""
        soft = self._soft.plus(*self._finite(jacobians, radii))
        self._soft = _Seen(soft.moved[-MOST_SOFT:], soft.radii[-MOST_SOFT:])

    def _finite(self, jacobians: Array, radii: Array) -> tuple[Array, Array]:
        moved = self._moved(jacobians)
        good: Mask = np.asarray(np.isfinite(moved).all(axis=(1, 2)))
        return (moved, radii) if good.all() else (moved[good], radii[good])

    def _moved(self, jacobians: Array) -> Array:
        """Q J for some Jacobians."""
        return in_pieces(lambda part: np.asarray(np.matmul(self.frame, part)), jacobians)

    def turned(self, jacobians: Array) -> Mask:
        """Which Jacobians have another orientation than the first one: with them there is no matrix."""
        if jacobians.shape[1] != jacobians.shape[2]:
            return np.zeros(len(jacobians), dtype=bool)
        found = in_pieces(lambda part: np.asarray(np.linalg.det(np.matmul(self.frame, part))), jacobians)
        return np.asarray(found < 0, dtype=bool)

    def least(self, jacobians: Array) -> Array:
        """The least eigenvalues of sym(M Q J) for some Jacobians."""
        moved = self._moved(jacobians)
        good: Mask = np.asarray(np.isfinite(moved).all(axis=(1, 2)))
        return least_eigenvalues(self.inner, np.where(good[:, None, None], moved, 0.0))

    def misfit(self, matrix: Array, radius: float) -> float:
        """How badly C, of any origin, suits the Jacobians of points of a ball: infinite where it fails for one."""
        inner = normalized(np.asarray(np.linalg.solve(self.frame.T, matrix.T).T, dtype=np.float64))
        hard = self._hard.within(radius)
        if inner is None or not least_eigenvalues(inner, hard).min(initial=np.inf) > 0:
            return np.inf
        return missed(inner, hard)

    def find(self, radius: float) -> bool:
        """Whether there is a matrix for all Jacobians of points of a ball; corners are respected where they can be."""
        hard = self._hard.within(radius)
        if hard.shape[1] == hard.shape[2] and (in_pieces(np.linalg.det, hard) < 0).any():  # both orientations
            return False
        if not self.is_small:
            return float(low_eigenvalues(self.inner, hard, 0.0).min(initial=1.0)) > 0
        for soft in (self._soft.within(radius), self._soft.moved[:0]):  # corners that cannot be had may spoil a fit
            found = self._fitted(hard, soft)
            if found is not None:
                break
        else:
            found = self._by_cutting_planes(self.inner, hard)
        if found is None:
            return False
        self.inner = found
        self._forget(found)
        return True

    def _fitted(self, hard: Array, soft: Array) -> Array | None:
        """M that is good for all Jacobians of points, and as far as can be for corners."""
        moved, weights = np.concatenate([hard, soft]), np.r_[np.full(len(hard), HARD), np.ones(len(soft))]
        inner = self.inner
        for attempt in range(TRIES):
            inner = fitted(inner, moved, weights, RIDGE * SHARPER**attempt)
            values = low_eigenvalues(inner, hard, 0.0)
            if values.min(initial=1.0) > 0:
                return normalized(inner)
            weights[: len(hard)] *= np.where(values <= 0, STRESS, 1.0)
        return None

    def _forget(self, inner: Array) -> None:
        """Leave out corners that the best matrix misses by far: nothing can be done for them."""
        soft = self._soft
        kept = low_eigenvalues(inner, soft.moved, 0.0) > -HOPELESS
        self._soft = _Seen(soft.moved[kept], soft.radii[kept])

    def _by_cutting_planes(self, inner: Array, hard: Array) -> Array | None:
        """M whose least eigenvalue over all Jacobians is about the largest, or None where none is positive.

        M maximises the least of v M J v over the cuts (v, J v) known so far, and the eigenvectors of the least
        eigenvalues are the next cuts.
        """
        best: tuple[Array, float] | None = None
        cuts: list[Array] = []
        for _ in range(ROUNDS):
            checkpoint()
            values, vectors = lowest_directions(inner, hard)
            least = float(values.min())
            if least > 0 and (best is None or least > best[1]):
                best = inner, least
            order = np.argsort(values)[:AT_ONCE]
            cuts += [np.outer(vectors[k], hard[k] @ vectors[k]).ravel() for k in order.tolist()]
            solved = _best_margin(np.array(cuts))
            if solved is None:
                break
            inner, bound = solved[0].reshape(inner.shape), solved[1]
            if bound < LEAST:
                return None
            if best is not None and best[1] >= CLOSE * bound:
                break
            if len(cuts) > MOST_CUTS:  # those that are far from mattering
                near = np.array(cuts) @ inner.ravel() < 4 * bound
                cuts = [row for row, is_near in zip(cuts, near.tolist(), strict=True) if is_near]
        return None if best is None else best[0]


def _inverse(matrix: Array) -> Array:
    """The inverse, if the matrix is one that floats can tell from a singular one."""
    found = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    if not np.isfinite(found).all():
        raise np.linalg.LinAlgError("floats do not hold the inverse of the Jacobian")
    if not np.linalg.norm(matrix) * np.linalg.norm(found) < WORST * len(matrix):
        raise np.linalg.LinAlgError("the Jacobian has no full rank")
    return found


def _completed(base: Array) -> Array:
    """[J, N], with N as long as the shortest direction of J."""
    if not np.isfinite(base).all():
        raise np.linalg.LinAlgError("the Jacobian is not finite")
    left_space, values, _ = np.linalg.svd(base)
    return np.concatenate([base, left_space[:, base.shape[1] :] * values[-1]], axis=1)


def _best_margin(cuts: Array) -> tuple[Array, float] | None:
    """The entries, at most 1 in size, that maximise the least of some cuts, and that number."""
    from scipy.optimize import linprog

    size = cuts.shape[1]
    rows = np.concatenate([-cuts, np.ones((len(cuts), 1))], axis=1)
    bounds = [(-1.0, 1.0)] * size + [(0.0, None)]
    seconds = {"time_limit": max(min(left(), 1e6), 0.01)}
    aim = np.r_[np.zeros(size), -1.0]
    found = linprog(aim, rows, np.zeros(len(cuts)), bounds=bounds, method="highs", options=seconds)
    return None if found.x is None else (np.asarray(found.x[:-1]), float(found.x[-1]))
