"""Operations that are not piecewise linear: they load and evaluate, so that an engine can say what it cannot do.

They have no lowering and, except product and choose, no exact evaluation: `UnsupportedModel` names the operation and
the way out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import special

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Array
from ircert.ir.ops.base import ElementwiseOp, Op, SizeMismatch
from ircert.ir.rational import Rationals, over_common_denominator

if TYPE_CHECKING:
    from ircert.ir.build import Builder

REMEDY = "keep outputs that do not need it (`select`), or train with a piecewise-linear activation in its place"


@dataclass(frozen=True, eq=False)
class SmoothOp(Op):
    """An operation that no finite number of linear pieces describes, or not without jumps between them."""

    piecewise_linear = False

    def exact(self, *operands: Rationals) -> Rationals:
        raise UnsupportedModel(f"{self.kind} has irrational values: there is no exact evaluation", remedy=REMEDY)

    def lower(self, build: Builder, *operands: str) -> str:
        raise UnsupportedModel(f"{self.kind} is not piecewise linear: it cannot be lowered to relu", remedy=REMEDY)


@dataclass(frozen=True, eq=False)
class SmoothFunction(SmoothOp, ElementwiseOp):
    """One smooth function of each entry; nan where it is not defined."""

    function: ClassVar[Any]  # Array -> Array, a staticmethod

    def evaluate(self, *operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(type(self).function(operands[0]), dtype=np.float64)


class Tanh(SmoothFunction):
    """y_i = tanh(x_i)."""

    kind = "tanh"
    function = staticmethod(np.tanh)


class Sigmoid(SmoothFunction):
    """y_i = 1 / (1 + exp(-x_i))."""

    kind = "sigmoid"
    function = staticmethod(special.expit)


class Erf(SmoothFunction):
    """y_i = erf(x_i)."""

    kind = "erf"
    function = staticmethod(special.erf)


class Exp(SmoothFunction):
    """y_i = exp(x_i)."""

    kind = "exp"
    function = staticmethod(np.exp)


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


class Sin(SmoothFunction):
    """y_i = sin(x_i)."""

    kind = "sin"
    function = staticmethod(np.sin)


class Cos(SmoothFunction):
    """y_i = cos(x_i)."""

    kind = "cos"
    function = staticmethod(np.cos)


class Gelu(SmoothFunction):
    """y_i = x_i Phi(x_i), Phi the normal distribution function."""

    kind = "gelu"
    function = staticmethod(lambda x: x * special.ndtr(x))


class GeluTanh(SmoothFunction):
    """The tanh approximation of gelu."""

    kind = "gelu_tanh"
    function = staticmethod(lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


class Softplus(SmoothFunction):
    """y_i = log(1 + exp(x_i))."""

    kind = "softplus"
    function = staticmethod(lambda x: np.logaddexp(x, 0.0))


class Softsign(SmoothFunction):
    """y_i = x_i / (1 + |x_i|)."""

    kind = "softsign"
    function = staticmethod(lambda x: x / (1 + np.abs(x)))


class HardSwish(SmoothFunction):
    """y_i = x_i min(max(x_i / 6 + 1/2, 0), 1)."""

    kind = "hard_swish"
    function = staticmethod(lambda x: x * np.clip(x / 6 + 0.5, 0, 1))


class Silu(SmoothFunction):
    """y_i = x_i / (1 + exp(-x_i))."""

    kind = "silu"
    function = staticmethod(lambda x: x * special.expit(x))


class Mish(SmoothFunction):
    """y_i = x_i tanh(log(1 + exp(x_i)))."""

    kind = "mish"
    function = staticmethod(lambda x: x * np.tanh(np.logaddexp(x, 0.0)))


@dataclass(frozen=True, eq=False)
class Elu(SmoothOp, ElementwiseOp):
    """y_i = x_i for x_i >= 0, alpha (exp(x_i) - 1) below."""

    kind = "elu"
    alpha: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", _number(self.alpha, "alpha"))

    def evaluate(self, *operands: Array) -> Array:
        (x,) = operands
        return np.where(x >= 0, x, self.alpha * np.expm1(np.minimum(x, 0.0)))


@dataclass(frozen=True, eq=False)
class Power(SmoothOp, ElementwiseOp):
    """y_i = x_i ** exponent; nan where it is not real."""

    kind = "power"
    exponent: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponent", _number(self.exponent, "exponent"))

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


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise ValueError(f"{what} must be a finite number, got {value!r}")
    return float(value) + 0.0


SMOOTH: tuple[type[Op], ...] = (
    *(Product, Choose, Power, Elu, Softmax, LogSoftmax),
    *(Tanh, Sigmoid, Erf, Exp, Log, Sqrt, Reciprocal, Sin, Cos),
    *(Gelu, GeluTanh, Softplus, Softsign, HardSwish, Silu, Mish),
)
