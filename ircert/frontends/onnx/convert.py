"""From an ONNX graph to the IR: constants are folded, every other node is given to the handler of its op."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import checker, helper

from ircert.errors import GraphError, IrcertError, OpError, UnsupportedModel
from ircert.frontends.onnx.budget import Budget
from ircert.frontends.onnx.fold import can_move, fold_with, is_known, move
from ircert.frontends.onnx.interface import Options, bound_inputs, chosen_names, free_inputs, input_shape, require_known
from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops import HANDLERS
from ircert.frontends.onnx.read import opset_of, require_opset
from ircert.frontends.onnx.refuse import refuse_constant, refuse_op
from ircert.frontends.onnx.tensors import to_array, to_dense, widened
from ircert.frontends.onnx.values import Call, Const, Tensor, Value
from ircert.ir.graph import Graph

_STANDARD = ("", "ai.onnx")
FOREIGN = frozenset({("ai.onnx.ml", "Scaler")})


def convert(model: Any, folder: Path | None, options: Options) -> Graph:
    """The graph of the chosen outputs of a model, in the chosen inputs."""
    outputs = _chosen_outputs(model.graph, options)
    reader = _Reader(model, folder, outputs, options)
    reader.run(reader.needed)
    parts = [reader.net.tensor(reader.value(name)) for name in outputs]
    return reader.net.graph(reader.net.concat(*parts))


class _Reader:
    """Evaluates nodes in order; `values` holds what every name stands for."""

    def __init__(self, model: Any, folder: Path | None, outputs: list[str], options: Options) -> None:
        self.folder = folder
        self.opset = opset_of(model)
        self.model = model
        self.budget = Budget(model.ByteSize())
        self.values: dict[str, Value] = {}
        self.stored: dict[str, Any] = {}
        self._remember(model.graph)
        declared = {info.name: info for info in model.graph.input if info.name not in self.stored}
        require_known(declared, options)
        self.values.update(bound_inputs(declared, options))
        self.net = Net(1, "x")
        self.needed = _needed_nodes(model.graph, outputs, self._taken)
        read = {*outputs, *(name for node in self.needed for name in _reads(node, self._taken))}
        names = free_inputs(declared, [name for name in declared if name in read], options)
        shapes = [input_shape(declared[name], options) for name in names]
        self.net = Net(sum(math.prod(shape) for shape in shapes), names[0] if len(names) == 1 else "x", self.budget)
        self._place(names, shapes)

    def _taken(self, node: Any) -> Any:
        """The branch of an If whose condition is known before any input is; None for all others."""
        if node.op_type != "If" or not node.input or not self._is_stored(node.input[0]):
            return None
        branch = "then_branch" if np.any(np.asarray(self.value(node.input[0]))) else "else_branch"
        return next((a.g for a in node.attribute if a.name == branch), None)

    def _is_stored(self, name: str) -> bool:
        """Whether a value follows from stored and bound arrays alone; if so it is in `values` afterwards."""
        if name not in self.values and name not in self.stored:
            for node in _needed_nodes(self.model.graph, [name], lambda _: None):
                known = all(not read or read in self.values or read in self.stored for read in _reads(node))
                if not known or node.op_type == "If":
                    return False
                self.run([node])
        return name in self.stored or isinstance(self.values.get(name), np.ndarray)

    def _place(self, names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> None:
        """Each graph input is its part of the input vector."""
        whole = Tensor(self.net.build.input, (sum(math.prod(shape) for shape in shapes),))
        start = 0
        for name, shape in zip(names, shapes, strict=True):
            index = np.arange(start, start + math.prod(shape)).reshape(shape)
            start += math.prod(shape)
            self.values[name] = self.net.select(whole, index)
            self.net.label(self.values[name], name)

    def _remember(self, graph: Any) -> None:
        for tensor in graph.initializer:
            self.stored[tensor.name] = tensor
        for sparse in graph.sparse_initializer:
            self.stored[sparse.values.name] = sparse

    def value(self, name: str) -> Value:
        """What a name stands for; stored tensors are read when first needed."""
        if name in self.values:
            return self.values[name]
        if name not in self.stored:
            raise UnsupportedModel(
                f"nothing defines the value `{name}` before it is used", remedy="the model is damaged; export it again"
            )
        stored, what = self.stored[name], f"initializer `{name}`"
        array = self._array(stored, what)
        self.values[name] = array
        return array

    def _array(self, stored: Any, what: str) -> Const:
        """The numbers of a stored tensor, dense or sparse."""
        if isinstance(stored, onnx.SparseTensorProto):
            array = to_dense(stored, self.folder, what)
        else:
            array = to_array(stored, self.folder, what)
            self._allow_for_data(stored)
        self.budget.take(array.nbytes, what)
        return array

    def _allow_for_data(self, stored: Any) -> None:
        if self.folder is not None and stored.data_location == onnx.TensorProto.EXTERNAL:
            location = next(entry.value for entry in stored.external_data if entry.key == "location")
            self.budget.allow_for((self.folder / location).resolve())

    def run(self, nodes: Sequence[Any]) -> None:
        """Evaluate nodes in order."""
        for node in nodes:
            results = self._results(node)
            for name, value in zip(node.output, results, strict=False):
                if name:
                    self._count(node, value)
                    self.values[name] = value
                    self.net.label(value, name)

    def _count(self, node: Any, value: Value) -> None:
        """Charge a computed array, unless it is another view of the numbers that it was computed from."""
        if isinstance(value, np.ndarray):
            given = [self.values.get(name) for name in node.input]
            if not any(isinstance(array, np.ndarray) and np.may_share_memory(value, array) for array in given):
                self.budget.take(value.nbytes, _place(node))

    def _results(self, node: Any) -> Sequence[Value]:
        where = _place(node)
        if node.domain in _STANDARD:
            require_opset(self.opset)
        elif (node.domain, node.op_type) not in FOREIGN:
            raise UnsupportedModel(
                f"the op {node.domain}.{node.op_type} is not part of standard ONNX",
                where=where,
                remedy="export the model with standard operators only",
            )
        try:
            call = self._call(node, where)
            if node.op_type == "If":
                return self._branch(call)
            return self._evaluated(call)
        except (GraphError, OpError) as error:
            raise UnsupportedModel(f"{node.op_type}: {error.problem}", where=where) from error
        except IrcertError:
            raise
        except Exception as error:  # shapes and attributes come from a file: anything may be wrong with them
            raise UnsupportedModel(
                f"{node.op_type} cannot be understood ({_first_line(error)})",
                where=where,
                remedy="check the model with onnx.checker and in onnxruntime",
            ) from error

    def _evaluated(self, call: Call) -> Sequence[Value]:
        if call.op == "Constant":
            return (self._constant(call),)
        if call.proto.domain in _STANDARD:
            self._check(call)
        if is_known(call) and can_move(call):
            return move(call, call.inputs)  # type: ignore[arg-type]
        if call.op not in HANDLERS:
            raise refuse_constant(call) if is_known(call) else refuse_op(call)
        if is_known(call):
            return fold_with(HANDLERS[call.op], call)
        self.net.where = call.where
        widest = tuple(widened(value) if isinstance(value, np.ndarray) else value for value in call.inputs)
        results = HANDLERS[call.op](self.net, replace(call, inputs=widest))
        return results if isinstance(results, tuple | list) else (results,)

    def _call(self, node: Any, where: str) -> Call:
        inputs = tuple(self.value(name) if name else None for name in node.input)
        while inputs and inputs[-1] is None:
            inputs = inputs[:-1]
        own = onnx.NodeProto()
        own.CopyFrom(node)
        own.domain = "" if node.domain in _STANDARD else node.domain
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        return Call(node.op_type, where, inputs, attributes, tuple(node.output), self.opset, own)

    def _check(self, call: Call) -> None:
        """ONNX's own check of the number of inputs and of the attributes."""
        context = checker.C.CheckerContext()
        context.ir_version = max(self.model.ir_version, 3)
        context.opset_imports = {"": self.opset}
        try:
            checker.check_node(call.proto, context)
        except checker.ValidationError as error:
            raise call.refuse(f"not valid ONNX ({_first_line(error)})", "export the model again") from error

    def _constant(self, call: Call) -> Value:
        for name, value in call.attributes.items():
            if name == "value":
                return to_array(value, self.folder, call.where)  # `run` charges it
            if name == "sparse_value":
                return to_dense(value, self.folder, call.where)
            if name.startswith(("value_float", "value_int")):
                return np.asarray(value, dtype=np.float32 if "float" in name else np.int64)
        raise call.refuse("it holds no numbers")

    def _branch(self, call: Call) -> Sequence[Value]:
        """An If whose condition is known is the branch it takes."""
        condition = call.input(0)
        if not isinstance(condition, np.ndarray):
            raise refuse_op(call)
        if condition.size != 1:
            raise call.refuse(f"its condition has the shape {condition.shape}", "one truth value decides")
        branch = call.attributes["then_branch" if condition.any() else "else_branch"]
        values, stored = self.values, self.stored
        _makers(branch)
        try:  # names inside a branch are its own; they hide those outside, and end with it
            inner = {tensor.name for tensor in branch.initializer} | {s.values.name for s in branch.sparse_initializer}
            self.values = {name: value for name, value in values.items() if name not in inner}
            self.stored = dict(stored)
            self._remember(branch)
            self.run(branch.node)
            return [self.value(info.name) for info in branch.output]
        finally:
            self.values, self.stored = values, stored


def _place(node: Any) -> str:
    return f"node `{node.name or next(iter(node.output), node.op_type)}`"


def _chosen_outputs(graph: Any, options: Options) -> list[str]:
    declared = [info.name for info in graph.output]
    made = {name for node in graph.node for name in node.output if name} | {info.name for info in graph.input}
    if options.outputs is None:
        if len(declared) != 1:
            raise UnsupportedModel(
                f"the graph has several outputs: {', '.join(f'`{name}`' for name in declared)}",
                remedy=f"choose with outputs=[{declared[0]!r}] (command line: --outputs {declared[0]}), or several",
            )
        return declared
    chosen = chosen_names(options.outputs, "outputs")
    unknown = [name for name in chosen if name not in made and name not in declared]
    if unknown or not chosen:
        raise UnsupportedModel(
            f"the graph has no value `{unknown[0]}`" if unknown else "no output is chosen",
            remedy=f"its outputs are {', '.join(f'`{name}`' for name in declared)}",
        )
    return chosen


def _needed_nodes(graph: Any, outputs: Sequence[str], taken: Callable[[Any], Any]) -> list[Any]:
    """The nodes that the outputs depend on, in the model's order."""
    makers: Mapping[str, int] = _makers(graph)
    needed: set[int] = set()
    pending = list(outputs)
    while pending:
        maker = makers.get(pending.pop())
        if maker is not None and maker not in needed:
            needed.add(maker)
            pending.extend(_reads(graph.node[maker], taken))
    return [graph.node[k] for k in sorted(needed)]


def _makers(graph: Any) -> dict[str, int]:
    """Which node makes each value; a name is given once."""
    given = {info.name for info in graph.input} | {tensor.name for tensor in graph.initializer}
    given |= {sparse.values.name for sparse in graph.sparse_initializer}
    makers: dict[str, int] = {}
    for k, node in enumerate(graph.node):
        for name in node.output:
            if name and name in makers:
                raise UnsupportedModel(f"two nodes define the value `{name}`", remedy="export the model again")
            if name and name in given:
                raise UnsupportedModel(
                    f"a node defines `{name}`, which is an input or stored", remedy="export the model again"
                )
            makers[name] = k
    makers.pop("", None)
    return makers


def _reads(node: Any, taken: Callable[[Any], Any] = lambda _: None) -> list[str]:
    """The names a node reads from outside, those inside its branches included (of an If that is known: inside one)."""
    chosen = taken(node)
    inner = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH] if chosen is None else [chosen]
    names = list(node.input)
    for graph in inner:
        own = {name for child in graph.node for name in child.output} | {t.name for t in graph.initializer}
        nested = [name for child in graph.node for name in _reads(child)]
        names += [name for name in [*nested, *(info.name for info in graph.output)] if name not in own]
    return [name for name in names if name]


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
