"""Layers by the names of their arrays: state dicts of torch, parameters of flax and haiku, nested or flat.

An array's name ends in what it is: `weight` is (out, in), as torch and equinox keep it; `kernel` (flax, keras) and `w`
(haiku) are (in, out); `bias` and `b` are added. What stands before is the layer's name. Layers whose names differ in
numbers alone come in the order of these numbers (fc1, fc2, …, fc10). Where words differ, the order is taken only if the
sizes allow no other one; else the user names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.errors import UnsupportedModel
from ircert.frontends.layers import from_layers, from_numbered, is_numbered
from ircert.ir.graph import Graph

_ROLES = {"weight": "weight", "kernel": "kernel", "w": "kernel", "bias": "bias", "b": "bias"}
_MORE = "save the model as .onnx, .pt2 or .keras, which say what its arrays mean"
_DEEPEST, _MOST_STEPS = 64, 10_000


def from_named(
    arrays: Mapping[str, Any], activation: str | Sequence[str] | None = None, layers: Sequence[str] | str | None = None
) -> Graph:
    """The network of linear layers with these arrays, and the activation that is asked for between them."""
    if layers is None and arrays and is_numbered(arrays):
        return from_numbered(arrays, activation)
    found = _layers(arrays)
    order = _named_order(found, layers) if layers is not None else _order(found)
    if activation is None and len(order) > 1:
        raise UnsupportedModel(
            "weights alone do not say what stands between the layers",
            remedy='name it: activation="relu" (command line: --activation relu)',
        )
    try:
        return from_layers([found[name] for name in order], activation)
    except UnsupportedModel as error:
        number = re.fullmatch(r"layer (\d+)", error.where or "")
        where = f"layer `{order[int(number[1])]}`" if number else error.where
        ordered = layers is None and error.problem.startswith("W has")
        remedy = 'if another order is meant, name it: layers=["first", …] (command line: --layers first,…)'
        raise UnsupportedModel(error.problem, where=where, remedy=remedy if ordered else error.remedy) from None


def flattened(tree: Mapping[Any, Any]) -> dict[str, Any]:
    """The leaves of nested mappings, by their path."""
    return dict(_leaves(tree, "", 0))


def _leaves(tree: Mapping[Any, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _DEEPEST:
        raise UnsupportedModel(f"the arrays are nested more than {_DEEPEST} deep")
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}/", depth + 1)
        elif value is not None:
            yield path, value


def as_array(value: Any, name: str) -> NDArray[Any]:
    """An array of numpy, torch, jax or flax as one of numpy, in its own type where numpy has it (else wider)."""
    if hasattr(value, "detach"):  # torch; numpy has no bfloat16
        value = value.detach().cpu()
        value = value.double() if "float16" in str(value.dtype) else value
        return np.asarray(value.numpy())
    if hasattr(value, "get_value"):  # flax keeps arrays in variables
        value = value.get_value()
    try:
        array = np.asarray(value)
    except Exception as error:
        raise UnsupportedModel(f"it is no array ({type(error).__name__})", where=f"`{name}`") from error
    if array.dtype.name == "bfloat16":
        return array.astype(np.float64)
    if array.dtype.kind != "f":
        raise UnsupportedModel(f"it holds {array.dtype}, not real numbers", where=f"`{name}`", remedy=_MORE)
    return array


def _layers(arrays: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """(W, b) of each layer by its name, W (out, in)."""
    weights: dict[str, Any] = {}
    biases: dict[str, Any] = {}
    for name, value in arrays.items():
        prefix, role = _role(name)
        array = as_array(value, name)
        if role == "bias":
            biases[prefix] = array
            continue
        if array.ndim != 2:
            raise UnsupportedModel(
                f"it has the shape {array.shape}: not the weights of a linear layer", where=f"`{name}`", remedy=_MORE
            )
        weights[prefix] = array if role == "weight" else array.T
    if not weights:
        raise UnsupportedModel("there are no arrays named `weight` or `kernel`", remedy=_MORE)
    lonely = [name for name in biases if name not in weights]
    if lonely:
        raise UnsupportedModel("it has a bias and no weights", where=f"layer `{lonely[0]}`", remedy=_MORE)
    return {name: (weight, biases.get(name)) for name, weight in weights.items()}


def _role(name: str) -> tuple[str, str]:
    """A layer's name, and what the array is to it."""
    prefix, _, last = re.sub(r"\]$", "", name).rpartition(_separator(name))
    if last not in _ROLES:
        raise UnsupportedModel(
            f"its name does not end in one of {', '.join(_ROLES)}: more than linear layers",
            where=f"`{name}`",
            remedy=_MORE,
        )
    return prefix, _ROLES[last]


def _separator(name: str) -> str:
    return max("./", key=name.rfind)


def _order(found: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """The layers' names in their order."""
    groups: dict[str, list[str]] = {}
    for name in sorted(found, key=_numbers):
        groups.setdefault(re.sub(r"\d+", "#", name), []).append(name)
    if len(groups) == 1:
        return next(iter(groups.values()))
    orders = _Orders(found, list(groups.values())).all()
    if len(orders) != 1:
        why = "their sizes allow none" if not orders else "their sizes allow several"
        raise UnsupportedModel(
            f"the order of the layers {', '.join(f'`{name}`' for name in found)} is not known: {why}"[:300],
            remedy='name it: layers=["first", …] (command line: --layers first,…)',
        )
    return orders[0]


def _numbers(name: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", name)]


class _Orders:
    """Ways to merge groups of layers, each in its own order, so that sizes fit; two are enough to know."""

    def __init__(self, found: Mapping[str, tuple[Any, Any]], groups: list[list[str]]) -> None:
        self.shapes = {name: weight.shape for name, (weight, _) in found.items()}
        self.groups, self.steps = groups, 0
        self.orders: list[list[str]] = []

    def all(self) -> list[list[str]]:
        """At most two orders."""
        self._extend([], [0] * len(self.groups))
        return self.orders

    def _extend(self, order: list[str], used: list[int]) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise UnsupportedModel(
                "the order of the layers is not known", remedy='name it: layers=["first", …] (command line: --layers)'
            )
        if len(order) == len(self.shapes):
            self.orders.append(order)
        for k, group in enumerate(self.groups):
            if len(self.orders) > 1 or used[k] == len(group):
                continue
            name = group[used[k]]
            if not order or self.shapes[name][1] == self.shapes[order[-1]][0]:
                self._extend([*order, name], [u + (j == k) for j, u in enumerate(used)])


def _named_order(found: Mapping[str, Any], layers: Sequence[str] | str) -> list[str]:
    order = layers.split(",") if isinstance(layers, str) else list(layers)
    if sorted(order) != sorted(found):
        raise UnsupportedModel(
            f"`layers` names {', '.join(map(str, order)) or 'nothing'}"[:200],
            remedy=f"name each of {', '.join(sorted(found))} once"[:300],
        )
    return order
