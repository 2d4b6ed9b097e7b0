"""Writing a graph as ONNX: every number as DOUBLE, so that nothing rounds, and only with operators that run.

onnxruntime's CPU kernels lack double precision for some operators (Conv, AveragePool, Elu, Gelu, …). Where the same
numbers can be reached through operators that have it, those are written: a convolution is a Gather of its windows and a
MatMul, a mean a Gather, Mul and ReduceSum, a leaky relu a PRelu (which also keeps slopes that LeakyRelu's float32
attribute would round). The rest (`NOT_IN_ONNXRUNTIME`) are written as they are: valid ONNX, for runtimes that do.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ircert import __version__
from ircert.errors import FileError, UnsupportedModel
from ircert.files import replacing
from ircert.ir import ops
from ircert.ir.arrays import Sparse
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import curves, gates, smooth

OPSET = 17  # newer ones lose PRelu in double precision in onnxruntime; Gelu alone needs 20
GELU_OPSET = 20
DENSE_LIMIT = 5_000_000  # entries: a sparse matrix is never written as a larger dense one
SMALL = 10_000  # entries: below this a plain Gemm is more readable than a gather
PROTOBUF_LIMIT = 2**31 - 1
NOT_IN_ONNXRUNTIME = frozenset({"gelu_erf", "elu", "erf", "gelu", "hard_swish", "mish", "softplus", "softsign"})


def to_onnx(graph: Graph) -> Any:
    """The graph as an onnx.ModelProto: one DOUBLE input (batch, n), one output (batch, m), named as its nodes."""
    from onnx import TensorProto, helper

    writer = Writer(graph)
    for node in graph.nodes:
        writer.write(node)
    output = graph.output
    if output == graph.input:  # an ONNX graph cannot return its input under the same name
        output = writer.add("Identity", [graph.input], f"{graph.input}/output")
    ends = [(graph.input, graph.input_dim), (output, graph.output_dim)]
    source, result = (helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["batch", n]) for name, n in ends)
    body = helper.make_graph(writer.nodes, "ircert", [source], [result], writer.constants)
    gelu = any(isinstance(node.op, curves.Gelu | curves.GeluTanh) for node in graph.nodes)
    opset = helper.make_opsetid("", GELU_OPSET if gelu else OPSET)
    model = helper.make_model(body, opset_imports=[opset], producer_name="ircert", producer_version=__version__)
    model.ir_version = 9 if gelu else 8
    return model


def save_onnx(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write the graph as an .onnx file, whole or not at all."""
    model = to_onnx(graph)
    if model.ByteSize() > PROTOBUF_LIMIT:
        raise FileError("the model is larger than 2 GB, the limit of one ONNX file", path=path, remedy="save it as .ir")
    with replacing(path) as file:
        file.write(model.SerializeToString(deterministic=True))


class Writer:
    """Collects ONNX nodes and constants; tensors are named as IR nodes, helpers `node/part` (no IR name has a `/`)."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def write(self, node: Node) -> None:
        """Add everything that computes this IR node."""
        emit = _EMITTERS.get(type(node.op))
        if emit is None:
            raise UnsupportedModel(
                f"{node.op.kind} cannot be written as ONNX",
                where=f"node `{node.name}`",
                remedy="run `canonicalize` before, or save it as .ir",
            )
        emit(self, node)

    def add(self, op_type: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        """Add one ONNX node; the name of its output."""
        from onnx import helper

        self.nodes.append(helper.make_node(op_type, list(inputs), [output], name=output, **attributes))
        return output

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant tensor; its name."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.array(values), name))
        return name

    def reshape(self, x: str, output: str, *shape: int) -> str:
        """Reshape all but the batch axis, which stays whatever it is."""
        return self.add("Reshape", [x, self.constant(f"{output}/shape", np.array([-1, *shape]))], output)


Emitter = Callable[[Writer, Node], object]


def _plain(op_type: str, **attributes: object) -> Emitter:
    """An operator with the same meaning and no parameters."""
    return lambda writer, node: writer.add(op_type, node.operands, node.name, **attributes)


def _nothing(writer: Writer, node: Node) -> None:
    """The input is declared by the graph."""


# --- affine maps -------------------------------------------------------------------------------------------------


def _affine(writer: Writer, node: Node) -> None:
    op = node.op
    assert isinstance(op, ops.Affine)
    if isinstance(op.weight, np.ndarray) or _better_dense(op.weight):
        dense = op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()
        weight, bias = writer.constant(f"{node.name}/weight", dense), writer.constant(f"{node.name}/bias", op.bias)
        writer.add("Gemm", [node.operands[0], weight, bias], node.name, transB=1)
    else:
        _sparse_affine(writer, node, op)


def _better_dense(weight: Sparse) -> bool:
    """Whether a sparse matrix is small, or not much smaller with its rows padded to equal length."""
    entries = weight.shape[0] * weight.shape[1]
    return entries <= SMALL or (entries <= DENSE_LIMIT and 4 * weight.shape[0] * _widest(weight) > entries)


def _widest(weight: Sparse) -> int:
    return max(1, int(np.diff(weight.indptr).max()))


def _sparse_affine(writer: Writer, node: Node, op: ops.Affine) -> None:
    """Gather the entries that each row needs, weigh them and sum; short rows are padded with weight zero."""
    weight, name = op.weight, node.name
    assert not isinstance(weight, np.ndarray)
    rows, width = weight.shape[0], _widest(weight)
    if rows * width > max(DENSE_LIMIT, 8 * weight.nnz):
        raise UnsupportedModel(
            f"its sparse matrix {weight.shape} has rows of very different length: ONNX has no good form for it",
            where=f"node `{name}`",
            remedy="save the graph as .ir",
        )
    counts = np.diff(weight.indptr)
    row = np.repeat(np.arange(rows), counts)
    column = np.arange(weight.nnz) - np.repeat(weight.indptr[:-1], counts)
    indices, values = np.zeros((rows, width), dtype=np.int64), np.zeros((rows, width))
    indices[row, column], values[row, column] = weight.indices, weight.data
    total = _weighted_sum(writer, node.operands[0], f"{name}/sum", indices, values)
    writer.add("Add", [total, writer.constant(f"{name}/bias", op.bias)], name)


def _weighted_sum(writer: Writer, x: str, name: str, indices: NDArray[Any], values: NDArray[Any]) -> str:
    """x[..., indices] * values, summed over the last axis."""
    gathered = writer.add("Gather", [x, writer.constant(f"{name}/indices", indices)], f"{name}/gathered", axis=-1)
    weighted = writer.add("Mul", [gathered, writer.constant(f"{name}/weights", values)], f"{name}/weighted")
    axis = writer.constant(f"{name}/axis", np.array([-1]))
    return writer.add("ReduceSum", [weighted, axis], name, keepdims=0)


# --- images ------------------------------------------------------------------------------------------------------


def _conv(writer: Writer, node: Node) -> None:
    """Gather the windows (batch, groups, positions, entries) and multiply them by the kernels of each group."""
    op, name = node.op, node.name
    assert isinstance(op, ops.Conv)
    assert op.bias is not None
    out, channels = op.weight.shape[:2]
    inside, groups = op.windows.inside, op.groups
    index = np.where(inside, op.windows.index, 0)
    offsets = (np.arange(op.image[0]) * math.prod(op.image[1:])).reshape(groups, 1, channels, 1)
    windows = (offsets + index[:, None, :]).reshape(groups, op.windows.positions, -1)
    x = writer.add("Gather", [node.operands[0], writer.constant(f"{name}/indices", windows)], f"{name}/windows", axis=1)
    if not inside.all():
        mask = np.repeat(inside[:, None, :], channels, axis=1).reshape(op.windows.positions, -1)
        x = writer.add("Mul", [x, writer.constant(f"{name}/inside", mask.astype(np.float64))], f"{name}/padded")
    kernels = op.weight.reshape(groups, out // groups, -1).transpose(0, 2, 1)
    y = writer.add("MatMul", [x, writer.constant(f"{name}/weight", kernels)], f"{name}/product")
    bias = writer.constant(f"{name}/bias", op.bias.reshape(groups, 1, -1))
    y = writer.add("Add", [y, bias], f"{name}/pixels")
    y = writer.add("Transpose", [y], f"{name}/channels", perm=[0, 1, 3, 2])
    writer.reshape(y, name, writer.graph.sizes[name])


def _average_pool(writer: Writer, node: Node) -> None:
    """A weighted sum of each window, channel by channel."""
    op, name = node.op, node.name
    assert isinstance(op, ops.AveragePool)
    inside = op.windows.inside
    count = inside.shape[1] if op.count_padding else np.maximum(inside.sum(axis=1, keepdims=True), 1)
    index, share = np.where(inside, op.windows.index, 0), inside * (1.0 / count)
    image = writer.reshape(node.operands[0], f"{name}/image", op.image[0], math.prod(op.image[1:]))
    writer.reshape(_weighted_sum(writer, image, f"{name}/mean", index, share), name, writer.graph.sizes[name])


def _max_pool(writer: Writer, node: Node) -> None:
    op, name = node.op, node.name
    assert isinstance(op, ops.MaxPool)
    image = writer.reshape(node.operands[0], f"{name}/image", *op.image)
    attributes = {"kernel_shape": op.kernel, "strides": op.stride, "pads": op.padding, "dilations": op.dilation}
    pooled = writer.add("MaxPool", [image], f"{name}/pooled", **attributes)
    writer.reshape(pooled, name, writer.graph.sizes[name])


# --- activations -------------------------------------------------------------------------------------------------


def _select(writer: Writer, node: Node) -> None:
    op = node.op
    assert isinstance(op, ops.Select)
    indices = writer.constant(f"{node.name}/indices", op.indices)
    writer.add("Gather", [node.operands[0], indices], node.name, axis=1)


def _leaky_relu(writer: Writer, node: Node) -> None:
    op = node.op
    assert isinstance(op, ops.LeakyRelu)
    writer.add("PRelu", [node.operands[0], writer.constant(f"{node.name}/slope", op.slope)], node.name)


def _clip(writer: Writer, node: Node) -> None:
    """Clip takes one number for each bound; with one per entry it is Max with the lower, then Min with the upper."""
    op, x, name = node.op, node.operands[0], node.name
    assert isinstance(op, ops.Clip)
    if all(bound is None or len(bound) == 1 for bound in (op.low, op.high)):
        low = "" if op.low is None else writer.constant(f"{name}/low", op.low[0])
        high = [] if op.high is None else [writer.constant(f"{name}/high", op.high[0])]
        writer.add("Clip", [x, low, *high], name)
        return
    if op.low is not None:
        low = writer.constant(f"{name}/low", op.low)
        x = writer.add("Max", [x, low], name if op.high is None else f"{name}/raised")
    if op.high is not None:
        writer.add("Min", [x, writer.constant(f"{name}/high", op.high)], name)


def _elu(writer: Writer, node: Node) -> None:
    """An attribute is a float32: an alpha that it would round is refused rather than changed."""
    op = node.op
    assert isinstance(op, curves.Elu)
    if float(np.float32(op.alpha)) != op.alpha:
        raise UnsupportedModel(
            f"ONNX stores alpha as float32, which cannot hold {op.alpha!r}",
            where=f"node `{node.name}`",
            remedy="save the graph as .ir",
        )
    writer.add("Elu", node.operands, node.name, alpha=op.alpha)


def _power(writer: Writer, node: Node) -> None:
    op = node.op
    assert isinstance(op, smooth.Power)
    exponent = writer.constant(f"{node.name}/exponent", np.array(op.exponent))
    writer.add("Pow", [node.operands[0], exponent], node.name)


def _choose(writer: Writer, node: Node) -> None:
    left, right, a, b = node.operands
    writer.add("Where", [writer.add("Greater", [left, right], f"{node.name}/greater"), a, b], node.name)


def _silu(writer: Writer, node: Node) -> None:
    gate = writer.add("Sigmoid", node.operands, f"{node.name}/gate")
    writer.add("Mul", [node.operands[0], gate], node.name)


def _swish(writer: Writer, node: Node) -> None:
    op, x, name = node.op, node.operands[0], node.name
    assert isinstance(op, gates.Swish)
    inner = writer.add("Mul", [x, writer.constant(f"{name}/rate", np.array(op.rate))], f"{name}/inner")
    writer.add("Mul", [x, writer.add("Sigmoid", [inner], f"{name}/gate")], name)


def _gelu_gate(writer: Writer, node: Node, gate: str, inner: str) -> None:
    """x (1 + gate(inner)) / 2."""
    x, name = node.operands[0], node.name
    one, half = (writer.constant(f"{name}/{word}", np.array(n)) for word, n in (("one", 1.0), ("half", 0.5)))
    raised = writer.add("Add", [writer.add(gate, [inner], f"{name}/gate"), one], f"{name}/raised")
    writer.add("Mul", [writer.add("Mul", [x, raised], f"{name}/gated"), half], name)


def _gelu_erf(writer: Writer, node: Node) -> None:
    op, name = node.op, node.name
    assert isinstance(op, gates.GeluErf)
    rate = writer.constant(f"{name}/rate", np.array(op.rate))
    _gelu_gate(writer, node, "Erf", writer.add("Mul", [node.operands[0], rate], f"{name}/inner"))


def _gelu_cubic(writer: Writer, node: Node) -> None:
    op, x, name = node.op, node.operands[0], node.name
    assert isinstance(op, gates.GeluCubic)
    rate, cube = (writer.constant(f"{name}/{w}", np.array(n)) for w, n in (("rate", op.rate), ("cube", op.cube)))
    third = writer.add("Mul", [x, writer.add("Mul", [x, x], f"{name}/square")], f"{name}/third")
    total = writer.add("Add", [x, writer.add("Mul", [third, cube], f"{name}/scaled")], f"{name}/sum")
    _gelu_gate(writer, node, "Tanh", writer.add("Mul", [total, rate], f"{name}/inner"))


def _mish(writer: Writer, node: Node) -> None:
    gate = writer.add("Tanh", [writer.add("Softplus", node.operands, f"{node.name}/softplus")], f"{node.name}/gate")
    writer.add("Mul", [node.operands[0], gate], node.name)


def _square(writer: Writer, node: Node) -> None:
    writer.add("Mul", [node.operands[0], node.operands[0]], node.name)


def _softmax(op_type: str) -> Emitter:
    def emit(writer: Writer, node: Node) -> None:
        op, size = node.op, writer.graph.sizes[node.name]
        assert isinstance(op, smooth.Softmax)
        groups = writer.reshape(node.operands[0], f"{node.name}/groups", size // op.group, op.group)
        writer.reshape(writer.add(op_type, [groups], f"{node.name}/normalised", axis=-1), node.name, size)

    return emit


_EMITTERS: dict[type[ops.Op], Emitter] = {
    ops.Input: _nothing,
    ops.Affine: _affine,
    ops.Relu: _plain("Relu"),
    ops.Add: _plain("Sum"),
    ops.Concat: _plain("Concat", axis=1),
    ops.Select: _select,
    ops.LeakyRelu: _leaky_relu,
    ops.Abs: _plain("Abs"),
    ops.Max: _plain("Max"),
    ops.Min: _plain("Min"),
    ops.Clip: _clip,
    ops.Conv: _conv,
    ops.AveragePool: _average_pool,
    ops.MaxPool: _max_pool,
    smooth.Product: _plain("Mul"),
    smooth.Choose: _choose,
    smooth.Power: _power,
    curves.Elu: _elu,
    curves.Silu: _silu,
    curves.Mish: _mish,
    ops.Square: _square,
    gates.Swish: _swish,
    gates.GeluErf: _gelu_erf,
    gates.GeluCubic: _gelu_cubic,
    smooth.Softmax: _softmax("Softmax"),
    smooth.LogSoftmax: _softmax("LogSoftmax"),
    curves.GeluTanh: _plain("Gelu", approximate="tanh"),
    curves.HardSwish: _plain("HardSwish"),
    curves.Softplus: _plain("Softplus"),
    **{getattr(curves, name): _plain(name) for name in ("Tanh", "Sigmoid", "Erf", "Sin", "Cos", "Gelu", "Softsign")},
    **{getattr(smooth, name): _plain(name) for name in ("Log", "Sqrt", "Reciprocal")},
    ops.Exp: _plain("Exp"),
}
