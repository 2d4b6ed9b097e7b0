"""The front ends of ircert, each a declaration; what reads a kind of model is imported when there is one to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ircert.errors import UnsupportedModel
from ircert.frontends.base import FrontEnd, in_file
from ircert.ir.graph import Graph


class Onnx(FrontEnd):
    """Files, bytes and ModelProtos."""

    name = "onnx"
    suffixes = (".onnx", ".onnx.gz")
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


class Pt2(FrontEnd):
    """Programs that torch exports, as files or objects; files need no torch."""

    name = "pt2"
    suffixes = (".pt2",)
    options = Onnx.options

    def accepts(self, model: object) -> bool:
        kinds = type(model).__mro__
        exported = any(k.__name__ == "ExportedProgram" and k.__module__.startswith("torch.") for k in kinds)
        return super().accepts(model) or exported

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.onnx.interface import Options
        from ircert.frontends.pt2 import from_exported, from_pt2

        return (from_pt2 if super().accepts(model) else from_exported)(model, Options(**options))


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
    options = frozenset({"activation"})

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.layers import from_npz

        return from_npz(model, options.get("activation"))


class Nnet(FrontEnd):
    """Networks of relus in text."""

    name = "nnet"
    suffixes = (".nnet", ".nnet.gz")
    options = frozenset({"normalisation"})

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.nnet import from_nnet

        return from_nnet(model, options.get("normalisation"))


class Safetensors(FrontEnd):
    """Weights and biases by name, in a file."""

    name = "safetensors"
    suffixes = (".safetensors",)
    options = frozenset({"activation", "layers"})

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.named_arrays import from_named
        from ircert.frontends.safetensors import read_safetensors

        return in_file(model, lambda: from_named(read_safetensors(model), **options))


class NamedArrays(FrontEnd):
    """Weights and biases by name, in memory: state dicts, parameters of flax and haiku."""

    name = "named-arrays"
    options = frozenset({"activation", "layers"})

    def accepts(self, model: object) -> bool:
        return isinstance(model, Mapping)

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.named_arrays import flattened, from_named

        return from_named(flattened(model), **options)


class JaxModules(FrontEnd):
    """Modules of equinox and flax (nnx)."""

    name = "jax-modules"
    options = frozenset({"activation", "layers"})

    def accepts(self, model: object) -> bool:
        from ircert.frontends.jax_modules import is_jax_module

        return is_jax_module(model)

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.jax_modules import from_jax_module

        return from_jax_module(model, **options)


class Mat(FrontEnd):
    """Weights and biases that MATLAB or Octave saved."""

    name = "mat"
    suffixes = (".mat",)
    options = frozenset({"activation"})

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.mat import from_mat

        return from_mat(model, options.get("activation"))


class Keras(FrontEnd):
    """Keras 3 models, as files or objects; files need no Keras."""

    name = "keras"
    suffixes = (".keras",)
    options = Onnx.options

    def accepts(self, model: object) -> bool:
        kinds = type(model).__mro__
        return super().accepts(model) or any(
            kind.__name__ == "Model" and kind.__module__.split(".")[0] == "keras" for kind in kinds
        )

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.keras import from_keras, from_keras_file
        from ircert.frontends.onnx.interface import Options

        return (from_keras_file if super().accepts(model) else from_keras)(model, Options(**options))


class Pickles(FrontEnd):
    """Files that only code could read which they bring along; it is never run, and they are refused."""

    name = "pickles"
    suffixes = (".pt", ".pth", ".bin", ".pkl", ".pickle", ".joblib", ".ckpt", ".h5", ".hdf5")

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.pickles import refusal

        raise refusal(model)


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
    options = frozenset({"activation"})

    def accepts(self, model: object) -> bool:
        return isinstance(model, Sequence) and not isinstance(model, str | bytes)

    def read(self, model: Any, **options: Any) -> Graph:
        from ircert.frontends.layers import from_layers

        return from_layers(model, options.get("activation"))
