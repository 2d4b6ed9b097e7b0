"""Curves x times a gate of x, with numbers of their own: what exporters write for SiLU and GELU, as it is stored.

A file that computes erf(x / 1.41421354) does not mean gelu with the real square root: these operations hold its
numbers. Rates lie between 1/8 and 8, so that tables of them stay small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from ircert.ir.arrays import Array
from ircert.ir.ops.curves import Curve, Tail, finite_number

if TYPE_CHECKING:
    from flint import arb, arb_series

SLOWEST, FASTEST = 0.125, 8.0
LEAST_CUBE, MOST_CUBE = 0.0, 1.0


def _rate(value: object) -> float:
    number = finite_number(value, "rate")
    if not SLOWEST <= number <= FASTEST:
        raise ValueError(f"rate must lie between {SLOWEST} and {FASTEST:g}, got {number!r}")
    return number


def _start(reach: float) -> float:
    """A multiple of 1/32 beyond a number."""
    return math.ceil(32 * reach + 1) / 32


def _decay(exponent: arb) -> arb:
    return (-exponent).exp()


@dataclass(frozen=True, eq=False)
class Swish(Curve):
    """y_i = x_i / (1 + exp(-rate x_i))."""

    kind = "swish"
    rate: float = 1.702

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _rate(self.rate))

    def evaluate(self, *operands: Array) -> Array:
        return np.asarray(operands[0] * special.expit(self.rate * operands[0]))

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x / (1 + (-self.rate * x).exp())

    def tails(self) -> tuple[Tail, Tail]:
        """With t = rate |x|: value and slope are off by |x| exp(-t) and (1 + t) exp(-t) at most, which fall from t = 1
        on."""
        from flint import arb

        start = _start(45 / self.rate)
        t = arb(self.rate) * arb(start)
        left = (1 + t + start) * _decay(t)
        return Tail(start, 0.0, 0.0, left, left), Tail(start, 1.0, 0.0, left, left)


@dataclass(frozen=True, eq=False)
class GeluErf(Curve):
    """y_i = x_i (1 + erf(rate x_i)) / 2."""

    kind = "gelu_erf"
    rate: float = float(np.float32(math.sqrt(0.5)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _rate(self.rate))

    def evaluate(self, *operands: Array) -> Array:
        return np.asarray(operands[0] * special.ndtr(math.sqrt(2.0) * self.rate * operands[0]))

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x * (1 + (self.rate * x).erf()) / 2

    def tails(self) -> tuple[Tail, Tail]:
        """With t = rate |x| and 1 - erf(t) <= exp(-t²): the value is off by |x| exp(-t²), the slope by
        (1 + t) exp(-t²), at most; both fall from t = 1 on."""
        from flint import arb

        start = _start(7.25 / self.rate)
        t = arb(self.rate) * arb(start)
        left = (1 + t + start) * _decay(t * t)
        return Tail(start, 0.0, 0.0, left, left), Tail(start, 1.0, 0.0, left, left)


@dataclass(frozen=True, eq=False)
class GeluCubic(Curve):
    """y_i = x_i (1 + tanh(u)) / 2, u = rate (x_i + cube x_i^3)."""

    kind = "gelu_cubic"
    rate: float = float(np.float32(math.sqrt(2 / math.pi)))
    cube: float = float(np.float32(0.044715))

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _rate(self.rate))
        cube = finite_number(self.cube, "cube")
        if not LEAST_CUBE <= cube <= MOST_CUBE:
            raise ValueError(f"cube must lie between {LEAST_CUBE:g} and {MOST_CUBE:g}, got {cube!r}")
        object.__setattr__(self, "cube", cube)

    def evaluate(self, *operands: Array) -> Array:
        (x,) = operands
        with np.errstate(over="ignore"):
            return np.asarray(x * special.expit(2 * self.rate * (x + self.cube * x**3)))

    def series(self, x: arb_series, piece: int) -> arb_series:
        from flint import arb

        inner = self.rate * (x + arb(self.cube) * x * x * x)
        return x / (1 + (-2 * inner).exp())

    def tails(self) -> tuple[Tail, Tail]:
        """The value is off by |x| exp(-2 |u|) at most, and the slope by (1 + 2 |x| u') exp(-2 |u|), because
        sech(u)² <= 4 exp(-2 |u|). Both fall where |x| u' >= 2: |x| u'' <= 2 u', so that the logarithm of the second has
        a slope of at most 6 u' / (2 |x| u') - 2 u'. At the start |u| >= 24, and |x| u' >= |u|."""
        from flint import arb

        start = 24 / self.rate
        while self.rate * (0.9 * start + self.cube * (0.9 * start) ** 3) >= 24:
            start *= 0.9
        start = _start(start)
        x, rate, cube = arb(start), arb(self.rate), arb(self.cube)
        u, speed = rate * (x + cube * x**3), rate * (1 + 3 * cube * x**2)
        left = (1 + x + 2 * x * speed) * _decay(2 * u)
        return Tail(start, 0.0, 0.0, left, left), Tail(start, 1.0, 0.0, left, left)


GATES: tuple[type[Curve], ...] = (Swish, GeluErf, GeluCubic)
