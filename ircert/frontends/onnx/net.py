"""The graph under construction, seen as tensors with shapes: what the handlers of the ops are written in."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.budget import Budget
from ircert.frontends.onnx.names import sanitised
from ircert.frontends.onnx.values import Comparison, Const, Tensor, Value, require_size
from ircert.ir.arrays import Array, Matrix, diagonal, freeze, identity
from ircert.ir.build import Builder, needed_nodes
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, Conv, Op, Select


class Net:
    """Adds nodes to a graph; every method takes and returns tensors. `where` is the ONNX node being read."""

    def __init__(self, length: int, name: str, budget: Budget | None = None) -> None:
        self.build = Builder(length, name="x")
        self._budget = budget
        self.where = ""
        self._labels = {self.build.input: sanitised(name)}

    def node(self, op: Op, *operands: Tensor, shape: Sequence[int]) -> Tensor:
        """One node; its result reads as an array of this shape."""
        require_size(math.prod(shape), self.where)
        if self._budget is not None:
            self._budget.take(8 * op.held, self.where)
        return Tensor(self.build.node(op, *(operand.node for operand in operands)), tuple(shape))

    def op(self, tensor: Tensor) -> Node:
        """The node behind a tensor."""
        return self.build.nodes[tensor.node]

    # --- values ----------------------------------------------------------------------------------------------------

    def numbers(self, array: Const) -> Array:
        """A constant as finite float64."""
        numbers = np.asarray(array, dtype=np.float64)
        if not np.all(np.isfinite(numbers)):
            raise UnsupportedModel(
                "a constant here holds nan or inf", where=self.where, remedy="every weight must be a finite number"
            )
        return numbers

    def tensor(self, value: Value | None) -> Tensor:
        """Any value as a tensor: a constant becomes an affine map that ignores the input."""
        if isinstance(value, Tensor):
            return value
        value = self.numeric(value)
        assert not isinstance(value, Tensor)
        require_size(value.size, self.where)
        nothing: Matrix = freeze(csr_array((value.size, self.build.size(self.build.input)), dtype=np.float64))
        return Tensor(
            self.build.affine(self.build.input, nothing, self.numbers(value).ravel(), name="constant"), value.shape
        )

    def numeric(self, value: Value | None) -> Tensor | Const:
        """A tensor or a constant; comparisons and missing inputs are refused."""
        if isinstance(value, Comparison) or value is None:
            raise self.refuse_comparison()
        return value if isinstance(value, Tensor) else np.asarray(value)  # arithmetic on 0-d arrays gives scalars

    def refuse_comparison(self) -> UnsupportedModel:
        """The error where a comparison would make the network jump."""
        return UnsupportedModel(
            "a comparison of computed numbers is used here, which makes the network jump",
            where=self.where,
            remedy="comparisons are read only inside Where, where both branches meet (as in where(x > 0, x, a x))",
        )

    # --- linear maps -----------------------------------------------------------------------------------------------

    def select(self, x: Tensor, index: NDArray[np.int64]) -> Tensor:
        """The entries of x at these flat positions, in the shape of `index`; nothing is added where nothing moves."""
        require_size(index.size, self.where)
        flat = index.ravel()
        if flat.size == math.prod(x.shape) and np.array_equal(flat, np.arange(flat.size)):
            return Tensor(x.node, index.shape)
        return self.node(Select(flat.astype(np.int64)), x, shape=index.shape)

    def broadcast(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """x repeated to this shape, as numpy does."""
        require_size(math.prod(shape), self.where)
        return self.select(x, np.broadcast_to(x.index, tuple(shape)))

    def affine(self, x: Tensor, weight: Matrix, bias: Array | None = None, *, shape: Sequence[int]) -> Tensor:
        """weight @ x + bias."""
        return self.node(Affine(weight, bias), x, shape=shape)

    def gather(
        self, x: Tensor, columns: NDArray[np.int64], weight: Array, bias: Array | None = None, *, shape: Sequence[int]
    ) -> Tensor:
        """Row i of the result is sum_k weight[i, k] * x[columns[i, k]] + bias[i]; both are (rows, terms)."""
        rows, terms = columns.shape
        steps = np.arange(rows + 1) * terms
        numbers, places = np.array(weight, dtype=np.float64).ravel(), np.array(columns).ravel()
        sparse = csr_array((numbers, places, steps), shape=(rows, math.prod(x.shape)))
        return self.affine(x, freeze(sparse), bias, shape=shape)

    def scale(self, x: Tensor, factor: Const) -> Tensor:
        """x * factor, entry by entry; factor broadcasts to x's shape."""
        values = np.broadcast_to(self.numbers(factor), x.shape).ravel()
        return x if np.all(values == 1.0) else self.affine(x, freeze(diagonal(values)), shape=x.shape)

    def shift(self, x: Tensor, offset: Const) -> Tensor:
        """x + offset. An affine map or convolution without a bias takes it as its own: nothing rounds."""
        values = np.broadcast_to(self.numbers(offset), x.shape)
        if not values.any():
            return x
        node = self.op(x)
        if isinstance(node.op, Affine) and not node.op.bias.any():
            return Tensor(self.build.node(Affine(node.op.weight, values.ravel()), *node.operands), x.shape)
        if isinstance(node.op, Conv) and not np.any(node.op.bias):
            channels = values.reshape(len(node.op.weight), -1)
            if np.all(channels == channels[:, :1]):
                fields = {**node.op.attributes(), "bias": channels[:, 0].copy()}
                return Tensor(self.build.node(Conv(**fields), *node.operands), x.shape)  # type: ignore[arg-type]
        return self.affine(x, freeze(identity(values.size)), values.ravel(), shape=x.shape)

    def add(self, *terms: Tensor) -> Tensor:
        """The sum of tensors, broadcast together."""
        shape = np.broadcast_shapes(*(term.shape for term in terms))
        same = [self.broadcast(term, shape) for term in terms]
        return same[0] if len(same) == 1 else self.node(Add(), *same, shape=shape)

    def negative(self, x: Tensor) -> Tensor:
        """-x."""
        return self.scale(x, np.array(-1.0))

    def concat(self, *parts: Tensor) -> Tensor:
        """All entries of the parts, one part after the other, as a 1-D tensor."""
        sizes = [math.prod(part.shape) for part in parts]
        return parts[0] if len(parts) == 1 else self.node(Concat(), *parts, shape=(sum(sizes),))

    # --- result ----------------------------------------------------------------------------------------------------

    def label(self, value: Value, name: str) -> None:
        """Remember the ONNX name of a node; the first name wins, since a reshape adds no node."""
        if isinstance(value, Tensor):
            self._labels.setdefault(value.node, sanitised(name))

    def graph(self, output: Tensor) -> Graph:
        """The graph of everything the output needs, its nodes named as in the ONNX model."""
        nodes = needed_nodes(self.build.nodes, output.node)
        names = _fresh_names([node.name for node in nodes], self._labels)
        renamed = [Node(names[n.name], n.op, tuple(names[operand] for operand in n.operands)) for n in nodes]
        return Graph(renamed, names[output.node])


def _fresh_names(nodes: list[str], labels: dict[str, str]) -> dict[str, str]:
    """Each node's label, numbered where two would collide; nodes without a label keep their name."""
    taken: set[str] = set()
    names: dict[str, str] = {}
    for node in sorted(nodes, key=lambda name: name not in labels):
        wanted = labels.get(node, node)
        name, number = wanted, 1
        while name in taken:
            name, number = f"{wanted}_{number}", number + 1
        taken.add(name)
        names[node] = name
    return names
