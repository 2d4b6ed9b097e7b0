"""Convolutions and pools, in their attribute corners, against onnxruntime; and what is refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import ircert
from ircert.errors import UnsupportedModel
from ircert.ir.ops import Conv
from tests.frontends.support import agreeing, compare, model, node, one, refusing, weights

CASES: dict[str, Any] = {
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
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "indices": (
        model([node("MaxPool", "x", "p y", name="the_MaxPool", kernel_shape=[2])], {"x": [1, 1, 4]}),
        "MaxPool",
        "second output",
    ),
    "conv_weight": (
        model([node("Conv", "x x", "y", name="the_Conv")], {"x": [1, 1, 3]}),
        "Conv",
        "weight must be a constant",
    ),
    "auto_pad": (one("MaxPool", [1, 1, 4], kernel_shape=[2], auto_pad="SOME"), "MaxPool", "auto_pad 'SOME'"),
    "same_dilated": (
        one("MaxPool", [1, 1, 6], kernel_shape=[2], dilations=[2], auto_pad="SAME_UPPER"),
        "MaxPool",
        "give pads",
    ),
    "kernel_shape": (one("Conv", [1, 1, 4], weights(1, 1, 2), kernel_shape=[3]), "Conv", "contradicts its weight"),
}

test_agrees_with_onnxruntime = agreeing(CASES)
test_what_is_not_read_is_refused = refusing(REFUSED)


def test_bias_is_taken_by_the_convolution_before_it() -> None:
    graph = compare(CASES["conv_bias_add"])
    assert len(graph) == 2
    assert isinstance(graph[graph.output].op, Conv)


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
