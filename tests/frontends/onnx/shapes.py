"""The shape that the reader gives a result, held against onnxruntime's."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto

import ircert
from tests.frontends.support import node


def shapes_agree(built: Any, shape: tuple[int, ...]) -> None:
    """The shape of the result, read off by Shape, is that of onnxruntime's array."""
    session = onnxruntime.InferenceSession(built.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": np.zeros(shape, np.float32)})[0].shape
    built.graph.node.extend(
        [
            node("Shape", "y", "_s"),
            node("Cast", "_s", "_f", to=TensorProto.FLOAT),
            node("ReduceSum", "x", "_t", keepdims=0),
            node("Add", "_f _t", "_z"),
        ]
    )
    assert ircert.load(built, outputs=["_z"])(np.zeros(int(np.prod(shape)))).tolist() == list(expected)
