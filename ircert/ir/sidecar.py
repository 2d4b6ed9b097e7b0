"""The .ir file: the graph's text, with large arrays in an .npz file beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ircert.errors import FileError
from ircert.files import LARGEST_FILE, beside, read_npz, read_text, replacing, room
from ircert.ir.arrays import Matrix
from ircert.ir.graph import Graph, Node
from ircert.ir.parser import parse
from ircert.ir.printer import to_text

INLINE_LIMIT = 4096
"""Arrays with more numbers than this go to the sidecar: about the size a person still reads."""


def save_ir(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write `path` and, if an array is large, `path`.npz; both whole or not at all."""
    target = Path(path)
    sidecar = target.with_name(target.name + ".npz")
    parts: dict[str, NDArray[Any]] = {}

    def refer(node: Node, attribute: str, array: Matrix) -> str | None:
        if (array.nnz if isinstance(array, csr_array) else array.size) <= INLINE_LIMIT:
            return None
        key = f"{node.name}/{attribute}"
        parts.update(_parts(key, array))
        return f'@"{sidecar.name}:{key}"'

    text = to_text(graph, refer, sha256=True)
    with replacing(target) as file:
        file.write(text.encode())
        if parts:
            with replacing(sidecar) as arrays:
                np.savez(arrays, **parts)  # type: ignore[arg-type]


def load_ir(path: str | os.PathLike[str], most: int = LARGEST_FILE) -> Graph:
    """Read a graph and the arrays it refers to, which must lie in the same folder and take at most so many bytes."""
    source = Path(path)
    text = read_text(source)
    opened: dict[str, Mapping[str, NDArray[Any]]] = {}

    left = most

    def resolve(reference: str) -> Matrix:
        nonlocal left
        name, _, key = reference.partition(":")
        if not name or Path(name).name != name or name in (".", "..") or "\\" in name:
            raise ValueError(f'@{reference!r} must name a file in the same folder, as in @"net.ir.npz:h1/weight"')
        if name not in opened:
            opened[name] = read_npz(beside(source.parent, name, f"@{reference!r}"), left)
            left -= sum(room(array.shape, array.itemsize) for array in opened[name].values())
        return _whole(opened[name], key, name)

    try:
        return parse(text, source=str(source), resolve=resolve)
    except FileError as error:
        if Path(error.path) == source:
            raise
        raise FileError(
            f"{error.problem} (the arrays of {source.name} are stored there)",
            path=error.path,
            remedy="keep both files together",
        ) from None


def _parts(key: str, array: Matrix) -> dict[str, NDArray[Any]]:
    if isinstance(array, np.ndarray):
        return {key: array}
    shape = np.array(array.shape, dtype=np.int64)
    return {
        f"{key}/data": array.data,
        f"{key}/indices": array.indices,
        f"{key}/indptr": array.indptr,
        f"{key}/shape": shape,
    }


def _whole(arrays: Mapping[str, NDArray[Any]], key: str, name: str) -> Any:
    if key in arrays:
        return arrays[key]
    try:
        data, indices, indptr, shape = (arrays[f"{key}/{part}"] for part in ("data", "indices", "indptr", "shape"))
        if any(part.dtype.kind not in "iu" or part.ndim != 1 for part in (indices, indptr, shape)):
            raise ValueError("its indices are not lists of integers")
        sparse = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        sparse.check_format(full_check=True)
        sparse.sort_indices()
        if not sparse.has_canonical_format:
            raise ValueError("it names a place twice")
    except KeyError:
        raise ValueError(f"{name} has no array `{key}`") from None
    except (TypeError, ValueError, IndexError) as error:
        problem = str(error).splitlines()[0][:200]
        raise ValueError(f"{name}: `{key}` is not a sparse array ({problem})") from None
    return sparse
