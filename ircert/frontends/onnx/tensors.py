"""Stored tensors as arrays: in the types of the file, no claim about sizes believed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from ircert.errors import FileError, UnsupportedModel
from ircert.files import beside, opened, size_of
from ircert.frontends.onnx.values import Const, require_size

FLOATS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16})
READ = FLOATS | {
    *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL),
    *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
}


def type_name(number: int) -> str:
    """ONNX's word for an element type."""
    known = number in TensorProto.DataType.values()
    return str(TensorProto.DataType.Name(number)).lower() if known else f"type {number}"


def is_float(dtype: Any) -> bool:
    """Whether a numpy type is one of the float types, bfloat16 included."""
    return np.dtype(dtype).kind == "f" or np.dtype(dtype).name == "bfloat16"


def widened(array: Const) -> Const:
    """Floats of any width as float64 (exact); everything else as it is."""
    return array.astype(np.float64) if is_float(array.dtype) else array


def to_array(tensor: Any, folder: Path | None, what: str) -> Const:
    """The numbers of a stored tensor, from the model or from a file beside it in `folder`."""
    if tensor.data_type not in READ:
        raise UnsupportedModel(
            f"it holds {type_name(tensor.data_type)} numbers",
            where=what,
            remedy="store weights as float16, bfloat16, float or double",
        )
    if any(n < 0 for n in tensor.dims):
        raise UnsupportedModel(f"it claims the shape {list(tensor.dims)}", where=what, remedy="export the model again")
    if tensor.data_location == TensorProto.EXTERNAL:
        tensor = _with_external_data(tensor, folder, what)
    try:
        return np.array(numpy_helper.to_array(tensor))
    except (ValueError, TypeError) as error:
        raise UnsupportedModel(
            f"it claims the shape {list(tensor.dims)} but holds another number of bytes",
            where=what,
            remedy="the file is damaged; export the model again",
        ) from error


def to_dense(sparse: Any, folder: Path | None, what: str) -> Const:
    """The array that a sparse tensor stands for."""
    shape = tuple(sparse.dims)
    require_size(math.prod(shape), what)
    values = to_array(sparse.values, folder, what)
    indices = to_array(sparse.indices, folder, what)
    flat = np.ravel_multi_index(tuple(indices.T), shape, mode="raise") if indices.ndim == 2 else indices
    if np.any(indices < 0):
        raise UnsupportedModel("its sparse indices do not fit its shape", where=what)
    dense = np.zeros(math.prod(shape), dtype=values.dtype)
    try:
        dense[flat] = values
    except (IndexError, ValueError) as error:
        raise UnsupportedModel("its sparse indices do not fit its shape", where=what) from error
    return dense.reshape(shape)


def _with_external_data(tensor: Any, folder: Path | None, what: str) -> Any:
    if folder is None:
        raise UnsupportedModel(
            "its numbers lie in another file, and a model in memory has no folder",
            where=what,
            remedy="give the path of the .onnx file, or onnx.load it with its external data",
        )
    entries = {entry.key: entry.value for entry in tensor.external_data}
    itemsize = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    wanted = math.prod(tensor.dims) * itemsize
    data = _read_part(_sidecar(entries.get("location", ""), folder, what), entries, wanted, what)
    filled = TensorProto()
    filled.dims.extend(tensor.dims)
    filled.data_type = tensor.data_type
    filled.raw_data = data
    return filled


def _sidecar(location: str, folder: Path, what: str) -> Path:
    path = beside(folder, location, what)
    if not path.is_file():
        raise FileError(
            f"no such file: it holds the external data of {what}",
            path=path,
            remedy="copy the data file (.onnx.data) beside the model, or export with the weights inside",
        )
    return path


def _read_part(path: Path, entries: dict[str, str], wanted: int, what: str) -> bytes:
    try:
        offset = int(entries.get("offset", 0))
        length = int(entries.get("length", wanted))
    except ValueError:
        raise FileError(f"{what} gives no readable place in its external data", path=path) from None
    with opened(path) as file:
        available = size_of(file)
        _require_place(offset, length, wanted, available, path, what)
        file.seek(offset)
        return file.read(length)


def _require_place(offset: int, length: int, wanted: int, available: int, path: Path, what: str) -> None:
    if length != wanted or offset < 0 or offset + length > available:
        raise FileError(
            f"{what} needs {wanted} bytes at {offset}, the file has {available}",
            path=path,
            remedy="the data file is truncated or belongs to another model",
        )
