"""Stored tensors: numbers as they are in the file or beside it, and claims that are not believed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import ircert
from ircert.errors import FileError
from tests.frontends.support import inlined_external, model, node, one, refused, weights


def external(folder: Path, location: str, length: int = 48, offset: int = 0) -> Path:
    built = one("MatMul", [1, 3], weights(3, 4))
    inlined_external(built.graph.initializer[0], location, length, offset)
    path = folder / "m.onnx"
    path.write_bytes(built.SerializeToString())
    return path


def test_missing_sidecar(tmp_path: Path) -> None:
    refused(
        external(tmp_path, "m.onnx.data"), "m.onnx.data", "no such file", "initializer `c0`", "beside", kind=FileError
    )


@pytest.mark.rule("F-5")
@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "a/../../secret", "", "\0"])
def test_sidecar_outside_the_folder(tmp_path: Path, location: str) -> None:
    (tmp_path / "secret").write_bytes(b"\0" * 48)
    inner = tmp_path / "inner"
    inner.mkdir()
    refused(external(inner, location), "outside the model's folder", "initializer `c0`", kind=FileError)


@pytest.mark.rule("F-5")
def test_sidecar_that_is_a_link_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\0" * 48)
    inner = tmp_path / "inner"
    inner.mkdir()
    os.symlink(tmp_path / "secret", inner / "m.data")
    refused(external(inner, "m.data"), "outside the model's folder", kind=FileError)


@pytest.mark.parametrize(("length", "offset"), [(48, 8), (24, 0), (48, -8), (2**40, 0)])
def test_sidecar_of_another_size(tmp_path: Path, length: int, offset: int) -> None:
    (tmp_path / "m.data").write_bytes(b"\0" * 48)
    refused(external(tmp_path, "m.data", length, offset), "needs 48 bytes", "the file has 48", kind=FileError)


def test_external_data_of_a_model_in_memory(tmp_path: Path) -> None:
    built = onnx.load(external(tmp_path, "m.data"), load_external_data=False)
    refused(built, "initializer `c0`", "has no folder", "give the path")


def test_a_very_long_data_file_name(tmp_path: Path) -> None:
    built = one("Gemm", [1, 2], weights(2, 2))
    inlined_external(built.graph.initializer[0], "w" * 100_000, 16)
    path = tmp_path / "net.onnx"
    path.write_bytes(built.SerializeToString())
    with pytest.raises(FileError, match="name has 100000 characters") as caught:
        ircert.load(path)
    assert len(str(caught.value)) < 300


def test_external_data(tmp_path: Path) -> None:
    built = one("Gemm", ["N", 3], weights(3, 4), weights(4))
    expected = ircert.load(built)
    onnx.save_model(
        built, str(tmp_path / "m.onnx"), save_as_external_data=True, location="m.onnx.data", size_threshold=0
    )
    assert (tmp_path / "m.onnx.data").exists()
    assert ircert.load(tmp_path / "m.onnx") == expected


def test_an_empty_unused_sidecar_is_fine(tmp_path: Path) -> None:
    built = one("Gemm", ["N", 3], weights(3, 4))
    stray = numpy_helper.from_array(weights(2), "stray")
    inlined_external(stray, "nowhere.data", 8)
    built.graph.initializer.append(stray)
    (tmp_path / "m.onnx").write_bytes(built.SerializeToString())
    assert ircert.load(tmp_path / "m.onnx").output_dim == 4


def test_a_claim_in_a_tensor() -> None:
    built = one("Add", [1, 2], weights(2))
    built.graph.initializer[0].dims[0] = 1 << 29
    assert len(built.SerializeToString()) < 300
    refused(built, "initializer `c0`", "claims the shape [536870912]", "another number of bytes")
    built.graph.initializer[0].dims[0] = -2
    refused(built, "initializer `c0`", "claims the shape [-2]")


def test_a_claim_in_a_sparse_tensor() -> None:
    values = numpy_helper.from_array(weights(1), "w")
    built = model([node("Add", "w x")], {"x": [3]})
    for indices, dims, message in (([1], [1 << 40], "numbers would be needed"), ([7], [3], "do not fit its shape")):
        del built.graph.sparse_initializer[:]
        sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(indices), "i"), dims)
        built.graph.sparse_initializer.append(sparse)
        refused(built, "initializer `w`", message)


def test_a_negative_sparse_index_is_refused() -> None:
    sparse = onnx.SparseTensorProto(dims=[2, 2])
    sparse.values.CopyFrom(numpy_helper.from_array(weights(2), "w"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([-1, 3]), "i"))
    built = model([node("MatMul", "x w")], {"x": [1, 2]})
    built.graph.sparse_initializer.append(sparse)
    refused(built, "sparse indices")


def test_string_weights() -> None:
    built = model([node("Add", "x w")], {"x": [1, 2]})
    built.graph.initializer.append(helper.make_tensor("w", TensorProto.STRING, [1], [b"a"]))
    refused(built, "initializer `w`", "it holds string numbers")


def test_sparse_initialisers() -> None:
    values = numpy_helper.from_array(np.array([2.0, -1.0], dtype=np.float32), "w")
    for indices in (np.array([1, 5]), np.array([[0, 1], [1, 2]])):
        built = model([node("MatMul", "w x")], {"x": [3]})
        sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(indices, "i"), [2, 3])
        built.graph.sparse_initializer.append(sparse)
        np.testing.assert_array_equal(ircert.load(built)([1.0, 10.0, 100.0]), [20.0, -100.0])


def test_bfloat16_weights_widen_exactly() -> None:
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [2, 1], [1.5, -0.25])
    built = model([node("MatMul", "x w")], {"x": [1, 2]}, dtype=TensorProto.BFLOAT16)
    built.graph.initializer.append(weight)
    assert ircert.load(built)([2.0, 4.0]) == 2.0


@pytest.mark.rule("F-1")
def test_weights_are_the_stored_numbers() -> None:
    weight = weights(3, 2)
    graph = ircert.load(one("MatMul", [1, 3], weight))
    assert np.array_equal(graph[graph.output].op.weight, weight.T.astype(np.float64))  # type: ignore[attr-defined]
