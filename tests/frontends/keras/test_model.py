"""Keras models put together by hand, against numpy; those of Keras itself are among the fixtures."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import FileError, UnsupportedModel
from ircert.frontends.keras.model import translated
from tests.frontends.support import weights

X = weights(5, 3).astype(np.float64)
W, B = weights(3, 4, seed=1), weights(4, seed=2)


def layer(kind: str, name: str = "it", module: str = "keras.layers", **config: Any) -> dict[str, Any]:
    return {"module": module, "class_name": kind, "config": {"name": name, **config}, "registered_name": None}


def dense(name: str = "dense", activation: Any = "linear", use_bias: bool = True) -> dict[str, Any]:
    return layer("Dense", name, activation=activation, use_bias=use_bias)


def sequential(*layers: Any, shape: Any = (None, 3)) -> dict[str, Any]:
    first = layer("InputLayer", "first", batch_shape=list(shape))
    return {"class_name": "Sequential", "config": {"layers": [first, *layers]}}


def read(content: Any, **arrays: Any) -> Any:
    return ircert.load(translated(content, arrays))


@pytest.mark.rule("F-20")
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (layer("Activation", activation="relu"), np.maximum(X, 0)),
        (layer("Activation", activation="leaky_relu"), np.where(X > 0, X, np.float32(0.2) * X)),
        (layer("Activation", activation={"class_name": "function", "config": "tanh"}), np.tanh(X)),
        (layer("Activation", activation="hard_tanh"), np.clip(X, -1, 1)),
        (layer("Activation", activation="silu"), X / (1 + np.exp(-X))),
        (layer("ReLU", negative_slope=0.5, max_value=0.25, threshold=0.0), np.minimum(np.maximum(X, X / 2), 0.25)),
        (layer("LeakyReLU", negative_slope=0.25), np.maximum(X, X / 4)),
        (layer("ELU", alpha=0.5), np.where(X > 0, X, np.expm1(X) / 2)),
        (layer("Softmax", axis=-1), np.exp(X) / np.exp(X).sum(1, keepdims=True)),
        (layer("Dropout", rate=0.5), X),
        (layer("Rescaling", scale=0.5, offset=1.0), X / 2 + 1),
        (layer("Reshape", target_shape=[3, 1]), X),
    ],
    ids=lambda value: value["class_name"] if isinstance(value, dict) else "",
)
def test_layers_without_weights(made: dict[str, Any], expected: Any) -> None:
    np.testing.assert_allclose(read(sequential(made))(X), expected, rtol=1e-6, atol=1e-9)


def test_layers_with_weights() -> None:
    np.testing.assert_allclose(read(sequential(dense()), dense=(W, B))(X), X @ W + B, rtol=1e-6)
    mean, variance = weights(3, seed=3), np.abs(weights(3, seed=4)) + 0.5
    norm = layer("BatchNormalization", "norm", axis=-1, epsilon=0.25, scale=False, center=True)
    found = read(sequential(norm), norm=(B[:3], mean, variance))(X)
    np.testing.assert_allclose(found, (X - mean) / np.sqrt(variance + 0.25) + B[:3], rtol=1e-6)


def tensor(name: str, call: int = 0, result: int = 0) -> dict[str, Any]:
    return {"class_name": "__keras_tensor__", "config": {"keras_history": [name, call, result]}}


def called(made: dict[str, Any], *arguments: Any) -> dict[str, Any]:
    return made | {"inbound_nodes": [{"args": list(arguments), "kwargs": {}}]}


def functional(*layers: Any, output: str = "end") -> dict[str, Any]:
    first = layer("InputLayer", "first", batch_shape=[None, 3]) | {"inbound_nodes": []}
    return {"class_name": "Functional", "config": {"layers": [*layers, first], "output_layers": [output, 0, 0]}}


def test_functional_models_in_any_order() -> None:
    end = called(layer("Concatenate", "end", axis=-1), [tensor("sum"), tensor("a")])
    total = called(layer("Add", "sum"), [tensor("a"), tensor("first")])
    a = called(dense("a"), tensor("first"))
    found = read(functional(end, total, a), a=(W[:, :3], B[:3]))(X)
    inner = X @ W[:, :3] + B[:3]
    np.testing.assert_allclose(found, np.hstack([inner + X, inner]), rtol=1e-6)


def inner(name: str, module: str = "keras.src.models.functional") -> dict[str, Any]:
    """x, and x @ W' + b of the layer `a`, as a model in a model."""
    made = functional(called(dense("a"), tensor("first")), output="a")
    ends = {"input_layers": ["first", 0, 0], "output_layers": [["a", 0, 0], ["first", 0, 0]]}
    return made | {"module": module, "registered_name": "Functional", "config": made["config"] | ends | {"name": name}}


@pytest.mark.rule("F-20")
def test_models_in_models_called_several_times() -> None:
    twice = inner("twice") | {"inbound_nodes": [{"args": [tensor(*t)], "kwargs": {}} for t in (("first",), ("twice",))]}
    end = called(layer("Concatenate", "end", axis=-1), [tensor("twice", 1, 0), tensor("twice", 1, 1)])
    found = read(functional(end, twice), twice={"a": [W[:, :3], B[:3]]})(X)
    once = X @ W[:, :3] + B[:3]
    np.testing.assert_allclose(found, np.hstack([once @ W[:, :3] + B[:3], once]), rtol=1e-6)


def test_names_in_other_models_do_not_matter() -> None:
    part = sequential(dense()) | {"module": "keras", "registered_name": None}
    part["config"]["name"] = "part"
    found = read(sequential(part, dense()), part={"dense": [W[:, :3], B[:3]]}, dense=[W, B])(X)
    np.testing.assert_allclose(found, (X @ W[:, :3] + B[:3]) @ W + B, rtol=1e-5)
    with pytest.raises(ValueError, match="the weights of `part` are those of something else"):
        read(sequential(part), part=[W])
    with pytest.raises(ValueError, match="the weights of `dense` are those of something else"):
        read(sequential(dense()), dense={"a": [W]})


def test_models_that_grow_without_end_are_refused() -> None:
    doubled, deep = sequential(layer("ReLU")), sequential(layer("ReLU"))
    for k in range(20):
        doubled = sequential(*[doubled | {"module": "keras", "config": doubled["config"] | {"name": f"{k}"}}] * 2)
    for k in range(70):
        deep = sequential(deep | {"module": "keras", "config": deep["config"] | {"name": f"{k}"}})
    with pytest.raises(UnsupportedModel, match="more than 16384 layers"):
        read(doubled)
    with pytest.raises(UnsupportedModel, match="more than 64 models in one another"):
        read(deep)


@pytest.mark.rule("F-20")
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (sequential(layer("Lambda")), "layer `it`: Lambda: this layer is not read; export the model to .onnx"),
        (sequential(layer("Dense", module="mine", use_bias=True)), "this layer is not read"),
        (sequential(layer("Softmax", module="keras.src.ops.nn")), "this layer is not read"),
        (sequential(layer("Dense") | {"registered_name": "Mine>Dense"}), "this layer is not read"),
        (sequential(dense()), r"its weights have the shapes \[\]"),
        (sequential(layer("Activation", activation="strange")), "the activation 'strange' is not known"),
        (sequential(layer("ReLU", threshold=1.0)), "it jumps"),
        (sequential(layer("BatchNormalization", axis=1), shape=(None, 3, 2)), "another axis"),
        (sequential(layer("Conv1D", padding="causal", strides=1, use_bias=True)), "its weights"),
        ({"class_name": "Mine", "config": {"layers": []}}, "a model of the class 'Mine', whose code is not read"),
        (functional(called(layer("Add", "end"), [tensor("first")])), "it merges one tensor"),
        (functional(called(layer("Add", "end"), tensor("first"), 3.0)), "called with more than tensors"),
        (functional(called(layer("ReLU", "end"), tensor("end"))), "wait for one another"),
        (functional(called(layer("ReLU", "end"), tensor("first", 0, 1))), "`first` has no result 1"),
        (functional(called(inner("end"), tensor("first"), tensor("first"))), "with 1 inputs is called on 2 tensors"),
        (sequential(layer("Functional", module="mine")), "this layer is not read"),
        (sequential(inner("a") | {"registered_name": "Mine>Functional"}), "this layer is not read"),
        ({"class_name": "Sequential", "config": {"layers": [dense()]}}, "shape of the input is not known"),
    ],
)
def test_what_is_not_read_is_named(content: Any, says: str) -> None:
    with pytest.raises(UnsupportedModel, match=says):
        read(content)


class Model(SimpleNamespace):
    """Stands in for a Keras model in memory."""


Model.__module__ = "keras.src.models.model"


def test_models_in_memory() -> None:
    variables = [SimpleNamespace(numpy=lambda: W), B]
    model = Model(layers=[SimpleNamespace(name="dense", weights=variables)])
    model.get_config = lambda: functional(called(dense("dense"), tensor("first")), output="dense")["config"]
    np.testing.assert_allclose(ircert.load(model)(X), X @ W + B, rtol=1e-6)
    model.get_config = lambda: {"layers": []}
    with pytest.raises(FileError, match="the Keras model: a model of the class 'Model', whose code is not read"):
        ircert.load(model)
