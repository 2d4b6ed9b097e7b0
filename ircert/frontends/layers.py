"""A list of layers [(W, b), …] with relu (or what is asked for) between them, from memory or from an .npz file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.files import read_npz
from ircert.frontends.activations import activations
from ircert.frontends.base import in_file
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine

_KEY = re.compile(r"([Wb])(0|[1-9][0-9]*)")


def from_layers(layers: Sequence[object], activation: str | Sequence[str] | None = None) -> Graph:
    """W @ x + b layer by layer, relu (or `activation`) after each but the last; W is (out, in), b may be None.

    A list of activations names one for each layer; it may name one behind the last layer too.
    """
    if not layers:
        raise UnsupportedModel("the list of layers is empty", remedy="give [(W, b), …]")
    affine = [_layer(k, layer) for k, layer in enumerate(layers)]
    between = activations("relu" if activation is None else activation, len(affine), _type(layers))
    build = Builder(affine[0].weight.shape[1])
    x = build.input
    for k, op in enumerate(affine):
        if op.weight.shape[1] != build.size(x):
            raise UnsupportedModel(
                f"W has {op.weight.shape[1]} columns but the layer before has {build.size(x)} rows",
                where=f"layer {k}",
                remedy="W is (out, in): layer(x) = W @ x + b; transpose it if yours is (in, out)",
            )
        last = k == len(affine) - 1
        x = build.node(op, x, name="y" if last else f"h{k + 1}")
        x = between[k](build, x, f"a{k + 1}")
    return build.graph(x)


def from_npz(path: str | os.PathLike[str], activation: str | Sequence[str] | None = None) -> Graph:
    """The layers W0, b0, W1, b1, … of an .npz file (a missing b is zero)."""
    return in_file(path, lambda: from_numbered(read_npz(path), activation))


def is_numbered(names: Iterable[object]) -> bool:
    """Whether all names are those of layers: W0, b0, W1, b1, …."""
    return all(isinstance(name, str) and _KEY.fullmatch(name) for name in names)


def from_numbered(arrays: Mapping[str, object], activation: str | Sequence[str] | None = None) -> Graph:
    """The layers W0, b0, W1, b1, … (a missing b is zero)."""
    stray = [key for key in arrays if not _KEY.fullmatch(key)]
    if stray or not arrays:
        raise UnsupportedModel(
            f"unexpected array `{stray[0]}`" if stray else "it holds no arrays",
            remedy="name the arrays W0, b0, W1, b1, … with W of shape (out, in)",
        )
    count = 1 + max(int(key[1:]) for key in arrays)
    if count > len(arrays):
        raise UnsupportedModel(f"it has {len(arrays)} arrays but names layer {count - 1}", remedy="number from 0")
    for k in range(count):
        if f"W{k}" not in arrays:
            raise UnsupportedModel(f"`W{k}` is missing", remedy="number the layers from 0 without gaps")
    return from_layers([(arrays[f"W{k}"], arrays.get(f"b{k}")) for k in range(count)], activation)


def _type(layers: Sequence[Any]) -> Any:
    """The type of the weights, in which a framework keeps slopes and the like."""
    dtype = getattr(layers[0][0], "dtype", None)
    return dtype if isinstance(dtype, np.dtype) else np.float64


def _layer(k: int, layer: object) -> Affine:
    if not isinstance(layer, Sequence) or len(layer) != 2:
        raise UnsupportedModel("not a pair (W, b)", where=f"layer {k}", remedy="give [(W, b), …]; b may be None")
    try:
        return Affine(*layer)
    except ValueError as error:
        raise UnsupportedModel(str(error), where=f"layer {k}") from None
