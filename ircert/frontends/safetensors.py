""".safetensors files: a header in JSON that says where each array lies, and the numbers behind it.

Eight bytes hold the header's length; offsets count from its end. Arrays lie one behind the other and fill the file,
so a file of n bytes never claims more than n bytes of memory.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.errors import FileError
from ircert.files import read_bytes, understood

_LONGEST_HEADER = 2**24
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def read_safetensors(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of the file by name, with the exact numbers stored (bfloat16 as float32)."""
    data = read_bytes(path)
    with understood(path, ".safetensors"):
        length = int.from_bytes(data[:8], "little")
        if len(data) < 8 or length > min(len(data) - 8, _LONGEST_HEADER):
            raise ValueError("its header claims to be longer than the file")
        header = json.loads(data[8 : 8 + length], object_pairs_hook=_once)
        if not isinstance(header, dict):
            raise ValueError("its header is no JSON object")
        header.pop("__metadata__", None)
        body = memoryview(data)[8 + length :]
        _require_whole(header, len(body))
        return {name: _array(name, entry, body, path) for name, entry in header.items()}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("its header gives a name twice")
    return names


def _require_whole(header: dict[str, Any], size: int) -> None:
    """The arrays lie one behind the other, from the first byte to the last."""
    end = 0
    for first, last in sorted(tuple(map(_natural, entry["data_offsets"])) for entry in header.values()):
        if first != end or last < first:
            raise ValueError("its arrays overlap or leave gaps")
        end = last
    if end != size:
        raise ValueError(f"its arrays claim {end} bytes, and there are {size}")


def _array(name: str, entry: dict[str, Any], body: memoryview, path: object) -> NDArray[Any]:
    kind = entry["dtype"]
    if kind not in _TYPES:
        raise FileError(
            f"`{name}` holds {kind!r:.20} numbers", path=path, remedy="store weights as F64, F32, F16 or BF16"
        )
    shape = tuple(map(_natural, entry["shape"]))
    first, last = entry["data_offsets"]
    dtype = np.dtype(_TYPES[kind])
    if math.prod(shape) * dtype.itemsize != last - first:
        raise ValueError(f"`{name}` claims the shape {shape} and has {last - first} bytes")
    array: NDArray[Any] = np.frombuffer(body[first:last], dtype=dtype).reshape(shape)
    if kind == "BF16":  # the upper half of a float32
        array = (array.astype("<u4") << 16).view("<f4")
    return array


def _natural(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{number!r:.40} where a size is meant")
    return number
