"""Small files that claim much memory are refused before they take it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

import ircert
from tests.frontends.support import inlined_external, model, node, one, refused, weights
from tests.test_files import at_most

HUGE = np.array([1 << 20, 1 << 20])

CLAIMS: dict[str, Any] = {
    "constant_of_shape": model([node("ConstantOfShape", "s", "c"), node("Add", "x c")], {"x": [1, 2]}, {"s": HUGE}),
    "expand": one("Expand", [1, 1], HUGE),
    "expand_constant": model(
        [node("Expand", "c s", "d"), node("Add", "x d")], {"x": [1, 1]}, {"c": weights(1), "s": HUGE}
    ),
    "tile": one("Tile", [1, 2], HUGE),
    "pad": one("Pad", [1, 2], np.array([0, 1 << 40, 0, 0])),
    "range": model(
        [node("Range", "a b c", "r"), node("Add", "x r")],
        {"x": [1]},
        {"a": np.float32(0), "b": np.float32(1e30), "c": np.float32(1)},
    ),
    "conv": one("Conv", [1, 1, 4], weights(1, 1, 2), pads=[1 << 40, 0]),
    "max_pool": one("MaxPool", [1, 1, 4], kernel_shape=[1 << 40], pads=[1 << 40, 1 << 40]),
    "broadcast": model([node("Add", "x c")], {"x": [1 << 15, 1]}, {"c": np.zeros((1, 1 << 15), np.float32)}),
    "outer": model([node("MatMul", "x c")], {"x": [1 << 15, 1]}, {"c": np.zeros((1, 1 << 15), np.float32)}),
    "input": model([node("Relu", "x")], {"x": [1, 1 << 50]}),
    "resize": one("Resize", [1, 1, 2], None, np.array([1, 1, 1e12], dtype=np.float32)),
    "conv_transpose": one("ConvTranspose", [1, 1, 4], weights(1, 1, 2), strides=[1 << 40]),
}


@pytest.mark.rule("F-6")
@pytest.mark.parametrize("name", CLAIMS)
def test_claims_of_gigabytes(name: str) -> None:
    refused(CLAIMS[name], "an array of", "numbers would be needed", "at most")


def chained(op: str, count: int, inputs: dict[str, Any], stored: dict[str, Any], **attributes: Any) -> Any:
    """One op again and again, on the result before and, if there is one, on a stored array."""
    rest = f" {next(iter(stored))}" if stored else ""
    names = ["x", *(f"h{k}" for k in range(count))]
    steps = [node(op, f"{a}{rest}", b, **attributes) for a, b in pairwise(names)]
    return model([*steps, node("Relu", names[-1])], inputs, stored)


def of_constants(op: str, inputs: str, stored: dict[str, Any], count: int = 40) -> Any:
    """Many constants, of which one entry each is read."""
    made = [node(op, inputs, f"c{k}") for k in range(count)]
    read = [node("Slice", f"c{k} zero one", f"s{k}") for k in range(count)]
    total = node("Sum", " ".join(["x", *(f"s{k}" for k in range(count))]))
    return model([*made, *read, total], {"x": [1]}, {**stored, "zero": np.array([0]), "one": np.array([1])})


SIDE = 2**11

BOMBS: dict[str, Any] = {
    "concat_of_constants": model(
        [
            *(node("Concat", f"c{k} c{k}", f"c{k + 1}", axis=0) for k in range(40)),
            node("ReduceMax", "c40", "r", keepdims=0),
            node("Add", "x r"),
        ],
        {"x": [1]},
        {"c0": weights(1)},
    ),
    "concat": model(
        [
            node("Concat", "x x", "c0", axis=0),
            *(node("Concat", f"c{k} c{k}", f"c{k + 1}", axis=0) for k in range(40)),
            node("Relu", "c40"),
        ],
        {"x": [1]},
    ),
    "constants": of_constants("ConstantOfShape", "s", {"s": np.array([2**22])}),
    "ranges": of_constants("Range", "a b c", {"a": np.int64(0), "b": np.int64(2**21), "c": np.int64(1)}, 60),
    "tiles": of_constants("Tile", "c n", {"c": weights(1), "n": np.array([2**22])}),
    "transposes": chained("Transpose", 60, {"x": [SIDE, SIDE]}, {}, perm=[1, 0]),
    "diagonals": chained("Mul", 60, {"x": [SIDE, SIDE]}, {"c": np.float32(3)}),
    "matrices": chained("MatMul", 60, {"x": [200, 200]}, {"w": weights(200, 200)}),
    "relus": chained("Relu", 60, {"x": [SIDE, SIDE]}, {}),
    "where": model(
        [node("Greater", "x c", "g"), node("Where", "g x d")],
        {"x": [300, 300]},
        {"c": weights(300, 300), "d": weights(300, 300, seed=1)},
    ),
}


@pytest.mark.rule("F-6")
@pytest.mark.parametrize("name", BOMBS)
def test_claims_that_grow_node_by_node(name: str) -> None:
    assert BOMBS[name].ByteSize() < 2**20
    with at_most(700):
        refused(BOMBS[name], "node `")


@pytest.mark.rule("F-6")
def test_one_place_of_a_data_file_that_is_read_again_and_again(tmp_path: Path) -> None:
    count, size = 200, 2**20
    built = model([node("Sum", " ".join(["x", *(f"w{k}" for k in range(count))]))], {"x": [size]})
    for k in range(count):
        tensor = numpy_helper.from_array(np.zeros(1, np.float32), f"w{k}")
        tensor.dims[0] = size
        inlined_external(tensor, "m.data", 4 * size)
        built.graph.initializer.append(tensor)
    (tmp_path / "m.onnx").write_bytes(built.SerializeToString())
    (tmp_path / "m.data").write_bytes(bytes(4 * size))
    with at_most(700):
        refused(tmp_path / "m.onnx", "far more memory than the model's files")
    del built.graph.initializer[8:]
    built.graph.node[0].CopyFrom(node("Sum", " ".join(["x", *(f"w{k}" for k in range(8))])))
    (tmp_path / "m.onnx").write_bytes(built.SerializeToString())
    assert ircert.load(tmp_path / "m.onnx").output_dim == size
