"""Ops that move entries, in their attribute corners, against onnxruntime; and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto

import ircert
from ircert.errors import UnsupportedModel
from tests.frontends.onnx.shapes import shapes_agree
from tests.frontends.support import agreeing, compare, ints, model, node, one, refusing, runtime, sample, weights

CASES: dict[str, Any] = {
    "flatten": one("Flatten", [1, 2, 3, 2]),
    "flatten_axis": one("Flatten", [1, 2, 3, 2], axis=-1),
    "flatten_0": one("Flatten", [2, 3], axis=0),
    "reshape": one("Reshape", ["N", 2, 3], ints(0, -1)),
    "reshape_minus": one("Reshape", [2, 6], ints(-1, 3, 2)),
    "reshape_allowzero": one("Reshape", [2, 6], ints(3, 4), opset=14, allowzero=1),
    "squeeze": one("Squeeze", [1, 2, 1], ints(2)),
    "squeeze_all": one("Squeeze", [1, 2, 1]),
    "squeeze_attr": one("Squeeze", [1, 2, 1], opset=11, axes=[0, 2]),
    "unsqueeze": one("Unsqueeze", [1, 2], ints(0, -1)),
    "unsqueeze_attr": one("Unsqueeze", [1, 2], opset=11, axes=[1]),
    "transpose": one("Transpose", [2, 3, 4], perm=[1, 2, 0]),
    "transpose_default": one("Transpose", [2, 3]),
    "concat": model([node("Relu", "x", "r"), node("Concat", "x c r", axis=1)], {"x": [2, 3]}, {"c": weights(2, 1)}),
    "concat_negative": model([node("Neg", "x", "r"), node("Concat", "x r", axis=-1)], {"x": [2, 3]}),
    "concat_leading": model([node("Neg", "x", "r"), node("Concat", "x r", axis=0)], {"x": [2, 3]}),
    "slice": one("Slice", [2, 6], ints(1), ints(5), ints(1), ints(2)),
    "slice_reverse": one("Slice", [2, 6], ints(-1), ints(-100), ints(1), ints(-1)),
    "slice_open": one("Slice", [2, 6], ints(0, 2), ints(1, 2**62)),
    "slice_attr": one("Slice", [2, 6], opset=9, starts=[1, -4], ends=[2, -1], axes=[0, 1]),
    "gather": one("Gather", [2, 6], ints(5, 0, -1), axis=1),
    "gather_scalar": one("Gather", [2, 6], np.array(1, dtype=np.int64)),
    "gather_matrix": one("Gather", [4, 2], np.array([[0, 1], [3, 3]], dtype=np.int64)),
    "gather_elements": one("GatherElements", [2, 3], np.array([[2, 0], [1, 1]], dtype=np.int64), axis=1),
    "gather_nd": one("GatherND", [2, 3], np.array([[0, 1], [1, 2]], dtype=np.int64)),
    "expand": one("Expand", [3, 1], ints(2, 1, 4)),
    "tile": one("Tile", [2, 3], ints(2, 2)),
    "pad": one("Pad", [2, 3], ints(1, 0, 0, 2), np.float32(1.5)),
    "pad_zero": one("Pad", [2, 3], ints(0, 1, 0, 0)),
    "pad_crop": one("Pad", [2, 3], ints(0, -1, 1, 0)),
    "pad_attr": one("Pad", [2, 3], opset=7, pads=[0, 1, 1, 0], value=2.0),
    "pad_reflect": one("Pad", [2, 4], ints(0, 2, 0, 1), mode="reflect"),
    "pad_edge": one("Pad", [2, 3], ints(1, 1, 0, 1), mode="edge"),
    "pad_axes": one("Pad", [2, 3], ints(1, 1), np.float32(0.5), ints(1), opset=18),
    "depth_to_space": one("DepthToSpace", [1, 8, 2, 2], blocksize=2),
    "depth_to_space_crd": one("DepthToSpace", [1, 8, 2, 2], blocksize=2, mode="CRD", opset=13),
    "space_to_depth": one("SpaceToDepth", [1, 2, 4, 4], blocksize=2),
    "scatter_elements": model(
        [node("Neg", "x", "n"), node("ScatterElements", "x i n", axis=1)],
        {"x": [1, 3]},
        {"i": np.array([[2, 0, 1]], dtype=np.int64)},
    ),
    "scatter_nd": model(
        [node("Slice", "x o e a", "n"), node("ScatterND", "x i n")],
        {"x": [3, 2]},
        {"o": ints(1), "e": ints(2), "a": ints(0), "i": np.array([[0]], dtype=np.int64)},
    ),
    "scatter_constant": model(
        [node("ScatterND", "x i c")], {"x": [3]}, {"i": np.array([[1]], dtype=np.int64), "c": weights(1)}
    ),
    "trilu": one("Trilu", [3, 3], upper=0),
    "identity": model([node("Identity", "x", "i"), node("Relu", "i")], {"x": [1, 2]}),
    "cast": model(
        [node("Cast", "x", "d", to=TensorProto.DOUBLE), node("Cast", "d", to=TensorProto.FLOAT)], {"x": [1, 2]}
    ),
    "cast_like": one("CastLike", [1, 3], np.float32(0)),
    "compress": one("Compress", [2, 3], np.array([True, False, True]), axis=1),
    "reverse_sequence": one("ReverseSequence", [3, 2], ints(2, 3)),
    "split": model(
        [node("Split", "x s", "a b", axis=1), node("Neg", "a", "n"), node("Concat", "b n", axis=1)],
        {"x": [1, 5]},
        {"s": ints(2, 3)},
    ),
    "shape_and_size": model(
        [
            node("Size", "x", "n"),
            node("Cast", "n", "m", to=TensorProto.FLOAT),
            node("Shape", "x", "s", start=-1),
            node("Cast", "s", "t", to=TensorProto.FLOAT),
            node("Mul", "x m", "h"),
            node("Add", "h t"),
        ],
        {"x": ["N", 5]},
    ),
    "dropout": one("Dropout", [1, 3], np.float32(0.5), np.array(False)),
    "dropout_7": one("Dropout", [1, 3], opset=7, ratio=0.5),
    "pad_edge_long": one("Pad", [2, 3], ints(0, 5, 0, 4), mode="edge"),
    "pad_wrap": one("Pad", [2, 3], ints(0, 2, 0, 3), mode="wrap", opset=19),
    "split_18": model([node("Split", "x", "a b y", num_outputs=3)], {"x": [7]}, opset=18),
    "gather_elements_wide": one("GatherElements", [2, 40], np.array([[39, -1, 3]], dtype=np.int64), axis=1),
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "cast": (one("Cast", [1, 2], to=TensorProto.INT64), "Cast", "rounds computed numbers to int64"),
    "dropout": (one("Dropout", [1, 2], np.float32(0.5), np.array(True)), "Dropout", "model.eval()"),
    "dropout_of_constants": (
        model(
            [node("Dropout", "w r t", "d", name="the_Dropout"), node("Mul", "x d")],
            {"x": [1, 8]},
            {"w": weights(1, 8), "r": np.float32(0.5), "t": np.array(True)},
        ),
        "Dropout",
        "model.eval()",
    ),
    **{
        f"pad_{mode}": (one("Pad", [4], np.array([1, 1]), mode=mode), "Pad", f"mode '{mode}'")
        for mode in ("mean", "symmetric", "linear_ramp", "empty", "maximum")
    },
    "pad_reflect_long": (one("Pad", [3], np.array([3, 0]), mode="reflect"), "Pad", "less than the axis"),
    "pad_wrap_long": (one("Pad", [3], np.array([4, 0]), mode="wrap", opset=19), "Pad", "less than the axis"),
    "split_uneven": (
        model([node("Split", "x", "y z", name="the_Split")], {"x": [5]}, opset=13),
        "Split",
        "does not split",
    ),
    "gather": (
        model([node("Cast", "x", "i", to=7), node("Gather", "x i", "y", name="n")], {"x": [2]}),
        "Cast",
        "int64",
    ),
}

test_agrees_with_onnxruntime = agreeing(CASES)
test_what_is_not_read_is_refused = refusing(REFUSED)


def test_cast_like_gives_constants_the_type_of_the_tensor() -> None:
    """An integer constant that takes part in float arithmetic must not truncate it."""
    nodes = [node("CastLike", "k x", "c"), node("Mul", "c h", "s"), node("Add", "x s")]
    compare(model(nodes, {"x": [1, 3]}, {"k": np.array([1, 2, 3]), "h": np.float32(0.1)}))
    nodes = [node("CastLike", "w x", "c"), node("Gemm", "x c")]
    compare(model(nodes, {"x": [1, 2]}, {"w": np.array([[1, 2], [3, 4]])}))


def test_cast_like_to_integers_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="changes the type of computed numbers"):
        ircert.load(one("CastLike", [1, 3], np.array([1])))


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axes", [*itertools.permutations([0, 2, 4]), (-3, -1), (-1, -3), (0, -1), (-5, 2, -1)])
def test_unsqueeze_takes_axes_in_any_order(axes: tuple[int, ...], opset: int) -> None:
    given: dict[str, Any] = {"axes": list(axes)} if opset < 13 else {}
    extra = () if opset < 13 else (np.array(axes),)
    shapes_agree(one("Unsqueeze", [2, 3], *extra, opset=opset, **given), (2, 3))


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axes", [(0, 2), (2, 0), (-5, -3), (-3, 0, -1), (4, 2, 0), (-1,)])
def test_squeeze_takes_axes_in_any_order(axes: tuple[int, ...], opset: int) -> None:
    given: dict[str, Any] = {"axes": list(axes)} if opset < 13 else {}
    extra = () if opset < 13 else (np.array(axes),)
    shapes_agree(one("Squeeze", [1, 2, 1, 3, 1], *extra, opset=opset, **given), (1, 2, 1, 3, 1))


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_slice_cuts_starts_and_ends_as_onnxruntime_does(step: int) -> None:
    edges = [-100, -5, -4, -1, 0, 3, 4, 100]
    x = np.array([1, 5, 2, 9], np.float32)
    for start, end in itertools.product(edges, edges):
        built = one("Slice", [4], *(np.array([v]) for v in (start, end, 0, step)))
        session = onnxruntime.InferenceSession(built.SerializeToString(), providers=["CPUExecutionProvider"])
        expected = session.run(None, {"x": x})[0].tolist()
        if expected:
            assert ircert.load(built)(x).tolist() == expected, (start, end)
        else:
            with pytest.raises(UnsupportedModel, match="empty"):
                ircert.load(built)


@pytest.mark.rule("F-2")
def test_slice_down_to_the_largest_integer_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="runtimes differ"):
        ircert.load(one("Slice", [4], *(np.array([v]) for v in (-1, 2**63 - 1, 0, -1))))


def test_split_in_its_three_forms() -> None:
    for opset, constants, attributes in (
        (11, {}, {"split": [1, 4]}),
        (13, {"s": np.array([1, 4])}, {}),
        (18, {}, {"num_outputs": 2}),
    ):
        inputs = "x s" if constants else "x"
        built = model(
            [node("Split", inputs, "a b", axis=1, **attributes)],
            {"x": [1, 5]},
            constants,
            outputs=["a", "b"],
            opset=opset,
        )
        graph = ircert.load(built, outputs=["b", "a"])
        points = sample(3, 5)
        np.testing.assert_allclose(graph(points), runtime(built, points, {"x": (1, 5)}, ["b", "a"]))
