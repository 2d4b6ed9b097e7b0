"""Secants of a network with many inputs and few free slopes: determinants as small as the slopes are few.

Let the slopes λ_i of some neurons be free in [0, 1], those of all others be fixed, and λ0 be 0 or 1 at each. With
p_i = (λ_i - λ0_i) g_i, g_i the derivative below neuron i in a direction v, everything is linear in (v, p):
g = B v + D p and C J(λ) v = A v + E p, A = C J(λ0). With λ_i = λ0_i + s_i δ_i, s_i = 1 - 2 λ0_i, δ_i in [0, 1],

    det C J(λ) = det [[A, E], [-δ s B, I - δ s D]] = det A det(I - δ s (D - B A^-1 E)) = det A det(I - δ (I - N))

with N = I - s (D - B A^-1 E). The first equation eliminates p, whose block has the determinant 1 because no neuron
reads itself; the second one eliminates v. At a corner, δ_i = 1 for i in S and 0 for others, this is det A det N_SS, a
principal minor. det C J(λ) is affine in every slope: if it has one strict sign at all corners of a face of the cube,
no J(λ) of the face has a kernel. A and N are made in integers; N is then rounded to floats.

With more outputs than inputs C takes n of them. The others say G p = 0 with G = E' - A' A^-1 E for their rows A', E'.
A kernel has p = δ (I - N) p, p != 0, and so p = δ (I - N - Z G) p for every matrix Z: N + Z G may take the place of N,
with a Z for every face. It is best near I: Z G is as near to I - N as the rows of G allow. Where that is not enough,
signs of differences are looked at (`kernel_cones`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpz

from ircert.bounds.kernel_cones import KernelCones
from ircert.bounds.principal_minors import Enclosed, SignTable, are_positive, signs, taken
from ircert.bounds.rounding import TINY, UNIT, pseudo_inverse, slack
from ircert.exact.dyadics import DyadicArithmetic, Dyadics, as_integers, as_matrix, product
from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.graph import Graph
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine
from ircert.ir.rational import Integers
from ircert.limits import checkpoint, left

ARITHMETIC = DyadicArithmetic()
MOST_WORK = 250_000_000
"""Products of bits that solving a system takes, about: some tenths of a second."""
WORK_A_SECOND = 1.5e9
"""… of those times the columns that are solved for: what cannot be interrupted is not begun where less time is left."""
MOST_LISTED = 16
"""Free slopes whose corners are listed once and for all."""


@dataclass(frozen=True, eq=False)
class Tangent:
    """Derivatives below and behind all neurons in a direction, in floats; all 0 where nothing is known of one."""

    below: Array
    behind: Array

    @property
    def between(self) -> Array:
        """How far inside [0, 1] the slopes of neurons are, or outside of it (negative), in units of derivatives."""
        off = self.below - self.behind
        return np.copysign(np.minimum(np.abs(self.behind), np.abs(off)), self.behind * off)


@dataclass(frozen=True, eq=False)
class SlopeMinors:
    """N of a cube of slopes, and G; `on` are those that are 1 at its corner λ0, free or not."""

    free: Mask
    on: Mask
    matrix: Enclosed
    more: Enclosed

    def serves(self, on: Mask, free: Mask) -> bool:
        """Whether other slopes are a face of the cube: `on` those that are 1, `free` those that may be anything."""
        return bool((self.free | ~free).all() and (self.free | (on == self.on)).all())

    def excludes(self, on: Mask, free: Mask, sides: Array | None = None) -> bool:
        """Whether no secant with slopes in a face of the cube has a kernel, for sure.

        sides: where they are looked at, the signs of differences below neurons, 0 for one that is not known
        """
        turned, free = (on != self.on)[self.free], free[self.free]
        if self.matrix.size <= MOST_LISTED and not self.more.values.size:
            face = self._signs[tuple(slice(None) if f else int(t) for f, t in zip(free, turned, strict=True))]
            return bool((face > 0).all() or (face < 0).all())
        taken = turned & ~free
        if self._are_positive(taken, free):
            return True
        if sides is None or not self.more.values.size:
            return False
        return self._cones.exclude(taken, free, self._signs_of(free, sides))

    def tangent(self, on: Mask, free: Mask, sides: Array) -> Tangent | None:
        """A direction that secants with slopes in a face of the cube, and with these signs of differences, may have in
        their kernel, as far as one program in floats says; None where none has one, for sure."""
        turned, free = (on != self.on)[self.free], free[self.free]
        p = self._cones.largest(turned & ~free, free, self._signs_of(free, sides))
        if p is None:
            return None
        below, behind = (np.zeros(len(self.free)) for _ in range(2))
        at_corner = self.on[self.free]
        below[self.free] = np.where(at_corner, -1.0, 1.0) * (p - self.matrix.values[0] @ p)
        behind[self.free] = p + at_corner * below[self.free]
        return Tangent(below, behind)

    def _signs_of(self, free: Mask, sides: Array) -> Array:
        """Those of q = s g."""
        return np.where(free, np.where(self.on, -sides, sides)[self.free], 0.0)

    def _are_positive(self, turned: Mask, free: Mask) -> bool:
        """Whether the minors of a face are, with the first Z that floats propose."""
        first, rest = np.flatnonzero(turned), np.flatnonzero(free)
        order, count = np.r_[first, rest], len(first)
        matrix, more = self.matrix.among(order), Enclosed(self.more.values[:, :, order], self.more.errors[:, :, order])
        with np.errstate(all="ignore"):
            left = taken(_with(matrix, more, _best(matrix, more, count)) if more.values.size else matrix, count)
        return left is not None and are_positive(left)

    @cached_property
    def _cones(self) -> KernelCones:
        return KernelCones(self.matrix, self.more)

    @cached_property
    def _signs(self) -> SignTable:
        return signs(self.matrix)


def _best(matrix: Enclosed, more: Enclosed, count: int) -> Array:
    """Z in floats, for a face at which the first slopes are turned; nothing but 0 for these, which are taken."""
    values, rows, size = matrix.values[0], more.values[0], matrix.size
    found = np.zeros((size, len(rows)))
    try:
        through = np.linalg.solve(values[:count, :count], values[:count, count:])
        left, seen = (
            values[count:, count:] - values[count:, :count] @ through,
            rows[:, count:] - rows[:, :count] @ through,
        )
        found[count:] = (np.eye(size - count) - left) @ pseudo_inverse(seen)
    except np.linalg.LinAlgError:
        return np.zeros_like(found)
    return found


def _with(matrix: Enclosed, more: Enclosed, factor: Array) -> Enclosed:
    """N + Z G, for any Z."""
    size = np.abs(factor)
    absolute = np.abs(matrix.values) + size @ np.abs(more.values)
    wrong = (matrix.errors + size @ more.errors) * (1 + 8 * (len(factor) + 4) * UNIT)
    return Enclosed(matrix.values + factor @ more.values, wrong + slack(factor.shape[1] + 4, absolute + wrong))


def slope_minors(graph: Graph, on: Mask, free: Mask, outputs: Indices) -> SlopeMinors | None:
    """N around the corner `on`, if A has an inverse there, that is no long work, and N lies in the range of floats.

    outputs: those that count; C takes the first ones
    """
    walk, n = _Coupled(graph, on, free), graph.input_dim
    values = walk.outputs().rows(outputs)
    below = ARITHMETIC.stack(walk.below)
    checkpoint()
    work = n**3 * max((v.bit_length() for v in values.numerators.ravel()), default=0)
    if work > MOST_WORK or work * (1 + int(free.sum())) > WORK_A_SECOND * left():
        return None
    quadratic = as_matrix(values.numerators[:n, :n])
    if not free.any() and not quadratic.det():  # nothing to solve for: any matrix passes
        return None
    try:
        solved = quadratic.solve(as_matrix(values.numerators[:n, n:]))
    except ZeroDivisionError:
        return None
    numerators, denominator = solved.numer_denom()
    found = as_integers(numerators.entries(), (n, int(free.sum()))), denominator
    matrix, more = _eliminated(below, *found), _eliminated(values.rows(np.arange(n, len(outputs))), *found)
    if not (np.isfinite(matrix).all() and np.isfinite(more).all()):
        return None
    unit = np.eye(len(matrix))
    matrix = unit - np.where(on[free], -1.0, 1.0)[:, None] * matrix
    return SlopeMinors(free, on, _near(matrix, np.abs(matrix) + unit), _near(more, np.abs(more)))


def _near(values: Array, size: Array) -> Enclosed:
    """Numbers that were rounded twice at most."""
    return Enclosed(values[None], (4 * UNIT * size + TINY)[None])


def _eliminated(rows: Dyadics, found: Integers, denominator: fmpz) -> Array:
    """Rows over (v, p) with v = -A^-1 E p, A^-1 E = found / denominator, rounded to the nearest floats."""
    n = len(found)
    numbers = rows.numerators[:, n:] * denominator - product(rows.numerators[:, :n], found)
    return _rounded(numbers, denominator * fmpz(1 << rows.scale))


def _rounded(numbers: Integers, denominator: fmpz) -> Array:
    """Quotients of integers, rounded to the nearest floats; infinite where there is none."""

    def quotient(number: fmpz) -> float:
        try:
            return int(number) / int(denominator)
        except OverflowError:
            return math.inf

    return np.array([quotient(number) for number in numbers.ravel()], dtype=np.float64).reshape(numbers.shape)


class _Coupled(Forward[Dyadics]):
    """Derivatives along all inputs and all p, at the slopes `on`; `below` collects those below free neurons."""

    def __init__(self, graph: Graph, on: Mask, free: Mask) -> None:
        self.graph, self.on, self.free = graph, on, free
        self.below: list[Dyadics] = []
        self.start = 0
        self.met = 0

    def outputs(self) -> Dyadics:
        n = self.graph.input_dim
        unit = np.concatenate([np.eye(n), np.zeros((n, int(self.free.sum())))], axis=1)
        return self.walk(self.graph, Dyadics.of_floats(unit))[self.graph.output]

    def affine(self, name: str, op: Affine, x: Dyadics) -> Dyadics:
        return ARITHMETIC.times(op.weight, x)

    def relu(self, name: str, x: Dyadics) -> Dyadics:
        where = slice(self.start, self.start + x.shape[0])
        self.start = where.stop
        free = np.flatnonzero(self.free[where])
        self.below.append(x.rows(free))
        result = ARITHMETIC.masked(x, self.on[where])
        columns = self.graph.input_dim + self.met + np.arange(len(free))
        result.numerators[free, columns] += fmpz(1 << x.scale)
        self.met += len(free)
        return result

    def select(self, name: str, indices: Indices, x: Dyadics) -> Dyadics:
        return x.rows(indices)

    def concat(self, name: str, parts: list[Dyadics]) -> Dyadics:
        return ARITHMETIC.stack(parts)

    def add(self, name: str, parts: list[Dyadics]) -> Dyadics:
        return ARITHMETIC.total(parts)
