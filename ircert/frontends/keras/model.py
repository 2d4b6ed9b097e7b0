"""Sequential and functional models: which layer is called on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ircert.errors import UnsupportedModel
from ircert.frontends.assembly import Assembly
from ircert.frontends.keras.call import Call, Tensor
from ircert.frontends.keras.layers import LAYERS

_KINDS = ("Sequential", "Functional")
_MOST = 2**14


def translated(content: Mapping[str, Any], arrays: Mapping[str, Sequence[Any]]) -> Any:
    """The model as an onnx.ModelProto; `content` is what Keras serialises, `arrays` the weights by layers' names."""
    kind, config = content["class_name"], content["config"]
    if kind not in _KINDS:
        raise UnsupportedModel(
            f"a model of the class {kind!r:.60}, whose code is not read",
            remedy="build it as keras.Sequential or keras.Model(inputs, outputs), or export it to .onnx",
        )
    if len(config["layers"]) > _MOST:
        raise UnsupportedModel(f"it has more than {_MOST} layers")
    return (_sequential if kind == "Sequential" else _functional)(config, arrays, Assembly())


def _sequential(config: Mapping[str, Any], arrays: Mapping[str, Sequence[Any]], sheet: Assembly) -> Any:
    layers = list(config["layers"])
    first = layers[0]["config"].get("batch_shape") or layers[0]["config"].get("batch_input_shape")
    shape = first or config.get("build_input_shape")
    if shape is None:
        raise UnsupportedModel("the shape of the input is not known", remedy="begin the model with keras.Input((…,))")
    x = _input(sheet, "input", shape)
    for layer in layers:
        if layer["class_name"] != "InputLayer":
            x = _called(layer, [x], arrays, sheet)
    return sheet.model([x.name])


def _functional(config: Mapping[str, Any], arrays: Mapping[str, Sequence[Any]], sheet: Assembly) -> Any:
    """Layers whose operands are known are called until all are."""
    values: dict[str, Tensor] = {}
    waiting = list(config["layers"])
    while waiting:
        ready = [layer for layer in waiting if all(name in values for name in _operands(layer))]
        if not ready:
            raise UnsupportedModel("layers wait for one another", remedy="save the model again")
        for layer in ready:
            name = layer["config"]["name"]
            if layer["class_name"] == "InputLayer":
                values[name] = _input(sheet, name, layer["config"]["batch_shape"])
            else:
                values[name] = _called(layer, [values[operand] for operand in _operands(layer)], arrays, sheet)
        waiting = [layer for layer in waiting if layer["config"]["name"] not in values]
    return sheet.model([values[name].name for name in _ends(config["output_layers"])])


def _input(sheet: Assembly, name: str, shape: Sequence[Any]) -> Tensor:
    sizes = tuple(n if isinstance(n, int) else "batch" if k == 0 else f"size{k}" for k, n in enumerate(shape))
    return Tensor(sheet.input(name, "float32", sizes), len(sizes))


def _operands(layer: Mapping[str, Any]) -> list[str]:
    """The layers whose results a layer is called on; it is called once."""
    nodes = layer.get("inbound_nodes", [])
    if len(nodes) > 1:
        raise UnsupportedModel(
            "it is called several times", where=f"layer `{layer['config']['name']}`", remedy="export the model to .onnx"
        )
    found: list[str] = []
    for argument in [*nodes[0]["args"], *nodes[0]["kwargs"].values()] if nodes else []:
        for tensor in argument if isinstance(argument, list) else [argument]:
            if isinstance(tensor, dict) and tensor.get("class_name") == "__keras_tensor__":
                name, node, place = tensor["config"]["keras_history"]
                if node or place:
                    raise UnsupportedModel(f"`{name}` has several results", remedy="export the model to .onnx")
                found.append(name)
            elif tensor is not None and tensor is not False:
                raise UnsupportedModel(
                    "it is called with more than tensors",
                    where=f"layer `{layer['config']['name']}`",
                    remedy="export the model to .onnx",
                )
    return found


def _ends(outputs: Any) -> list[str]:
    """[name, 0, 0], or a list of such."""
    several = outputs if isinstance(outputs[0], list) else [outputs]
    return [name for name, _, _ in several]


def _called(
    layer: Mapping[str, Any], operands: list[Tensor], arrays: Mapping[str, Sequence[Any]], sheet: Assembly
) -> Tensor:
    name, kind = layer["config"]["name"], layer["class_name"]
    call = Call(kind, name, layer["config"], operands, list(arrays.get(name, [])), sheet)
    own = layer.get("module") == "keras.layers"  # functions of keras.ops may have the names of layers
    if kind not in LAYERS or not own or layer.get("registered_name") not in (None, kind):
        raise call.refuse("this layer is not read")
    return LAYERS[kind](call)
