"""Every op that is read, in its attribute corners, against onnxruntime."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import ircert
from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.ops import HANDLERS
from ircert.ir.ops import Conv, Relu
from ircert.passes.canonicalize import Canonicalize
from tests.frontends.support import compare, model, node, one, weights
from tests.frontends.test_onnx_where import CONTINUOUS

I64 = np.int64


def ints(*values: int) -> Any:
    return np.array(values, dtype=I64)


CASES: dict[str, Any] = {
    # linear
    "gemm": one("Gemm", ["N", 3], weights(3, 4), weights(4)),
    "gemm_no_c": one("Gemm", [1, 3], weights(3, 4)),
    "gemm_all": one("Gemm", [3, 1], weights(4, 3), weights(1, 4), transA=1, transB=1, alpha=0.5, beta=2.0),
    "gemm_rows": one("Gemm", [2, 3], weights(3, 4), weights(2, 1)),
    "gemm_scalar_c": one("Gemm", [2, 3], weights(3, 4), np.float32(1.5), opset=11),
    "gemm_left": model([node("Gemm", "w x")], {"x": [3, 2]}, {"w": weights(4, 3)}),
    "gemm_left_t": model(
        [node("Gemm", "w x c", transA=1, transB=1)], {"x": [2, 3]}, {"w": weights(3, 4), "c": weights(2)}
    ),
    "gemm_both": model([node("Gemm", "x x x", alpha=0.5, beta=3.0)], {"x": [2, 2]}),
    "gemm_zero_beta": one("Gemm", [1, 3], weights(3, 4), weights(4), beta=0.0),
    "matmul_1d": one("MatMul", [5], weights(5, 3)),
    "matmul_1d_1d": one("MatMul", [5], weights(5)),
    "matmul_left": model([node("MatMul", "w x")], {"x": [5]}, {"w": weights(3, 5)}),
    "matmul_left_column": model([node("MatMul", "w x")], {"x": [1, 5, 1]}, {"w": weights(3, 5)}),
    "matmul_3d": one("MatMul", ["N", 4, 5], weights(5, 3)),
    "matmul_3d_stack": one("MatMul", [2, 4, 5], weights(2, 5, 3)),
    "matmul_spread": one("MatMul", [4, 5], weights(2, 5, 3)),
    "matmul_left_3d": model([node("MatMul", "w x")], {"x": [2, 5, 3]}, {"w": weights(4, 5)}),
    "matmul_both": model([node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "x t")], {"x": [1, 2, 3]}),
    "matmul_add": model(
        [node("MatMul", "x w", "h"), node("Add", "b h")], {"x": ["N", 3]}, {"w": weights(3, 2), "b": weights(2)}
    ),
    # arithmetic
    "add_broadcast": one("Add", [1, 3], weights(4, 1, 3)),
    "sub_left": model([node("Sub", "c x")], {"x": [1, 3]}, {"c": weights(3)}),
    "sub_right": one("Sub", [1, 3], weights(1)),
    "mul_broadcast": one("Mul", [1, 3, 1], weights(2, 1, 4)),
    "div": one("Div", [1, 3], weights(3)),
    "neg": one("Neg", [1, 3]),
    "residual": model([node("Relu", "x", "r"), node("Add", "r x")], {"x": [1, 3]}),
    "residual_sub": model([node("Relu", "x", "r"), node("Sub", "r x")], {"x": [1, 3]}),
    "residual_broadcast": model([node("ReduceSum", "x a", "r"), node("Add", "r x")], {"x": [1, 3]}, {"a": ints(1)}),
    "sum": model([node("Relu", "x", "r"), node("Sum", "r x c r")], {"x": [1, 3]}, {"c": weights(3)}),
    "sum_one": one("Sum", [1, 3]),
    "mean": model([node("Relu", "x", "r"), node("Mean", "r x c")], {"x": [1, 3]}, {"c": weights(3)}),
    "product": model([node("Relu", "x", "r"), node("Mul", "r x")], {"x": [1, 3]}),
    "square": one("Pow", [1, 3], np.float32(2)),
    "cube": one("Pow", [1, 3], np.array([3], dtype=I64)),
    "fourth": one("Pow", [1, 3], np.float32(4)),
    "power_one": one("Pow", [1, 3], np.float32(1)),
    # activations
    "relu": one("Relu", [1, 4]),
    "leaky": one("LeakyRelu", [1, 4]),
    "leaky_alpha": one("LeakyRelu", [1, 4], alpha=1.5),
    "prelu": one("PRelu", [1, 3, 2], weights(3, 1)),
    "prelu_one": one("PRelu", [1, 3], np.array([0.25], dtype=np.float32)),
    "prelu_computed": model([node("Abs", "x", "s"), node("PRelu", "x s")], {"x": [1, 3]}),
    "hard_sigmoid": one("HardSigmoid", [1, 4]),
    "hard_sigmoid_alpha": one("HardSigmoid", [1, 4], alpha=0.5, beta=0.25),
    "abs": one("Abs", [1, 4]),
    "thresholded": one("ThresholdedRelu", [1, 4], alpha=0.0),
    "shrink": one("Shrink", [1, 4], lambd=0.5, bias=0.5),
    "clip": one("Clip", [1, 4], np.float32(-1), np.float32(0.5)),
    "clip_low": one("Clip", [1, 4], np.float32(-1)),
    "clip_high": one("Clip", [1, 4], None, np.float32(1)),
    "clip_none": one("Clip", [1, 4]),
    "clip_attributes": one("Clip", [1, 4], opset=7, min=0.0, max=1.0),
    "clip_attribute_max": one("Clip", [1, 4], opset=10, max=1.0),
    "clip_widest": one("Clip", [1, 4], np.float32(0), np.float32(np.finfo(np.float32).max)),
    "max": model([node("Neg", "x", "n"), node("Max", "x n c")], {"x": [1, 3]}, {"c": weights(3)}),
    "max_broadcast": model([node("Max", "x c")], {"x": [1, 3, 1]}, {"c": weights(2)}),
    "max_one": one("Max", [1, 3]),
    "min": model([node("Neg", "x", "n"), node("Min", "c x n")], {"x": [1, 3]}, {"c": weights(1, 3)}),
    "min_constants": model([node("Min", "c x d")], {"x": [1, 3]}, {"c": weights(3), "d": weights(3, seed=1)}),
    # layout
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
    "gather_scalar": one("Gather", [2, 6], np.array(1, dtype=I64)),
    "gather_matrix": one("Gather", [4, 2], np.array([[0, 1], [3, 3]], dtype=I64)),
    "gather_elements": one("GatherElements", [2, 3], np.array([[2, 0], [1, 1]], dtype=I64), axis=1),
    "gather_nd": one("GatherND", [2, 3], np.array([[0, 1], [1, 2]], dtype=I64)),
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
        {"i": np.array([[2, 0, 1]], dtype=I64)},
    ),
    "scatter_nd": model(
        [node("Slice", "x o e a", "n"), node("ScatterND", "x i n")],
        {"x": [3, 2]},
        {"o": ints(1), "e": ints(2), "a": ints(0), "i": np.array([[0]], dtype=I64)},
    ),
    "scatter_constant": model(
        [node("ScatterND", "x i c")], {"x": [3]}, {"i": np.array([[1]], dtype=I64), "c": weights(1)}
    ),
    "einsum_weight": model([node("Einsum", "x w", equation="bi,oi->bo")], {"x": ["N", 3]}, {"w": weights(2, 3)}),
    "einsum_left": model([node("Einsum", "w x", equation="oi, bi")], {"x": [1, 3]}, {"w": weights(2, 3)}),
    "einsum_trace": model([node("Einsum", "x", equation="ii->i")], {"x": [3, 3]}),
    "einsum_sum": model([node("Einsum", "x", equation="ij->")], {"x": [2, 3]}),
    "einsum_both": model([node("Einsum", "x x", equation="bi,bj->bij")], {"x": [1, 3]}),
    "trilu": one("Trilu", [3, 3], upper=0),
    "resize": one("Resize", [1, 1, 2, 3], None, np.array([1, 1, 2, 2], dtype=np.float32), mode="nearest"),
    "resize_asymmetric": one(
        "Resize",
        [1, 1, 5, 3],
        None,
        np.array([1, 1, 0.6, 1.5], dtype=np.float32),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    ),
    "resize_sizes": one("Resize", [1, 1, 5], None, None, ints(1, 1, 8), mode="nearest"),
    "resize_10": one("Resize", [1, 1, 2, 3], np.array([1, 1, 2, 2], dtype=np.float32), opset=10),
    "upsample_7": one("Upsample", [1, 1, 2, 3], opset=7, scales=[1.0, 1.0, 2.0, 3.0]),
    "upsample": one("Upsample", [1, 1, 2, 3], np.array([1, 1, 2, 2], dtype=np.float32), opset=9),
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
    "scaler": model(
        [helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[1.0, 2.0], scale=[0.5, 3.0])],
        {"x": ["N", 2]},
        domains=["ai.onnx.ml"],
    ),
    "dropout": one("Dropout", [1, 3], np.float32(0.5), np.array(False)),
    "dropout_7": one("Dropout", [1, 3], opset=7, ratio=0.5),
    # reductions
    "reduce_sum": one("ReduceSum", [2, 3, 2], ints(1), keepdims=0),
    "reduce_sum_all": one("ReduceSum", [2, 3, 2]),
    "reduce_sum_none": one("ReduceSum", [2, 3], noop_with_empty_axes=1),
    "reduce_sum_attr": one("ReduceSum", [2, 3, 2], opset=11, axes=[-1]),
    "reduce_mean": one("ReduceMean", [2, 3, 2], axes=[1, 2]),
    "reduce_mean_18": one("ReduceMean", [2, 3, 2], ints(0, -1), opset=18, keepdims=0),
    "reduce_max": one("ReduceMax", [2, 3, 2], axes=[1], keepdims=0),
    "reduce_min_18": one("ReduceMin", [2, 3, 2], ints(2, 1), opset=18),
    "reduce_l1": one("ReduceL1", [2, 3], axes=[1]),
    "reduce_sum_square": one("ReduceSumSquare", [2, 3], axes=[1]),
    # images
    "conv_1d": one("Conv", [1, 2, 7], weights(3, 2, 3), weights(3), strides=[2], pads=[1, 2]),
    "conv_2d": one(
        "Conv", ["N", 2, 5, 6], weights(4, 2, 3, 2), weights(4), strides=[2, 1], pads=[1, 0, 2, 1], dilations=[1, 2]
    ),
    "conv_3d": one("Conv", [1, 1, 3, 4, 3], weights(2, 1, 2, 2, 2)),
    "conv_groups": one("Conv", [1, 4, 4, 4], weights(6, 2, 2, 2), group=2),
    "conv_depthwise": one("Conv", [1, 3, 4, 4], weights(3, 1, 3, 3), group=3, pads=[1, 1, 1, 1]),
    "conv_same_upper": one("Conv", [1, 1, 5, 6], weights(1, 1, 2, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
    "conv_same_lower": one("Conv", [1, 1, 5, 6], weights(1, 1, 2, 3), auto_pad="SAME_LOWER", strides=[2, 2]),
    "conv_valid": one("Conv", [1, 1, 5, 6], weights(1, 1, 2, 3), auto_pad="VALID"),
    "conv_batch": one("Conv", [2, 1, 3, 3], weights(2, 1, 2, 2)),
    "conv_bias_add": model(
        [node("Conv", "x w", "h"), node("Add", "h b")],
        {"x": [1, 1, 3, 3]},
        {"w": weights(2, 1, 2, 2), "b": weights(1, 2, 1, 1)},
    ),
    "conv_transpose": one(
        "ConvTranspose",
        [1, 2, 3, 3],
        weights(2, 3, 3, 3),
        weights(3),
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        output_padding=[1, 1],
    ),
    "conv_transpose_groups": one("ConvTranspose", [1, 4, 3], weights(4, 1, 2), group=2, dilations=[2]),
    "conv_transpose_same": one(
        "ConvTranspose", [1, 1, 3, 3], weights(1, 1, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]
    ),
    "conv_transpose_shape": one(
        "ConvTranspose", [1, 1, 3, 3], weights(1, 1, 4, 4), output_shape=[6, 7], strides=[2, 2]
    ),
    "average_pool": one("AveragePool", [1, 2, 5, 5], kernel_shape=[2, 3], strides=[1, 2], pads=[1, 1, 0, 1]),
    "average_pool_count": one("AveragePool", [1, 2, 5, 5], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
    "average_pool_ceil": one("AveragePool", [1, 1, 5, 6], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1, opset=19),
    "average_pool_ceil_count": one(
        "AveragePool",
        [2, 2, 5, 6],
        kernel_shape=[3, 2],
        strides=[3, 3],
        pads=[1, 0, 0, 1],
        ceil_mode=1,
        count_include_pad=1,
        opset=19,
    ),
    "average_pool_same": one("AveragePool", [1, 1, 5, 5], kernel_shape=[2, 2], auto_pad="SAME_UPPER"),
    "average_pool_dilated": one("AveragePool", [1, 1, 6, 6], kernel_shape=[2, 2], dilations=[2, 2], opset=19),
    "max_pool": one("MaxPool", [1, 2, 5, 5], kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 0, 0]),
    "max_pool_ceil": one("MaxPool", [1, 1, 5, 6], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
    "max_pool_ceil_start": one("MaxPool", [1, 1, 4], kernel_shape=[1], strides=[4], pads=[0, 0], ceil_mode=1),
    "max_pool_dilated": one("MaxPool", [1, 1, 6], kernel_shape=[3], dilations=[2]),
    "max_pool_batch": one("MaxPool", [2, 1, 4], kernel_shape=[2]),
    "global_average_pool": one("GlobalAveragePool", [1, 3, 2, 4]),
    "global_max_pool": one("GlobalMaxPool", [1, 3, 2, 2]),
    "batch_norm": one(
        "BatchNormalization",
        [1, 3, 2, 2],
        weights(3),
        weights(3, seed=1),
        weights(3, seed=2),
        abs(weights(3, seed=3)),
        epsilon=0.01,
    ),
    "batch_norm_2d": one(
        "BatchNormalization",
        ["N", 3],
        weights(3),
        weights(3, seed=1),
        weights(3, seed=2),
        abs(weights(3, seed=3)),
        opset=9,
    ),
}


for _mode in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"):
    for _nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        CASES[f"resize_{_mode}_{_nearest}"] = one(
            "Resize",
            [1, 1, 5, 7],
            None,
            np.array([1, 1, 1.7, 0.6], dtype=np.float32),
            coordinate_transformation_mode=_mode,
            nearest_mode=_nearest,
        )
CASES["pad_edge_long"] = one("Pad", [2, 3], ints(0, 5, 0, 4), mode="edge")
CASES["pad_wrap"] = one("Pad", [2, 3], ints(0, 2, 0, 3), mode="wrap", opset=19)
CASES["resize_10"] = one("Resize", [1, 1, 4, 3], np.array([1, 1, 0.5, 2.5], np.float32), opset=10, mode="nearest")
CASES["upsample"] = one("Upsample", [1, 1, 4, 3], np.array([1, 1, 3, 1.5], np.float32), opset=9, mode="nearest")
CASES["split_18"] = model([node("Split", "x", "a b y", num_outputs=3)], {"x": [7]}, opset=18)
CASES["resize_axes"] = one("Resize", [1, 1, 5, 7], None, None, ints(9, 3), opset=18, axes=[3, 2])
CASES["gather_elements_wide"] = one("GatherElements", [2, 40], np.array([[39, -1, 3]], dtype=I64), axis=1)


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_onnxruntime(name: str) -> None:
    compare(CASES[name])


SMOOTH: dict[str, Any] = {
    **{op.lower(): one(op, [1, 4]) for op in ("Tanh", "Sigmoid", "Softplus", "Softsign", "HardSwish", "Erf", "Exp")},
    **{op.lower(): one(op, [1, 4]) for op in ("Sin", "Cos", "Elu", "Selu", "Celu")},
    "elu_alpha": one("Elu", [1, 4], alpha=0.5),
    "selu_alpha": one("Selu", [1, 4], alpha=0.5, gamma=2.0),
    "celu_alpha": one("Celu", [1, 4], alpha=0.5),
    "gelu": one("Gelu", [1, 4], opset=20),
    "gelu_tanh": one("Gelu", [1, 4], opset=20, approximate="tanh"),
    "mish": one("Mish", [1, 4], opset=18),
    "softmax": one("Softmax", [2, 3, 2], axis=1),
    "softmax_last": one("Softmax", [2, 3]),
    "softmax_old": one("Softmax", [2, 3, 2], opset=11, axis=1),
    "log_softmax": one("LogSoftmax", [2, 3, 2], axis=0),
    "layer_norm": one("LayerNormalization", [2, 4], weights(4), weights(4, seed=1)),
    "layer_norm_axis": one("LayerNormalization", [1, 2, 3], weights(2, 3), axis=1, epsilon=0.1),
    "power_one_half": model([node("Exp", "x", "e"), node("Pow", "e p")], {"x": [1, 3]}, {"p": np.float32(1.5)}),
    "sqrt": model([node("Exp", "x", "e"), node("Sqrt", "e", "s"), node("Log", "s")], {"x": [1, 3]}),
    "divide": model([node("Exp", "x", "e"), node("Div", "x e")], {"x": [1, 3]}),
    "divide_constant": model([node("Exp", "x", "e"), node("Div", "c e")], {"x": [1, 3]}, {"c": weights(3)}),
    "reciprocal": model([node("Exp", "x", "e"), node("Reciprocal", "e")], {"x": [1, 3]}),
    "reduce_l2": one("ReduceL2", [2, 3], axes=[1]),
    "quadratic": model(
        [node("MatMul", "x w", "h"), node("Mul", "h x", "p"), node("ReduceSum", "p a", keepdims=1)],
        {"x": ["N", 3]},
        {"w": weights(3, 3), "a": ints(-1)},
    ),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_ops_evaluate(name: str) -> None:
    graph = compare(SMOOTH[name])
    assert not all(node.op.piecewise_linear for node in graph.nodes)


def test_every_op_is_tried() -> None:
    models = [*CASES.values(), *SMOOTH.values(), *CONTINUOUS.values(), one("Swish", [1, 8], opset=24)]
    assert set(HANDLERS) <= {n.op_type for built in models for n in built.graph.node}


def test_swish() -> None:
    x = np.linspace(-3, 3, 8)
    for alpha in (1.0, 0.5, 0.0):
        graph = ircert.load(one("Swish", [1, 8], opset=24, alpha=alpha))
        np.testing.assert_allclose(graph(x), x / (1 + np.exp(-alpha * x)), rtol=1e-12)


@pytest.mark.parametrize("dtype", [TensorProto.DOUBLE, TensorProto.FLOAT16])
def test_other_float_types(dtype: int) -> None:
    built = model(
        [node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("MatMul", "r v")],
        {"x": ["N", 3]},
        {"w": weights(3, 5), "b": weights(5), "v": weights(5, 2)},
        dtype=dtype,
    )
    compare(built, rtol=1e-12 if dtype == TensorProto.DOUBLE else 5e-3)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 21])
def test_operator_sets(opset: int) -> None:
    nodes = [node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("Gemm", "r v c")]
    compare(
        model(
            nodes,
            {"x": [1, 3]},
            {"w": weights(3, 5), "b": weights(5), "v": weights(5, 2), "c": weights(2)},
            opset=opset,
        )
    )


def test_bias_is_taken_by_the_map_before_it() -> None:
    assert len(compare(CASES["matmul_add"])) == 2
    graph = compare(CASES["conv_bias_add"])
    assert len(graph) == 2
    assert isinstance(graph[graph.output].op, Conv)


def test_clip_at_zero_is_relu() -> None:
    graph = compare(CASES["clip_widest"])
    assert isinstance(graph[graph.output].op, Relu)


def test_cast_like_gives_constants_the_type_of_the_tensor() -> None:
    """An integer constant that takes part in float arithmetic must not truncate it."""
    nodes = [node("CastLike", "k x", "c"), node("Mul", "c h", "s"), node("Add", "x s")]
    compare(model(nodes, {"x": [1, 3]}, {"k": np.array([1, 2, 3]), "h": np.float32(0.1)}))
    nodes = [node("CastLike", "w x", "c"), node("Gemm", "x c")]
    compare(model(nodes, {"x": [1, 2]}, {"w": np.array([[1, 2], [3, 4]])}))


def test_cast_like_to_integers_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="changes the type of computed numbers"):
        ircert.load(one("CastLike", [1, 3], np.array([1])))


@pytest.mark.rule("IR-13")
def test_outputs_that_need_no_smooth_function_are_piecewise_linear() -> None:
    nodes = [node("Tanh", "x", "t"), node("Relu", "x", "r"), node("Concat", "t r", axis=1)]
    graph = ircert.load(model(nodes, {"x": [1, 2]}))
    with pytest.raises(UnsupportedModel, match="tanh is not piecewise linear"):
        Canonicalize().run(graph)
    assert all(n.op.piecewise_linear for n in graph.select([2, 3]).nodes)
    assert graph.select([3]).exact([1, 2]).tolist() == [2]


def test_only_the_largest_float32_and_infinities_are_no_bound() -> None:
    graph = ircert.load(one("Clip", [2], np.array(-1e39), np.array(1e39), dtype=TensorProto.DOUBLE))
    assert graph([1e40, -1e40]).tolist() == [1e39, -1e39]
    free = ircert.load(one("Clip", [2], np.array(-np.inf), np.array(np.inf), dtype=TensorProto.DOUBLE))
    assert free([1e40, -1e40]).tolist() == [1e40, -1e40]


@pytest.mark.rule("F-2")
@pytest.mark.parametrize("op", ["AveragePool", "MaxPool", "Conv"])
@pytest.mark.parametrize("auto", ["SAME_UPPER", "SAME_LOWER"])
def test_same_padding_agrees_or_is_refused(op: str, auto: str) -> None:
    """Where strides skip entries at the end the padding would be negative: no text says what that means."""
    refused = 0
    for n, kernel, stride in product((1, 4, 5, 6), (1, 2, 3), (1, 2, 3, 4)):
        given: dict[str, Any] = {"strides": [stride], "auto_pad": auto}
        given |= {} if op == "Conv" else {"kernel_shape": [kernel]}
        built = one(op, [1, 1, n], *([weights(1, 1, kernel)] if op == "Conv" else []), **given)
        if (-(-n // stride) - 1) * stride + kernel >= n:
            compare(built, count=2)
            continue
        refused += 1
        with pytest.raises(UnsupportedModel, match="runtimes differ here: give pads"):
            ircert.load(built)
    assert refused > 0
