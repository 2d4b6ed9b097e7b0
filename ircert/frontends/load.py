"""`ircert.load`: one door for every kind of model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ircert.errors import FileError, UnsupportedModel
from ircert.frontends.layers import from_layers, from_npz
from ircert.ir.graph import Graph
from ircert.ir.sidecar import load_ir

READERS: dict[str, Callable[[str | os.PathLike[str]], Graph]] = {
    ".ir": load_ir,
    ".npz": from_npz,
}


def load(model: object) -> Graph:
    """The graph of a model: a file (.ir, .npz), a list of layers [(W, b), …], or a graph itself.

    Weights are taken as the exact numbers stored (float32 and float16 widen without change).
    """
    if isinstance(model, Graph):
        return model
    if isinstance(model, str | os.PathLike):
        return _load_file(model)
    if isinstance(model, Sequence):
        return from_layers(model)
    raise UnsupportedModel(
        f"cannot load an object of type {type(model).__module__}.{type(model).__qualname__}",
        remedy="give a path or a list of layers [(W, b), …]",
    )


def _load_file(path: str | os.PathLike[str]) -> Graph:
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise FileError("the file name does not say what it is", path=path, remedy=f"use a name ending in {known}")
    return reader(path)
