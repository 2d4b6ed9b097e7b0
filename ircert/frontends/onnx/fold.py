"""Constant folding: known arrays stay arrays, in the types that the file gives them.

Shape arithmetic and moves are computed on the arrays themselves; every other op is read by its own handler into a
small network of its own and evaluated there, so that a constant and an input of the same value give the same function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from ircert.frontends.onnx.arrays import OPS, require_possible
from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.tensors import is_float
from ircert.frontends.onnx.values import Call, Comparison, Const, Tensor, Value

Handler = Callable[[Net, Call], Value | Sequence[Value]]

# Moves of entries for which ONNX's reference evaluator is asked; nothing else is.
_REFERENCE = frozenset(
    {
        *("Compress", "DepthToSpace", "EyeLike", "GatherND", "NonZero", "OneHot"),
        *("ReverseSequence", "ScatterElements", "ScatterND", "SpaceToDepth", "Trilu"),
    }
)
# Handlers that take constants in every place: the product of two matrices is not spread into a map of its entries.
_TAKES_CONSTANTS = frozenset({"Gemm", "MatMul"})


def is_known(call: Call) -> bool:
    """Whether the values of all its inputs are known."""
    return all(value is None or isinstance(value, np.ndarray) for value in call.inputs)


def can_move(call: Call) -> bool:
    """Whether the op is computed on arrays."""
    return call.op in OPS or call.op in _REFERENCE


def move(call: Call, inputs: Sequence[Const | None]) -> list[Const]:
    """The outputs of an op on arrays, in the arrays' own types."""
    with np.errstate(all="ignore"):
        if call.op not in OPS:
            return _referred(call, inputs)
        given = replace(call, inputs=tuple(inputs))
        results = OPS[call.op](given, [array for array in inputs if array is not None])
    return [np.asarray(results)] if isinstance(results, np.ndarray | np.generic) else list(results)


def fold_with(handler: Handler, call: Call) -> list[Value]:
    """The outputs of an op on arrays by its own handler, evaluated in float64 and rounded to the type of its data."""
    arrays = [value for value in call.inputs if isinstance(value, np.ndarray)]
    if not arrays or not arrays[0].size:
        raise call.refuse("it is given no numbers")
    data = arrays[0]
    net = Net(1 if call.op in _TAKES_CONSTANTS else data.size, "x")
    net.where = call.where
    inputs: tuple[Value | None, ...] = call.inputs
    if call.op not in _TAKES_CONSTANTS:
        inputs = (Tensor(net.build.input, data.shape), *call.inputs[1:])
    point = np.zeros(1) if call.op in _TAKES_CONSTANTS else net.numbers(data).ravel()
    results = handler(net, replace(call, inputs=inputs))
    many = results if isinstance(results, tuple | list) else (results,)
    return [_evaluated(net, call, value, point, data.dtype) for value in many]


def _evaluated(net: Net, call: Call, value: Any, point: Const, dtype: Any) -> Value:
    if isinstance(value, np.ndarray | Comparison):
        return value
    with np.errstate(all="ignore"):
        result = net.graph(value)(point).reshape(value.shape)
        rounded = result.astype(dtype)
    if not is_float(dtype) and not (np.array_equal(rounded, result) and np.all(np.abs(result) < 2.0**53)):
        raise call.refuse("it makes integers that are not exact", "store the result instead")
    return rounded


def _referred(call: Call, inputs: Sequence[Const | None]) -> list[Const]:
    """The outputs by ONNX's own reference evaluator."""
    if call.get("reduction", b"none") != b"none":
        raise call.refuse("it reduces entries that meet", "only reduction `none`, which moves entries, is read")
    _require_claim(call, [array for array in inputs if array is not None])
    node = onnx.NodeProto()
    node.CopyFrom(call.proto)
    names = {f"i{k}": value for k, value in enumerate(inputs) if value is not None}
    del node.input[:]
    node.input.extend(f"i{k}" if value is not None else "" for k, value in enumerate(inputs))
    outputs = [name for name in node.output if name]
    values = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in [*names, *outputs]]
    graph = helper.make_graph([node], "fold", values[: len(names)], values[len(names) :])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", call.opset)])
    results = dict(zip(outputs, ReferenceEvaluator(model).run(None, names), strict=True))
    return [np.asarray(results[name]) if name else np.zeros(0) for name in node.output]


def _require_claim(call: Call, arrays: Sequence[Const]) -> None:
    if call.op == "OneHot":
        require_possible(arrays[0].size * abs(int(arrays[1].item())), call)
    if call.op == "GatherND":
        require_possible(arrays[1].size * math.prod(arrays[0].shape[1:]), call)
