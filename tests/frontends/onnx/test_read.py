"""Files, bytes and models: read or refused with one clear error; local functions are inlined."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

import ircert
from ircert.errors import FileError, IrcertError
from tests.effort import examples
from tests.frontends.support import model, node, one, refused, weights

NET = model(
    [
        node("Conv", "x w", "h", pads=[1, 1, 1, 1]),
        node("Relu", "h", "r"),
        node("Reshape", "r s", "f"),
        node("Gemm", "f v"),
    ],
    {"x": ["N", 1, 3, 3]},
    {"w": weights(2, 1, 3, 3), "s": np.array([0, -1]), "v": weights(18, 2)},
)


def test_missing_file(tmp_path: Path) -> None:
    refused(tmp_path / "no.onnx", "no.onnx", "no such file", kind=FileError)
    refused(tmp_path, "does not say", kind=FileError)
    (tmp_path / "folder.onnx").mkdir()
    refused(tmp_path / "folder.onnx", "folder", kind=FileError)


@pytest.mark.parametrize("content", [b"not a model at all", b"\x00" * 40, NET.SerializeToString()[:-7], b"\x08\x07"])
def test_not_onnx(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    refused(path, "bad.onnx", "not an ONNX model", "export it again", kind=FileError)
    refused(content, "not an ONNX model", kind=FileError)


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.onnx").touch()
    refused(tmp_path / "empty.onnx", "empty.onnx", "the file is empty", kind=FileError)
    refused(onnx.ModelProto(), "no graph", kind=FileError)


@examples(120)
@given(st.integers(0, len(NET.SerializeToString()) - 1))
def test_truncation_never_crashes(length: int) -> None:
    with suppress(IrcertError):
        ircert.load(NET.SerializeToString()[:length])


@examples(200)
@given(
    st.lists(st.tuples(st.integers(0, len(NET.SerializeToString()) - 1), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_damage_never_crashes(changes: list[tuple[int, int]]) -> None:
    data = bytearray(NET.SerializeToString())
    for place, byte in changes:
        data[place] = byte
    with suppress(IrcertError):
        ircert.load(bytes(data))


def test_path_bytes_and_proto_agree(tmp_path: Path) -> None:
    built = one("Gemm", ["N", 3], weights(3, 2))
    path = tmp_path / "net.ONNX"
    onnx.save(built, path)
    graph = ircert.load(built)
    assert ircert.load(path) == ircert.load(str(path)) == ircert.load(built.SerializeToString()) == graph


@pytest.mark.parametrize(("opset", "remedy"), [(6, "version_converter"), (10_000, "newer onnx")])
def test_operator_sets_out_of_range(opset: int, remedy: str) -> None:
    refused(one("Relu", [1, 2], opset=opset), f"operator set {opset}", remedy)


def test_local_functions_are_inlined() -> None:
    body = [node("Relu", "a", "r"), node("Neg", "r", "b")]
    function = helper.make_function("mine", "Negated", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    call = helper.make_node("Negated", ["x"], ["y"], domain="mine")
    built = model([call], {"x": [1, 2]}, functions=[function], domains=["mine"])
    built.ir_version = 8
    np.testing.assert_array_equal(ircert.load(built)([-1.0, 2.0]), [0.0, -2.0])


def nested(depth: int) -> Any:
    """Functions, each of which calls the one before twice."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    bodies = [[node("Relu", "a", "b")]]
    for k in range(depth):
        bodies.append([helper.make_node(f"f{k}", [a], [b], domain="own") for a, b in (("a", "c"), ("c", "b"))])
    functions = [helper.make_function("own", f"f{k}", ["a"], ["b"], body, imports) for k, body in enumerate(bodies)]
    call = helper.make_node(f"f{depth}", ["x"], ["y"], domain="own")
    return model([call], {"x": [1, 2]}, domains=["own"], functions=functions)


@pytest.mark.rule("F-6")
def test_functions_that_call_functions() -> None:
    assert len(ircert.load(nested(6))) == 65
    assert nested(60).ByteSize() < 5000
    refused(nested(60), "functions cannot be inlined")
    built = nested(1)
    built.functions[0].node[0].CopyFrom(helper.make_node("f1", ["a"], ["b"], domain="own"))
    refused(built, "functions cannot be inlined")
