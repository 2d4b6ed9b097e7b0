"""The ONNX ops that are read, by name: one handler each, grouped by family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ircert.frontends.onnx.ops import (
    activations,
    arithmetic,
    einsum,
    extremes,
    image,
    layout,
    linear,
    normalise,
    reduce,
    resize,
    where,
)

_FAMILIES = (activations, arithmetic, einsum, extremes, image, layout, linear, normalise, reduce, resize, where)

HANDLERS: Mapping[str, Callable[..., Any]] = {
    name: handler for family in _FAMILIES for name, handler in family.HANDLERS.items()
}
