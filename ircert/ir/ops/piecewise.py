"""Piecewise-linear activations and their exact lowering to affine maps and relu.

Each lowering uses one relu per entry and coefficients that are copies, negations or doublings of the given numbers, so
nothing rounds; `spec/ir.md` proves the identities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.sparse import hstack

from ircert.errors import OpError
from ircert.ir.arrays import Array, Indices, Sparse, diagonal, identity, tensor
from ircert.ir.dyadic import add
from ircert.ir.ops.base import ElementwiseOp, SizeMismatch
from ircert.ir.rational import Rationals, over_common_denominator

if TYPE_CHECKING:
    from ircert.ir.build import Builder


@dataclass(frozen=True, eq=False)
class LeakyRelu(ElementwiseOp):
    """y_i = x_i for x_i >= 0, slope_i * x_i below (slope: one number, or one per entry as in PReLU)."""

    kind = "leaky_relu"
    slope: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", _parameter(self.slope, "slope"))

    def size(self, *sizes: int) -> int:
        return _parameter_size(sizes[0], slope=self.slope)

    def evaluate(self, *operands: Array) -> Array:
        (x,) = operands
        return np.where(x >= 0, x, self.slope * x)

    def exact(self, *operands: Rationals) -> Rationals:
        (x,) = operands
        slope = Rationals.of_floats(np.broadcast_to(self.slope, len(x)))
        below = x.numerators * slope.numerators
        above = x.numerators * slope.denominator
        return Rationals(np.where(x.numerators >= 0, above, below), x.denominator * slope.denominator)

    def take(self, entries: Indices) -> Self:
        return type(self)(_taken(self.slope, entries))

    def lower(self, build: Builder, *operands: str) -> str:
        """leaky(x) = a x + (1 - a) relu(x); where 1 - a rounds, relu(x) + (a x - a relu(x))."""
        (x,) = operands
        slope = np.broadcast_to(self.slope, build.size(x)).astype(np.float64)
        positive = build.relu(x)
        pair = build.concat(x, positive)
        rest = add(np.ones_like(slope), -slope)
        if rest is not None:
            return build.affine(pair, _beside(diagonal(slope), diagonal(rest)))
        return build.add(positive, build.affine(pair, _beside(diagonal(slope), diagonal(-slope))))


@dataclass(frozen=True, eq=False)
class Abs(ElementwiseOp):
    """y_i = |x_i|."""

    kind = "abs"

    def evaluate(self, *operands: Array) -> Array:
        return np.abs(operands[0])

    def exact(self, *operands: Rationals) -> Rationals:
        return Rationals(np.abs(operands[0].numerators), operands[0].denominator)

    def lower(self, build: Builder, *operands: str) -> str:
        """|x| = 2 relu(x) - x."""
        (x,) = operands
        eye = identity(build.size(x))
        return build.affine(build.concat(x, build.relu(x)), _beside(-eye, 2.0 * eye))


@dataclass(frozen=True, eq=False)
class Max(ElementwiseOp):
    """The largest of its operands, entry by entry."""

    kind = "max"
    arity = None

    def evaluate(self, *operands: Array) -> Array:
        return np.maximum.reduce(operands)

    def exact(self, *operands: Rationals) -> Rationals:
        numerators, denominator = over_common_denominator(*operands)
        return Rationals(np.maximum.reduce(numerators), denominator)

    def lower(self, build: Builder, *operands: str) -> str:
        """max(a, b) = b + relu(a - b), as a balanced tree."""
        return _tree(operands, lambda a, b: build.add(b, build.relu(_difference(build, a, b))))


@dataclass(frozen=True, eq=False)
class Min(ElementwiseOp):
    """The smallest of its operands, entry by entry."""

    kind = "min"
    arity = None

    def evaluate(self, *operands: Array) -> Array:
        return np.minimum.reduce(operands)

    def exact(self, *operands: Rationals) -> Rationals:
        numerators, denominator = over_common_denominator(*operands)
        return Rationals(np.minimum.reduce(numerators), denominator)

    def lower(self, build: Builder, *operands: str) -> str:
        """min(a, b) = b - relu(b - a), as a balanced tree."""
        return _tree(operands, lambda a, b: _difference(build, b, build.relu(_difference(build, b, a))))


@dataclass(frozen=True, eq=False)
class Clip(ElementwiseOp):
    """y_i = min(max(x_i, low_i), high_i); a missing bound does not bind (one number each, or one per entry)."""

    kind = "clip"
    low: Array | None = None
    high: Array | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            bound = getattr(self, name)
            object.__setattr__(self, name, None if bound is None else _parameter(bound, name))
        if self.low is None and self.high is None:
            raise OpError("clip needs low, high or both")

    def size(self, *sizes: int) -> int:
        bounds = {name: bound for name, bound in self.attributes().items() if isinstance(bound, np.ndarray)}
        return _parameter_size(sizes[0], **bounds)

    def evaluate(self, *operands: Array) -> Array:
        (x,) = operands
        raised = x if self.low is None else np.maximum(x, self.low)
        return raised if self.high is None else np.minimum(raised, self.high)

    def exact(self, *operands: Rationals) -> Rationals:
        (x,) = operands
        for bound, choose in ((self.low, np.maximum), (self.high, np.minimum)):
            if bound is not None:
                (a, b), common = over_common_denominator(x, Rationals.of_floats(np.broadcast_to(bound, len(x))))
                x = Rationals(choose(a, b), common)
        return x

    def take(self, entries: Indices) -> Self:
        low, high = (None if bound is None else _taken(bound, entries) for bound in (self.low, self.high))
        return type(self)(low, high)

    def lower(self, build: Builder, *operands: str) -> str:
        """max(x, l) = l + relu(x - l) and min(x, h) = h - relu(h - x)."""
        (x,) = operands
        eye = identity(build.size(x))
        if self.low is not None:
            low = np.broadcast_to(self.low, build.size(x))
            x = build.affine(build.relu(build.affine(x, eye, -low)), eye, low)
        if self.high is not None:
            high = np.broadcast_to(self.high, build.size(x))
            x = build.affine(build.relu(build.affine(x, -eye, high)), -eye, high)
        return x


def _beside(left: Sparse, right: Sparse) -> Sparse:
    return hstack([left, right], format="csr")


def _difference(build: Builder, a: str, b: str) -> str:
    eye = identity(build.size(a))
    return build.affine(build.concat(a, b), _beside(eye, -eye))


def _tree(operands: tuple[str, ...], join: object) -> str:
    """Combine neighbours until one is left: depth grows with the logarithm of the number of operands."""
    level = list(operands)
    while len(level) > 1:
        pairs = [join(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]  # type: ignore[operator]
        level = pairs + level[len(level) // 2 * 2 :]
    return level[0]


def _parameter(values: object, what: str) -> Array:
    array = tensor(np.atleast_1d(np.asarray(values)), what, ndim=1)
    if array.size == 0:
        raise OpError(f"{what} is empty")
    return array


def _parameter_size(size: int, **parameters: Array) -> int:
    for name, values in parameters.items():
        if len(values) not in (1, size):
            raise SizeMismatch(f"{name} has {len(values)} entries but its operand has size {size}")
    return size


def _taken(values: Array, entries: Indices) -> Array:
    return values if len(values) == 1 else values[entries]
