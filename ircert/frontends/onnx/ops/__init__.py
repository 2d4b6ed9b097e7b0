"""The ONNX ops that are read, by name: one handler each, grouped by family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ircert.frontends.onnx.ops import (
    activations,
    arithmetic,
    compare,
    einsum,
    image,
    layout,
    linear,
    normalise,
    reduce,
    resize,
)

HANDLERS: Mapping[str, Callable[..., Any]] = {
    name: handler
    for family in (activations, arithmetic, compare, einsum, image, layout, linear, normalise, reduce, resize)
    for name, handler in family.HANDLERS.items()
}
