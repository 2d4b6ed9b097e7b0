"""One call of a Keras layer, as those who write it in ONNX see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert.errors import UnsupportedModel
from ircert.frontends.assembly import Assembly


@dataclass(frozen=True)
class Tensor:
    """A result: its name, and how many dimensions it has."""

    name: str
    rank: int


@dataclass(frozen=True)
class Call:
    """A layer: its class, its settings, what it is called on, its weights, and the model that is put together."""

    kind: str
    layer: str
    config: Mapping[str, Any]
    operands: list[Tensor]
    weights: list[NDArray[Any]]
    sheet: Assembly

    @property
    def x(self) -> Tensor:
        """Its only operand."""
        if len(self.operands) != 1:
            raise self.refuse(f"it is called on {len(self.operands)} tensors")
        return self.operands[0]

    def need(self, *ranks: int) -> list[NDArray[Any]]:
        """The weights, of which there are as many as the settings say, of so many dimensions."""
        if [weight.ndim for weight in self.weights] != list(ranks):
            shapes = [weight.shape for weight in self.weights]
            raise self.refuse(f"its weights have the shapes {shapes}"[:160], "save the model again")
        return self.weights

    def number(self, name: str, default: float) -> float:
        """A setting that is a number."""
        value = self.config.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(f"its setting {name} is no number")
        return float(value)

    def add(self, op: str, *inputs: str | None, **attributes: Any) -> str:
        """A node in front of the last one."""
        return self.sheet.add(op, *inputs, **attributes)

    def constant(self, values: Any) -> str:
        """An array of numbers, as float32 like everything in the model; lists of integers are sizes."""
        if isinstance(values, list):
            return self.sheet.constant(values)
        array = np.asarray(values)
        return self.sheet.constant(array, dtype=array.dtype if array.ndim else np.float32)

    def refuse(self, problem: str, remedy: str = "export the model to .onnx instead") -> UnsupportedModel:
        """The error that names this layer."""
        return UnsupportedModel(f"{self.kind}: {problem}", where=f"layer `{self.layer}`", remedy=remedy)
