"""Finding a matrix C with v C J v > 0 for all v and all Jacobians J seen: cutting planes on eigenvectors.

For a fixed v, v C J v is linear in C: so C maximises the least of these numbers, over the cuts (v, J v) known so far,
and the eigenvector of a Jacobian with an eigenvalue below that is the next cut. C = M Q, |M| <= 1 entry by entry, with
Q = [J, N]^-1 for one Jacobian J of full rank and N a basis of the complement of its range: for more constrained
outputs than inputs M J^+ alone would miss matrices. All in floats: what C is worth is proved elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ircert.ir.arrays import Array
from ircert.limits import checkpoint, left

MOST_VARIABLES = 400
"""Programs with more of them take too long: then C is the inverse of one Jacobian, or of a mean."""
ROUNDS = 40
CLOSE = 0.7
"""A matrix whose least eigenvalue is this part of the program's bound is good enough."""
AT_ONCE = 12
MOST_CUTS = 400
SOFT_ROUNDS = 6
KEPT = 0.1
"""Soft cuts may cost that much of the margin, no more."""
LEAST = 1e-7
"""A program whose optimum is below this has no matrix that floats could use."""


@dataclass
class Finder:
    """Looks for C among M Q; `hard` are cuts of Jacobians of points, `soft` of slopes that may have no point.

    matrix: the best C so far, None where there is none
    margin: the least v C J v over all cuts, as the last program says
    """

    base: Array
    jacobians: Array
    hard: list[Array] = field(default_factory=list)
    soft: list[Array] = field(default_factory=list)
    matrix: Array | None = None
    margin: float = 0.0
    hard_margin: float | None = None

    def __post_init__(self) -> None:
        self.jacobians = np.unique(self.jacobians, axis=0)  # many points lie in one region
        m, n = self.base.shape
        left_space, values, _ = np.linalg.svd(self.base)
        if not np.isfinite(values).all() or values[-1] <= 1e-12 * values[0]:
            raise np.linalg.LinAlgError("the Jacobian has no full rank")
        whole = np.concatenate([self.base, left_space[:, n:] * values[-1]], axis=1)
        self.frame = np.linalg.inv(whole)
        self.moved = np.matmul(self.frame, self.jacobians)
        if not np.isfinite(self.frame).all() or not np.isfinite(self.moved).all():
            raise np.linalg.LinAlgError("floats do not hold the inverse of the Jacobian, or what it makes of others")
        self.inner = np.eye(n, m)
        self.matrix = self.inner @ self.frame

    @property
    def is_small(self) -> bool:
        """Whether programs are small enough."""
        return self.inner.size <= MOST_VARIABLES

    def learn(self, jacobians: Array) -> None:
        """Take further Jacobians of points into account."""
        self.jacobians = np.concatenate([self.jacobians, jacobians])
        self.moved = np.concatenate([self.moved, np.matmul(self.frame, jacobians)])

    def soften(self, jacobians: Array) -> bool:
        """Take corners into account that may have no point, as far as a matrix allows; whether it changed.

        M minimises the sum of what soft cuts miss of a part of the margin, which hard cuts have to keep.
        """
        if self.hard_margin is None:  # programs are too large, and the matrix is what it is
            return False
        least = KEPT * self.hard_margin
        moved = np.matmul(self.frame, jacobians)
        inner = self.inner
        for _ in range(SOFT_ROUNDS):
            checkpoint()
            values, vectors = self._least(inner, moved)
            low = np.flatnonzero(values < least)
            values, directions = self._least(inner, self.moved)
            wrong = np.argsort(values)[:AT_ONCE]
            wrong = wrong[values[wrong] < least / 2]
            if not len(low) and not len(wrong):
                break
            self.soft += [np.outer(vectors[k], moved[k] @ vectors[k]).ravel() for k in low.tolist()]
            self.hard += [np.outer(directions[k], self.moved[k] @ directions[k]).ravel() for k in wrong.tolist()]
            del self.soft[:-MOST_CUTS]
            solved = self._program(least)
            if solved is None:
                return False
            # those that can be kept, as far away as they can be: other corners are like them
            kept = [row for row in self.soft if float(row @ solved.ravel()) > least * (1 - 1e-6)]
            best = self._best_margin([*self.hard, *kept])
            if best is None:
                return False
            inner = best[0]
        if self._least(inner, self.moved)[0].min() <= 0 or (inner == self.inner).all():
            return False
        self.inner = inner
        self.matrix = inner @ self.frame
        return True

    def find(self) -> bool:
        """Whether there is a matrix for all Jacobians; without soft cuts where they leave none."""
        if self._has_both_orientations():
            self.matrix = None
            return False
        if not self.is_small:
            return float(self._least(self.inner, self.moved)[0].min(initial=1.0)) > 0
        found = self._cutting_planes()
        if found is None:
            self.matrix = None
            return False
        self.inner, self.margin = found
        self.hard_margin = self.margin
        self.matrix = self.inner @ self.frame
        return True

    def _cutting_planes(self) -> tuple[Array, float] | None:
        """M and the least eigenvalue over all Jacobians, or None where none is positive."""
        best: tuple[Array, float] | None = None
        inner = self.inner
        for _ in range(ROUNDS):
            checkpoint()
            values, vectors = self._least(inner, self.moved)
            least = float(values.min())
            if least > 0 and (best is None or least > best[1]):
                best = inner, least
            order = np.argsort(values)[:AT_ONCE]
            self.hard += [np.outer(vectors[k], self.moved[k] @ vectors[k]).ravel() for k in order.tolist()]
            solved = self._best_margin(self.hard)
            if solved is None:
                return best
            inner, bound = solved
            if bound < LEAST:
                return None
            if best is not None and best[1] >= CLOSE * bound:
                break
            if len(self.hard) > MOST_CUTS:  # those that are far from mattering
                near = np.array(self.hard) @ inner.ravel() < 4 * bound
                self.hard = [row for row, is_near in zip(self.hard, near.tolist(), strict=True) if is_near]
        return best

    def _has_both_orientations(self) -> bool:
        """Whether determinants have both signs: then there is no matrix."""
        if self.base.shape[0] != self.base.shape[1]:
            return False
        return bool((np.linalg.det(self.moved) < 0).any())

    @staticmethod
    def _least(inner: Array, moved: Array) -> tuple[Array, Array]:
        """The least eigenvalue of sym(M Q J) for every Q J, and its eigenvector."""
        products = np.matmul(inner, moved)
        values, vectors = np.linalg.eigh((products + products.transpose(0, 2, 1)) / 2)
        return values[:, 0], vectors[:, :, 0]

    def _best_margin(self, cuts: list[Array]) -> tuple[Array, float] | None:
        """M that maximises the least of some cuts, and that number."""
        rows = np.array(cuts)
        given = np.concatenate([-rows, np.ones((len(rows), 1))], axis=1)
        found = _solved(np.r_[np.zeros(rows.shape[1]), -1.0], given, np.zeros(len(rows)), rows.shape[1])
        return None if found is None else (found[:-1].reshape(self.inner.shape), float(found[-1]))

    def _program(self, least: float) -> Array | None:
        """M whose hard cuts are at least so much, and whose soft ones miss as little of it as can be in all."""
        hard, soft = np.array(self.hard), np.array(self.soft).reshape(len(self.soft), self.inner.size)
        size = hard.shape[1]
        rows = np.concatenate([-hard, -soft]) if len(soft) else -hard
        spare = np.concatenate([np.zeros((len(hard), len(soft))), -np.eye(len(soft))])
        given = np.concatenate([rows, spare], axis=1)
        found = _solved(np.r_[np.zeros(size), np.ones(len(soft))], given, np.full(len(rows), -least), size)
        return None if found is None else found[:size].reshape(self.inner.shape)


def _solved(objective: Array, rows: Array, most: Array, inside: int) -> Array | None:
    """The least objective with rows @ x <= most, the first variables in [-1, 1], the others at least 0; or None."""
    from scipy.optimize import linprog

    if not np.isfinite(rows).all():  # Jacobians that overflow
        return None
    bounds = [(-1.0, 1.0)] * inside + [(0.0, None)] * (len(objective) - inside)
    seconds = {"time_limit": max(min(left(), 1e6), 0.01)}
    found = linprog(objective, rows, most, bounds=bounds, method="highs", options=seconds)
    return None if found.x is None else np.asarray(found.x)
