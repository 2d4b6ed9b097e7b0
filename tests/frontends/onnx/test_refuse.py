"""Ops without a handler: the error says why, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

import ircert
from ircert.errors import UnsupportedModel
from tests.frontends.support import model, node, one, refused, refusing, weights

BODY = helper.make_graph([node("Relu", "x", "z")], "body", [], [helper.make_tensor_value_info("z", 1, None)])

REFUSED: dict[str, tuple[Any, str, str]] = {
    "sign": (one("Sign", [1, 2]), "Sign", "jumps"),
    "floor": (one("Floor", [1, 2]), "Floor", "jumps"),
    "arg_max": (one("ArgMax", [1, 2]), "ArgMax", "jumps"),
    "instance_norm": (
        one("InstanceNormalization", [1, 2, 3], weights(2), weights(2)),
        "InstanceNormalization",
        "deviation",
    ),
    "quantised": (one("QuantizeLinear", [1, 2], np.float32(0.5)), "QuantizeLinear", "export the float model"),
    "unknown": (one("Det", [2, 2]), "Det", "not supported"),
    "equal": (
        model([node("Equal", "x c", "y", name="the_Equal")], {"x": [1, 2]}, {"c": weights(2)}),
        "Equal",
        "condition",
    ),
    "random": (one("RandomNormalLike", [1, 2]), "RandomNormalLike", "random"),
    "if": (
        model(
            [node("Greater", "x c", "g"), node("If", "g", "y", name="the_If", then_branch=BODY, else_branch=BODY)],
            {"x": [1]},
            {"c": weights(1)},
        ),
        "If",
        "control flow",
    ),
}

test_what_is_not_read_is_refused = refusing(REFUSED)


def test_loop() -> None:
    body = helper.make_graph(
        [node("Identity", "c", "d"), node("Relu", "v", "w")],
        "body",
        [
            helper.make_tensor_value_info("i", 7, []),
            helper.make_tensor_value_info("c", 9, []),
            helper.make_tensor_value_info("v", 1, [1]),
        ],
        [helper.make_tensor_value_info("d", 9, []), helper.make_tensor_value_info("w", 1, [1])],
    )
    built = model([node("Loop", "n _ x", "y", body=body)], {"x": [1]}, {"n": np.array(3)})
    refused(built, "Loop: control flow", "node `y`", "unrolled")


def test_messages_are_one_printable_line_whatever_the_file_calls_its_nodes() -> None:
    built = one("Sign", [1, 2])
    built.graph.node[0].name = "a\nb\x1b[31m\u2028c"
    with pytest.raises(UnsupportedModel) as caught:
        ircert.load(built)
    message = str(caught.value)
    assert message.isprintable()
    assert "a\\nb\\x1b[31m\\u2028c" in message
