"""Read-only float64 arrays, dense or sparse: the numbers a graph is made of.

An array in the IR is finite, read-only and free of negative zeros, so that two arrays denote the same real
numbers exactly when they hold the same bits, whatever their storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from ircert.errors import OpError

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Sparse: TypeAlias = csr_array
Matrix: TypeAlias = Array | Sparse

LARGEST = 2**22
"""No vector may be longer than this: a text of one line could otherwise claim all memory."""
LARGEST_TOTAL = 2**26
"""The vectors of a graph may not be longer than this together, for the same reason."""

SPARSE_SIZE = 1024
SPARSE_DENSITY = 0.1
"""Sparse storage pays from this size on and up to this share of nonzeros (see PERFORMANCE.md)."""
LARGE = 1 << 18
"""Entries from which on a dense matrix that is mostly zero is stored sparse in any case."""


def tensor(values: object, what: str, ndim: int | None = None) -> Array:
    """`values` as a read-only float64 array; OpError where that would change or lose a number."""
    if isinstance(values, np.ndarray) and _is_ours(values):
        array = values
    else:
        array = _converted(values, what)
        freeze(array)
    if ndim is not None and array.ndim != ndim:
        raise OpError(f"{what} must have {ndim} dimension{'s' * (ndim != 1)}, got shape {array.shape}")
    _require_finite(array, what)
    return array


def matrix(values: Any, what: str) -> Matrix:
    """`values` as a read-only (out, in) matrix; scipy-sparse stays sparse (as canonical CSR)."""
    if not issparse(values):
        return tensor(values, what, ndim=2)
    if len(values.shape) != 2:
        raise OpError(f"{what} must have 2 dimensions, got shape {values.shape}")
    ours = isinstance(values, csr_array) and _is_ours(values.data) and values.has_canonical_format
    sparse: Sparse = values if ours else _own_sparse(values, what)
    _require_finite(sparse.data, what)
    return sparse


# Arrays that `freeze` was given, by id: nobody else holds them, so nodes share them. Being read-only is not enough:
# whoever owns an array can make it writeable again.
_FROZEN: WeakValueDictionary[int, NDArray[Any]] = WeakValueDictionary()


def freeze(array: Matrix) -> Matrix:
    """Mark a freshly computed array read-only, so that a node takes it without a copy."""
    if isinstance(array, np.ndarray):
        array.setflags(write=False)
        _FROZEN[id(array)] = array
        return array
    array.sum_duplicates()
    if not array.data.all():  # scipy would replace the arrays by views, which a node has to copy
        array.eliminate_zeros()
    for part in (array.data, array.indices, array.indptr):
        part.setflags(write=False)
        _FROZEN[id(part)] = part
    return array


def nonzeros(array: Matrix) -> Sparse:
    """The same matrix as canonical CSR without explicit zeros."""
    if isinstance(array, csr_array):
        return array
    there = array != 0
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(there, axis=1))])
    before = np.repeat(np.arange(len(array)) * array.shape[1], np.diff(starts))
    return _by_rows(array[there], np.flatnonzero(there) - before, starts, array.shape)


def take_rows(array: Matrix, rows: Indices | Sequence[int]) -> Matrix:
    """The rows `rows`, in that order."""
    return freeze(array[rows, :].copy())


def take_columns(array: Matrix, columns: Indices | Sequence[int]) -> Matrix:
    """The columns `columns`, in that order."""
    if isinstance(array, np.ndarray):
        return freeze(np.ascontiguousarray(array[:, columns]))
    return freeze(csr_array(array.tocsc()[:, columns]))


def entries(array: Matrix, rows: Indices, columns: Indices) -> Array:
    """The entries at (rows[i], columns[i]), as a dense vector."""
    if isinstance(array, np.ndarray):
        return array[rows, columns]
    picked = array[rows, columns]
    dense = picked.toarray() if issparse(picked) else picked  # which of the two depends on scipy's version
    return np.asarray(dense, dtype=np.float64).reshape(len(rows))


def economical(array: Matrix) -> Matrix:
    """The same matrix, stored sparse if it is large and mostly zero, else dense."""
    total = array.shape[0] * array.shape[1]
    stored = array.nnz if isinstance(array, csr_array) else np.count_nonzero(array)
    sparse = total >= SPARSE_SIZE and stored <= SPARSE_DENSITY * total
    if isinstance(array, csr_array):
        return array if sparse else freeze(array.toarray())
    return freeze(csr_array(array)) if sparse else array


def stored(array: Matrix) -> Matrix:
    """The same matrix as nodes and walks keep it: sparse if it is so, or large and mostly zero."""
    return economical(array) if isinstance(array, np.ndarray) and array.size >= LARGE else array


def walkable(array: Matrix) -> Matrix:
    """The same matrix for products with many vectors: dense, unless it is large and mostly zero."""
    total = array.shape[0] * array.shape[1]
    return economical(array) if total >= LARGE else array if isinstance(array, np.ndarray) else array.toarray()


def identity(size: int) -> Sparse:
    """The sparse identity matrix."""
    return diagonal(np.ones(size))


def diagonal(values: Array) -> Sparse:
    """A sparse square matrix with `values` on its diagonal."""
    # Two arrays: scipy compacts indices and indptr in place, and would write over one through the other.
    columns, starts = np.arange(len(values)), np.arange(len(values) + 1)
    return csr_array((np.array(values, dtype=np.float64), columns, starts), shape=(len(values), len(values)))


def is_identity(matrix: Sparse) -> bool:
    """Whether a matrix is the identity, stored row by row without zeros."""
    size = matrix.shape[0]
    if matrix.shape != (size, size) or matrix.nnz != size or not (matrix.data == 1.0).all():
        return False
    return bool((matrix.indices == np.arange(size)).all() and (matrix.indptr[:-1] == np.arange(size)).all())


def sparse_rows(matrix: Sparse, rows: Indices) -> Sparse:
    """Some rows of a sparse matrix; faster than scipy's indexing where these are few."""
    starts, counts = matrix.indptr[rows], np.diff(matrix.indptr)[rows]
    ends = np.concatenate([[0], np.cumsum(counts)])
    places = np.repeat(starts - ends[:-1], counts) + np.arange(ends[-1])
    return _by_rows(matrix.data[places], matrix.indices[places], ends, (len(rows), matrix.shape[1]))


def below(parts: Sequence[Sparse | int], width: int) -> Sparse:
    """Sparse matrices of one width one below the other; a number stands for that many empty rows."""
    kept = [part for part in parts if not isinstance(part, int)]
    counts = [np.zeros(part, dtype=np.int64) if isinstance(part, int) else np.diff(part.indptr) for part in parts]
    ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    data, columns = (np.concatenate(arrays) for arrays in zip(*((p.data, p.indices) for p in kept), strict=True))
    return _by_rows(data, columns, ends, (len(ends) - 1, width))


def _by_rows(data: Array, columns: Indices, starts: Indices, shape: tuple[int, ...]) -> Sparse:
    """A sparse matrix with indices of 32 bits where they are enough, as scipy itself chooses them."""
    kind = np.int32 if max(len(data), *shape) <= np.iinfo(np.int32).max else np.int64
    return csr_array((data, columns.astype(kind, copy=False), starts.astype(kind, copy=False)), shape=shape)


def same_bits(a: Matrix, b: Matrix) -> bool:
    """Whether two matrices hold the same real numbers, whatever their storage."""
    if a.shape != b.shape:
        return False
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    left, right = nonzeros(a), nonzeros(b)
    return (
        np.array_equal(left.indptr, right.indptr)
        and np.array_equal(left.indices, right.indices)
        and np.array_equal(left.data, right.data)
    )


def _is_ours(array: NDArray[Any]) -> bool:
    """A float64 array that we froze ourselves can be shared; anything else is copied."""
    if _FROZEN.get(id(array)) is not array or array.dtype != np.float64 or not array.flags.c_contiguous:
        return False
    return not array.flags.writeable and not bool(np.any(np.signbit(array) & (array == 0.0)))


def _converted(values: object, what: str) -> Array:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise OpError(f"{what} holds a masked entry; fill it with the number that is meant")
    try:
        raw = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise OpError(f"{what} is not a rectangular array of numbers ({error})") from None
    if raw.dtype.kind not in "fiub" or (raw.dtype.kind == "b" and not isinstance(values, np.ndarray)):
        raise OpError(f"{what} must hold real numbers, got dtype {raw.dtype}")
    if raw.dtype.kind == "f" and not isinstance(values, np.ndarray) and np.any(np.abs(raw) >= 2.0**53):
        # In a list of integers and floats numpy has already rounded the integers.
        raw_integers = [v for v in np.asarray(values, dtype=object).flat if isinstance(v, int)]
        if any(int(float(v)) != v for v in raw_integers):
            raise OpError(f"{what} holds an integer that float64 cannot represent")
    with np.errstate(over="ignore", invalid="ignore"):
        # + 0.0: a copy, and -0.0 -> 0.0. A sum of arrays without axes is a scalar: hence asarray.
        array = np.asarray(np.ascontiguousarray(raw, dtype=np.float64).reshape(raw.shape) + 0.0)
    if raw.dtype.kind in "iu" and raw.dtype.itemsize == 8 and not _integers_survive(raw, array):
        raise OpError(f"{what} holds an integer that float64 cannot represent")
    if raw.dtype.kind == "f" and raw.dtype.itemsize > 8 and not np.array_equal(array.astype(raw.dtype), raw, True):
        raise OpError(f"{what} holds a {raw.dtype} number that float64 cannot represent")
    return array


def _integers_survive(raw: NDArray[Any], array: Array) -> bool:
    if np.all((raw <= 2**53) & (raw >= (-(2**53) if raw.dtype.kind == "i" else 0))):
        return True
    return all(int(value) == int(number) for value, number in zip(raw.flat, array.flat, strict=True))


def _own_sparse(values: Any, what: str) -> Sparse:
    source = values.tocsr()
    data = np.array(_converted(source.data, what))
    # copy=True: freezing must never reach into the caller's index arrays.
    sparse: Sparse = csr_array((data, source.indices, source.indptr), shape=source.shape, copy=True)
    freeze(sparse)
    return sparse


def _require_finite(array: NDArray[Any], what: str) -> None:
    if array.size and not np.all(np.isfinite(array)):
        bad = np.argwhere(~np.isfinite(array))[0]
        place = ", ".join(str(int(i)) for i in bad)
        raise OpError(f"{what} holds {array[tuple(bad)]} at [{place}]; all numbers must be finite")
