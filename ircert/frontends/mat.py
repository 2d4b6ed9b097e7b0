""".mat files of MATLAB and Octave (up to version 7): W1, b1, W2, b2, … or cells W{k}, b{k}.

The cells are NNV's layout: W{k} (out, in), b{k}, and `act_fcns` with a name for each layer, as rows of characters or a
cell; also as fields of one struct, as closed-loop benchmarks have it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.errors import FileError, UnsupportedModel
from ircert.files import read_bytes, understood
from ircert.frontends.base import in_file
from ircert.frontends.layers import from_layers
from ircert.frontends.mat_file import variables
from ircert.ir.graph import Graph

_NUMBERED = re.compile(r"([wWbB])_?(\d+)")
_NAMES = {"relu": "relu", "poslin": "relu", "linear": "identity", "purelin": "identity", "tansig": "tanh"}
_NAMES |= {"tanh": "tanh", "logsig": "sigmoid", "sigmoid": "sigmoid"}
_NAMES |= {"satlin": "relu1", "relu1": "relu1", "satlins": "hard_tanh", "relu2": "hard_tanh"}
_ACTIVATIONS = ("act_fcns", "activation_fcns", "act_functions", "activations", "layer_fcns")
_AROUND = (
    *("number_of_layers", "number_of_inputs", "number_of_outputs", "layer_sizes", "is_symmetric", "max_layer_size"),
    *("min_inputs", "max_inputs", "means_for_scaling", "range_for_scaling", "ranges_for_scaling", "mins", "maxs"),
)
_WORDS = (("W", "b"), ("weights", "biases"))
"""Names of cells."""
_MANIFEST = "it was made from an .onnx file: read that one"
_OBJECT = "of a network object MATLAB writes what only it can read: export it with exportONNXNetwork"


def from_mat(path: str | os.PathLike[str], activation: str | Sequence[str] | None = None) -> Graph:
    """The layers of the file; W may be (out, in) or (in, out) as long as the sizes tell which."""
    with understood(path, ".mat"):
        found = _variables(read_bytes(path), path)
    return in_file(path, lambda: _network(found, activation))


def _variables(data: bytes, path: object) -> dict[str, Any]:
    if data[:8] == b"\x89HDF\r\n\x1a\n" or b"MATLAB 7.3" in data[:20]:
        raise FileError("version 7.3, which is HDF5", path=path, remedy="save it with the option -v7")
    if len(data) < 128 or data[126:128] != b"IM":
        raise ValueError("it has not the header of MATLAB's versions 5 to 7")
    return {name: value for name, value in variables(data).items() if name}


# --- layers ---------------------------------------------------------------------------------------------------------


def _network(found: Mapping[str, Any], activation: str | Sequence[str] | None) -> Graph:
    found = _fields(found)
    if "layers" in found and "weights" in found:
        raise UnsupportedModel("a list of layers of NNV", remedy=_MANIFEST)
    words = next((words for words in _WORDS if words[0] in found), None)
    weights, biases, rest = _numbered(found) if words is None else _cells(found, *words)
    names = [name for name in rest if name not in _AROUND and name not in _ACTIVATIONS]
    if names:
        raise UnsupportedModel(
            f"the variable `{names[0]}` is not known", remedy="save W1, b1, W2, b2, … or the cells W and b alone"
        )
    told = _activations(rest)
    behind = activation if activation is not None else told
    if behind is None and len(weights) > 1:
        raise UnsupportedModel(
            "the file does not say what stands between the layers",
            remedy='name it: activation="relu" (command line: --activation relu)',
        )
    return from_layers(_turned(weights, biases, known=words is not None and told is not None), behind)


def _fields(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The variables, or the fields of the only one if it is a struct."""
    values = list(found.values())
    return values[0] if len(values) == 1 and isinstance(values[0], dict) else found


def _cells(found: Mapping[str, Any], weight: str, bias: str) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """W{k} and b{k}; a single layer may be a matrix."""
    rest = {name: value for name, value in found.items() if name not in (weight, bias)}
    if bias not in found:
        raise UnsupportedModel(f"there are weights `{weight}` and no `{bias}`", remedy="save both, as cells")
    both = (np.asarray(found[name]) for name in (weight, bias))
    lists = [list(v.ravel()) if v.dtype == object else [v] for v in both]
    if len(lists[0]) != len(lists[1]):
        raise UnsupportedModel(f"there are {len(lists[0])} weights and {len(lists[1])} biases", remedy="save as many")
    return lists[0], lists[1], rest


def _numbered(found: Mapping[str, Any]) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """W1, b1, W2, b2, …, counted from 0 or 1."""
    matches = {name: match for name in found if (match := _NUMBERED.fullmatch(name))}
    parts = {(match[1].lower(), int(match[2])): found[name] for name, match in matches.items()}
    numbers = sorted(k for word, k in parts if word == "w")
    if not numbers or len(parts) < len(matches) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise UnsupportedModel("there are no weights W1, W2, …, or one of them is missing", remedy=_OBJECT)
    lonely = [f"b{k}" for word, k in parts if word == "b" and k not in numbers]
    if lonely or numbers[0] > 1:
        raise UnsupportedModel("layers are not numbered from 0 or 1, or a bias has no weights", remedy="save all")
    rest = {name: value for name, value in found.items() if name not in matches}
    return [parts["w", k] for k in numbers], [parts.get(("b", k)) for k in numbers], rest


def _turned(weights: Sequence[Any], biases: Sequence[Any], *, known: bool) -> list[tuple[Any, Any]]:
    """The layers with W (out, in): of both ways the one that fits all sizes; `known`: (out, in) where both do."""
    matrices = [_real(weight) for weight in weights]
    vectors = [None if bias is None else _real(bias).ravel() for bias in biases]
    ways = [matrices, [matrix.T for matrix in matrices]]
    able = [way for way in ways if _fits(way, vectors)]
    if len(able) == 2 and not known and any(not np.array_equal(a, b) for a, b in zip(*ways, strict=True)):
        raise UnsupportedModel(
            "the sizes do not tell whether W is (out, in) or (in, out)",
            remedy="save it as .npz: W0, b0, W1, b1, … with W of shape (out, in)",
        )
    if not able:
        shapes = ", ".join(str(matrix.shape) for matrix in matrices)
        raise UnsupportedModel(f"the sizes of W ({shapes}) and b do not fit one another"[:200], remedy="save it again")
    return list(zip(able[0], vectors, strict=True))


def _fits(matrices: Sequence[NDArray[Any]], vectors: Sequence[Any]) -> bool:
    widths = all(a.shape[0] == b.shape[1] for a, b in pairwise(matrices))
    return widths and all(b is None or len(b) == len(w) for w, b in zip(matrices, vectors, strict=True))


def _real(value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    if array.ndim > 2 and max(array.shape[2:]) == 1:  # some tools keep sizes of convolutions
        array = array.reshape(array.shape[:2])
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise UnsupportedModel(f"an array of type {array.dtype} and shape {array.shape}", remedy=_OBJECT)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _activations(rest: Mapping[str, Any]) -> list[str] | None:
    """The activation behind each layer, if the file names them in MATLAB's words."""
    given = next((rest[name] for name in _ACTIVATIONS if name in rest), None)
    if given is None:
        return None
    words = [str(np.asarray(word).item()).strip().lower() for word in np.asarray(given).ravel()]
    unknown = [word for word in words if word not in _NAMES]
    if unknown:
        raise UnsupportedModel(f"the activation {unknown[0]!r:.40} is not known", remedy="give activation=…")
    return [_NAMES[word] for word in words]
