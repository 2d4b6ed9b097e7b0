"""What every operation of the IR is: frozen attributes, a derived size, and two evaluations that agree."""

from __future__ import annotations

import hashlib
import reprlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, Indices, Matrix, nonzeros
from ircert.ir.rational import Rationals

if TYPE_CHECKING:
    from ircert.ir.build import Builder


class SizeMismatch(ValueError):
    """Operands that do not fit an operation; the graph adds the node's name and reports it as a GraphError."""


@dataclass(frozen=True, eq=False)
class Op(ABC):
    """One operation on flat vectors. Attributes are the dataclass fields; two ops with equal attributes are equal.

    kind:        its word in the text form and in `spec/ir.md`
    arity:       number of operands, or None for one or more
    core:        whether it may remain after canonicalisation
    elementwise: whether entry i of the result depends on entry i of each operand only
    piecewise_linear: whether finitely many linear pieces describe it, so that it can be lowered to core operations
    """

    kind: ClassVar[str]
    arity: ClassVar[int | None] = 1
    core: ClassVar[bool] = False
    elementwise: ClassVar[bool] = False
    piecewise_linear: ClassVar[bool] = True

    @abstractmethod
    def size(self, *sizes: int) -> int:
        """The length of the result for operands of these lengths; SizeMismatch if they do not fit."""

    @abstractmethod
    def evaluate(self, *operands: Array) -> Array:
        """float64 evaluation of a batch: operands (N, n_i), result (N, size)."""

    @abstractmethod
    def exact(self, *operands: Rationals) -> Rationals:
        """The same at one point, in exact rationals."""

    def take(self, entries: Indices) -> Self:
        """The operation restricted to some entries (elementwise operations only)."""
        return self

    def lower(self, build: Builder, *operands: str) -> str:
        """Add nodes of simpler operations with the same exact meaning; the name of their result."""
        raise TypeError(f"{self.kind} is a core operation: there is nothing to lower it to")

    def attributes(self) -> dict[str, object]:
        """The attributes by name, in the order of the text form."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def held(self) -> int:
        """How many numbers its arrays store, the indices of sparse ones included."""
        arrays = [value for value in self.attributes().values() if isinstance(value, np.ndarray | csr_array)]
        return sum(2 * a.nnz + a.shape[0] if isinstance(a, csr_array) else a.size for a in arrays)

    @cached_property
    def fingerprint(self) -> bytes:
        """A digest of kind and attributes that does not depend on how arrays are stored."""
        state = hashlib.sha256(self.kind.encode())
        for name, value in self.attributes().items():
            state.update(f"\0{name}\0".encode())
            _update(state, value)
        return state.digest()

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor: a copy made by pickle or deepcopy owns read-only arrays as well.
        return (type(self), tuple(self.attributes().values()))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.fingerprint == other.fingerprint)

    def __hash__(self) -> int:
        return hash(self.fingerprint)


@dataclass(frozen=True, eq=False)
class ElementwiseOp(Op):
    """An operation on entries of equal index."""

    elementwise = True

    def size(self, *sizes: int) -> int:
        if len(set(sizes)) != 1:
            raise SizeMismatch(f"its operands have different sizes {reprlib.repr(list(sizes))}")
        return sizes[0]


def _update(state: hashlib._Hash, value: object) -> None:
    if value is None or isinstance(value, str | bool | int | float | tuple):
        state.update(repr(value).encode())
    elif isinstance(value, np.ndarray) and value.ndim != 2:
        little_endian = value.dtype.newbyteorder("<")
        state.update(repr((value.shape, value.dtype.kind)).encode() + value.astype(little_endian).tobytes())
    else:
        _update_matrix(state, value)


def _update_matrix(state: hashlib._Hash, value: Matrix) -> None:
    sparse = nonzeros(value)
    state.update(repr(sparse.shape).encode())
    for part in (sparse.indptr, sparse.indices):
        state.update(part.astype("<i8").tobytes())
    state.update(sparse.data.astype("<f8").tobytes())
