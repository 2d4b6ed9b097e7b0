"""Curves: smooth functions of one number, which may stay in a lowered graph; activations, mostly.

A curve is analytic between finitely many kinks, and is known there as a power series in interval arithmetic (arb of
python-flint): so its values and derivatives are enclosed to any precision, at points and on intervals. Its meaning is
the real function; floats are evaluated by numpy and scipy, which err by a few units in the last place.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import special

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import Array
from ircert.ir.ops.base import ElementwiseOp, Op
from ircert.ir.rational import Rationals

if TYPE_CHECKING:
    from flint import arb, arb_series

    from ircert.ir.build import Builder

REMEDY = "keep outputs that do not need it (`select`), or train with a piecewise-linear activation in its place"
AS_IT_IS = "`certify` (engine boxes) takes it as it is; else " + REMEDY
INSIDE = "g.enclosure(x) encloses its values; for exact ones " + REMEDY


@dataclass(frozen=True, eq=False)
class SmoothOp(Op):
    """An operation that no finite number of linear pieces describes, or not without jumps between them."""

    piecewise_linear = False

    def exact(self, *operands: Rationals) -> Rationals:
        raise UnsupportedModel(f"{self.kind} has irrational values: there is no exact evaluation", remedy=REMEDY)

    def lower(self, build: Builder, *operands: str) -> str:
        raise UnsupportedModel(f"{self.kind} is not piecewise linear: it cannot be lowered to relu", remedy=REMEDY)


@dataclass(frozen=True, eq=False)
class Tail:
    """What is left of a curve far out: it is within `value` of slope * x + offset, and its slope within `rate` of
    `slope`, at `start` (in absolute terms; a multiple of 1/32) and all points beyond."""

    start: float
    slope: float
    offset: float
    value: arb
    rate: arb


@dataclass(frozen=True, eq=False)
class Curve(SmoothOp, ElementwiseOp):
    """A continuous function of each entry, analytic between its kinks.

    kinks:    where its derivative may jump: multiples of 1/32, in order
    periodic: with the period 2 pi, values and derivatives in [-1, 1]
    steep:    its slopes have no bound: it has no lines far out, and no table
    """

    kinks: ClassVar[tuple[float, ...]] = ()
    periodic: ClassVar[bool] = False
    steep: ClassVar[bool] = False

    @property
    def bend(self) -> float:
        """A bound on its second derivative in both tails: all decay, or are those of sin and cos."""
        return 1.0

    def exact(self, *operands: Rationals) -> Rationals:
        raise UnsupportedModel(f"{self.kind} has irrational values: there is no exact evaluation", remedy=INSIDE)

    def lower(self, build: Builder, *operands: str) -> str:
        raise UnsupportedModel(f"{self.kind} is not piecewise linear: it cannot be lowered to relu", remedy=AS_IT_IS)

    @abstractmethod
    def series(self, x: arb_series, piece: int) -> arb_series:
        """The function at a power series whose first entry lies between two kinks: piece k ends at kink k."""

    def tails(self) -> tuple[Tail, Tail]:
        """What is left on both sides, the left one first; refused by those that have no lines far out."""
        raise UnsupportedModel(f"{self.kind} has no lines far out, and so no table", remedy=AS_IT_IS)


@dataclass(frozen=True, eq=False)
class FunctionCurve(Curve):
    """A curve without attributes, in floats a function of arrays."""

    function: ClassVar[Any]  # Array -> Array, a staticmethod

    def evaluate(self, *operands: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(type(self).function(operands[0]), dtype=np.float64)


class Tanh(FunctionCurve):
    """y_i = tanh(x_i)."""

    kind = "tanh"
    function = staticmethod(np.tanh)

    def series(self, x: arb_series, piece: int) -> arb_series:
        return _tanh(x)

    def tails(self) -> tuple[Tail, Tail]:
        """1 - tanh(x) <= 2 exp(-2 x) and 1 - tanh(x)^2 <= 4 exp(-2 x), for x >= 0."""
        left = 4 * _decay(2 * 20)
        return Tail(20.0, 0.0, -1.0, left, left), Tail(20.0, 0.0, 1.0, left, left)


class Sigmoid(FunctionCurve):
    """y_i = 1 / (1 + exp(-x_i))."""

    kind = "sigmoid"
    function = staticmethod(special.expit)

    def series(self, x: arb_series, piece: int) -> arb_series:
        return 1 / (1 + (-x).exp())

    def tails(self) -> tuple[Tail, Tail]:
        """Value, or 1 - value, and slope are at most exp(-|x|)."""
        return Tail(40.0, 0.0, 0.0, _decay(40), _decay(40)), Tail(40.0, 0.0, 1.0, _decay(40), _decay(40))


class Erf(FunctionCurve):
    """y_i = erf(x_i)."""

    kind = "erf"
    function = staticmethod(special.erf)

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x.erf()

    def tails(self) -> tuple[Tail, Tail]:
        """1 - erf(x) <= exp(-x^2) for x >= 1, and the slope is less than 2 exp(-x^2)."""
        left = 2 * _decay(6.5 * 6.5)
        return Tail(6.5, 0.0, -1.0, left, left), Tail(6.5, 0.0, 1.0, left, left)


class Sin(FunctionCurve):
    """y_i = sin(x_i)."""

    kind = "sin"
    periodic = True
    function = staticmethod(np.sin)

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x.sin()

    def tails(self) -> tuple[Tail, Tail]:
        """Nothing but |sin| <= 1 and |cos| <= 1."""
        return (_bounded(), _bounded())


class Cos(FunctionCurve):
    """y_i = cos(x_i)."""

    kind = "cos"
    periodic = True
    function = staticmethod(np.cos)

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x.cos()

    def tails(self) -> tuple[Tail, Tail]:
        """Nothing but |cos| <= 1 and |sin| <= 1."""
        return (_bounded(), _bounded())


class Gelu(FunctionCurve):
    """y_i = x_i Phi(x_i), Phi the normal distribution function."""

    kind = "gelu"
    function = staticmethod(lambda x: x * special.ndtr(x))

    def series(self, x: arb_series, piece: int) -> arb_series:
        from flint import arb

        return x * (1 + (x / arb(2).sqrt()).erf()) / 2

    def tails(self) -> tuple[Tail, Tail]:
        """With the density p: |x| Phi(-|x|) <= p(x), and the slope is off by Phi(-|x|) + |x| p(x) <= (1 + |x|) p(x),
        for |x| >= 1; (1 + x) exp(-x^2 / 2) falls there."""
        left = 11 * _decay(50)
        return Tail(10.0, 0.0, 0.0, left, left), Tail(10.0, 1.0, 0.0, left, left)


class GeluTanh(FunctionCurve):
    """The tanh approximation of gelu: x/2 (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3), in real numbers."""

    kind = "gelu_tanh"
    function = staticmethod(lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))

    def series(self, x: arb_series, piece: int) -> arb_series:
        from flint import arb, fmpq

        inner = (2 / arb.pi()).sqrt() * (x + arb(fmpq(44715, 10**6)) * x * x * x)
        return x * (1 + _tanh(inner)) / 2

    def tails(self) -> tuple[Tail, Tail]:
        """For |x| >= 2 the value is off by |x| exp(-2 |u|) at most, and the slope by (1 + 2 |x| u') exp(-2 |u|),
        because sech(u)^2 <= 4 exp(-2 |u|); both fall. At 8, |u| > 24, u' < 8."""
        left = (1 + 2 * 8 * 8) * _decay(2 * 24)
        return Tail(8.0, 0.0, 0.0, left, left), Tail(8.0, 1.0, 0.0, left, left)


class Softplus(FunctionCurve):
    """y_i = log(1 + exp(x_i))."""

    kind = "softplus"
    function = staticmethod(lambda x: np.logaddexp(x, 0.0))

    def series(self, x: arb_series, piece: int) -> arb_series:
        """Without cancellation on either side."""
        return x + (1 + (-x).exp()).log() if _is_right(x) else (1 + x.exp()).log()

    def tails(self) -> tuple[Tail, Tail]:
        """log(1 + exp(-|x|)) <= exp(-|x|), and so is what its slope is off by."""
        return Tail(40.0, 0.0, 0.0, _decay(40), _decay(40)), Tail(40.0, 1.0, 0.0, _decay(40), _decay(40))


class Softsign(FunctionCurve):
    """y_i = x_i / (1 + |x_i|)."""

    kind = "softsign"
    kinks = (0.0,)  # of its second derivative
    function = staticmethod(lambda x: x / (1 + np.abs(x)))

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x / (1 + x) if piece else x / (1 - x)

    def tails(self) -> tuple[Tail, Tail]:
        """It is off by 1 / (1 + |x|), and its slope is the square of that."""
        from flint import arb

        left = 1 / arb(33)
        return Tail(32.0, 0.0, -1.0, left, left * left), Tail(32.0, 0.0, 1.0, left, left * left)


class HardSwish(FunctionCurve):
    """y_i = x_i min(max(x_i / 6 + 1/2, 0), 1)."""

    kind = "hard_swish"
    kinks = (-3.0, 3.0)
    function = staticmethod(lambda x: x * np.clip(x / 6 + 0.5, 0, 1))

    def series(self, x: arb_series, piece: int) -> arb_series:
        return (0 * x, x * (x + 3) / 6, x)[piece]

    def tails(self) -> tuple[Tail, Tail]:
        """Nothing is left."""
        from flint import arb

        return Tail(4.0, 0.0, 0.0, arb(0), arb(0)), Tail(4.0, 1.0, 0.0, arb(0), arb(0))


class Silu(FunctionCurve):
    """y_i = x_i / (1 + exp(-x_i))."""

    kind = "silu"
    function = staticmethod(lambda x: x * special.expit(x))

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x / (1 + (-x).exp())

    def tails(self) -> tuple[Tail, Tail]:
        """Value and slope are off by (1 + |x|) exp(-|x|) at most, which falls."""
        left = 46 * _decay(45)
        return Tail(45.0, 0.0, 0.0, left, left), Tail(45.0, 1.0, 0.0, left, left)


class Mish(FunctionCurve):
    """y_i = x_i tanh(log(1 + exp(x_i)))."""

    kind = "mish"
    function = staticmethod(lambda x: x * np.tanh(np.logaddexp(x, 0.0)))

    def series(self, x: arb_series, piece: int) -> arb_series:
        """tanh(log(w)) = (w^2 - 1) / (w^2 + 1), without cancellation on either side."""
        growth = x.exp()
        more = growth * (growth + 2)
        return x - 2 * x / (more + 2) if _is_right(x) else x * (more / (more + 2))

    def tails(self) -> tuple[Tail, Tail]:
        """Left: tanh(softplus) and softplus are at most exp(x): value and slope are at most (1 + |x|) exp(-|x|).
        Right: with 1 - tanh(s) <= 2 exp(-2 s) and sech(s)^2 <= 4 exp(-2 s), s >= x, both are off by at most
        (2 + 4 x) exp(-2 x). Both bounds fall."""
        return Tail(45.0, 0.0, 0.0, 46 * _decay(45), 46 * _decay(45)), Tail(24.0, 1.0, 0.0, *[98 * _decay(48)] * 2)


@dataclass(frozen=True, eq=False)
class Elu(Curve):
    """y_i = x_i for x_i >= 0, alpha (exp(x_i) - 1) below."""

    kind = "elu"
    kinks = (0.0,)
    alpha: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", finite_number(self.alpha, "alpha"))

    @property
    def bend(self) -> float:
        return abs(self.alpha)

    def evaluate(self, *operands: Array) -> Array:
        (x,) = operands
        return np.where(x >= 0, x, self.alpha * np.expm1(np.minimum(x, 0.0)))

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x if piece else self.alpha * (x.exp() - 1)

    def tails(self) -> tuple[Tail, Tail]:
        """alpha exp(x) is left on one side, and nothing on the other."""
        from flint import arb

        left = abs(arb(self.alpha)) * _decay(40)
        return Tail(40.0, 0.0, -self.alpha, left, left), Tail(1.0, 1.0, 0.0, arb(0), arb(0))


def _tanh(x: arb_series) -> arb_series:
    return 1 - 2 / (1 + (2 * x).exp())


def _is_right(x: arb_series) -> bool:
    """Whether the first entry is positive, about."""
    return bool(x.coeffs()[:1]) and float(x.coeffs()[0].mid()) > 0


def _decay(exponent: float) -> arb:
    """exp(-exponent)."""
    from flint import arb

    return (-arb(exponent)).exp()


def _bounded() -> Tail:
    from flint import arb

    return Tail(32.0, 0.0, 0.0, arb(1), arb(1))


def finite_number(value: object, what: str) -> float:
    """A finite float; ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise ValueError(f"{what} must be a finite number, got {value!r}")
    return float(value) + 0.0


CURVES: tuple[type[Curve], ...] = (
    *(Elu, Tanh, Sigmoid, Erf, Sin, Cos),
    *(Gelu, GeluTanh, Softplus, Softsign, HardSwish, Silu, Mish),
)
