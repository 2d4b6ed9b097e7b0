"""The content of a .pt2 archive: inputs, constants and calls of torch's operations, as plain data."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from ircert.errors import FileError
from ircert.frontends.archives import Archive

MAJOR = 8
"""The version of the graph's schema, as torch 2.13 writes it."""
_MOST_NODES = 2**18
_TYPES: dict[int, Any] = {
    1: np.uint8,
    2: np.int8,
    3: np.int16,
    4: np.int32,
    5: np.int64,
    6: np.float16,
    7: np.float32,
    8: np.float64,
    12: np.bool_,
    13: helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16),
}
_STRIDED = 7
_AGAIN = "save it again with torch.export.save of a newer torch (what 2.13 writes is read)"


@dataclass(frozen=True)
class Ref:
    """A value of the graph, by its name: a tensor, or a size that is computed."""

    name: str


@dataclass(frozen=True)
class Meta:
    """What is known of a tensor: its type, and its sizes (a word for an open one)."""

    dtype: Any
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class Node:
    """A call: aten operation, its arguments by name, and the names of its results."""

    target: str
    arguments: Mapping[str, Any]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """The graph of one exported program; `metas` has what is known of every tensor."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, NDArray[Any]]
    nodes: tuple[Node, ...]
    metas: Mapping[str, Meta]


def program_of(members: Archive, path: object) -> Program:
    """The program in an archive; ValueError or FileError where there is none."""
    root = _root(members, path)
    (model,) = _models(members, root, path)
    content = members.json(f"{root}models/{model}.json")
    version = content["schema_version"]["major"]
    if version != MAJOR:
        raise FileError(f"its graph has the schema version {version}, and {MAJOR} is read", path=path, remedy=_AGAIN)
    graph, signature = content["graph_module"]["graph"], content["graph_module"]["signature"]
    if len(graph["nodes"]) > _MOST_NODES:
        raise ValueError(f"it has more than {_MOST_NODES} nodes")
    metas = {name: _meta(value) for name, value in graph["tensor_values"].items()}
    stored = _Stored(members, root, model, path)
    inputs, constants = _inputs(signature["input_specs"], stored)
    outputs = [spec["user_output"]["arg"] for spec in signature["output_specs"] if "user_output" in spec]
    names = tuple(_value(arg).name for arg in outputs)
    nodes = tuple(_node(node) for node in graph["nodes"])
    return Program(tuple(inputs), names, constants, nodes, metas)


def _root(members: Archive, path: object) -> str:
    """The folder of the archive in which everything lies."""
    found = [name for name in members.names if name == "archive_format" or name.endswith("/archive_format")]
    if not found and any(name.endswith("serialized_exported_program.json") for name in members.names):
        raise FileError("an older torch wrote it, with pickled weights", path=path, remedy=_AGAIN)
    if len(found) != 1 or members.text(found[0]).strip() != "pt2":
        raise ValueError("it is no archive of torch.export.save")
    root = found[0].removesuffix("archive_format")
    if f"{root}byteorder" in members.names and members.text(f"{root}byteorder").strip() != "little":
        raise ValueError("its numbers are big-endian")
    return root


def _models(members: Archive, root: str, path: object) -> list[str]:
    start = f"{root}models/"
    models = [name.removeprefix(start).removesuffix(".json") for name in members.names if name.startswith(start)]
    if len(models) != 1:
        raise FileError(f"it holds {len(models)} programs, and one is read", path=path, remedy="save one alone")
    return models


def _inputs(specs: list[Any], stored: _Stored) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """The names of the user's inputs, and the stored arrays by the names that the graph has for them."""
    inputs: list[str] = []
    constants: dict[str, NDArray[Any]] = {}
    for spec in specs:
        ((kind, content),) = spec.items()
        if kind == "user_input":
            inputs.append(_value(content["arg"]).name)
        elif kind in _STORED:
            constants[content["arg"]["name"]] = stored.array(content[_STORED[kind]])
        elif kind != "token":
            raise ValueError(f"an input is a {kind}")
    return inputs, constants


_STORED = {"parameter": "parameter_name", "buffer": "buffer_name", "tensor_constant": "tensor_constant_name"}


class _Stored:
    """The arrays beside the graph: raw numbers, seen through sizes and strides."""

    def __init__(self, members: Archive, root: str, model: str, path: object) -> None:
        self.members, self.root, self.path = members, root, path
        self.entries: dict[str, tuple[str, Any]] = {}
        for folder in ("constants", "weights"):
            config = f"{root}data/{folder}/{model}_{folder}_config.json"
            if config not in members.names and f"{root}data/{folder}/{model}.pt" in members.names:
                raise FileError("an older torch wrote it, with pickled weights", path=path, remedy=_AGAIN)
            entries = members.json(config)["config"]
            self.entries |= {name: (folder, entry) for name, entry in entries.items()}

    def array(self, name: str) -> NDArray[Any]:
        """One array; a buffer that is not persistent lies among the constants."""
        if name not in self.entries:
            raise ValueError(f"`{name}` is not stored")
        folder, entry = self.entries[name]
        if entry["use_pickle"]:
            raise FileError(f"`{name}` is pickled, and pickles are never opened", path=self.path, remedy=_AGAIN)
        meta = entry["tensor_meta"]
        if meta["layout"] != _STRIDED:
            raise ValueError(f"`{name}` is sparse")
        place = entry["path_name"]
        data = self.members.read(f"{self.root}data/{folder}/{place}")
        found = np.frombuffer(data, dtype=_dtype(meta["dtype"]))
        shape, strides = ([_natural(n["as_int"]) for n in meta[key]] for key in ("sizes", "strides"))
        start = _natural(meta["storage_offset"]["as_int"])
        return _seen(found, shape, strides, start, name)


def _seen(found: NDArray[Any], shape: list[int], strides: list[int], start: int, name: str) -> NDArray[Any]:
    """Entry i lies at start + i·strides; all of them are there, and no more are claimed than there are."""
    if len(shape) != len(strides):
        raise ValueError(f"`{name}` has {len(shape)} sizes and {len(strides)} strides")
    last = start + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    count = math.prod(shape)
    if count > len(found) or (count and last >= len(found)):
        raise ValueError(f"`{name}` claims the sizes {shape}, and {len(found)} numbers are stored")
    if not count:
        return np.zeros(shape, dtype=found.dtype)
    steps = [stride * found.itemsize for stride in strides]
    return np.array(np.lib.stride_tricks.as_strided(found[start:], shape, steps, writeable=False))


def _natural(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{number!r:.40} where a size is meant")
    return number


def _dtype(number: Any) -> Any:
    if number not in _TYPES:
        raise ValueError(f"numbers of type {number!r:.20}")
    return np.dtype(_TYPES[number])


def _meta(value: Any) -> Meta:
    dtype = np.dtype(_TYPES[value["dtype"]]) if value["dtype"] in _TYPES else None
    return Meta(dtype, tuple(_size(size) for size in value["sizes"]))


def _size(size: Any) -> int | str:
    if "as_int" in size:
        return _natural(size["as_int"])
    text = str(size["as_expr"]["expr_str"])
    symbol = re.fullmatch(r"Symbol\('(\w+)'.*?\)", text)
    return symbol[1] if symbol else text


def _node(node: Any) -> Node:
    arguments = {argument["name"]: _value(argument["arg"]) for argument in node["inputs"]}
    outputs: list[str] = []
    for output in node["outputs"]:
        found = _value(output)
        outputs += [ref.name for ref in (found if isinstance(found, list) else [found]) if isinstance(ref, Ref)]
    return Node(str(node["target"]).removeprefix("torch.ops."), arguments, tuple(outputs))


def _value(argument: Any) -> Any:
    """A Python value for an argument: numbers, words and lists of them, and references."""
    ((kind, value),) = argument.items()
    if kind in ("as_tensor", "as_name"):
        return Ref(value["name"] if kind == "as_tensor" else value)
    if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
        return _value(value)
    if kind == "as_tensors":
        return [Ref(item["name"]) for item in value]
    if kind in ("as_optional_tensors", "as_sym_ints"):
        return [_value(item) for item in value]
    if kind == "as_optional_tensor":
        return _value(value)
    if kind == "as_none":
        return None
    if kind == "as_float":
        return float(value)
    if kind == "as_scalar_type":
        return _dtype(value)
    return value
