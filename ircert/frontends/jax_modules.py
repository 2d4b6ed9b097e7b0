"""Modules of equinox and flax (nnx), by their attributes; neither jax nor its packages are imported.

An MLP or Sequential of these packages says what it computes. Any other module is read as its arrays (`named_arrays`),
with the activation that is asked for: what its own `__call__` does is Python code, and the user's word is taken for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ircert.errors import UnsupportedModel
from ircert.frontends.layers import from_layers
from ircert.frontends.named_arrays import as_array, from_named
from ircert.ir.graph import Graph

_PACKAGES = ("equinox", "flax.nnx")
_FUNCTIONS = {
    "relu": "relu",
    "relu6": "relu6",
    "tanh": "tanh",
    "sigmoid": "sigmoid",
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu_tanh",
    "softplus": "softplus",
    "elu": "elu",
    "selu": "selu",
    "leaky_relu": "leaky_relu",
    "soft_sign": "softsign",
    "mish": "mish",
    "hard_tanh": "hard_tanh",
    "hard_silu": "hard_swish",
    "hard_swish": "hard_swish",
    "sin": "sin",
    "cos": "cos",
    "identity": "identity",
}
"""jax's functions by name, with their defaults: its gelu is the one with tanh."""
_NOTHING = ("Identity", "Dropout")
_DEEPEST = 32


def is_jax_module(model: object) -> bool:
    """Whether the object is a module of equinox or of flax.nnx."""
    return any(kind.__name__ == "Module" and kind.__module__.startswith(_PACKAGES) for kind in type(model).__mro__)


def from_jax_module(
    model: Any, activation: str | Sequence[str] | None = None, layers: Sequence[str] | str | None = None
) -> Graph:
    """The network of a module: what it says itself, or its arrays with the activation that is asked for."""
    stages = _stages(model) if activation is None and layers is None else None
    if stages is None:
        return from_named(dict(_arrays(model, "", 0)), activation, layers)
    weights = [stage for stage in stages if not isinstance(stage, str)]
    behind: list[str] = []
    for stage in stages:
        if not isinstance(stage, str):
            behind.append("identity")
        elif stage != "identity":
            if not behind or behind[-1] != "identity":
                raise UnsupportedModel(
                    "an activation does not stand behind a linear layer", remedy="load its arrays as a list of layers"
                )
            behind[-1] = stage
    return from_layers(weights, behind)


def _stages(model: Any) -> list[Any] | None:
    """(W, b) of layers and names of activations, in the order in which they are called; None for other modules."""
    if not type(model).__module__.startswith(_PACKAGES):
        return None
    name = type(model).__name__
    if name == "Linear":
        return [_linear(model)]
    if name in _NOTHING:
        return ["identity"]
    if name == "Lambda":
        return [_function(model.fn)]
    if name == "Sequential":
        parts = [[_function(part)] if _is_function(part) else _stages(part) for part in model.layers]
        return None if None in parts else [stage for part in parts if part is not None for stage in part]
    if name == "MLP":
        inner = [stage for layer in model.layers[:-1] for stage in (_linear(layer), _function(model.activation))]
        return [*inner, _linear(model.layers[-1]), _function(model.final_activation)]
    return None


def _linear(layer: Any) -> tuple[Any, Any]:
    """equinox keeps `weight` (out, in), flax `kernel` (in, out)."""
    weight = as_array(layer.kernel, "kernel").T if hasattr(layer, "kernel") else as_array(layer.weight, "weight")
    bias = None if getattr(layer, "bias", None) is None else as_array(layer.bias, "bias")
    return weight, bias


def _is_function(part: Any) -> bool:
    return callable(part) and not is_jax_module(part)


def _function(function: Any) -> str:
    """The name of an activation, if the function is one of jax's own; equinox' own lambda changes nothing."""
    name, home = getattr(function, "__name__", ""), getattr(function, "__module__", "") or ""
    if home.startswith("equinox.") and name in ("<lambda>", "_identity"):
        return "identity"
    if not home.startswith(("jax", "flax")) or name not in _FUNCTIONS:
        raise UnsupportedModel(
            f"the activation {name or function!r:.60} is none of jax's own that are known",
            remedy='name one that is the same: activation="relu"',
        )
    return _FUNCTIONS[name]


def _arrays(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """The arrays inside of a module by the path of attributes to them."""
    if depth > _DEEPEST:
        raise UnsupportedModel(f"the module is nested more than {_DEEPEST} deep")
    if is_jax_module(value):
        parts = {name: part for name, part in vars(value).items() if not name.startswith("_")}
    elif isinstance(value, Mapping):
        parts = dict(value)
    elif isinstance(value, list | tuple) or type(value).__name__ == "List":
        parts = {str(k): part for k, part in enumerate(value)}
    else:
        if _is_array(value):
            yield path, value
        return
    for name, part in parts.items():
        yield from _arrays(part, f"{path}/{name}" if path else str(name), depth + 1)


def _is_array(value: Any) -> bool:
    """Arrays, and the variables that flax keeps them in; numbers and functions are no weights."""
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and len(shape) > 0 and hasattr(value, "dtype")
