"""Secants: for a pair x, y with equal phases at all neurons but some, f(x) - f(y) = J(λ) (x - y) with λ in [0, 1].

λ_i is 1 where both points are on, 0 where both are off, and anything in [0, 1] at the other neurons, which are *free*.
Each neuron enters J by a term of rank one, so det(C J(λ)) is multi-affine in λ for any matrix C: if it has one strict
sign at all corners of the cube of the free ones, no J(λ) has a kernel, and x = y follows from f(x) = f(y). With many
inputs and few free neurons these are principal minors of a small matrix (`slope_minors`).

Determinants are floats with a bound on their error (carried through the network and through the expansion by minors),
so that a sign is a fact; with many inputs signs come from elimination (`bounds/determinant_signs.py`). The test of the
hull is cheaper and weaker: |I - C J| < 1 for an interval matrix J.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from ircert.bounds.contraction import keeps_apart, largest_kernel
from ircert.bounds.determinant_signs import determinant_signs
from ircert.bounds.interval import Interval, Intervals
from ircert.bounds.rounding import UNIT, pseudo_inverse, slack
from ircert.bounds.slope_minors import MOST_LISTED, SlopeMinors, Tangent, slope_minors
from ircert.engines.boxes.problem.setting import Setting, neurons_that_matter
from ircert.ir.arrays import Array, Indices, Mask, Matrix, walkable
from ircert.ir.interpret import Given, GivenBack
from ircert.ir.ops import Affine
from ircert.limits import checkpoint

MOST_INPUTS = 8
"""Minors are expanded over all sets of columns: 2^n of them."""
FEW_INPUTS, MOST_SLOPES = 6, 24
"""With more inputs: free neurons whose principal minors are looked at."""
MOST_EXACT = 1 << 23
"""… and the products of integers that they take at most."""
SOME, WELL = 24, 1e10
"""Corners that one is chosen from where the centre's does not do, and the condition number of a matrix that does."""
MOST, PRODUCTS = 2048, 100_000_000
"""Corners that are looked at in one go, and the multiplications that it takes at most."""
LARGE, CORNER, ELIMINATION = 200_000_000, 200_000, 10
"""With more inputs than that, the multiplications that all corners take at most; what a corner takes in these at least,
and how many for each product of an elimination."""


@dataclass(frozen=True)
class SlopePattern:
    """Which neurons are on, and which are free; the others are off.

    sides: the signs of z(x) - z(y) for free neurons, 0 where they are not known; None where it is not worth asking
    """

    on: Mask
    free: Mask
    sides: Array | None = None


class Secants:
    """Tests on the secants of the constrained outputs of a setting."""

    def __init__(self, setting: Setting, most_free: int = 15) -> None:
        self.setting = setting
        self.most_free = most_free
        self.square = setting.constrained == setting.size
        self.asked = 0
        self.weights = {
            node.name: walkable(node.op.weight) for node in setting.graph.nodes if isinstance(node.op, Affine)
        }
        self.products = setting.size * sum(math.prod(weight.shape) for weight in self.weights.values())
        """Multiplications that one matrix J takes."""
        self._minors: SlopeMinors | None = None

    def injective(self, slopes: SlopePattern) -> bool:
        """Whether no pair with these slopes collides, for sure."""
        self.asked += 1
        if self.setting.constrained < self.setting.size:
            return False
        found = self._by_minors(slopes) if self._has_minors and slopes.free.sum() <= MOST_SLOPES else None
        if found is not None:
            return found
        with np.errstate(all="ignore"):
            if keeps_apart(*self.interval(slopes)):
                return True
            return self._are_few(int(slopes.free.sum())) and self._corners(slopes)

    def interval(self, slopes: SlopePattern) -> tuple[Array, Array]:
        """Bounds on the entries of J."""
        unit = np.eye(self.setting.size)
        low, high = _Intervals(self, slopes).walk(self.setting.graph, (unit, unit))[self.setting.graph.output]
        return low[: self.setting.constrained], high[: self.setting.constrained]

    # --- many inputs -------------------------------------------------------------------------------------------------

    @property
    def _has_minors(self) -> bool:
        """Whether there are many inputs, and principal minors are worth it."""
        return self.setting.size > FEW_INPUTS and self._suit_minors

    @property
    def _suit_minors(self) -> bool:
        """Whether there are relus and no curves, and not so many weights that integers would take long."""
        weights = self.products // max(1, self.setting.size)
        work = (self.setting.size + MOST_SLOPES) * weights
        return work <= MOST_EXACT and self.setting.neurons > 0 and not self.setting.is_smooth

    def _by_minors(self, slopes: SlopePattern) -> bool | None:
        """Principal minors, which say all that intervals say; None where there are none."""
        minors = self._serving(slopes)
        return None if minors is None else minors.excludes(slopes.on, slopes.free, slopes.sides)

    def _serving(self, slopes: SlopePattern) -> SlopeMinors | None:
        """Those of one cube serve all of its faces."""
        if self._minors is None or not self._minors.serves(slopes.on, slopes.free):
            self._minors = self._minors_of(*self._cube(slopes))
        return self._minors

    @property
    def has_tangents(self) -> bool:
        """Whether directions of kernels can be asked about: more outputs than inputs, relus, and few weights."""
        return self.setting.constrained > self.setting.size and self._suit_minors

    def tangent(self, slopes: SlopePattern) -> Tangent | None:
        """A direction that these secants, with these signs of differences, may have in their kernel; None where none
        has a kernel, for sure."""
        minors, nothing = self._serving(slopes), np.zeros(len(slopes.on))
        sides = nothing if slopes.sides is None else slopes.sides
        return Tangent(nothing, nothing) if minors is None else minors.tangent(slopes.on, slopes.free, sides)

    def _cube(self, slopes: SlopePattern) -> tuple[Mask, Mask]:
        """That of all slopes, if they are few, else the one that is asked about: which are on, and which are free."""
        matter = neurons_that_matter(self.setting)
        few = int(matter.sum()) <= MOST_LISTED
        return (slopes.on & matter, matter) if few else (slopes.on, slopes.free)

    def _minors_of(self, on: Mask, free: Mask) -> SlopeMinors | None:
        try:
            corner, matrix = self._corner(on, free)
        except np.linalg.LinAlgError:
            return None
        # the outputs that a quadratic matrix is made of are those that tell the inputs apart best
        outputs = qr(matrix.T, mode="r", pivoting=True)[1] if np.isfinite(matrix).all() else np.arange(len(matrix))
        return slope_minors(self.setting.graph, corner, free, outputs)

    def _corner(self, on: Mask, free: Mask) -> tuple[Mask, Array]:
        """One at which J is far from having a kernel, in floats, and J: the centre's, else the best of some."""
        center = self.setting.preactivations(self.setting.center[None])[0] > 0
        some = np.random.default_rng(0).integers(0, 2, (SOME, len(on))).astype(bool)
        corners = np.where(free, np.vstack([center, some]), on)
        matrices = self.jacobians(corners.astype(np.float64))
        if np.linalg.cond(matrices[0]) < WELL:
            return corners[0], matrices[0]
        best = int(np.argmin(np.nan_to_num(np.linalg.cond(matrices), nan=np.inf)))
        return corners[best], matrices[best]

    # --- corners -----------------------------------------------------------------------------------------------------

    def _are_few(self, free: int) -> bool:
        """Whether all corners may be looked at."""
        return free <= self.most_free and (self.setting.size <= MOST_INPUTS or self._dearness << free <= LARGE)

    @property
    def _dearness(self) -> int:
        """What a corner takes by elimination."""
        return CORNER + self.products + ELIMINATION * self.setting.size**3

    def _corners(self, slopes: SlopePattern) -> bool:
        free = np.flatnonzero(slopes.free)
        size, error = self._errors(slopes.on | slopes.free)
        if not np.isfinite(size).all():
            return False
        projection = None
        if not self.square:
            try:
                projection = pseudo_inverse(self.jacobians((slopes.on + 0.5 * slopes.free)[None, :])[0])
            except np.linalg.LinAlgError:
                return False
            absolute = np.abs(projection)
            error = (absolute @ error + slack(size.shape[0], absolute @ size)) * (1 + 8 * (len(size) + 4) * UNIT)
            size = (absolute @ size) * (1 + 8 * (len(size) + 4) * UNIT)
        sign = 0
        for codes in self._codes(len(free)):
            checkpoint()
            bits = (codes[:, None] >> np.arange(len(free))) & 1
            batch = np.repeat(slopes.on[None, :].astype(np.float64), len(codes), axis=0)
            batch[:, free] = bits
            matrices = self.jacobians(batch)
            if projection is not None:
                matrices = projection @ matrices
            signs = self._signs(matrices, size, error)
            sign = sign or int(signs[0])
            if not sign or (signs != sign).any():
                return False
        return True

    def _signs(self, matrices: Array, size: Array, error: Array) -> Array:
        """Those of determinants; 0 where that is not sure."""
        if self.setting.size > MOST_INPUTS:
            return determinant_signs(matrices, error)
        values, doubt = determinants(matrices, size, error)
        return np.where(np.abs(values) > doubt, np.sign(values), 0.0)

    def _codes(self, count: int) -> Iterator[Indices]:
        """All corners, by number; first a few from everywhere, because most failures show at once."""
        if count > 7:
            yield np.arange(64, dtype=np.int64) * 0x9E3779B1 % (1 << count)
        step = self._at_once
        for start in range(0, 1 << count, step):
            yield np.arange(start, min(start + step, 1 << count), dtype=np.int64)

    @property
    def _at_once(self) -> int:
        if self.setting.size > MOST_INPUTS:  # one may decide
            return max(1, LARGE // 32 // self._dearness)
        return min(MOST, max(64, PRODUCTS // max(1, self.products)))

    def apart(self, slopes: SlopePattern, low: Array, high: Array) -> bool:
        """Whether J d = 0 is impossible for every d in a box that does not hold 0, by intervals."""
        if self.setting.constrained < self.setting.size or not ((low > 0) | (high < 0)).any():
            return False
        with np.errstate(all="ignore"):
            return largest_kernel(*self.interval(slopes), (low, high), rounds=1) is None

    def jacobians(self, slopes: Array) -> Array:
        """The matrices J of the constrained outputs for rows of slopes, in floats."""
        graph, relus = self.setting.graph, self.setting.relus
        unit = np.eye(self.setting.size)[None]

        def relu(name: str, given: Array) -> Array:
            return slopes[:, relus[name], None] * given

        walk = _Stacks(lambda name, given: _product(self.weights[name], given), relu, curves=True)
        result = walk.walk(graph, unit)[graph.output]
        full = np.broadcast_to(result, (len(slopes), *result.shape[1:]))
        return full[:, : self.setting.constrained]

    def effects(self, slopes: SlopePattern) -> Array | None:
        """How far a unit of every neuron moves C f, with C the pseudo-inverse of J at the middle slopes, in floats."""
        graph, relus, middle = self.setting.graph, self.setting.relus, slopes.on + 0.5 * slopes.free
        found, start = np.zeros(self.setting.neurons), np.zeros((graph.output_dim, self.setting.size))
        try:
            start[: self.setting.constrained] = pseudo_inverse(self.jacobians(middle[None])[0]).T
        except np.linalg.LinAlgError:
            return None

        def relu(name: str, given: Array) -> Array:
            found[relus[name]] = np.linalg.norm(given, axis=1)
            return middle[relus[name], None] * given

        GivenBack[Array](lambda name, given: self.weights[name].T @ given, relu, curves=True).walk(graph, start)
        return found

    def rows(self, slopes: Array) -> Array:
        """The rows below all neurons (count, neurons, inputs) for rows of slopes, in floats."""
        graph, relus = self.setting.graph, self.setting.relus
        found = np.zeros((len(slopes), self.setting.neurons, self.setting.size))

        def relu(name: str, given: Array) -> Array:
            found[:, relus[name]] = given
            return slopes[:, relus[name], None] * given

        walk = _Stacks(lambda name, given: _product(self.weights[name], given), relu)
        walk.walk(graph, np.eye(self.setting.size)[None])
        return found

    def _errors(self, used: Mask) -> tuple[Array, Array]:
        """Bounds on |J| and on the error of `jacobians`, entry by entry, for slopes in [0, 1], 0 if not used."""
        graph, relus = self.setting.graph, self.setting.relus
        unit = np.eye(self.setting.size)
        start = np.stack([unit, np.zeros_like(unit)])

        def relu(name: str, given: Array) -> Array:
            mask = used[relus[name]].astype(np.float64)[None, :, None]
            error = given[1] + slack(1, given[0])
            return mask * np.stack([given[0], error])

        def affine(name: str, given: Array) -> Array:
            weight = abs(self.weights[name])
            size = weight @ (given[0] + given[1])
            size = size * (1 + 8 * (weight.shape[1] + 4) * UNIT)
            error = (weight @ given[1]) * (1 + 8 * (weight.shape[1] + 4) * UNIT) + slack(weight.shape[1] + 4, size)
            return np.stack([size + error, error])

        def add(parts: list[Array]) -> Array:
            total = np.sum(parts, axis=0) * (1 + 8 * len(parts) * UNIT)
            return np.stack([total[0], total[1] + slack(len(parts), total[0])])

        result = _Stacks(affine, relu, add).walk(graph, start)[graph.output]
        return result[0][: self.setting.constrained], result[1][: self.setting.constrained]


class _Intervals(Intervals):
    """Bounds on derivatives, a row for each neuron."""

    def __init__(self, secants: Secants, slopes: SlopePattern) -> None:
        self.weights, self.relus, self.slopes = secants.weights, secants.setting.relus, slopes

    def affine(self, name: str, op: Affine, x: Interval) -> Interval:
        weight = self.weights[name]
        middle, radius, size = (x[0] + x[1]) / 2, (x[1] - x[0]) / 2, abs(weight)
        absolute = size @ (np.abs(middle) + radius)
        checkpoint()
        center, reach = weight @ middle, slack(weight.shape[1] + 4, absolute)
        checkpoint()
        if radius.any():
            reach = size @ radius + reach
        reach = reach * (1 + 4 * UNIT) + slack(1, np.abs(center))
        return center - reach, center + reach

    def relu(self, name: str, x: Interval) -> Interval:
        on, free = (which[self.relus[name]][:, None] for which in (self.slopes.on, self.slopes.free))
        low = np.where(free, np.minimum(x[0], 0.0), np.where(on, x[0], 0.0))
        return low, np.where(free, np.maximum(x[1], 0.0), np.where(on, x[1], 0.0))


class _Stacks(Given[Array]):
    """Stacks of matrices with a row for each neuron; a stack of one serves all."""

    def select(self, name: str, indices: Indices, x: Array) -> Array:
        return x[:, indices]

    def concat(self, name: str, parts: list[Array]) -> Array:
        most = max(len(part) for part in parts)
        return np.concatenate([np.broadcast_to(p, (most, *p.shape[1:])) for p in parts], axis=1)


def determinants(matrices: Array, size: Array, error: Array) -> tuple[Array, float]:
    """The determinants of a batch, and a bound on how far each is off.

    size, error: bounds on the entries and on their errors, common to all. Minors of the first k rows by sets of
    columns: M_k(S) = sum over j in S of ± a_kj M_{k-1}(S - j).
    """
    n = matrices.shape[1]
    minors: dict[int, Array] = {0: np.ones(len(matrices))}
    sizes, errors = {0: 1.0}, {0: 0.0}
    for k in range(n):
        grown: dict[int, Array] = {}
        grown_sizes: dict[int, float] = {}
        grown_errors: dict[int, float] = {}
        for chosen in minors:
            for j in range(n):
                if chosen >> j & 1:
                    continue
                key = chosen | 1 << j
                sign = -1.0 if bin(chosen >> (j + 1)).count("1") % 2 else 1.0
                term = sign * matrices[:, k, j] * minors[chosen]
                grown[key] = grown[key] + term if key in grown else term
                a, e = float(size[k, j]) + float(error[k, j]), float(error[k, j])
                grown_sizes[key] = grown_sizes.get(key, 0.0) + a * (sizes[chosen] + errors[chosen])
                wrong = a * errors[chosen] + e * sizes[chosen] + e * errors[chosen]
                grown_errors[key] = grown_errors.get(key, 0.0) + wrong
        minors = grown
        sizes = {key: value * (1 + 1e-13) + 1e-300 for key, value in grown_sizes.items()}
        errors = {
            key: (value + float(slack(n + 4, np.array(sizes[key])))) * (1 + 1e-13)
            for key, value in grown_errors.items()
        }
    last = (1 << n) - 1
    return minors[last], errors[last]


def _product(weight: Matrix, stack: Array) -> Array:
    """weight @ matrix for each of a stack."""
    if isinstance(weight, np.ndarray):
        return np.asarray(weight @ stack)
    return np.stack([weight @ matrix for matrix in stack])
