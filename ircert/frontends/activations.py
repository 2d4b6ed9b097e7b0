"""What may stand between layers that are given by their weights alone, by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ircert.errors import UnsupportedModel
from ircert.ir.arrays import identity
from ircert.ir.build import Builder
from ircert.ir.ops import Clip, LeakyRelu, Op, Relu, curves

Activation = Callable[[Builder, str, str | None], str]
"""Adds the activation behind a node, under a name; the name of what it added."""

_GAMMA, _ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
_SLOPE = 0.01


def activation(name: object, dtype: Any = np.float64) -> Activation:
    """The activation of that name; `leaky_relu:0.2` gives the slope, which is rounded to the weights' type."""
    if not isinstance(name, str):
        raise _unknown(f"{name!r:.60}")
    word, _, number = name.strip().partition(":")
    key = re.sub(r"[^a-z0-9]", "", word.lower())
    if key in ("leakyrelu", "elu"):
        return _with_number(key, number, name, dtype)
    if number or key not in _PLAIN:
        raise _unknown(repr(name[:60]))
    return _PLAIN[key](dtype)


def activations(given: str | Sequence[str], layers: int, dtype: Any = np.float64) -> list[Activation]:
    """One activation for each layer: one name stands between the layers, a list of them behind each in turn."""
    names = given.split(",") if isinstance(given, str) else list(given)
    if isinstance(given, str) and len(names) == 1:
        names = names * (layers - 1)
    if len(names) not in (layers - 1, layers):
        raise UnsupportedModel(
            f"there are {len(names)} activations for {layers} layers",
            remedy="give one for all, or one behind each layer (the last may be left out)",
        )
    return [activation(name, dtype) for name in names] + [_identity] * (layers - len(names))


def _identity(build: Builder, x: str, name: str | None) -> str:
    return x


def _node(make: Callable[[], Op]) -> Callable[[Any], Activation]:
    def plain(build: Builder, x: str, name: str | None) -> str:
        return build.node(make(), x, name=name)

    return lambda dtype: plain


def _clip(low: float, high: float) -> Callable[[], Op]:
    return lambda: Clip(np.array([low]), np.array([high]))


def _selu(dtype: Any) -> Activation:
    """gamma elu(x, alpha), with the two numbers rounded to the weights' type."""
    alpha, gamma = rounded(_ALPHA, dtype), rounded(_GAMMA, dtype)

    def selu(build: Builder, x: str, name: str | None) -> str:
        inner = build.node(curves.Elu(alpha), x)
        return build.affine(inner, gamma * identity(build.size(x)), name=name)

    return selu


def _with_number(key: str, number: str, name: str, dtype: Any) -> Activation:
    try:
        value = rounded(float(number), dtype) if number else rounded(_SLOPE, dtype) if key == "leakyrelu" else 1.0
    except ValueError:
        raise _unknown(repr(name[:60])) from None
    make = (lambda: LeakyRelu(np.array([value]))) if key == "leakyrelu" else (lambda: curves.Elu(value))
    return _node(make)(dtype)


def rounded(number: float, dtype: Any) -> float:
    """A number as the framework keeps it beside weights of this type, widened again."""
    return float(np.asarray(number).astype(dtype)) if np.dtype(dtype).kind == "f" else float(np.float32(number))


def _unknown(shown: str) -> UnsupportedModel:
    known = "relu, leaky_relu:SLOPE, relu1, relu6, hard_tanh, tanh, sigmoid, silu, gelu, gelu_tanh, elu, selu, softplus"
    return UnsupportedModel(
        f"the activation {shown} is not known",
        remedy=f"use one of {known}, softsign, mish, hard_swish, erf, sin, cos, identity",
    )


_PLAIN: dict[str, Callable[[Any], Activation]] = {
    "identity": lambda dtype: _identity,
    "linear": lambda dtype: _identity,
    "none": lambda dtype: _identity,
    "relu": _node(Relu),
    "relu1": _node(_clip(0.0, 1.0)),
    "relu6": _node(_clip(0.0, 6.0)),
    "hardtanh": _node(_clip(-1.0, 1.0)),
    "selu": _selu,
    "tanh": _node(curves.Tanh),
    "sigmoid": _node(curves.Sigmoid),
    "logistic": _node(curves.Sigmoid),
    "silu": _node(curves.Silu),
    "swish": _node(curves.Silu),
    "gelu": _node(curves.Gelu),
    "gelutanh": _node(curves.GeluTanh),
    "softplus": _node(curves.Softplus),
    "softsign": _node(curves.Softsign),
    "mish": _node(curves.Mish),
    "hardswish": _node(curves.HardSwish),
    "erf": _node(curves.Erf),
    "sin": _node(curves.Sin),
    "cos": _node(curves.Cos),
}
