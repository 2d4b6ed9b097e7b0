"""`ircert.load`: one door for every kind of model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ircert.errors import FileError, UnsupportedModel
from ircert.frontends.layers import from_layers, from_npz
from ircert.frontends.sklearn import from_sklearn, is_sklearn
from ircert.frontends.torch import from_torch, is_torch
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
    a scikit-learn MLPRegressor (also behind scalers in a Pipeline), a torch.nn.Module, or a graph itself.

    Weights are taken as the exact numbers stored (float32 and float16 widen without change). The keywords are for
    ONNX models, `shape` also for torch modules:

    inputs:  names of the graph inputs to join into one vector, in this order, or a mapping {name: array} that binds
             some to constants, in the types of the model (None: leave this one free)
    outputs: names of the values to keep, one after the other; any value of the graph, not only its outputs
    batch:   whether the first dimension of the inputs is a batch, of which one sample is read; by default it is where
             that dimension has no number
    shape:   the shape of the input, or {name: shape}, where the model leaves it open
    """
    if _is_onnx(model):
        from ircert.frontends.onnx import from_onnx
        from ircert.frontends.onnx.interface import Options

        return from_onnx(model, Options(inputs, outputs, batch, shape))
    if is_torch(model):
        _refuse_options(inputs=inputs, outputs=outputs, batch=batch)
        if isinstance(shape, Mapping):
            raise UnsupportedModel("a torch module has one input", remedy="give its shape alone: shape=(1, …)")
        return from_torch(model, shape=shape)
    _refuse_options(inputs=inputs, outputs=outputs, batch=batch, shape=shape)
    return _load_other(model)


def _refuse_options(**options: object) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise UnsupportedModel(f"`{given[0]}` is for ONNX models", remedy="leave it out")


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
    if is_sklearn(model):
        return from_sklearn(model)
    if isinstance(model, Sequence):
        return from_layers(model)
    raise UnsupportedModel(
        f"cannot load an object of type {type(model).__module__}.{type(model).__qualname__}",
        remedy="give a path, a list of layers [(W, b), …], an ONNX ModelProto, an MLPRegressor or a torch module",
    )


def _load_file(path: str | os.PathLike[str]) -> Graph:
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        known = ", ".join([".onnx", *READERS])
        raise FileError("the file name does not say what it is", path=path, remedy=f"use a name ending in {known}")
    return reader(path)
