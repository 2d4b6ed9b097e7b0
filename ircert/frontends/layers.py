"""A list of layers [(W, b), …] with relu between them, from memory or from an .npz file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from ircert.errors import FileError, UnsupportedModel
from ircert.files import read_npz
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine

_KEY = re.compile(r"([Wb])(0|[1-9][0-9]*)")


def from_layers(layers: Sequence[object]) -> Graph:
    """W @ x + b layer by layer, relu after each but the last; W is (out, in), b may be None."""
    if not layers:
        raise UnsupportedModel("the list of layers is empty", remedy="give [(W, b), …]")
    affine = [_layer(k, layer) for k, layer in enumerate(layers)]
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
        x = x if last else build.relu(x, name=f"a{k + 1}")
    return build.graph(x)


def from_npz(path: str | os.PathLike[str]) -> Graph:
    """The layers W0, b0, W1, b1, … of an .npz file (a missing b is zero)."""
    arrays = read_npz(path)
    stray = [key for key in arrays if not _KEY.fullmatch(key)]
    if stray or not arrays:
        raise FileError(
            f"unexpected array `{stray[0]}`" if stray else "it holds no arrays",
            path=path,
            remedy="name the arrays W0, b0, W1, b1, … with W of shape (out, in)",
        )
    return _from_named(arrays, path)


def _from_named(arrays: Mapping[str, object], path: object) -> Graph:
    count = 1 + max(int(key[1:]) for key in arrays)
    if count > len(arrays):
        raise FileError(f"it has {len(arrays)} arrays but names layer {count - 1}", path=path, remedy="number from 0")
    for k in range(count):
        if f"W{k}" not in arrays:
            raise FileError(f"`W{k}` is missing", path=path, remedy="number the layers from 0 without gaps")
    try:
        return from_layers([(arrays[f"W{k}"], arrays.get(f"b{k}")) for k in range(count)])
    except UnsupportedModel as error:
        raise FileError(f"{error.where}: {error.problem}", path=path, remedy=error.remedy) from None


def _layer(k: int, layer: object) -> Affine:
    if not isinstance(layer, Sequence) or len(layer) != 2:
        raise UnsupportedModel("not a pair (W, b)", where=f"layer {k}", remedy="give [(W, b), …]; b may be None")
    try:
        return Affine(*layer)
    except ValueError as error:
        raise UnsupportedModel(str(error), where=f"layer {k}") from None
