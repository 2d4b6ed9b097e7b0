"""Chains of layers in torch modules, with stand-ins for torch and its tracer."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.frontends.torch_layers import chain, is_vector
from tests.frontends.support import weights


class Tensor:
    """Numbers as torch keeps them."""

    def __init__(self, array: Any, dtype: str = "torch.float32") -> None:
        self.array, self.dtype = np.asarray(array), dtype

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.array


class Part:
    """A module of one class name."""

    def __init__(self, **attributes: Any) -> None:
        self._forward_hooks: dict[int, Any] = {}
        self._forward_pre_hooks: dict[int, Any] = {}
        self.__dict__.update(attributes)


def part(name: str, module: str = "torch.nn.modules.fake", **attributes: Any) -> Any:
    return type(name, (Part,), {"__module__": module})(**attributes)


A, B = weights(4, 3), weights(2, 4, seed=1)
BIAS = weights(4, seed=2)


def linear(weight: Any, bias: Any = None, dtype: str = "torch.float32") -> Any:
    stored = None if bias is None else Tensor(bias)
    return part("Linear", weight=Tensor(weight, dtype), bias=stored, in_features=weight.shape[1])


class Sequential(Part):
    """Calls its parts in turn; `nodes` are further calls of the tracer's."""

    def __init__(self, *parts: Any, tail: tuple[Any, ...] = ()) -> None:
        super().__init__()
        self.parts, self.tail = parts, tail

    def modules(self) -> list[Any]:
        return [self, *self.parts]

    def named_modules(self) -> list[tuple[str, Any]]:
        return [("", self), *((str(k), p) for k, p in enumerate(self.parts))]


def trace(module: Sequential) -> Any:
    """The graph that torch.fx makes."""
    nodes = [SimpleNamespace(op="placeholder", args=(), kwargs={}, target="x")]
    for k in range(len(module.parts)):
        nodes.append(SimpleNamespace(op="call_module", target=str(k), args=(nodes[-1],), kwargs={}))
    for make in module.tail:
        nodes.append(make(nodes))
    nodes.append(SimpleNamespace(op="output", args=(nodes[-1],), kwargs={}, target="output"))
    return SimpleNamespace(graph=SimpleNamespace(nodes=nodes))


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    fake: Any = ModuleType("torch")
    fake.fx = SimpleNamespace(symbolic_trace=trace)
    monkeypatch.setitem(sys.modules, "torch", fake)


def read(*middle: Any, **options: Any) -> Any:
    return chain(Sequential(linear(A, BIAS), *middle, linear(B), **options))


@pytest.mark.parametrize(
    ("middle", "name"),
    [
        (part("ReLU"), "relu"),
        (part("GELU", approximate="none"), "gelu"),
        (part("GELU", approximate="tanh"), "gelu_tanh"),
        (part("LeakyReLU", negative_slope=0.1), "leaky_relu:0.1"),
        (part("ELU", alpha=0.3), "elu:0.3"),
        (part("Softplus", beta=1, threshold=20), "softplus"),
        (part("Hardtanh", min_val=-1.0, max_val=1.0), "hard_tanh"),
    ],
)
def test_activations_between_layers(middle: Any, name: str) -> None:
    assert read(middle) == ircert.load([(A, BIAS), (B, None)], activation=name)


def test_what_does_nothing_is_passed_over() -> None:
    expected = ircert.load([(A, BIAS), (B, None)])
    assert read(part("Identity"), part("ReLU"), part("Dropout")) == expected
    assert chain(Sequential(linear(A), part("Tanh"))) == ircert.load([(A, None)], activation=["tanh"])
    assert read() == ircert.load([(A, BIAS), (B, None)], activation="identity")


def function(name: str, module: str = "torch.nn.functional", *more: Any, op: str = "call_function") -> Any:
    def called() -> None: ...

    called.__name__, called.__module__ = name, module
    target = called if op == "call_function" else name
    return lambda nodes: SimpleNamespace(op=op, target=target, args=(nodes[-1], *more), kwargs={"inplace": False})


def test_functions_and_methods() -> None:
    expected = ircert.load([(A, None)], activation=["relu"])
    assert chain(Sequential(linear(A), tail=(function("relu"),))) == expected
    assert chain(Sequential(linear(A), tail=(function("relu", op="call_method"),))) == expected
    for other in (
        function("relu", "mine"),
        function("relu", "torch", 2),
        function("add"),
        function("x", op="get_attr"),
    ):
        assert chain(Sequential(linear(A), tail=(other,))) is None


@pytest.mark.parametrize(
    "middle",
    [
        part("ReLU", module="mine"),
        part("BatchNorm1d"),
        part("Softplus", beta=2, threshold=20),
        part("Hardtanh", min_val=-2.0, max_val=1.0),
        part("ReLU", _forward_hooks={0: print}),
        linear(weights(4, 4), dtype="torch.float16"),
    ],
    ids=["derived", "batch norm", "beta", "ends", "hook", "half"],
)
def test_other_parts_are_left_to_the_exporter(middle: Any) -> None:
    assert read(middle) is None


def test_other_ways_through_the_parts_are_left_to_the_exporter() -> None:
    assert chain(Sequential(part("ReLU"), linear(A))) is None  # nothing stands before the activation
    assert chain(Sequential(linear(A), part("ReLU"), part("Tanh"))) is None
    around = Sequential(
        linear(A),
        tail=(lambda nodes: SimpleNamespace(op="call_module", target="0", args=(nodes[0],), kwargs={}),),
    )
    assert chain(around) is None  # it goes on from the input, not from the layer before


def test_what_cannot_be_traced_is_left_to_the_exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(module: Any) -> Any:
        raise TypeError("symbolically traced variables cannot be used as inputs to control flow")

    fake: Any = ModuleType("torch")
    fake.fx = SimpleNamespace(symbolic_trace=fails)
    monkeypatch.setitem(sys.modules, "torch", fake)
    assert read() is None
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    assert read() is None


def test_shapes_of_one_vector() -> None:
    module = Sequential(linear(A))
    assert all(is_vector(shape, module) for shape in (None, (1, 3), (3,)))
    assert not any(is_vector(shape, module) for shape in ((2, 3), (1, 4), (1, 3, 3)))
    assert not is_vector(None, Sequential(part("Conv2d")))
