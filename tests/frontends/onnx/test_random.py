"""Random ONNX graphs over the ops that are read, valid by construction, against onnxruntime."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.frontends.support import compare, model, node

Draw = Callable[[st.SearchStrategy[Any]], Any]
Shape = tuple[int, ...]


@dataclass
class Sketch:
    """A model that grows node by node; `values` are the tensors so far with their shapes."""

    draw: Draw
    opset: int
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    values: list[tuple[str, Shape]] = field(default_factory=list)

    def constant(self, *shape: int) -> str:
        """A weight of short decimals, so that float32 arithmetic hardly rounds."""
        numbers = self.draw(st.lists(st.integers(-8, 8), min_size=math.prod(shape), max_size=math.prod(shape)))
        return self.stored(np.array(numbers, dtype=np.float32).reshape(shape) / 4)

    def stored(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def add(self, op: str, *inputs: str, **attributes: Any) -> tuple[str, Shape]:
        """Append a node; its shape is what ONNX infers."""
        output = f"t{len(self.values)}"
        made = node(op, " ".join(inputs), output, **attributes)
        shapes = {name: list(shape) for name, shape in self.values if name in inputs}
        single = model([made], shapes, {n: self.constants[n] for n in inputs if n in self.constants}, outputs=[output])  # type: ignore[arg-type]
        del single.graph.output[0]
        single.graph.output.add(name=output)
        single.opset_import[0].version = self.opset
        inferred = onnx.shape_inference.infer_shapes(single, strict_mode=True, data_prop=True)
        shape = tuple(d.dim_value for d in inferred.graph.output[0].type.tensor_type.shape.dim)
        self.nodes.append(made)
        self.values.append((output, shape))
        return self.values[-1]


Step = Callable[[Sketch, str, Shape], object]


def activation(s: Sketch, x: str, shape: Shape) -> object:
    op = s.draw(st.sampled_from(["Relu", "LeakyRelu", "Abs", "Neg", "HardSigmoid", "Identity", "Tanh", "Sigmoid"]))
    return s.add(op, x)


def clip(s: Sketch, x: str, shape: Shape) -> object:
    low, high = s.draw(st.booleans()), s.draw(st.booleans())
    bounds = [s.constant() if low else "_", s.constant() if high else "_"]
    return s.add("Clip", x, *bounds)


def prelu(s: Sketch, x: str, shape: Shape) -> object:
    return s.add("PRelu", x, s.constant(*shape[1:]))


def arithmetic(s: Sketch, x: str, shape: Shape) -> object:
    op = s.draw(st.sampled_from(["Add", "Sub", "Mul", "Max", "Min"]))
    kept = tuple(n if s.draw(st.booleans()) else 1 for n in shape)
    c = s.constant(*kept[s.draw(st.integers(0, len(kept))) :])
    return s.add(op, *((x, c) if s.draw(st.booleans()) else (c, x)))


def join(s: Sketch, x: str, shape: Shape) -> object:
    other = s.draw(st.sampled_from([name for name, known in s.values if known == shape]))
    op = s.draw(st.sampled_from(["Add", "Sub", "Max", "Min", "Concat", "Sum"]))
    axis = {"axis": s.draw(st.integers(-len(shape), len(shape) - 1))} if op == "Concat" else {}
    return s.add(op, x, other, **axis)


def dense(s: Sketch, x: str, shape: Shape) -> object:
    width = s.draw(st.integers(1, 3))
    if s.draw(st.booleans()):
        return s.add("MatMul", x, s.constant(shape[-1], width))
    return s.add("MatMul", s.constant(width, shape[-2]), x)


def gemm(s: Sketch, x: str, shape: Shape) -> object:
    flat, (_, columns) = s.add("Flatten", x)
    width, transposed = s.draw(st.integers(1, 3)), s.draw(st.booleans())
    weight = s.constant(width, columns) if transposed else s.constant(columns, width)
    bias = [s.constant(width)] if s.draw(st.booleans()) else []
    return s.add("Gemm", flat, weight, *bias, transB=int(transposed), alpha=s.draw(st.sampled_from([1.0, 0.5])))


def layout(s: Sketch, x: str, shape: Shape) -> object:
    axis = s.draw(st.integers(0, len(shape) - 1))
    match s.draw(st.sampled_from(["Transpose", "Flatten", "Reshape", "Slice", "Gather", "Unsqueeze", "Tile", "Pad"])):
        case "Transpose":
            return s.add("Transpose", x, perm=s.draw(st.permutations(range(len(shape)))))
        case "Flatten":
            return s.add("Flatten", x, axis=axis)
        case "Reshape":
            return s.add("Reshape", x, s.stored(np.array([*shape[:axis], -1])))
        case "Slice":
            step = s.draw(st.sampled_from([1, 2, -1]))
            bounds = (-1, -(2**31)) if step < 0 else (0, 2**31)
            return s.add("Slice", x, *(s.stored(np.array([v])) for v in (*bounds, axis, step)))
        case "Gather":
            chosen = s.draw(st.lists(st.integers(-shape[axis], shape[axis] - 1), min_size=1, max_size=3))
            return s.add("Gather", x, s.stored(np.array(chosen)), axis=axis)
        case "Unsqueeze":
            return s.add("Unsqueeze", x, s.stored(np.array([axis])))
        case "Tile":
            return s.add("Tile", x, s.stored(np.array([2 if k == axis else 1 for k in range(len(shape))])))
        case _:
            pads = s.draw(st.lists(st.integers(0, 1), min_size=2 * len(shape), max_size=2 * len(shape)))
            return s.add("Pad", x, s.stored(np.array(pads)), s.constant())


def reduction(s: Sketch, x: str, shape: Shape) -> object:
    axes = s.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    op = s.draw(st.sampled_from(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"]))
    return s.add(op, x, s.stored(np.array(sorted(axes))), keepdims=1)


def image(s: Sketch, x: str, shape: Shape) -> object:
    kernel = [s.draw(st.integers(1, min(2, n))) for n in shape[2:]]
    strides = [s.draw(st.integers(1, 2)) for _ in kernel]
    pads = [s.draw(st.integers(0, k - 1)) for k in kernel * 2]
    op = s.draw(st.sampled_from(["Conv", "MaxPool", "AveragePool", "GlobalAveragePool"]))
    if op == "GlobalAveragePool":
        return s.add(op, x)
    if op == "Conv":
        groups = s.draw(st.sampled_from((1, shape[1])))
        weight = s.constant(2 * groups, shape[1] // groups, *kernel)
        return s.add(op, x, weight, strides=strides, pads=pads, group=groups)
    extra = {"count_include_pad": s.draw(st.integers(0, 1))} if op == "AveragePool" else {}
    return s.add(op, x, kernel_shape=kernel, strides=strides, pads=pads, **extra)


def leaky_choice(s: Sketch, x: str, shape: Shape) -> object:
    condition, _ = s.add("Greater", x, s.stored(np.float32(0)))
    s.values.pop()  # a condition is not a tensor to compute with
    s.nodes[-1].output[0] = condition = f"g{len(s.nodes)}"
    scaled, _ = s.add("Mul", x, s.constant(*shape))
    result = f"t{len(s.values)}"
    s.nodes.append(node("Where", f"{condition} {x} {scaled}", result))
    s.values.append((result, shape))
    return result


def steps(shape: Shape) -> list[Step]:
    found: list[Step] = [activation, clip, arithmetic, join, layout, reduction, leaky_choice]
    found += [prelu] if len(shape) > 1 else []
    found += [dense] if len(shape) > 1 else []
    found += [gemm] if len(shape) > 1 else []
    return found + ([image] * 2 if len(shape) in (3, 4) else [])


@st.composite
def models(draw: Draw) -> Any:
    """A model of one to seven nodes or so, with tensors of at most 200 entries."""
    axes = draw(st.lists(st.integers(1, 4), min_size=0, max_size=3))
    shape = (1, *axes) if axes else (draw(st.integers(1, 5)),)
    sketch = Sketch(draw, opset=18, values=[("x", shape)])
    for _ in range(draw(st.integers(1, 6))):
        small = [value for value in sketch.values if math.prod(value[1]) <= 100 and len(value[1]) <= 5]
        x, known = small[-1] if draw(st.booleans()) else draw(st.sampled_from(small))
        draw(st.sampled_from(steps(known)))(sketch, x, known)
    return model(sketch.nodes, {"x": shape}, sketch.constants, outputs=[sketch.values[-1][0]], opset=18)


@examples(100)
@given(models())
def test_random_models_agree(built: Any) -> None:
    compare(built, count=4)


@pytest.mark.slow
@settings(max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(models())
def test_many_random_models_agree(built: Any) -> None:
    compare(built, count=4)
