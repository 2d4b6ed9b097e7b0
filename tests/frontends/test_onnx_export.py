"""Graphs written as ONNX: valid, the same numbers in onnxruntime, and the same function when read back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from scipy.sparse import csr_array, random_array

import ircert
from ircert.errors import FileError, UnsupportedModel
from ircert.frontends import onnx_export
from ircert.frontends.onnx_export import NOT_IN_ONNXRUNTIME, to_onnx
from ircert.ir import ops
from ircert.ir.build import Builder
from ircert.ir.graph import Graph
from ircert.ir.ops import curves, smooth

IMAGE = (4, 5, 6)
PIXELS = 120


def normal(*shape: int) -> NDArray[np.float64]:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def one(n: int, op: ops.Op, operands: int = 1) -> Graph:
    """The op on n inputs, or on several affine images of them."""
    build, rng = Builder(n), np.random.default_rng(n)
    parts = [build.affine(build.input, rng.normal(size=(n, n)), rng.normal(size=n)) for _ in range(operands)]
    return build.graph(build.node(op, *parts))


def choice() -> Graph:
    """A choice with a branch that is not piecewise linear: others are refused when they are read."""
    build = Builder(3)
    left, right, a, b = (build.affine(build.input, normal(3, 3) + k, normal(3)) for k in range(4))
    return build.graph(build.node(smooth.Choose(), left, right, build.node(smooth.Product(), a, b), b))


def window(**changes: object) -> dict[str, Any]:
    return {"stride": (2, 1), "padding": (1, 0, 0, 2), "dilation": (1, 2), **changes}


CASES: dict[str, Callable[[], Graph]] = {
    "input": lambda: Builder(3).graph("x"),
    "affine": lambda: one(3, ops.Affine(normal(2, 3), normal(2))),
    "affine_small_sparse": lambda: one(3, ops.Affine(csr_array([[0, 0.1, 0], [0, 0, 0]]), [0.3, 0.7])),
    "affine_sparse": lambda: one(200, ops.Affine(random_array((300, 200), density=0.01, rng=0), normal(300))),
    "relu": lambda: one(3, ops.Relu()),
    "add": lambda: one(3, ops.Add(), 3),
    "concat": lambda: one(3, ops.Concat(), 2),
    "select": lambda: one(3, ops.Select(np.array([2, 0, 2, 1]))),
    "leaky_relu": lambda: one(3, ops.LeakyRelu(np.array([0.1]))),
    "leaky_relu_each": lambda: one(3, ops.LeakyRelu(np.array([0.1, -0.3, 1.7]))),
    "abs": lambda: one(3, ops.Abs()),
    "max": lambda: one(3, ops.Max(), 3),
    "min": lambda: one(3, ops.Min(), 2),
    "clip": lambda: one(3, ops.Clip(np.array([-0.1]), np.array([0.7]))),
    "clip_below": lambda: one(3, ops.Clip(low=np.array([0.1]))),
    "clip_above": lambda: one(3, ops.Clip(high=np.array([0.1]))),
    "clip_each": lambda: one(3, ops.Clip(np.array([-0.1, -0.2, 0.0]), np.array([0.1, 0.7, 1.3]))),
    "clip_each_below": lambda: one(3, ops.Clip(low=np.array([-0.1, -0.2, 0.0]))),
    "conv": lambda: one(PIXELS, ops.Conv(IMAGE, normal(3, 4, 2, 3), normal(3))),
    "conv_groups": lambda: one(PIXELS, ops.Conv(IMAGE, normal(6, 2, 3, 2), groups=2, **window())),
    "conv_1d": lambda: one(14, ops.Conv((2, 7), normal(3, 2, 3), padding=(1, 1))),
    "average_pool": lambda: one(PIXELS, ops.AveragePool(IMAGE, (3, 3), **window())),
    "average_pool_padding": lambda: one(PIXELS, ops.AveragePool(IMAGE, (3, 2), count_padding=True, **window())),
    "max_pool": lambda: one(PIXELS, ops.MaxPool(IMAGE, (2, 3), **window(padding=(1, 1, 1, 1)))),
    "product": lambda: one(3, smooth.Product(), 2),
    "choose": choice,
    "power": lambda: one(3, smooth.Power(2.0)),
    "elu": lambda: one(3, curves.Elu(0.5)),
    "softmax": lambda: one(6, smooth.Softmax(3)),
    "log_softmax": lambda: one(6, smooth.LogSoftmax(6)),
}


def plain(kind: str) -> Graph:
    return one(3, ops.BY_KIND[kind]())


def takes_nothing(op: type[ops.Op]) -> bool:
    """Whether it has no attribute that must be given."""
    missing = dataclasses.MISSING
    return all(f.default is not missing or f.default_factory is not missing for f in dataclasses.fields(op))


CASES |= {kind: partial(plain, kind) for kind, op in ops.BY_KIND.items() if kind not in CASES and takes_nothing(op)}
ROUNDED = {"gelu_tanh": 1e-7}  # onnxruntime expands it with constants in float32
EXACT = [
    name for name, make in CASES.items() if make()[make().output].op.piecewise_linear or name in ("product", "choose")
]


def points(graph: Graph) -> NDArray[np.float64]:
    return normal(5, graph.input_dim)


def run(model: onnx.ModelProto, x: NDArray[np.float64]) -> NDArray[np.float64]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (wanted,) = session.get_inputs()
    return np.asarray(session.run(None, {wanted.name: x})[0])


def test_every_operation_has_a_case() -> None:
    missing = [kind for kind in ops.BY_KIND if kind not in CASES]
    assert missing == [], "operations with an attribute that must be given need a graph with one in CASES above"


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_valid_onnx_with_a_batch_axis(name: str) -> None:
    graph = CASES[name]()
    model = to_onnx(graph)
    onnx.checker.check_model(model, full_check=True)
    ends = [*model.graph.input, *model.graph.output]
    shapes = [[d.dim_param or d.dim_value for d in end.type.tensor_type.shape.dim] for end in ends]
    assert shapes == [["batch", graph.input_dim], ["batch", graph.output_dim]]
    assert {end.type.tensor_type.elem_type for end in ends} == {onnx.TensorProto.DOUBLE}


@pytest.mark.parametrize("name", [name for name in CASES if name not in NOT_IN_ONNXRUNTIME])
def test_onnxruntime_computes_the_same_in_double_precision(name: str) -> None:
    graph = CASES[name]()
    x, tolerance = points(graph), ROUNDED.get(name, 1e-12)
    np.testing.assert_allclose(run(to_onnx(graph), x), graph(x), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", sorted(NOT_IN_ONNXRUNTIME))
def test_operators_that_onnxruntime_lacks_compute_the_same_in_the_reference(name: str) -> None:
    graph = CASES[name]()
    model, x = to_onnx(graph), points(graph)
    (found,) = ReferenceEvaluator(model).run(None, {graph.input: x})
    np.testing.assert_allclose(found, graph(x), rtol=1e-6, atol=1e-6)


@pytest.mark.rule("F-7")
@pytest.mark.parametrize("name", EXACT)
def test_read_back_it_is_the_same_function_in_exact_arithmetic(name: str, tmp_path: Path) -> None:
    graph = CASES[name]()
    ircert.save(graph, tmp_path / "g.onnx")
    again = ircert.load(tmp_path / "g.onnx")
    x = points(graph)[:2]
    assert (again.exact(x) == graph.exact(x)).all()


@pytest.mark.parametrize("name", sorted(set(CASES) - set(EXACT)))
def test_read_back_a_smooth_function_has_the_same_values(name: str, tmp_path: Path) -> None:
    graph = CASES[name]()
    ircert.save(graph, tmp_path / "g.onnx")
    x = points(graph)
    np.testing.assert_allclose(ircert.load(tmp_path / "g.onnx")(x), graph(x), rtol=1e-12, atol=1e-12)


def test_every_operation_of_the_ir_is_covered() -> None:
    assert set(ops.BY_KIND) <= set(CASES)
    assert set(ops.ALL) == set(onnx_export._EMITTERS)


def test_a_large_sparse_matrix_is_not_densified() -> None:
    n = 20_000
    eye = csr_array((np.full(n, 0.1), (np.arange(n), np.arange(n)[::-1])), shape=(n, n))
    build = Builder(n)
    graph = build.graph(build.affine(build.input, eye, np.ones(n)))
    model = to_onnx(graph)
    assert model.ByteSize() < 40 * n
    x = normal(2, n)
    np.testing.assert_allclose(run(model, x), graph(x), rtol=1e-12)


def test_a_large_ragged_matrix_is_refused_with_a_way_out() -> None:
    n = 20_000
    column, row = np.concatenate([np.arange(n), np.zeros(n, int)]), np.concatenate([np.zeros(n, int), np.arange(n)])
    build = Builder(n)
    ragged = build.affine(build.input, csr_array((np.ones(2 * n), (row, column)), shape=(n, n)), name="ragged")
    with pytest.raises(UnsupportedModel, match=r"node `ragged`: .*save the graph as \.ir"):
        to_onnx(build.graph(ragged))


def test_an_alpha_that_float32_would_round_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="float32"):
        to_onnx(one(2, curves.Elu(0.1)))


def test_an_operation_without_an_onnx_form_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    emitters: dict[Any, Any] = {**onnx_export._EMITTERS}
    del emitters[ops.Relu]
    monkeypatch.setattr(onnx_export, "_EMITTERS", emitters)
    with pytest.raises(UnsupportedModel, match="node `relu`: relu cannot be written"):
        to_onnx(one(2, ops.Relu()))


def test_a_file_of_more_than_two_gigabytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_export, "PROTOBUF_LIMIT", 10)
    with pytest.raises(FileError, match="2 GB"):
        ircert.save(one(2, ops.Relu()), tmp_path / "g.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_gives_a_file_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        ircert.save(one(2, ops.Relu()), tmp_path / "none" / "g.onnx")


def test_names_are_kept(tmp_path: Path) -> None:
    build = Builder(2, name="state")
    graph = build.graph(build.relu(build.affine(build.input, np.eye(2), name="h.1"), name="y"))
    model = to_onnx(graph)
    assert [node.output[0] for node in model.graph.node] == ["h.1", "y"]
    assert model.graph.input[0].name == "state"
