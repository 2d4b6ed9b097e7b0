"""`ircert.load`: one door for every kind of model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ircert.errors import FileError, UnsupportedModel
from ircert.frontends.layers import from_layers, from_npz
from ircert.ir.graph import Graph
from ircert.ir.sidecar import load_ir

READERS: dict[str, Callable[[str | os.PathLike[str]], Graph]] = {
    ".ir": load_ir,
    ".npz": from_npz,
}


def load(
    model: object,
    *,
    inputs: Mapping[str, Any] | Sequence[str] | None = None,
    outputs: Sequence[str] | str | None = None,
    batch: bool | None = None,
    shape: Mapping[str, Sequence[int]] | Sequence[int] | None = None,
) -> Graph:
    """The graph of a model: a file (.onnx, .ir, .npz), an ONNX ModelProto or its bytes, a list of layers [(W, b), …],
    or a graph itself.

    Weights are taken as the exact numbers stored (float32 and float16 widen without change). The keywords are for
    ONNX models:

    inputs:  names of the graph inputs to join into one vector, in this order, or a mapping {name: array} that binds
             some to constants (None: leave this one free)
    outputs: names of the values to keep, one after the other; any value of the graph, not only its outputs
    batch:   whether the first dimension of the inputs is a batch, of which one sample is read; by default it is where
             that dimension has no number
    shape:   the shape of the input, or {name: shape}, where the model leaves it open
    """
    if _is_onnx(model):
        from ircert.frontends.onnx import from_onnx
        from ircert.frontends.onnx.interface import Options

        return from_onnx(model, Options(inputs, outputs, batch, shape))
    if any(option is not None for option in (inputs, outputs, batch, shape)):
        raise UnsupportedModel("inputs, outputs, batch and shape are for ONNX models", remedy="leave them out")
    return _load_other(model)


def _is_onnx(model: object) -> bool:
    if isinstance(model, str | os.PathLike):
        return Path(model).suffix.lower() == ".onnx"
    kind = type(model)
    return isinstance(model, bytes) or (kind.__name__ == "ModelProto" and kind.__module__.startswith("onnx"))


def _load_other(model: object) -> Graph:
    if isinstance(model, Graph):
        return model
    if isinstance(model, str | os.PathLike):
        return _load_file(model)
    if isinstance(model, Sequence):
        return from_layers(model)
    raise UnsupportedModel(
        f"cannot load an object of type {type(model).__module__}.{type(model).__qualname__}",
        remedy="give a path, an ONNX ModelProto or a list of layers [(W, b), …]",
    )


def _load_file(path: str | os.PathLike[str]) -> Graph:
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        known = ", ".join([".onnx", *READERS])
        raise FileError("the file name does not say what it is", path=path, remedy=f"use a name ending in {known}")
    return reader(path)
