"""The front ends of ircert, each a declaration; what reads a kind of model is imported when there is one to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ircert.errors import UnsupportedModel
from ircert.frontends.base import FrontEnd
from ircert.ir.graph import Graph


class Onnx(FrontEnd):
    """Files, bytes and ModelProtos."""

    name = "onnx"
    suffixes = (".onnx",)
    options = frozenset({"inputs", "outputs", "batch", "shape"})

    def accepts(self, model: object) -> bool:
        kind = type(model)
        proto = kind.__name__ == "ModelProto" and kind.__module__.startswith("onnx")
        return super().accepts(model) or isinstance(model, bytes) or proto

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.onnx import from_onnx
        from ircert.frontends.onnx.interface import Options

        return from_onnx(model, Options(**options))


class Torch(FrontEnd):
    """Modules, through torch's own export."""

    name = "torch"
    options = frozenset({"shape"})

    def accepts(self, model: object) -> bool:
        from ircert.frontends.torch import is_torch

        return is_torch(model)

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.torch import from_torch

        shape = options.get("shape")
        if isinstance(shape, Mapping):
            raise UnsupportedModel("a torch module has one input", remedy="give its shape alone: shape=(1, …)")
        return from_torch(model, shape=shape)


class Ir(FrontEnd):
    """The graph's own text."""

    name = "ir"
    suffixes = (".ir",)

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.ir.sidecar import load_ir

        return load_ir(model)


class Npz(FrontEnd):
    """Arrays W0, b0, W1, b1, … in one file."""

    name = "npz"
    suffixes = (".npz",)

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.layers import from_npz

        return from_npz(model)


class Sklearn(FrontEnd):
    """Fitted regressors, from their coefficients."""

    name = "sklearn"

    def accepts(self, model: object) -> bool:
        from ircert.frontends.sklearn import is_sklearn

        return is_sklearn(model)

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.sklearn import from_sklearn

        return from_sklearn(model)


class Layers(FrontEnd):
    """Lists of layers [(W, b), …]."""

    name = "layers"

    def accepts(self, model: object) -> bool:
        return isinstance(model, Sequence) and not isinstance(model, str | bytes)

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.layers import from_layers

        return from_layers(model)
