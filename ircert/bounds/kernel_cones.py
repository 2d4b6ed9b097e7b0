"""Secants without a kernel where there are more outputs than inputs: the signs of differences, one after the other.

In the notation of `slope_minors`, a secant with slopes in a face of the cube has a kernel only if some p != 0 has
p_i = 0 where δ_i = 0, (N p)_i = 0 where δ_i = 1, G p = 0, and p_i (N p)_i <= 0 where δ_i is free: there
p_i = δ_i q_i with q_i = p_i - (N p)_i, the difference below neuron i up to the sign s_i. If the sign τ_i of q_i is
known, the last condition is τ_i p_i >= 0 >= τ_i (N p)_i, and all such p are a cone. It is known where both points lie
on different sides of neuron i; else both signs are tried.

A cone is {0} if there are multipliers y of the rows of N and G, any for δ_i = 1 and G, with τ_i y_i >= 0 for known
signs and 0 for others, such that w = y (N, G) has w_i = 0 where δ_i = 1 or no sign is known, and τ_i w_i > 0 where one
is: then 0 >= y (N, G) p = w p = Σ τ_i w_i |p_i|, so that p_i = 0 for all known signs, and (N p)_i = 0 where y_i != 0.
If these rows, with those for δ_i = 1 and G, have independent columns where p_i may still be anything, p = 0. A linear
program proposes y in floats; that there are exact ones near them is proved by an approximate inverse of these columns,
which proves as well that they are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from ircert.bounds.principal_minors import Enclosed
from ircert.bounds.rounding import UNIT, pseudo_inverse, slack
from ircert.exact.live_program import LiveProgram
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint, left

MOST, FEW, FEWEST = 24, 11, 2
"""Programs for one face, if so many slopes are free; else fewer."""
SMALLEST = 1e-12
"""The solver is not given smaller coefficients."""
POSITIVE, USED = 1e-7, 1e-9
"""A largest p of more than this is one that is not 0, and a multiplier of more than this one that may be changed."""


@dataclass(eq=False)
class KernelCones:
    """Tests of faces."""

    matrix: Enclosed
    more: Enclosed

    def __post_init__(self) -> None:
        self.values = np.concatenate([self.matrix.values[0], self.more.values[0]])
        self.errors = np.concatenate([self.matrix.errors[0], self.more.errors[0]])

    @cached_property
    def _program(self) -> LiveProgram:
        count, size = self.values.shape
        sides = np.full(count, -np.inf), np.full(count, np.inf)
        given = csr_array(self.values), sides, (np.zeros(size), np.zeros(size))
        return LiveProgram(*given, smallest=SMALLEST, presolve="off")

    def exclude(self, taken: Mask, free: Mask, signs: Array) -> bool:
        """Whether no secant with δ = 1 at some slopes, anything at those that are free and 0 at others has a kernel
        with these signs of q; 0 where one is not known, or not free."""
        left = MOST if int(free.sum()) <= FEW else FEWEST
        stack = [signs]
        while stack:
            signs = stack.pop()
            left -= int(signs.any())
            p = self.largest(taken, free, signs)
            if p is None:
                continue
            chosen = self._choice(p, free & (signs == 0))
            if chosen is None or left <= 0:
                return False
            sides = (1.0, -1.0) if signs.any() else (1.0,)  # p and -p are alike where no sign is known
            stack += [np.where(np.arange(len(free)) == chosen, side, signs) for side in sides]
        return True

    def _choice(self, p: Array, unknown: Mask) -> int | None:
        """Where p violates the condition without a sign most; any, where p says nothing; None where it is a kernel."""
        if not unknown.any():
            return None
        products = np.where(unknown, p * (self.matrix.values[0] @ p), -np.inf)
        if not p.any():
            return int(np.argmin(np.where(unknown, np.diagonal(self.matrix.values[0]), np.inf)))
        chosen = int(np.argmax(products))
        return chosen if products[chosen] > 0 else None

    def largest(self, taken: Mask, free: Mask, signs: Array) -> Array | None:
        """A p of the cone that is not 0 where signs are known, or 0 where none was found; None where it is proved that
        there is none but 0."""
        checkpoint()
        if not signs.any():
            return np.zeros(len(signs))
        unknown = taken | (free & (signs == 0))
        self._program.set_columns((-1.0 * (unknown | (signs < 0)), 1.0 * (unknown | (signs > 0))))
        none = np.zeros(len(self.more.values[0]))
        least = np.where(taken | (signs < 0), 0.0, -1.0)
        most = np.where(taken | (signs > 0), 0.0, 1.0)
        self._program.set_rows((np.r_[least, none], np.r_[most, none]))
        status = self._program.maximise(signs - signs @ self.matrix.values[0], seconds=left())
        if status != "optimal":
            return np.zeros(len(signs))
        p = self._program.point
        if signs @ (p - self.matrix.values[0] @ p) > POSITIVE:
            return p
        given = self._program.multipliers + np.r_[signs, none]
        return None if self._proves(given, taken, unknown, signs) else np.zeros(len(signs))

    def _proves(self, given: Array, taken: Mask, unknown: Mask, signs: Array) -> bool:
        """Whether there are exact multipliers near these that show that p is 0."""
        size = len(signs)
        rows = np.r_[signs, np.zeros(len(given) - size)]
        free = np.r_[taken, np.ones(len(given) - size, dtype=bool)]
        y = np.where(free | (rows * given > 0), given, 0.0)
        used, columns = np.flatnonzero(free | (rows * y > USED)), np.flatnonzero(unknown)
        change = self._change(y, used, columns)
        if change is None or not (rows * y > change)[used][~free[used]].all():
            return False
        absolute = np.abs(self.values) + self.errors
        wrong = np.abs(y) @ self.errors + change @ absolute
        wrong = wrong * (1 + 8 * (len(y) + 4) * UNIT) + slack(len(y) + 4, np.abs(y) @ absolute)
        return bool((signs * (y @ self.values) > wrong)[signs != 0].all())

    def _change(self, y: Array, used: Indices, columns: Indices) -> Array | None:
        """Bounds on changes of some multipliers after which w is exactly 0 in some columns: with K = I - X M, X an
        approximate inverse of M, the change is t X with t (I - K) = -w, |t| <= |w| / (1 - |K|) in norm 1.

        None unless |K| < 1/2: then M has independent columns.
        """
        change = np.zeros(len(y))
        if not len(columns):
            return change
        part, errors = self.values[np.ix_(used, columns)], self.errors[np.ix_(used, columns)]
        try:
            inverse = pseudo_inverse(part)
        except np.linalg.LinAlgError:
            return None
        absolute, more = np.abs(inverse), 1 + 8 * (len(y) + 4) * UNIT
        rest = np.abs(np.eye(len(columns)) - inverse @ part) + absolute @ errors
        rest = rest * more + slack(len(used) + 4, absolute @ (np.abs(part) + errors) + 1.0)
        lost = np.abs(y) @ self.errors[:, columns]
        off = np.abs(y @ self.values[:, columns]) + lost
        off = off * more + slack(len(y) + 4, np.abs(y) @ np.abs(self.values[:, columns]) + lost)
        norm = float(rest.sum(axis=1).max()) * more
        if not norm < 0.5:
            return None
        most = absolute.max(axis=0) * float(off.sum()) * 2
        change[used] = most * more + slack(1, most)  # one that is too small for floats counts, too
        return change
