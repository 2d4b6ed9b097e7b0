"""Constant folding with ONNX's own reference evaluator, in float64, after a look at the size of the result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from ircert.frontends.onnx.tensors import FLOATS, widened
from ircert.frontends.onnx.values import Call, Const, require_size

_RANDOM = frozenset(
    {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"}
)
_TO_INTEGERS = frozenset({"Floor", "Ceil", "Round", "Cast"})
_BROADCASTING = frozenset({"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "Where", "Equal", "Greater"})


def can_fold(call: Call) -> bool:
    """Whether the node's outputs are known: all its inputs are, and it is neither random nor control flow."""
    known = all(value is None or isinstance(value, np.ndarray) for value in call.inputs)
    has_graphs = any(attribute.type == onnx.AttributeProto.GRAPH for attribute in call.proto.attribute)
    standard = call.proto.domain in ("", "ai.onnx")
    return known and standard and call.op not in _RANDOM and not has_graphs


def fold(call: Call, inputs: tuple[Const | None, ...]) -> list[Const]:
    """The node's outputs for these inputs; floats are computed, and returned, as float64."""
    _require_possible(call, inputs)
    node = onnx.NodeProto()
    node.CopyFrom(call.proto)
    _without_narrow_casts(node)
    if call.op in _TO_INTEGERS and call.get("to", None) not in FLOATS:
        inputs = tuple(None if value is None else _as_float32(value) for value in inputs)
    names = {f"i{k}": value for k, value in enumerate(inputs) if value is not None}
    del node.input[:]
    node.input.extend(f"i{k}" if value is not None else "" for k, value in enumerate(inputs))
    outputs = [name for name in node.output if name]
    values = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in [*names, *outputs]]
    graph = helper.make_graph([node], "fold", values[: len(names)], values[len(names) :])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", call.opset)])
    with np.errstate(all="ignore"):
        results = dict(zip(outputs, ReferenceEvaluator(model).run(None, names), strict=True))
    if not all(isinstance(value, np.ndarray | np.generic) for value in results.values()):
        raise call.refuse("it makes sequences, not tensors")
    return [widened(np.asarray(results[name])) if name else np.zeros(0) for name in node.output]


def _as_float32(array: Const) -> Const:
    """Sizes such as floor(10 * 0.7f) are meant as float32 computes them: 7, not the 6 that float64 gives.

    A float that float32 does not round to an integer keeps its own value.
    """
    if array.dtype != np.float64:
        return array
    rounded = array.astype(np.float32).astype(np.float64)
    return np.where(rounded == np.rint(rounded), rounded, array)


def _without_narrow_casts(node: Any) -> None:
    """All floats are float64 here, so a cast to a float type is a cast to double."""
    for attribute in node.attribute:
        if attribute.name in ("to", "dtype") and attribute.i in FLOATS:
            attribute.i = TensorProto.DOUBLE


def _require_possible(call: Call, inputs: tuple[Const | None, ...]) -> None:
    """Refuse results whose size is a claim of the file rather than a consequence of the data in it."""
    claim = _claimed(call, inputs)
    if claim is not None and claim != 0:
        require_size(claim, call.where)


def _claimed(call: Call, inputs: tuple[Const | None, ...]) -> int | None:
    arrays = [value for value in inputs if value is not None]
    match call.op, arrays:
        case "ConstantOfShape", [shape]:
            return _product(shape)
        case "Expand", [data, shape]:
            return _product(np.broadcast_shapes(data.shape, tuple(int(n) for n in shape)))
        case "Tile", [data, repeats]:
            return data.size * _product(repeats)
        case "Range", [start, limit, delta]:
            return max(0, math.ceil((limit.item() - start.item()) / delta.item()))
        case "Pad", _:
            pads = np.asarray(call.get("pads", call.get("paddings", arrays[1] if len(arrays) > 1 else [])))
            return _padded(arrays[0].shape, [int(n) for n in pads.ravel()])
        case "Resize" | "Upsample", [data, *rest]:
            return _resized(data, call, rest)
        case "OneHot", [indices, depth, _]:
            return indices.size * int(depth.item())
        case (("MatMul" | "Gemm"), [a, b, *_]):
            return a.size * b.size // max(1, min(a.shape[-1:] + b.shape[:1], default=1)) ** 2
        case op, _ if op in _BROADCASTING:
            return _product(np.broadcast_shapes(*(a.shape for a in arrays)))
        case _:
            return None


def _product(shape: Any) -> int:
    return math.prod(int(n) for n in np.asarray(shape).ravel())


def _padded(shape: tuple[int, ...], pads: list[int]) -> int:
    if len(pads) != 2 * len(shape):
        return max(0, math.prod(shape)) * max(1, math.prod(1 + abs(n) for n in pads))
    return math.prod(max(0, n + pads[k] + pads[k + len(shape)]) for k, n in enumerate(shape))


def _resized(data: Const, call: Call, rest: list[Const]) -> int:
    if call.op == "Resize" and rest and rest[-1].dtype.kind == "i":
        return _product(rest[-1])
    scales = call.get("scales", rest[-1] if rest else [])
    return math.ceil(data.size * float(np.prod(np.asarray(scales, dtype=np.float64))))
