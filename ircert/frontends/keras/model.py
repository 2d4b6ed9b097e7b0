"""Sequential and functional models: which layer is called on what; models in models too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ircert.errors import UnsupportedModel
from ircert.frontends.assembly import Assembly
from ircert.frontends.keras.call import Call, Tensor
from ircert.frontends.keras.layers import LAYERS

MODELS = ("Sequential", "Functional")
_OWN = ("keras.layers", "keras", "keras.models", "keras.src.models.functional", "keras.src.models.sequential")
_MOST = 2**14
"""Calls of layers: models that call models twice grow quickly."""
_DEEPEST = 64


def translated(content: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
    """The model as an onnx.ModelProto; `content` is what Keras serialises, `arrays` the weights by the names of layers:
    lists, or such mappings again for models in it."""
    kind = content["class_name"]
    if kind not in MODELS:
        raise UnsupportedModel(
            f"a model of the class {kind!r:.60}, whose code is not read",
            remedy="build it as keras.Sequential or keras.Model(inputs, outputs), or export it to .onnx",
        )
    sheet = Assembly()
    ends = _Translation(sheet).model(content, arrays, None)
    return sheet.model([end.name for end in ends])


class _Translation:
    """What is put together, and how many layers it was made of."""

    def __init__(self, sheet: Assembly) -> None:
        self.sheet, self.calls, self.depth = sheet, 0, 0

    def model(
        self, content: Mapping[str, Any], arrays: Mapping[str, Any], operands: list[Tensor] | None
    ) -> list[Tensor]:
        """The results of a model called on operands; without them, it is the whole and has inputs of its own."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise UnsupportedModel(f"it has more than {_DEEPEST} models in one another")
        ends = (self._sequential if content["class_name"] == "Sequential" else self._functional)(
            content["config"], arrays, operands
        )
        self.depth -= 1
        return ends

    def _sequential(
        self, config: Mapping[str, Any], arrays: Mapping[str, Any], operands: list[Tensor] | None
    ) -> list[Tensor]:
        layers = list(config["layers"])
        ends = [self._input("input", _first_shape(config))] if operands is None else operands
        for layer in layers:
            if layer["class_name"] != "InputLayer":
                ends = self._called(layer, ends, arrays)
        return ends

    def _functional(
        self, config: Mapping[str, Any], arrays: Mapping[str, Any], operands: list[Tensor] | None
    ) -> list[Tensor]:
        """Calls whose operands are known are made until all are; a layer has as many results as it has calls."""
        values = self._given(config, operands)
        waiting = [(layer, k) for layer in config["layers"] for k in range(len(layer.get("inbound_nodes", [])))]
        while waiting:
            ready = [each for each in waiting if all(source[:2] in values for source in _operands(*each))]
            if not ready:
                raise UnsupportedModel("layers wait for one another", remedy="save the model again")
            for layer, k in ready:
                given = [_result(values, source) for source in _operands(layer, k)]
                values[layer["config"]["name"], k] = self._called(layer, given, arrays)
            waiting = [each for each in waiting if (each[0]["config"]["name"], each[1]) not in values]
        return [_result(values, source) for source in _ends(config["output_layers"])]

    def _given(self, config: Mapping[str, Any], operands: list[Tensor] | None) -> dict[tuple[str, int], list[Tensor]]:
        """What the inputs of a functional model are: the operands in their order, or inputs of the whole."""
        inputs = {layer["config"]["name"]: layer for layer in config["layers"] if layer["class_name"] == "InputLayer"}
        if operands is None:
            return {(name, 0): [self._input(name, each["config"]["batch_shape"])] for name, each in inputs.items()}
        names = [name for name, _, _ in _ends(config["input_layers"])]
        if len(names) != len(operands) or set(names) != set(inputs):
            raise UnsupportedModel(
                f"a model with {len(names)} inputs is called on {len(operands)} tensors",
                where=f"layer `{config['name']}`",
                remedy="export the model to .onnx",
            )
        return {(name, 0): [operand] for name, operand in zip(names, operands, strict=True)}

    def _input(self, name: str, shape: Sequence[Any]) -> Tensor:
        sizes = tuple(n if isinstance(n, int) else "batch" if k == 0 else f"size{k}" for k, n in enumerate(shape))
        return Tensor(self.sheet.input(name, "float32", sizes), len(sizes))

    def _called(self, layer: Mapping[str, Any], operands: list[Tensor], arrays: Mapping[str, Any]) -> list[Tensor]:
        name, kind = layer["config"]["name"], layer["class_name"]
        self.calls += 1
        if self.calls > _MOST:
            raise UnsupportedModel(f"it has more than {_MOST} layers")
        own = layer.get("module") in _OWN and layer.get("registered_name") in (None, kind)
        if kind in MODELS and own:
            return self.model(layer, _weights(arrays, name, {}), operands)
        call = Call(kind, name, layer["config"], operands, list(_weights(arrays, name, [])), self.sheet)
        if kind not in LAYERS or not own or layer["module"] != "keras.layers":  # functions may have names of layers
            raise call.refuse("this layer is not read")
        return [LAYERS[kind](call)]


def _weights(arrays: Mapping[str, Any], name: str, none: Any) -> Any:
    """Those of a layer (a list) or of a model (a mapping); `none` where there are none."""
    found = arrays.get(name, none)
    if isinstance(found, Mapping) != isinstance(none, Mapping) and len(found):
        raise ValueError(f"the weights of `{name}` are those of something else")
    return found if len(found) else none


def _first_shape(config: Mapping[str, Any]) -> Sequence[Any]:
    """The shape of the input of a Sequential model, also where it begins with another model."""
    first = config["layers"][0]
    shape = first["config"].get("batch_shape") or first["config"].get("batch_input_shape")
    shape = shape or config.get("build_input_shape")
    if shape is None:
        raise UnsupportedModel("the shape of the input is not known", remedy="begin the model with keras.Input((…,))")
    found: Sequence[Any] = shape
    return found


def _result(values: Mapping[tuple[str, int], list[Tensor]], source: tuple[str, int, int]) -> Tensor:
    name, node, place = source
    results = values[name, node]
    if not 0 <= place < len(results):
        raise UnsupportedModel(f"`{name}` has no result {place}", remedy="save the model again")
    return results[place]


def _operands(layer: Mapping[str, Any], call: int) -> list[tuple[str, int, int]]:
    """The results on which a layer is called: the layer, its call, and which of its results."""
    node = layer["inbound_nodes"][call]
    found: list[tuple[str, int, int]] = []
    for argument in [*node["args"], *node["kwargs"].values()]:
        for tensor in argument if isinstance(argument, list | tuple) else [argument]:
            if isinstance(tensor, dict) and tensor.get("class_name") == "__keras_tensor__":
                found.append(_source(tensor["config"]["keras_history"]))
            elif tensor is not None and tensor is not False:
                raise UnsupportedModel(
                    "it is called with more than tensors",
                    where=f"layer `{layer['config']['name']}`",
                    remedy="export the model to .onnx",
                )
    return found


def _ends(given: Any) -> list[tuple[str, int, int]]:
    """[name, 0, 0], or a list of such."""
    if isinstance(given, dict):
        raise UnsupportedModel("inputs or outputs by name", remedy="build the model with lists of them")
    return [_source(each) for each in (given if isinstance(given[0], list | tuple) else [given])]


def _source(given: Sequence[Any]) -> tuple[str, int, int]:
    name, node, place = given
    return str(name), int(node), int(place)
