"""A ball in which no neuron switches, and whether the network is injective there: one walk, and one inverse.

Let all neurons before neuron i keep their sides in a ball of radius r around the centre c. There z_i is affine with the
gradient g_i, and keeps its side if |g_i|* r <= |z_i(c)|, in the dual norm. So the least |z_i(c)| / |g_i|* is the radius
of a closed ball on which the network is affine. If |I - C J| < 1 for its Jacobian J and some C, it is injective there.

All is computed in floats, with bounds on what rounding changes: of each value, and of the sum of absolute values of
each row of a Jacobian, which no dual norm exceeds. A neuron that is 0 because all it reads is 0 around the centre stays
at 0 and has no side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ircert.bounds.rounding import TINY, UNIT, rough_left_inverse, slack
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask, Matrix, economical
from ircert.ir.graph import Graph
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine
from ircert.limits import checkpoint

BELOW_ONE = 1 - 1e-9
LOST = 2.0**-500
"""More than an entry adds to norm 2 whose square underflows."""


class OnKink(ArithmeticError):
    """A neuron is at 0 in the centre, as far as floats can tell."""


@dataclass(frozen=True, eq=False)
class CenterRegion:
    """The linear region of a centre: a closed ball of this radius lies in it.

    jacobian: of the outputs by the inputs that vary, in floats
    error:    a bound on the sum of what each row of it is off by
    """

    radius: float
    jacobian: Array
    error: Array

    def is_injective(self) -> bool:
        """Whether no direction stands still, for sure: |I - C J| < 1 in norm inf."""
        rows, columns = self.jacobian.shape
        if rows < columns or not np.isfinite(self.jacobian).all():
            return False
        try:
            with np.errstate(all="ignore"):
                inverse = rough_left_inverse(self.jacobian)
        except np.linalg.LinAlgError:
            return False
        checkpoint()
        with np.errstate(all="ignore"):
            rest = inverse @ self.jacobian
            rest[np.diag_indices(columns)] -= 1.0
            size = np.abs(rest).sum(axis=1)
            absolute = np.abs(inverse)
            rounding = _row_slack(rows + 4, columns, 1.0 + size + absolute @ np.abs(self.jacobian).sum(axis=1))
            total = (size + rounding + absolute @ self.error) * (1 + 8 * (rows + columns) * UNIT)
        return bool((total < BELOW_ONE).all())


def center_region(graph: Graph, center: Array, norm: Norm, columns: Indices) -> CenterRegion | None:
    """The region of a centre in a canonical graph, where only the inputs `columns` vary; None on a kink."""
    try:
        with np.errstate(all="ignore"):
            walk = _Walk(graph, norm, columns)
            last = walk.walk(graph, walk.start(center))[graph.output]
    except OnKink:
        return None
    return CenterRegion(walk.radius, last.jacobian, last.jacobian_error)


@dataclass(frozen=True, eq=False)
class _Values:
    """The values of a node at the centre and its Jacobian there, with bounds on their errors.

    zero: which entries are 0 around the centre, without any error
    """

    value: Array
    error: Array
    jacobian: Array
    jacobian_error: Array
    zero: Mask


class _Walk(Forward[_Values]):
    """From the inputs to the outputs; `radius` is how far the neurons met so far keep their sides."""

    def __init__(self, graph: Graph, norm: Norm, columns: Indices) -> None:
        self.graph, self.columns, self.dual = graph, columns, norm.dual
        self.radius = np.inf

    def start(self, center: Array) -> _Values:
        unit = np.zeros((len(center), len(self.columns)))
        unit[self.columns, np.arange(len(self.columns))] = 1.0
        none = np.zeros(len(center))
        return _Values(center, none, unit, none, np.zeros(len(center), dtype=bool))

    def affine(self, name: str, op: Affine, x: _Values) -> _Values:
        used = np.flatnonzero(~x.zero)
        weight = economical(op.weight if len(used) == len(x.zero) else op.weight[:, used])
        absolute, terms = abs(weight), len(used) + 2
        zero = (absolute @ np.ones(len(used)) == 0) & (op.bias == 0)
        grown = 1 + 8 * (terms + 2) * UNIT
        size = absolute @ (np.abs(x.value[used]) + x.error[used]) + np.abs(op.bias)
        error = absolute @ x.error[used] * grown + slack(terms, size)
        if self.graph[name].operands == (self.graph.input,):
            jacobian = _dense(op.weight[:, self.columns])
            off = np.zeros(len(op.bias))
        else:
            jacobian = np.asarray(weight @ x.jacobian[used])
            sums = np.abs(x.jacobian[used]).sum(axis=1) * (1 + 8 * (len(self.columns) + 2) * UNIT)
            off = absolute @ x.jacobian_error[used] * grown + _row_slack(terms, len(self.columns), absolute @ sums)
        value = weight @ x.value[used] + op.bias
        return _Values(value, np.where(zero, 0.0, error), jacobian, np.where(zero, 0.0, off), zero)

    def relu(self, name: str, x: _Values) -> _Values:
        sure, count = np.abs(x.value) - x.error, len(self.columns)
        steep = np.linalg.norm(x.jacobian, ord=self.dual.order, axis=1) * (1 + 8 * (count + 2) * UNIT) + count * LOST
        reach = np.nextafter(sure / (steep + x.jacobian_error) * (1 - 32 * UNIT), 0.0)
        if not (x.zero | ((sure > 0) & (reach > 0))).all():
            raise OnKink
        self.radius = min(self.radius, float(reach[~x.zero].min(initial=np.inf)))
        on = (x.value > 0) & ~x.zero
        clear = on[:, None] * x.jacobian
        return _Values(on * x.value, on * x.error, clear, on * x.jacobian_error, ~on)

    def select(self, name: str, indices: Indices, x: _Values) -> _Values:
        value, error, off = x.value[indices], x.error[indices], x.jacobian_error[indices]
        return _Values(value, error, x.jacobian[indices], off, x.zero[indices])

    def concat(self, name: str, parts: list[_Values]) -> _Values:
        columns = zip(*((p.value, p.error, p.jacobian, p.jacobian_error, p.zero) for p in parts), strict=True)
        return _Values(*(np.concatenate(column) for column in columns))

    def add(self, name: str, parts: list[_Values]) -> _Values:
        found = parts[0]
        for part in parts[1:]:
            found = self._sum(found, part)
        return found

    def _sum(self, a: _Values, b: _Values) -> _Values:
        value, jacobian = a.value + b.value, a.jacobian + b.jacobian
        error = (a.error + b.error) * (1 + 8 * UNIT) + slack(1, np.abs(value))
        lost = _row_slack(1, len(self.columns), np.abs(jacobian).sum(axis=1))
        off = (a.jacobian_error + b.jacobian_error) * (1 + 8 * UNIT) + lost
        zero = a.zero & b.zero
        return _Values(value, np.where(zero, 0.0, error), jacobian, np.where(zero, 0.0, off), zero)


def _row_slack(terms: int, columns: int, absolute: Array) -> Array:
    """A bound on the errors of a row of so many sums, whose absolute values add up to about `absolute` in all."""
    return (slack(terms, absolute) + 4 * (terms + 2) * columns * TINY) * (1 + 8 * (columns + 2) * UNIT)


def _dense(weight: Matrix) -> Array:
    return np.asarray(weight.toarray() if isinstance(weight, csr_array) else weight)
