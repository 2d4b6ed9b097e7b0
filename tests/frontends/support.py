"""Building small ONNX models and holding the reader against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import ircert
from ircert.errors import IrcertError, UnsupportedModel
from ircert.ir.build import Builder
from ircert.ir.graph import Graph

Dims = Sequence[int | str | None]
onnxruntime.set_default_logger_severity(4)


def model(
    nodes: Sequence[Any],
    inputs: dict[str, Dims],
    constants: dict[str, Any] | None = None,
    *,
    outputs: Sequence[str] = ("y",),
    opset: int = 17,
    dtype: int = TensorProto.FLOAT,
    functions: Sequence[Any] = (),
    domains: Sequence[str] = (),
) -> Any:
    """A model of these nodes; float constants take the type of the inputs."""
    real = helper.tensor_dtype_to_np_dtype(dtype)
    stored = []
    for name, value in (constants or {}).items():
        array = np.asarray(value)
        array = array.astype(real) if array.dtype.kind == "f" else array
        stored.append(numpy_helper.from_array(array, name))
    infos = [helper.make_tensor_value_info(name, dtype, dims) for name, dims in inputs.items()]
    results = [helper.make_tensor_value_info(name, dtype, None) for name in outputs]
    graph = helper.make_graph(list(nodes), "test", infos, results, stored)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    built = helper.make_model(graph, opset_imports=imports, functions=list(functions))
    built.ir_version = 7 if opset < 18 else 10
    return built


def one(
    op: str, shape: Dims, *constants: Any, opset: int = 17, dtype: int = TensorProto.FLOAT, **attributes: Any
) -> Any:
    """A model of one node: the input, then constants (None: left out)."""
    names = ["" if value is None else f"c{k}" for k, value in enumerate(constants)]
    stored = {name: value for name, value in zip(names, constants, strict=True) if name}
    node = helper.make_node(op, ["x", *names], ["y"], name=f"the_{op}", **attributes)
    return model([node], {"x": shape}, stored, opset=opset, dtype=dtype)


def runtime(built: Any, points: NDArray[Any], shapes: dict[str, tuple[int, ...]], outputs: Sequence[str]) -> Any:
    """onnxruntime's outputs, flat and one after the other, at each point of a batch of flat inputs."""
    session = onnxruntime.InferenceSession(
        built if isinstance(built, str) else built.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    types = {info.name: np.float64 if "double" in info.type else np.float32 for info in session.get_inputs()}
    types |= {info.name: np.float16 for info in session.get_inputs() if "float16" in info.type}
    rows = []
    for point in points:
        feed, start = {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            feed[name] = point[start : start + size].reshape(shape).astype(types[name])
            start += size
        rows.append(np.concatenate([np.ravel(v) for v in session.run(list(outputs), feed)]))
    return np.array(rows, dtype=np.float64)


def compare(built: Any, *, count: int = 8, rtol: float = 1e-5, spread: float = 2.0, low: float | None = None) -> Graph:
    """Load a model of one input, and agree with onnxruntime, with the text form and with exact evaluation."""
    graph = ircert.load(built)
    (info,) = [i for i in built.graph.input if i.name not in {t.name for t in built.graph.initializer}]
    shape = tuple(d.dim_value or 1 for d in info.type.tensor_type.shape.dim)
    points = sample(count, int(np.prod(shape)), spread, low)
    expected = runtime(built, points, {info.name: shape}, [o.name for o in built.graph.output])
    actual = graph(points)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * max(1.0, float(np.abs(expected).max())))
    check_graph(graph, points[:2])
    return graph


def sample(count: int, size: int, spread: float = 2.0, low: float | None = None) -> NDArray[np.float64]:
    """Points whose coordinates are short decimals of float32, ties included."""
    random = np.random.default_rng(7)
    points = np.round(random.uniform(-spread if low is None else low, spread, (count, size)) * 8) / 8
    points[0] = 0.0 if low is None else low
    return points


def check_graph(graph: Graph, points: NDArray[np.float64]) -> None:
    """Text round trip; and for piecewise-linear graphs: exact evaluation agrees, and lowering changes nothing."""
    assert ircert.parse(str(graph)) == graph
    if not all(node.op.piecewise_linear for node in graph.nodes):
        return
    exact = graph.exact(points)
    np.testing.assert_allclose(graph(points), exact.astype(np.float64), rtol=1e-9, atol=1e-9)
    assert np.array_equal(lowered(graph).exact(points), exact)


def lowered(graph: Graph) -> Graph:
    """Every op that is not core replaced by its lowering."""
    build = Builder(graph.input_dim)
    here = {graph.input: build.input}
    for node in graph.nodes:
        if node.name == graph.input:
            continue
        operands = [here[name] for name in node.operands]
        here[node.name] = build.node(node.op, *operands) if node.op.core else node.op.lower(build, *operands)
    return build.graph(here[graph.output])


def node(op: str, inputs: str, outputs: str = "y", **attributes: Any) -> Any:
    """`node("Add", "a b", "y")`; `_` is an input left out."""
    names = ["" if name == "_" else name for name in inputs.split()]
    return helper.make_node(op, names, outputs.split(), **attributes)


def weights(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    """Some float32 numbers, the same each time."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def inlined_external(tensor: Any, location: str, length: int, offset: int = 0) -> None:
    """Turn a stored tensor into a reference to a file."""
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))


def ints(*values: int) -> NDArray[np.int64]:
    """Sizes, axes and positions, as ONNX stores them."""
    return np.array(values, dtype=np.int64)


def refused(built: Any, *messages: str, kind: type[IrcertError] = UnsupportedModel, **options: Any) -> None:
    """Loading raises this error; it says all of this, and where or what to do."""
    with pytest.raises(kind) as error:
        ircert.load(built, **options)
    for message in messages:
        assert message in str(error.value)
    assert error.value.remedy or error.value.where


def agreeing(models: dict[str, Any]) -> Callable[[str], None]:
    """A test of each model against onnxruntime."""

    @pytest.mark.parametrize("name", models)
    def test(name: str) -> None:
        compare(models[name])

    return test


def evaluating(models: dict[str, Any]) -> Callable[[str], None]:
    """A test of each model that has an op that is not piecewise linear against onnxruntime."""

    @pytest.mark.parametrize("name", models)
    def test(name: str) -> None:
        graph = compare(models[name])
        assert not all(node.op.piecewise_linear for node in graph.nodes)

    return test


def refusing(models: dict[str, tuple[Any, str, str]]) -> Callable[[str], None]:
    """A test that each model is refused, with the op to blame and these words."""

    @pytest.mark.rule("F-2")
    @pytest.mark.parametrize("name", models)
    def test(name: str) -> None:
        built, op, message = models[name]
        refused(built, f"{op}: ", message, "node `")

    return test
