"""Affine forms a u + b v + c of the entries of a node, on many cells at once, with error bounds; or on one, exactly.

Coordinates (u, v) are relative to the centre, so numbers near it keep their precision. A form in floats carries a bound
of its error anywhere in the region; signs that the bound does not settle are decided with the exact form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Node
from ircert.ir.interpret import Forward
from ircert.ir.ops import Affine
from ircert.ir.rational import Rationals, integer_type
from ircert.limits import checkpoint

UNIT = 2.0**-53
TINY = 1e-290
"""Added to error bounds where products may underflow."""

CHUNK = 1024
"""Cells whose forms are multiplied together."""

LEAST = 1e-300
"""Added to error bounds that would vanish with tiny numbers."""

SAFE = 1 + 2.0**-20
"""Error bounds are computed in floats themselves."""

ExactForms: TypeAlias = tuple[Rationals, Rationals, Rationals]
"""The values of forms at (0, 0), (1, 0) and (0, 1): any affine operation acts on each of them."""


@dataclass(frozen=True)
class Forms:
    """value (cells, 3, entries): coefficients a, b, c; error (cells, entries): |δa| reach + |δb| reach + |δc| <= error.

    reach: a bound of |u| and |v| in the region
    """

    value: Array
    error: Array
    reach: float

    @property
    def size(self) -> Array:
        """(cells, entries): how large the terms of a form get in the region."""
        size = np.abs(self.value[:, 0])
        size += np.abs(self.value[:, 1])
        size *= self.reach
        size += np.abs(self.value[:, 2])
        return size

    def part(self, cells: slice) -> Forms:
        """The forms on some cells."""
        return Forms(self.value[cells], self.error[cells], self.reach)

    def dense(self) -> Forms:
        """These forms."""
        return self

    def on(self, cells: NDArray[np.int64]) -> Forms:
        """The forms on cells that may repeat."""
        return Forms(self.value[cells], self.error[cells], self.reach)


@dataclass(frozen=True)
class Masked:
    """relu of forms on parts of their cells, with the phases (cells, entries) known; multiplied out when needed.

    A wide layer of many cells would not fit into the processor's cache, or into memory: affine maps take it in parts.
    """

    forms: Forms
    parent: NDArray[np.int64]
    active: NDArray[np.bool_]

    def part(self, cells: slice) -> Forms:
        """The forms on some cells."""
        value, error = self.forms.value[self.parent[cells]], self.forms.error[self.parent[cells]]
        value *= self.active[cells, None, :]
        error *= self.active[cells]
        return Forms(value, error, self.forms.reach)

    def dense(self) -> Forms:
        """The forms on all cells."""
        return self.part(slice(None))


def input_forms(center: Array, reach: float) -> Forms:
    """x = centre + (u, v); with one input v is a coordinate of its own, seen by nobody."""
    value = np.zeros((1, 3, len(center)))
    value[0, np.arange(len(center)), np.arange(len(center))] = 1.0
    value[0, 2] = center
    return Forms(value, np.zeros((1, len(center))), reach)


class _Affine(Forward[Forms | Masked]):
    """Affine operations on forms."""

    def affine(self, name: str, op: Affine, x: Forms | Masked) -> Forms:
        return _affine(op, x)

    def select(self, name: str, indices: Indices, x: Forms | Masked) -> Forms:
        forms = x.dense()
        return Forms(forms.value[:, :, indices], forms.error[:, indices], forms.reach)

    def concat(self, name: str, parts: list[Forms | Masked]) -> Forms:
        operands = [forms.dense() for forms in parts]
        value = np.concatenate([f.value for f in operands], axis=2)
        return Forms(value, np.concatenate([f.error for f in operands], axis=1), operands[0].reach)

    def add(self, name: str, parts: list[Forms | Masked]) -> Forms:
        return _sum([forms.dense() for forms in parts])


def applied(node: Node, given: list[Forms | Masked]) -> Forms:
    """An affine operation on forms."""
    return _AFFINE.step(node, given).dense()


_AFFINE = _Affine()


def _affine(op: Affine, x: Forms | Masked) -> Forms:
    gamma = (op.weight.shape[1] + 4) * UNIT
    magnitude = abs(op.weight)
    cells = len(x.parent) if isinstance(x, Masked) else len(x.value)
    value, error = np.empty((cells, 3, len(op.bias))), np.empty((cells, len(op.bias)))
    reach = 1.0
    for start in range(0, cells, CHUNK):
        checkpoint()
        some = slice(start, start + CHUNK)
        part = x.part(some)
        size, reach = part.size, part.reach
        value[some] = _times(part.value.reshape(-1, op.weight.shape[1]), op.weight).reshape(len(size), 3, -1)
        bound = _times(part.error + gamma * size, magnitude) + gamma * np.abs(op.bias)
        error[some] = _inflated(bound, magnitude, part)
    value[:, 2] += op.bias
    return Forms(value, error, reach)


def _times(rows: Array, weight: Any) -> Array:
    """rows @ weight.T for a dense or sparse weight."""
    return rows @ weight.T if isinstance(weight, np.ndarray) else np.ascontiguousarray((weight @ rows.T).T)


def _inflated(error: Array, magnitude: Any, x: Forms) -> Array:
    """The bound is itself computed in floats, and products of tiny numbers vanish: slopes too, far as they reach."""
    error *= SAFE
    weights = magnitude if isinstance(magnitude, np.ndarray) else magnitude.data
    vanishing = 2.0**-900 / weights.min(where=weights > 0, initial=1.0)
    if any(((sizes > 0) & (sizes < vanishing)).any() for sizes in (np.abs(x.value), x.error)):
        error += TINY + (magnitude.shape[1] + 4) * 1e-323 * x.reach
    return error


def slope_errors(error: Array, reach: float) -> Array:
    """Bounds of the errors of a and b."""
    return np.where(error > 0, error / reach + 5e-324, error)


def _sum(operands: list[Forms]) -> Forms:
    total = operands[0]
    for other in operands[1:]:
        value = total.value + other.value
        bound = (total.error + other.error + 2 * UNIT * (total.size + other.size)) * SAFE
        total = Forms(value, bound, total.reach)
    return total


def exact_input_forms(center: Array) -> ExactForms:
    """The exact counterpart of `input_forms`."""
    steps = np.zeros((3, len(center)))
    steps[np.arange(1, len(center) + 1), np.arange(len(center))] = 1.0
    at = Rationals.of_floats(center)
    ones = [Rationals.of_floats(step) for step in steps]
    first, second, third = (Rationals(at.numerators + s.numerators * at.denominator, at.denominator) for s in ones)
    return first, second, third


def exactly_applied(node: Node, operands: list[ExactForms]) -> ExactForms:
    """The exact counterpart of `applied`."""
    first, second, third = (node.op.exact(*(form[k] for form in operands)) for k in range(3))
    return first, second, third


def exactly_masked(form: ExactForms, active: NDArray[np.bool_]) -> ExactForms:
    """The exact counterpart of `Forms.masked`."""
    zero = integer_type()(0)
    first, second, third = (Rationals(np.where(active, r.numerators, zero), r.denominator) for r in form)
    return first, second, third


def triples(form: ExactForms) -> tuple[Any, Any]:
    """Exact coefficients (entries, 3) as integers over one positive denominator."""
    at, right, up = form
    assert at.denominator == right.denominator == up.denominator
    columns = [right.numerators - at.numerators, up.numerators - at.numerators, at.numerators]
    return np.stack(columns, axis=1), at.denominator
