"""An ONNX model put together in memory: the way of models whose files hold another graph of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper, numpy_helper

OPSET = 20
_IR_VERSION = 9


class Assembly:
    """Collects nodes and constants; every method returns the name of what it added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._constants: list[Any] = []
        self._count = 0

    def input(self, name: str, dtype: Any, shape: Sequence[int | str]) -> str:
        """A graph input; a dimension that is a word is open."""
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self._inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def constant(self, array: NDArray[Any] | Sequence[int] | float, name: str | None = None, dtype: Any = None) -> str:
        """A stored array; integers are sizes and positions unless a type is given."""
        made = np.ascontiguousarray(np.asarray(array, dtype=dtype)).reshape(np.shape(array))
        name = name or self.fresh("constant")
        self._constants.append(numpy_helper.from_array(made, name))
        return name

    def add(self, op: str, *inputs: str | None, name: str | None = None, **attributes: Any) -> str:
        """A node of one output."""
        (output,) = self.split(op, *inputs, names=[name or self.fresh(op)], **attributes)
        return output

    def split(self, op: str, *inputs: str | None, names: Sequence[str], **attributes: Any) -> list[str]:
        """A node of several outputs, under these names."""
        given = [value or "" for value in inputs]
        known = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(op, given, list(names), name=names[0], **known))
        return list(names)

    def fresh(self, word: str) -> str:
        """A name that nothing has."""
        self._count += 1
        return f"{word}//{self._count}"  # names of tensors in files have no //

    def model(self, outputs: Sequence[str]) -> Any:
        """The whole, as an onnx.ModelProto."""
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "assembly", self._inputs, results, self._constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        made.ir_version = _IR_VERSION
        return made
