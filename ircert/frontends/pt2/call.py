"""One call of a torch operation, as those who write it in ONNX see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import helper

from ircert.errors import UnsupportedModel
from ircert.frontends.assembly import Assembly
from ircert.frontends.pt2.program import Meta, Node, Program, Ref

_OTHERWISE = "export the model to .onnx instead, or write it otherwise"


@dataclass(frozen=True)
class Call:
    """A node of the program, and the model that is put together."""

    node: Node
    program: Program
    sheet: Assembly

    @property
    def out(self) -> str:
        """The name of its (first) result."""
        return self.node.outputs[0]

    @property
    def dtype(self) -> Any:
        """The type of its (first) result."""
        return self.meta(Ref(self.out)).dtype

    def get(self, name: str, default: Any = None) -> Any:
        """An argument, where the file leaves it out its default."""
        return self.node.arguments.get(name, default)

    def number(self, name: str, default: Any = None) -> Any:
        """An argument that is a number, not a computed one."""
        value = self.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(f"its argument `{name}` is no number")
        return value

    def numbers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """An argument that is a list of integers; one integer is a list too."""
        value = self.get(name, default)
        value = [value] if isinstance(value, int) else value
        if not isinstance(value, list | tuple) or not all(isinstance(n, int) for n in value):
            raise self.refuse(f"its argument `{name}` is computed, or no list of integers")
        return list(value)

    def meta(self, ref: Any) -> Meta:
        """What is known of a tensor."""
        if not isinstance(ref, Ref) or ref.name not in self.program.metas:
            raise self.refuse("it is given something that is no tensor")
        return self.program.metas[ref.name]

    def shape(self, name: str = "self") -> tuple[int | str, ...]:
        """The sizes of a tensor argument; a word stands for an open one."""
        return self.meta(self.get(name)).shape

    def sizes(self, name: str = "self", first: int = 0) -> list[int]:
        """The sizes of a tensor argument from one on, which must be numbers."""
        sizes = self.shape(name)[first:]
        if not all(isinstance(n, int) for n in sizes):
            raise self.refuse("it needs a size that is left open", "export the model with fixed shapes")
        return [int(n) for n in sizes]

    def axis(self, name: str = "dim", default: int = 0, of: str = "self", more: int = 0) -> int:
        """An axis, counted from the first."""
        rank = max(1, len(self.shape(of)) + more)
        return int(self.number(name, default)) % rank

    def tensor(self, name: str = "self") -> str:
        """The name of a tensor argument."""
        ref = self.get(name)
        if not isinstance(ref, Ref):
            raise self.refuse(f"its argument `{name}` is no tensor")
        return ref.name

    def optional(self, name: str) -> str | None:
        """The name of a tensor argument that may be left out."""
        return None if self.get(name) is None else self.tensor(name)

    def operand(self, name: str, dtype: Any = None) -> str:
        """A tensor, or a number as a constant, in the type of the result."""
        value, wanted = self.get(name), dtype or self.dtype
        if isinstance(value, Ref) and value.name in self.program.metas:
            same = self.meta(value).dtype == wanted
            return value.name if same else self.cast(value.name, wanted)
        if isinstance(value, Ref):
            return self.cast(value.name, wanted)
        return self.sheet.constant(self.number(name), dtype=wanted)

    def cast(self, name: str, dtype: Any) -> str:
        """The same numbers in another type."""
        return self.sheet.add("Cast", name, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def real(self, value: float) -> float:
        """A number as an attribute, which ONNX keeps in float32: torch rounds it so too, unless the model is double."""
        if self.dtype == np.float64 and float(np.float32(value)) != value:
            raise self.refuse(f"{value} is no float32 number, as ONNX would keep it", "export the model in float32")
        return float(value)

    def emit(self, op: str, *inputs: str | None, **attributes: Any) -> None:
        """The last node, which makes the result."""
        self.sheet.add(op, *inputs, name=self.out, **attributes)

    def refuse(self, problem: str, remedy: str = _OTHERWISE) -> UnsupportedModel:
        """The error that names this call."""
        return UnsupportedModel(f"{self.node.target}: {problem}", where=f"node `{self.out}`", remedy=remedy)
