"""ONNX values while a model is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.values import LARGEST, Call, Comparison, Tensor, require_size


def call(*inputs: Any, **attributes: Any) -> Call:
    return Call("Op", "node `n`", inputs, attributes, ("y",), 17, None)


def test_positions_are_row_major() -> None:
    assert Tensor("x", (2, 3)).index.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_comparisons_broadcast() -> None:
    assert Comparison(Tensor("x", (2, 1)), np.zeros(3)).shape == (2, 3)


def test_attributes_and_what_their_absence_means() -> None:
    assert call(alpha=0.5).get("alpha", 1) == 0.5
    assert call().get("alpha", 1) == 1
    assert call().real("alpha", 0.1) == float(np.float32(0.1)), "ONNX means its defaults in float32"


@pytest.mark.parametrize("count", [0, LARGEST + 1])
def test_sizes_that_no_network_needs(count: int) -> None:
    require_size(LARGEST, "node `n`")
    with pytest.raises(UnsupportedModel, match="node `n`"):
        require_size(count, "node `n`")


def test_an_error_names_the_op_and_the_node() -> None:
    assert str(call().refuse("it is wrong", "do this")) == "node `n`: Op: it is wrong; do this"
