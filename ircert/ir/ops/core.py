"""The six operations that remain after canonicalisation: input, affine, relu, add, concat, select."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ircert.errors import OpError
from ircert.ir.arrays import LARGEST, Array, Indices, Matrix, freeze, matrix, nonzeros, stored, tensor
from ircert.ir.digits import DigitMatrix
from ircert.ir.dyadic import scaled, shift
from ircert.ir.ops.base import ElementwiseOp, Op, SizeMismatch
from ircert.ir.rational import Integers, Rationals, integer_array, integer_type, over_common_denominator

MANY = 4096
"""From so many weights on, exact products are computed by digits."""


@dataclass(frozen=True, eq=False)
class Input(Op):
    """The network's argument x, a vector of `length` numbers."""

    kind = "input"
    arity = 0
    core = True
    length: int

    def __post_init__(self) -> None:
        if isinstance(self.length, bool) or not isinstance(self.length, int | np.integer) or self.length < 1:
            raise OpError(f"length must be a positive integer, got {reprlib.repr(self.length)}")
        if self.length > LARGEST:
            raise OpError(f"length must be at most {LARGEST}, got {self.length}")
        object.__setattr__(self, "length", int(self.length))

    def size(self, *sizes: int) -> int:
        return self.length

    def evaluate(self, *operands: Array) -> Array:
        raise TypeError("an input is given, not evaluated")

    def exact(self, *operands: Rationals) -> Rationals:
        raise TypeError("an input is given, not evaluated")


@dataclass(frozen=True, eq=False)
class Affine(Op):
    """y = weight @ x + bias, weight (out, in) dense or sparse; no bias means zero."""

    kind = "affine"
    core = True
    weight: Matrix
    bias: Array

    def __repr__(self) -> str:
        return f"Affine({self.weight.shape[0]} x {self.weight.shape[1]})"

    def __init__(self, weight: object, bias: object = None) -> None:
        checked = stored(matrix(weight, "weight"))
        offset = np.zeros(checked.shape[0]) if bias is None else bias
        object.__setattr__(self, "weight", checked)
        object.__setattr__(self, "bias", tensor(offset, "bias", ndim=1))
        if len(self.bias) != checked.shape[0]:
            raise OpError(f"weight has {checked.shape[0]} rows but bias has {len(self.bias)} entries")
        if 0 in checked.shape:
            raise OpError(f"weight has shape {checked.shape}; every dimension must be at least 1")

    def size(self, *sizes: int) -> int:
        if sizes[0] != self.weight.shape[1]:
            raise SizeMismatch(f"weight has {self.weight.shape[1]} columns but its operand has size {sizes[0]}")
        return len(self.bias)

    def evaluate(self, *operands: Array) -> Array:
        (x,) = operands
        product = x @ self.weight.T if isinstance(self.weight, np.ndarray) else (self.weight @ x.T).T
        return np.asarray(product + self.bias)

    def exact(self, *operands: Rationals) -> Rationals:
        (x,) = operands
        product = self.exact_product(x)
        return Rationals(product.numerators + self._integer_bias * x.denominator, product.denominator)

    def exact_product(self, x: Rationals) -> Rationals:
        """weight @ x, without the bias."""
        denominator = x.denominator * self._scale
        if (self.weight.size if isinstance(self.weight, np.ndarray) else self.weight.nnz) >= MANY:
            return Rationals(integer_array(self._digits.times(x.numerators.tolist())), denominator)
        rows = self._integer_rows
        terms = rows.values * x.numerators[rows.columns]
        sums = np.full(len(self.bias), integer_type()(0), dtype=object)
        if len(rows.starts):
            sums[rows.occupied] = np.add.reduceat(terms, rows.starts)
        return Rationals(sums, denominator)

    @cached_property
    def _exponent(self) -> int:
        """The least k >= 0 such that weight and bias times 2^k are integers."""
        return shift(np.concatenate([nonzeros(self.weight).data, self.bias]))

    @cached_property
    def _scale(self) -> Any:
        return integer_type()(1 << self._exponent)

    @cached_property
    def _integer_bias(self) -> Integers:
        return integer_array(scaled(self.bias, self._exponent))

    @cached_property
    def _digits(self) -> DigitMatrix:
        return DigitMatrix(self.weight, self._exponent)

    @cached_property
    def _integer_rows(self) -> _IntegerRows:
        sparse = nonzeros(self.weight)
        occupied = np.flatnonzero(np.diff(sparse.indptr))
        values = integer_array(scaled(sparse.data, self._exponent))
        return _IntegerRows(values, sparse.indices, sparse.indptr[occupied], occupied)


@dataclass(frozen=True)
class _IntegerRows:
    """The scaled weights that are not zero, as integers; row occupied[i] starts at starts[i]."""

    values: Integers
    columns: Any
    starts: Any
    occupied: Any


@dataclass(frozen=True, eq=False)
class Relu(ElementwiseOp):
    """y_i = max(0, x_i)."""

    kind = "relu"
    core = True

    def evaluate(self, *operands: Array) -> Array:
        return np.maximum(operands[0], 0.0)

    def exact(self, *operands: Rationals) -> Rationals:
        (x,) = operands
        return Rationals(np.maximum(x.numerators, integer_type()(0)), x.denominator)


@dataclass(frozen=True, eq=False)
class Add(ElementwiseOp):
    """The sum of its operands, entry by entry."""

    kind = "add"
    arity = None
    core = True

    def evaluate(self, *operands: Array) -> Array:
        total = operands[0]
        for operand in operands[1:]:
            total = total + operand
        return total

    def exact(self, *operands: Rationals) -> Rationals:
        numerators, denominator = over_common_denominator(*operands)
        return Rationals(sum(numerators[1:], numerators[0]), denominator)


@dataclass(frozen=True, eq=False)
class Concat(Op):
    """Its operands, one after the other."""

    kind = "concat"
    arity = None
    core = True

    def size(self, *sizes: int) -> int:
        return sum(sizes)

    def evaluate(self, *operands: Array) -> Array:
        return np.concatenate(operands, axis=1)

    def exact(self, *operands: Rationals) -> Rationals:
        numerators, denominator = over_common_denominator(*operands)
        return Rationals(np.concatenate(numerators), denominator)

    @staticmethod
    def slices(sizes: list[int]) -> list[slice]:
        """Where each operand lies in the result."""
        ends = np.cumsum([0, *sizes]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]


@dataclass(frozen=True, eq=False)
class Select(Op):
    """y_i = x[indices_i]; indices may repeat and come in any order."""

    kind = "select"
    core = True
    indices: Indices

    def __post_init__(self) -> None:
        given = np.asarray(self.indices)
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
            raise OpError(f"indices must be a non-empty list of integers, got {reprlib.repr(self.indices)}")
        if given.min() < 0 or given.max() > LARGEST:
            wrong = given.min() if given.min() < 0 else given.max()
            raise OpError(f"indices lie between 0 and {LARGEST}, got {int(wrong)}")
        own = np.array(given, dtype=np.int64)
        freeze(own)
        object.__setattr__(self, "indices", own)

    def size(self, *sizes: int) -> int:
        if self.indices.max() >= sizes[0]:
            raise SizeMismatch(f"it selects entry {int(self.indices.max())} of an operand of size {sizes[0]}")
        return len(self.indices)

    def evaluate(self, *operands: Array) -> Array:
        return operands[0][:, self.indices]

    def exact(self, *operands: Rationals) -> Rationals:
        return operands[0][self.indices]

    def take(self, entries: Indices) -> Self:
        return type(self)(self.indices[entries])
