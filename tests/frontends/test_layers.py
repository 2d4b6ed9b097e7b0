from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import ircert
from ircert.errors import FileError, UnsupportedModel
from ircert.ir.graph import Graph
from ircert.testing import mlps

W, B = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0.5, -0.5, 0.0])


def test_layers_are_weight_times_input_plus_bias() -> None:
    graph = ircert.load([(W, B), (W.T, None)])
    x = np.array([0.3, -2.0])
    assert np.allclose(graph(x), W.T @ np.maximum(W @ x + B, 0))
    assert [node.name for node in graph.nodes] == ["x", "h1", "a1", "y"]
    assert ircert.load(graph) is graph


def test_float32_weights_are_the_model() -> None:
    graph = ircert.load([(np.array([[0.1]], dtype=np.float32), None)])
    assert graph.exact([1]).tolist()[0] == np.float32(0.1).as_integer_ratio()[0] / np.float32(0.1).as_integer_ratio()[1]


@given(mlps(sparse=False))
def test_npz_files_hold_the_same(tmp_path_factory: pytest.TempPathFactory, graph: Graph) -> None:
    affine: list[Any] = [node.op for node in graph.nodes if node.op.kind == "affine"]
    path = tmp_path_factory.mktemp("npz") / "net.npz"
    arrays: dict[str, Any] = {f"W{k}": op.weight for k, op in enumerate(affine)} | {
        f"b{k}": op.bias for k, op in enumerate(affine)
    }
    np.savez(path, **arrays)
    assert ircert.load(str(path)) == graph


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ([], "the list of layers is empty"),
        ([(W,)], "layer 0: not a pair"),
        ([W], "layer 0: not a pair"),
        ([(W, B), (W, B)], "layer 1: W has 2 columns but the layer before has 3 rows; W is (out, in)"),
        ([(W, B[:2])], "layer 0: weight has 3 rows but bias has 2"),
        ([(W * np.nan, B)], "layer 0: weight holds nan at [0, 0]"),
        ([(W, [[1.0]])], "layer 0: bias must have 1 dimension"),
        ([("W", "b")], "layer 0: weight must hold real numbers"),
        (5, "cannot load an object of type builtins.int"),
        (None, "cannot load an object of type builtins.NoneType"),
        ({"W0": W, "W2": W}, "number from 0"),
    ],
)
def test_bad_models(model: Any, says: str) -> None:
    with pytest.raises(UnsupportedModel) as caught:
        ircert.load(model)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({}, "it holds no arrays"),
        ({"W0": W, "extra": B}, "unexpected array `extra`; name the arrays W0, b0"),
        ({"W1": W}, "number from 0"),
        ({"W0": W, "b0": B, "W2": W, "b2": B}, "`W1` is missing"),
        ({"b0": B}, "`W0` is missing"),
        ({"W0": W, "b7000000": B}, "number from 0"),
        ({"W0": W, "W1": W}, "layer 1: W has 2 columns"),
    ],
)
def test_bad_npz_files(tmp_path: Path, arrays: dict[str, Any], says: str) -> None:
    np.savez(tmp_path / "net.npz", **arrays)
    with pytest.raises(FileError) as caught:
        ircert.load(tmp_path / "net.npz")
    assert says in str(caught.value)
    assert "net.npz" in str(caught.value)


def test_an_npz_file_that_claims_too_much(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }".ljust(117) + b"\n"
    member = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(tmp_path / "net.npz", "w") as archive:
        archive.writestr("W0.npy", member + b"\0" * 16)
    with pytest.raises(FileError, match="claims shape"):
        ircert.load(tmp_path / "net.npz")


def test_unknown_file_names(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"ending in \.onnx, \.pt2"):
        ircert.load(tmp_path / "net.txt")


@pytest.mark.parametrize("layers", [[[1, 2], [3, 4]], [(1.0, None)], [([1.0, 2.0], None)], [([[1.0]], 3.0)]])
def test_arrays_of_too_few_dimensions_are_refused(layers: Any) -> None:
    with pytest.raises(UnsupportedModel, match=r"layer 0: .* must have . dimension"):
        ircert.load(layers)
