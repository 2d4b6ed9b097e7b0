"""`ircert.load`: one door for every kind of model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ircert import frontends
from ircert.errors import FileError, IrcertError, UnsupportedModel
from ircert.frontends.base import FrontEnd
from ircert.ir.graph import Graph

FOR = {
    "activation": "models that are weights alone, as in .npz and .safetensors",
    "layers": "weights by name, as in .safetensors",
    "normalisation": ".nnet files",
}
"""Which models an option is for."""
READ = (".onnx", ".pt2", ".safetensors", ".keras", ".nnet", ".mat", ".npz", ".ir")
"""How names of files end that are read (.onnx and .nnet also packed, with .gz)."""


def load(
    model: object,
    *,
    inputs: Mapping[str, Any] | Sequence[str] | None = None,
    outputs: Sequence[str] | str | None = None,
    batch: bool | None = None,
    shape: Mapping[str, Sequence[int]] | Sequence[int] | None = None,
    activation: str | Sequence[str] | None = None,
    layers: Sequence[str] | str | None = None,
    normalisation: str | None = None,
) -> Graph:
    """The graph of a model: a file (.onnx, .pt2, .keras, .safetensors, .nnet, …), an ONNX ModelProto or its bytes, a
    list of layers [(W, b), …], a dict of weights and biases by name, a scikit-learn MLPRegressor (also behind scalers
    in a Pipeline), a torch.nn.Module, or a graph itself. `spec/frontends.md` has the whole list.

    Weights are taken as the exact numbers stored (float32 and float16 widen without change). Pickles are never opened:
    they run code. The first four keywords are for ONNX models and exported programs, `shape` also for torch modules:

    inputs:  names of the graph inputs to join into one vector, in this order, or a mapping {name: array} that binds
             some to constants, in the types of the model (None: leave this one free)
    outputs: names of the values to keep, one after the other; any value of the graph, not only its outputs
    batch:   whether the first dimension of the inputs is a batch, of which one sample is read; by default it is where
             that dimension has no number
    shape:   the shape of the input, or {name: shape}, where the model leaves it open

    and the others for models that are weights alone, and for .nnet files:

    activation:    what stands between the layers ("relu", "tanh", "leaky_relu:0.2", …), or a list: behind each layer
    layers:        the names of the layers in their order, where neither numbers in them nor sizes tell
    normalisation: "none" (default), "affine" or "clipped": what an .nnet file says about its inputs and outputs
    """
    chosen = None if isinstance(model, Graph) else front_end(model)
    options = {"inputs": inputs, "outputs": outputs, "batch": batch, "shape": shape}
    options |= {"activation": activation, "layers": layers, "normalisation": normalisation}
    known = frozenset() if chosen is None else chosen.options
    for name, value in options.items():
        if value is not None and name not in known:
            raise UnsupportedModel(f"`{name}` is for {FOR.get(name, 'ONNX models')}", remedy="leave it out")
    if chosen is None:
        return model  # type: ignore[return-value]
    with frontends.REGISTRY.blaming(chosen.name):
        return chosen.read(model, **{name: options[name] for name in options if name in known})


def front_end(model: object) -> FrontEnd:
    """The front end that takes the model: the first one built in, else the only one of other packages."""
    registry = frontends.REGISTRY
    for name in frontends.BUILT_IN:
        if (built_in := registry.get(name)()).accepts(model):
            return built_in
    others = [kind() for kind in registry.others()]
    able = [front_end for front_end in others if front_end.accepts(model)]
    if len(able) == 1:
        return able[0]
    if able:
        several = " and ".join(f"`{front_end.name}`" for front_end in able)
        raise UnsupportedModel(f"such models are read by {several}", remedy="uninstall one of them")
    raise _refused(model, [suffix for front_end in others for suffix in front_end.suffixes])


def _refused(model: object, more: list[str]) -> IrcertError:
    if isinstance(model, str | os.PathLike):
        known = ", ".join([*READ, *sorted(set(more))])
        return FileError("the file name does not say what it is", path=model, remedy=f"use a name ending in {known}")
    return UnsupportedModel(
        f"cannot load an object of type {type(model).__module__}.{type(model).__qualname__}",
        remedy="give a path, a list of layers [(W, b), …], a dict of weights, or a model of ONNX, torch, Keras, "
        "equinox, flax or scikit-learn",
    )
