"""Affine forms a u + b v + c of the entries of a node, on many cells at once, with error bounds; or on one, exactly.

Coordinates (u, v) are relative to the centre, so numbers near it keep their precision. A form in floats carries a bound
of the rounding error of each coefficient; signs that the bound does not settle are decided with the exact form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Array, Indices
from ircert.ir.graph import Node
from ircert.ir.ops import Add, Affine, Concat, Select
from ircert.ir.rational import Rationals, integer_type

UNIT = 2.0**-53
TINY = 1e-290
"""Added to error bounds where products may underflow."""

ExactForms: TypeAlias = tuple[Rationals, Rationals, Rationals]
"""The values of forms at (0, 0), (1, 0) and (0, 1): any affine operation acts on each of them."""


@dataclass(frozen=True)
class Forms:
    """value and error: (entries, 3, cells); the true coefficients lie within error of value."""

    value: Array
    error: Array

    def on(self, cells: Indices) -> Forms:
        """The forms on cells that may repeat."""
        return Forms(self.value[:, :, cells], self.error[:, :, cells])

    def masked(self, active: NDArray[np.bool_]) -> Forms:
        """relu with its phases known: (entries, cells) says where the entry passes."""
        return Forms(self.value * active[:, None, :], self.error * active[:, None, :])


def input_forms(center: Array) -> Forms:
    """x = centre + (u, v); with one input v is a coordinate of its own, seen by nobody."""
    value = np.zeros((len(center), 3, 1))
    value[np.arange(len(center)), np.arange(len(center)), 0] = 1.0
    value[:, 2, 0] = center
    return Forms(value, np.zeros_like(value))


def applied(node: Node, operands: list[Forms]) -> Forms:
    """An affine operation on forms."""
    op = node.op
    if isinstance(op, Affine):
        return _affine(op, operands[0])
    if isinstance(op, Select):
        return Forms(operands[0].value[op.indices], operands[0].error[op.indices])
    if isinstance(op, Concat):
        return Forms(np.concatenate([f.value for f in operands]), np.concatenate([f.error for f in operands]))
    if isinstance(op, Add):
        return _sum(operands)
    raise UnsupportedModel(
        f"{op.kind} at `{node.name}` has no linear regions", remedy="the regions engine takes piecewise-linear networks"
    )


def _affine(op: Affine, x: Forms) -> Forms:
    shape = (len(op.bias), *x.value.shape[1:])
    flat = (x.value.shape[0], -1)
    value = np.asarray(op.weight @ x.value.reshape(flat)).reshape(shape)
    value[:, 2] += op.bias[:, None]
    gamma = (op.weight.shape[1] + 4) * UNIT
    magnitude = abs(op.weight)
    error = np.asarray(magnitude @ (x.error + gamma * np.abs(x.value)).reshape(flat)).reshape(shape)
    error[:, 2] += gamma * np.abs(op.bias)[:, None]
    return Forms(value, _inflated(error, magnitude, x))


def _inflated(error: Array, magnitude: Any, x: Forms) -> Array:
    """The bound is itself computed in floats, and products of tiny numbers vanish."""
    error *= 1 + 2.0**-20
    weights = magnitude[magnitude != 0] if isinstance(magnitude, np.ndarray) else magnitude.data[magnitude.data != 0]
    values = np.abs(x.value[x.value != 0])
    if weights.size and values.size and weights.min() * min(values.min(), 1.0) < TINY:
        error += TINY
    return error


def _sum(operands: list[Forms]) -> Forms:
    value, error = operands[0].value, operands[0].error
    for other in operands[1:]:
        value = value + other.value
        error = (error + other.error + UNIT * np.abs(value)) * (1 + 2.0**-20)
    return Forms(value, error)


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
