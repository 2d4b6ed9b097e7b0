"""What an ONNX value is while a model is read: a known array, a tensor of the graph, or a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ircert.errors import UnsupportedModel

# A computed array may not hold more numbers than this: files lie about sizes, and shapes multiply quickly. Stored
# weights are not limited: their bytes are there.
LARGEST = 1 << 23

Const: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Tensor:
    """A node of the graph being built, read row-major as an array of this shape."""

    node: str
    shape: tuple[int, ...]

    @property
    def index(self) -> NDArray[np.int64]:
        """The position of each entry in the flat vector, in the tensor's shape."""
        return np.arange(math.prod(self.shape)).reshape(self.shape)


@dataclass(frozen=True)
class Comparison:
    """Whether left > right (or, with `or_equal`, left >= right), entry by entry."""

    left: Tensor | Const
    right: Tensor | Const
    or_equal: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The broadcast shape."""
        return np.broadcast_shapes(self.left.shape, self.right.shape)


Value: TypeAlias = Tensor | Comparison | Const


@dataclass(frozen=True)
class Call:
    """One ONNX node with its inputs evaluated: None stands for an optional input left out."""

    op: str
    where: str
    inputs: tuple[Value | None, ...]
    attributes: Mapping[str, Any]
    outputs: tuple[str, ...]
    opset: int
    proto: Any

    def get(self, name: str, default: Any) -> Any:
        """An attribute, or what its absence means."""
        return self.attributes.get(name, default)

    def real(self, name: str, default: float) -> float:
        """A float attribute; ONNX stores attributes, and means its defaults, in float32."""
        return float(self.attributes.get(name, np.float32(default)))

    def input(self, k: int) -> Value | None:
        """Input k, None if it is left out."""
        return self.inputs[k] if k < len(self.inputs) else None

    def tensor(self, k: int) -> Tensor:
        """Input k, which must be a tensor of the graph."""
        value = self.input(k)
        if isinstance(value, Tensor):
            return value
        if isinstance(value, Comparison):
            raise self.refuse("it takes a comparison of computed numbers, which jumps", "only Where may take one")
        raise self.refuse(f"input {k} is a constant while others are computed", "this form of the op is not read")

    def const(self, k: int, what: str) -> Const | None:
        """Input k, which must be known without evaluating the network, or left out."""
        value = self.input(k)
        if value is None or isinstance(value, np.ndarray):
            return value
        raise self.refuse(f"its {what} is computed from the network's input", f"{what} must be a constant")

    def refuse(self, problem: str, remedy: str | None = None) -> UnsupportedModel:
        """The error to raise at this node."""
        return UnsupportedModel(f"{self.op}: {problem}", where=self.where, remedy=remedy)


def require_size(count: int, where: str) -> None:
    """Refuse to build an array that no honest network needs."""
    if count > LARGEST:
        raise UnsupportedModel(
            f"an array of {count} numbers would be needed",
            where=where,
            remedy=f"at most {LARGEST} are accepted; check the shapes stored in the file",
        )
    if count < 1:
        raise UnsupportedModel(
            "the result is an empty array", where=where, remedy="check the shapes stored in the file"
        )
