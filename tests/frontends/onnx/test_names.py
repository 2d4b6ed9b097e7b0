"""The names of ONNX values as names of nodes."""

from __future__ import annotations

import re

import pytest

import ircert
from ircert.frontends.onnx.names import sanitised
from tests.frontends.support import model, node


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/fc1/Gemm_output_0", "fc1.Gemm"),
        ("model/dense/MatMul:0", "model.dense.MatMul"),
        ("12", "_12"),
        ("onnx::Relu_7", "onnx_Relu_7"),
        ("", "_"),
        ("ünï", "_n_"),
        ("x" * 300, "x" * 150),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert sanitised(name) == expected


def test_names_are_kept_and_made_unique() -> None:
    nodes = [node("Relu", "in/x:0", "a/b"), node("Neg", "a/b", "a.b"), node("Add", "a.b a/b", "out")]
    graph = ircert.load(model(nodes, {"in/x:0": [1, 2]}, outputs=["out"]))
    assert [n.name for n in graph.nodes] == ["in.x", "a.b", "a.b_1", "out"]
    assert re.search(r"^out = add\(a.b_1, a.b\)$", str(graph), re.MULTILINE)
