"""All families of ops: each handler is tried, and each result has the right shape."""

from __future__ import annotations

import onnx
import pytest

from ircert.frontends.onnx.ops import HANDLERS
from tests.frontends.onnx.ops.every_op import PIECEWISE_LINEAR, SMOOTH
from tests.frontends.onnx.ops.test_exponentials import CASES as WRITTEN_OUT
from tests.frontends.onnx.ops.test_where import CONTINUOUS
from tests.frontends.onnx.shapes import shapes_agree
from tests.frontends.support import one


def test_every_op_is_tried() -> None:
    models = [*PIECEWISE_LINEAR.values(), *SMOOTH.values(), *CONTINUOUS.values(), one("Swish", [1, 8], opset=24)]
    models += [built for built, _ in WRITTEN_OUT.values()]
    assert set(HANDLERS) <= {n.op_type for built in models for n in built.graph.node}


SCALARS = {"matmul_1d_1d", "einsum_sum"}


@pytest.mark.parametrize("name", PIECEWISE_LINEAR)
def test_results_have_onnxruntimes_shape(name: str) -> None:
    built = onnx.ModelProto()
    built.CopyFrom(PIECEWISE_LINEAR[name])
    (info,) = [i for i in built.graph.input if i.name not in {t.name for t in built.graph.initializer}]
    if info.name == "x" and name not in SCALARS:
        shapes_agree(built, tuple(d.dim_value or 1 for d in info.type.tensor_type.shape.dim))
