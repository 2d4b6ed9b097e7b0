"""Modules of equinox and flax by stand-ins that have their attributes; their own arrays are among the fixtures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import UnsupportedModel
from ircert.frontends.jax_modules import is_jax_module
from tests.frontends.support import weights
from tests.frontends.test_fixtures import FIXTURES, assert_close

A, B, BIAS = weights(4, 3), weights(2, 4, seed=1), weights(4, seed=2)


def kind(name: str, package: str, *, own: bool = True) -> type:
    base = type("Module", (), {"__module__": f"{package}._module"})
    return type(name, (base,), {"__module__": f"{package}.nn._{name}" if own else "mine"})


def made(name: str, package: str = "equinox", *, own: bool = True, **attributes: Any) -> Any:
    module = kind(name, package, own=own)()
    module.__dict__.update(attributes)
    return module


class Variable:
    """How flax keeps an array."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def get_value(self) -> Any:
        return self.array


def function(name: str, module: str = "jax._src.nn.functions") -> Any:
    def called(x: Any) -> Any:
        return x

    called.__name__, called.__module__ = name, module
    return called


def linear(weight: Any, bias: Any = None) -> Any:
    return made("Linear", weight=weight, bias=bias, in_features=weight.shape[1])


def dense(weight: Any) -> Any:
    return made("Linear", "flax.nnx", kernel=Variable(weight.T), bias=None, _pytree__state=3)


RELU = function("relu")
EXPECTED = ircert.load([(A, BIAS), (B, None)])


@pytest.mark.rule("F-19")
def test_modules_that_say_what_they_compute() -> None:
    layers = (linear(A, BIAS), linear(B))
    identity = function("<lambda>", "equinox.nn._mlp")
    assert ircert.load(made("MLP", layers=layers, activation=RELU, final_activation=identity)) == EXPECTED
    parts = (layers[0], made("Dropout"), made("Lambda", fn=RELU), layers[1], made("Identity"))
    assert ircert.load(made("Sequential", layers=parts)) == EXPECTED
    last = made("MLP", layers=layers, activation=RELU, final_activation=function("tanh", "jax.numpy"))
    assert ircert.load(last) == ircert.load([(A, BIAS), (B, None)], activation=["relu", "tanh"])
    flax = made("Sequential", "flax.nnx", layers=[dense(A), function("gelu"), dense(B)])
    assert ircert.load(flax) == ircert.load([(A, None), (B, None)], activation="gelu_tanh")


@pytest.mark.rule("F-19")
def test_other_modules_are_their_arrays() -> None:
    mine = made("Net", own=False, first=linear(A, BIAS), second=linear(B), scale=2.0, act=RELU)
    assert ircert.load(mine, activation="relu") == EXPECTED
    with pytest.raises(UnsupportedModel, match="do not say what stands between"):
        ircert.load(mine)
    flax = made("Net", "flax.nnx", own=False, layers=[dense(A), dense(B)], _pytree__nodes={"x": np.ones(3)})
    assert ircert.load(flax, activation="relu") == ircert.load([(A, None), (B, None)])
    more = made("Net", own=False, first=linear(A), mean=np.ones(3))
    with pytest.raises(UnsupportedModel, match="`mean`: its name does not end in"):
        ircert.load(more, activation="relu")
    inside = made("Sequential", layers=(linear(A), made("Net", own=False, second=linear(B))))
    with pytest.raises(UnsupportedModel, match="do not say what stands between"):
        ircert.load(inside)


@pytest.mark.parametrize("other", [function("relu", "mine"), function("strange"), function("<lambda>", "mine")])
def test_functions_that_are_not_known_are_named(other: Any) -> None:
    module = made("MLP", layers=(linear(A), linear(B)), activation=other, final_activation=RELU)
    with pytest.raises(UnsupportedModel, match=r"none of jax's own that are known; .*activation="):
        ircert.load(module)
    assert ircert.load(module, activation="relu") == ircert.load([(A, None), (B, None)])


def test_activations_stand_behind_layers() -> None:
    relu = made("Lambda", fn=RELU)
    for parts in ((relu, linear(A)), (linear(A), relu, relu)):
        with pytest.raises(UnsupportedModel, match="does not stand behind a linear layer"):
            ircert.load(made("Sequential", layers=parts))


def test_modules_are_recognised_by_their_class() -> None:
    assert is_jax_module(made("Net", own=False))
    assert not is_jax_module(object())
    endless = made("Net", own=False)
    endless.again = endless
    with pytest.raises(UnsupportedModel, match="nested"):
        ircert.load(endless, activation="relu")


@pytest.mark.rule("F-12")
@pytest.mark.parametrize("name", ["equinox", "nnx", "linen", "haiku"])
def test_arrays_of_the_packages_agree_with_them(name: str) -> None:
    with np.load(FIXTURES / "jax" / f"{name}.npz") as stored:
        arrays = {path: stored[path] for path in stored.files}
    x, y = arrays.pop("x"), arrays.pop("y")
    assert_close(ircert.load(arrays, activation="relu")(x), y)
