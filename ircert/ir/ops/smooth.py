"""Operations that are neither piecewise linear nor curves: they load and evaluate, so that an engine can say what it
cannot do.

They have no lowering and, except product and choose, no exact evaluation: `UnsupportedModel` names the operation and
the way out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from ircert.ir.arrays import Array
from ircert.ir.ops.base import ElementwiseOp, Op, SizeMismatch
from ircert.ir.ops.curves import CURVES, SmoothOp, finite_number
from ircert.ir.rational import Rationals, over_common_denominator


@dataclass(frozen=True, eq=False)
class SmoothFunction(SmoothOp, ElementwiseOp):
    """One smooth function of each entry; nan where it is not defined."""

    function: ClassVar[Any]  # Array -> Array, a staticmethod

    def evaluate(self, *operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(type(self).function(operands[0]), dtype=np.float64)


class Log(SmoothFunction):
    """y_i = log(x_i)."""

    kind = "log"
    function = staticmethod(np.log)


class Sqrt(SmoothFunction):
    """y_i = sqrt(x_i)."""

    kind = "sqrt"
    function = staticmethod(np.sqrt)


class Reciprocal(SmoothFunction):
    """y_i = 1 / x_i."""

    kind = "reciprocal"
    function = staticmethod(np.reciprocal)


@dataclass(frozen=True, eq=False)
class Power(SmoothOp, ElementwiseOp):
    """y_i = x_i ** exponent; nan where it is not real."""

    kind = "power"
    exponent: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponent", finite_number(self.exponent, "exponent"))

    def evaluate(self, *operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(operands[0] ** self.exponent)


@dataclass(frozen=True, eq=False)
class Product(SmoothOp, ElementwiseOp):
    """The product of its two operands, entry by entry."""

    kind = "product"
    arity = 2

    def evaluate(self, *operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return operands[0] * operands[1]

    def exact(self, *operands: Rationals) -> Rationals:
        a, b = operands
        return Rationals(a.numerators * b.numerators, a.denominator * b.denominator)


@dataclass(frozen=True, eq=False)
class Choose(SmoothOp, ElementwiseOp):
    """Of operands l, r, a, b: y_i = a_i where l_i > r_i, else b_i; it may jump where l_i = r_i."""

    kind = "choose"
    arity = 4

    def evaluate(self, *operands: Array) -> Array:
        left, right, a, b = operands
        return np.where(left > right, a, b)

    def exact(self, *operands: Rationals) -> Rationals:
        (left, right, a, b), denominator = over_common_denominator(*operands)
        return Rationals(np.where(left > right, a, b), denominator)


@dataclass(frozen=True, eq=False)
class Softmax(SmoothOp):
    """exp(x_i) / sum_j exp(x_j) within each run of `group` consecutive entries."""

    kind = "softmax"
    group: int

    def __post_init__(self) -> None:
        if isinstance(self.group, bool) or not isinstance(self.group, int | np.integer) or self.group < 1:
            raise ValueError(f"group must be a positive integer, got {self.group!r}")
        object.__setattr__(self, "group", int(self.group))

    def size(self, *sizes: int) -> int:
        if sizes[0] % self.group:
            raise SizeMismatch(f"groups of {self.group} do not divide its operand of size {sizes[0]}")
        return sizes[0]

    def evaluate(self, *operands: Array) -> Array:
        groups = operands[0].reshape(len(operands[0]), -1, self.group)
        return np.asarray(special.softmax(groups, axis=2)).reshape(operands[0].shape)


@dataclass(frozen=True, eq=False)
class LogSoftmax(Softmax):
    """x_i - log sum_j exp(x_j) within each run of `group` consecutive entries."""

    kind = "log_softmax"

    def evaluate(self, *operands: Array) -> Array:
        groups = operands[0].reshape(len(operands[0]), -1, self.group)
        return np.asarray(special.log_softmax(groups, axis=2)).reshape(operands[0].shape)


SMOOTH: tuple[type[Op], ...] = (
    *(Product, Choose, Power, Softmax, LogSoftmax),
    *(Log, Sqrt, Reciprocal),
    *CURVES,
)
