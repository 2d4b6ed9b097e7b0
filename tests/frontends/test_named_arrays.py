"""Layers by the names of their arrays: whose they are, which way they lie, and in what order."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import UnsupportedModel
from ircert.frontends.named_arrays import as_array, flattened

RANDOM = np.random.default_rng(0)
SIZES = (2, 3, 3, 1)
LAYERS = [(RANDOM.normal(size=(n, m)), RANDOM.normal(size=n)) for m, n in pairwise(SIZES)]
GRAPH = ircert.load(LAYERS)
SQUARE = [(RANDOM.normal(size=(2, 2)), RANDOM.normal(size=2)) for _ in range(12)]


def named(pattern: str, layers: Any = LAYERS, start: int = 0) -> dict[str, Any]:
    """torch's names, the last layer first."""
    found = {}
    for k, (weight, bias) in reversed(list(enumerate(layers, start))):
        found[f"{pattern.format(k)}.bias"] = bias
        found[f"{pattern.format(k)}.weight"] = weight
    return found


@pytest.mark.rule("F-12")
@pytest.mark.parametrize("pattern", ["{}", "fc{}", "net.layers.{}", "net2.fc{}.inner"])
def test_numbers_in_names_order_the_layers(pattern: str) -> None:
    assert ircert.load(named(pattern), activation="relu") == GRAPH
    assert ircert.load(named(pattern, SQUARE, 1), activation="relu") == ircert.load(SQUARE)


@pytest.mark.rule("F-12")
def test_other_frameworks_keep_the_weights_the_other_way() -> None:
    flax = {"params": {f"Dense_{k}": {"kernel": w.T, "bias": b} for k, (w, b) in enumerate(LAYERS)}}
    haiku = {f"mlp/~/linear_{k}": {"w": w.T, "b": b} for k, (w, b) in enumerate(LAYERS)}
    numbered = {f"W{k}": w for k, (w, _) in enumerate(LAYERS)} | {f"b{k}": b for k, (_, b) in enumerate(LAYERS)}
    for tree in (flax, haiku, numbered, OrderedDict(flax)):
        assert ircert.load(tree, activation="relu") == GRAPH
    assert ircert.load(numbered) == GRAPH


@pytest.mark.rule("F-12")
def test_sizes_order_layers_with_other_words_if_there_is_one_way() -> None:
    words = {"out": LAYERS[2], "entry": LAYERS[0], "middle": LAYERS[1]}
    arrays = {f"{name}.weight": w for name, (w, _) in words.items()} | {
        f"{name}.bias": b for name, (_, b) in words.items()
    }
    assert ircert.load(arrays, activation="relu") == GRAPH
    square = {f"{name}.weight": w for name, (w, _) in zip(("entry", "middle", "out"), SQUARE, strict=False)}
    with pytest.raises(UnsupportedModel, match=r"order .*is not known: their sizes allow several; .*--layers"):
        ircert.load(square, activation="relu")
    told = ircert.load(square, activation="relu", layers=["out", "entry", "middle"])
    assert told == ircert.load([(SQUARE[k][0], None) for k in (2, 0, 1)])
    with pytest.raises(UnsupportedModel, match=r"`layers` names out, entry; name each of entry, middle, out once"):
        ircert.load(square, activation="relu", layers="out,entry")


def test_sizes_that_allow_no_order() -> None:
    with pytest.raises(UnsupportedModel, match="their sizes allow none"):
        ircert.load({"a.weight": np.ones((2, 3)), "b.weight": np.ones((4, 5))}, activation="relu")


@pytest.mark.rule("F-12")
def test_the_activation_is_asked_for() -> None:
    with pytest.raises(UnsupportedModel, match=r'do not say what stands between .*activation="relu"'):
        ircert.load(named("{}"))
    assert ircert.load(named("{}", LAYERS[:1])) == ircert.load(LAYERS[:1])  # one layer has nothing between


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"bn.running_mean": np.ones(2)}, "`bn.running_mean`: its name does not end in one of weight"),
        ({"conv.weight": np.ones((2, 2, 3, 3))}, "`conv.weight`: it has the shape (2, 2, 3, 3): not the weights of a"),
        ({"norm.weight": np.ones(2)}, "`norm.weight`: it has the shape (2,)"),
        ({"fc.bias": np.ones(2)}, "there are no arrays named `weight`"),
        ({"a.weight": np.eye(2), "c.bias": np.ones(2)}, "layer `c`: it has a bias and no weights"),
        ({"a1.weight": np.eye(2), "a2.weight": np.ones((1, 3))}, "layer `a2`: W has 3 columns but the layer before"),
        ({"a.weight": np.eye(2, dtype=int)}, "`a.weight`: it holds int64, not real numbers"),
        ({"a.weight": np.eye(2) * np.nan}, "layer `a`: weight holds nan"),
        ({"a.weight": [[1.0], [2.0, 3.0]]}, "`a.weight`: it is no array"),
        ({}, "there are no arrays"),
    ],
)
def test_what_is_more_or_less_than_layers(arrays: dict[str, Any], says: str) -> None:
    with pytest.raises(UnsupportedModel) as caught:
        ircert.load(arrays, activation="relu")
    assert says in str(caught.value)


def test_arrays_of_other_packages() -> None:
    half = np.array([0.5], dtype=np.float16)
    tensor = SimpleNamespace(dtype="torch.float32", numpy=lambda: half)
    tensor.detach = lambda: SimpleNamespace(cpu=lambda: tensor)
    assert as_array(tensor, "t") is half
    narrow = SimpleNamespace(dtype="torch.bfloat16", double=lambda: tensor)
    narrow.detach = lambda: SimpleNamespace(cpu=lambda: narrow)
    assert as_array(narrow, "t") is half
    assert as_array(SimpleNamespace(get_value=lambda: half), "variable") is half


def test_trees_are_not_followed_for_ever() -> None:
    tree: dict[str, Any] = {}
    tree["again"] = tree
    with pytest.raises(UnsupportedModel, match="nested"):
        flattened(tree)
    assert flattened({"a": {"b": 1, "c": None}}) == {"a/b": 1}


def test_many_layers_of_one_size_end_quickly() -> None:
    arrays = {f"{chr(97 + k)}.weight": np.eye(2) for k in range(26)} | {"zz.weight": np.ones((3, 3))}
    with pytest.raises(UnsupportedModel, match="order of the layers is not known"):
        ircert.load(arrays, activation="relu")
