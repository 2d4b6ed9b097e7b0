"""Keras 3 models, as `.keras` files (read without Keras: settings in JSON, weights in HDF5) or as objects.

Layers are written as the ONNX nodes that mean the same, and the model is read as ONNX is. Layers with code of their own
(Lambda, custom classes) are refused: nothing that a file brings along is run.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ircert.files import understood
from ircert.frontends.archives import archive
from ircert.frontends.base import in_file
from ircert.frontends.keras.model import MODELS, translated
from ircert.frontends.keras.weights import stored_weights
from ircert.frontends.onnx import from_onnx
from ircert.frontends.onnx.interface import Options
from ircert.ir.graph import Graph


def from_keras_file(path: str | os.PathLike[str], options: Options | None = None) -> Graph:
    """The graph of a .keras file."""
    with archive(path, ".keras") as members:
        content, weights = members.json("config.json"), members.read("model.weights.h5")
    with understood(path, ".keras"):
        arrays = stored_weights(weights)
        return in_file(path, lambda: from_onnx(translated(content, arrays), options))


def from_keras(model: Any, options: Options | None = None) -> Graph:
    """The graph of a Keras model in memory."""
    content = {"class_name": type(model).__name__, "config": model.get_config()}
    if content["class_name"] not in ("Sequential", "Functional"):  # a Model of inputs and outputs is one too
        content["class_name"] = "Functional" if "output_layers" in content["config"] else content["class_name"]
    arrays = _weights(model)
    with understood("the Keras model", "Keras"):
        return in_file("the Keras model", lambda: from_onnx(translated(content, arrays), options))


def _weights(model: Any) -> dict[str, Any]:
    """The arrays of each layer by its name, and such a mapping again for a model that is a layer."""
    return {
        layer.name: _weights(layer) if type(layer).__name__ in MODELS else [_array(weight) for weight in layer.weights]
        for layer in model.layers
    }


def _array(weight: Any) -> Any:
    return np.asarray(weight.numpy() if hasattr(weight, "numpy") else weight)
