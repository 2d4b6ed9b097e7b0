"""Operations of torch, one by one, against numpy; the programs of `torch_export` compare whole modules with torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import erf, expit

from ircert.errors import UnsupportedModel
from ircert.frontends.onnx import from_onnx
from ircert.frontends.pt2.program import Meta, Node, Program, Ref
from ircert.frontends.pt2.translate import OPERATIONS, translated

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(2, 3))
IMAGE = RANDOM.normal(size=(1, 2, 4, 4))
W, B = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=4)
SELF = Ref("x")


def program(
    target: str,
    x: NDArray[Any],
    shape: tuple[int | str, ...],
    arguments: dict[str, Any],
    constants: dict[str, NDArray[Any]],
    dtype: Any = np.float64,
) -> Program:
    """A program of one call."""
    metas = {name: Meta(np.dtype(array.dtype), array.shape) for name, array in constants.items()}
    metas |= {"x": Meta(np.dtype(dtype), x.shape), "y": Meta(np.dtype(dtype), shape)}
    return Program(("x",), ("y",), constants, (Node(target, arguments, ("y",)),), metas)


def check(target: str, x: NDArray[Any], expected: Any, /, *, name: str = "self", **given: Any) -> None:
    """The call computes this; arrays among the arguments are stored."""
    constants = {f"c_{key}": value for key, value in given.items() if isinstance(value, np.ndarray)}
    arguments = {name: SELF} | {key: Ref(f"c_{key}") if f"c_{key}" in constants else v for key, v in given.items()}
    made = program(target, x, np.shape(expected), arguments, constants)
    np.testing.assert_allclose(from_onnx(translated(made))(x.ravel()), np.ravel(expected), rtol=1e-12, atol=1e-12)


POSITIVE = np.abs(X) + 0.5


@pytest.mark.parametrize(
    ("target", "x", "expected", "given"),
    [
        ("add.Tensor", X, X + 2 * 1.5, {"other": 1.5, "alpha": 2}),
        ("sub.Tensor", X, X - POSITIVE, {"other": POSITIVE}),
        ("rsub.Scalar", X, 2 - X, {"other": 2}),
        ("mul.Tensor", X, X * 3, {"other": 3}),
        ("div.Tensor", X, X / POSITIVE, {"other": POSITIVE}),
        ("pow.Tensor_Scalar", X, X**2, {"exponent": 2}),
        ("relu.default", X, np.maximum(X, 0), {}),
        ("leaky_relu.default", X, np.where(X > 0, X, 0.01 * X), {}),
        ("prelu.default", X, np.where(X > 0, X, X * [0.1, 0.2, 0.3]), {"weight": np.array([0.1, 0.2, 0.3])}),
        ("hardtanh.default", X, np.clip(X, -1, 0.5), {"max_val": 0.5}),
        ("relu6.default", 5 * X, np.clip(5 * X, 0, 6), {}),
        ("hardsigmoid.default", 5 * X, np.clip(5 * X + 3, 0, 6) / 6, {}),
        ("clamp.default", X, np.maximum(X, -0.5), {"min": -0.5, "max": None}),
        ("clamp_max.default", X, np.minimum(X, 0.25), {"max": 0.25}),
        ("threshold.default", X, np.maximum(X, 0), {"threshold": 0, "value": 0}),
        ("elu.default", X, np.where(X > 0, X, 0.5 * np.expm1(X)), {"alpha": 0.5}),
        ("celu.default", X, np.where(X > 0, X, 0.5 * np.expm1(X / 0.5)), {"alpha": 0.5}),
        ("gelu.default", X, X * (1 + erf(X / np.sqrt(2))) / 2, {}),
        ("silu.default", X, X * expit(X), {}),
        ("mish.default", X, X * np.tanh(np.log1p(np.exp(X))), {}),
        ("softplus.default", X, np.log1p(np.exp(2 * X)) / 2, {"beta": 2}),
        ("sigmoid.default", X, expit(X), {}),
        ("tanh.default", X, np.tanh(X), {}),
        ("glu.default", X.T, X.T[:, :1] * expit(X.T[:, 1:]), {"dim": 1}),
        ("softmax.int", X, np.exp(X) / np.exp(X).sum(-1, keepdims=True), {"dim": -1}),
        ("abs.default", X, np.abs(X), {}),
        ("neg.default", X, -X, {}),
        ("sqrt.default", POSITIVE, np.sqrt(POSITIVE), {}),
        ("maximum.default", X, np.maximum(X, POSITIVE), {"other": POSITIVE}),
        ("minimum.default", X, np.minimum(X, POSITIVE), {"other": POSITIVE}),
        ("full_like.default", X, np.full((2, 3), 7.0), {"fill_value": 7}),
        ("flatten.using_ints", IMAGE, IMAGE.reshape(1, 8, 4), {"start_dim": 1, "end_dim": 2}),
        ("reshape.default", X, X.reshape(3, 2), {"shape": [3, -1]}),
        ("expand.default", X[:1], np.repeat(X[:1], 4, axis=0), {"size": [4, -1]}),
        ("transpose.int", IMAGE, IMAGE.swapaxes(1, 3), {"dim0": 1, "dim1": -1}),
        ("permute.default", IMAGE, IMAGE.transpose(0, 3, 1, 2), {"dims": [0, -1, 1, 2]}),
        ("t.default", X, X.T, {}),
        ("unsqueeze.default", X, X[:, :, None], {"dim": -1}),
        ("squeeze.dim", X[:1], X[0], {"dim": 0}),
        ("squeeze.default", X, X, {}),
        ("slice.Tensor", IMAGE, IMAGE[:, :, 1:4:2], {"dim": 2, "start": 1, "end": 4, "step": 2}),
        ("select.int", X, X[:, 1], {"dim": 1, "index": -2}),
        ("index_select.default", X, X[:, [2, 0]], {"dim": 1, "index": np.array([2, 0])}),
        ("flip.default", X, X[::-1, ::-1], {"dims": [0, 1]}),
        ("pad.default", X, np.pad(X, ((0, 1), (2, 0)), constant_values=3), {"pad": [2, 0, 0, 1], "value": 3.0}),
        ("matmul.default", X, X @ W.T, {"other": W.T}),
        ("mv.default", X, X @ W[0], {"vec": W[0]}),
        ("mean.dim", IMAGE, IMAGE.mean((2, 3)), {"dim": [2, 3]}),
        ("sum.default", X, X.sum(), {}),
        ("amax.default", X, X.max(1, keepdims=True), {"dim": [1], "keepdim": True}),
        ("avg_pool2d.default", IMAGE, IMAGE.reshape(1, 2, 2, 2, 2, 2).mean((3, 5)), {"kernel_size": [2]}),
        ("max_pool2d.default", IMAGE[0], IMAGE[0].reshape(2, 2, 2, 2, 2).max((2, 4)), {"kernel_size": [2, 2]}),
        ("adaptive_avg_pool2d.default", IMAGE, IMAGE.reshape(1, 2, 2, 2, 1, 4).mean((3, 5)), {"output_size": [2, 1]}),
    ],
)
def test_what_an_operation_computes(target: str, x: NDArray[Any], expected: Any, given: dict[str, Any]) -> None:
    check(f"aten.{target}", x, expected, **given)


def test_linear_layers_of_every_rank() -> None:
    for x in (X, X[0], X[None]):
        check("aten.linear.default", x, x @ W.T + B, name="input", weight=W, bias=B)
    check("aten.linear.default", X[None], X[None] @ W.T, name="input", weight=W)
    check("aten.addmm.default", X, X @ W.T * 2 + B * 3, name="mat1", mat2=W.T, self=B, alpha=2, beta=3)


def test_convolutions() -> None:
    weight = RANDOM.normal(size=(3, 2, 1, 1))
    expected = np.einsum("oi,bihw->bohw", weight[:, :, 0, 0], IMAGE) + B[:3, None, None]
    check("aten.conv2d.default", IMAGE, expected, name="input", weight=weight, bias=B[:3])
    check("aten.conv2d.default", IMAGE[0], expected[0], name="input", weight=weight, bias=B[:3])
    sparse = expected[:, :, ::2, ::2]
    check("aten.conv2d.default", IMAGE, sparse, name="input", weight=weight, bias=B[:3], stride=[2, 2])
    turned = weight.swapaxes(0, 1)
    check("aten.conv_transpose2d.input", IMAGE, expected, name="input", weight=turned, bias=B[:3])
    for padding in ("valid", "same"):
        check("aten.conv2d.padding", IMAGE, expected, name="input", weight=weight, bias=B[:3], padding=padding)
    with pytest.raises(UnsupportedModel, match="the padding 'odd'"):
        check("aten.conv2d.padding", IMAGE, expected, name="input", weight=weight, padding="odd")


def test_double_normalisation_keeps_epsilon() -> None:
    mean, variance = np.array([0.5, -1.0, 0.0]), np.array([2.0, 0.25, 1e-6])
    expected = (X - mean) / np.sqrt(variance + 1e-5)
    check("aten.batch_norm.default", X, expected, name="input", running_mean=mean, running_var=variance, training=False)


def test_where_joins_two_branches() -> None:
    nodes = (
        Node("aten.gt.Scalar", {"self": SELF, "other": 0}, ("c",)),
        Node("aten.mul.Tensor", {"self": SELF, "other": 0.5}, ("m",)),
        Node("aten.where.self", {"condition": Ref("c"), "self": SELF, "other": Ref("m")}, ("y",)),
    )
    metas = {name: Meta(np.dtype(float), (2, 3)) for name in "xmy"} | {"c": Meta(np.dtype(bool), (2, 3))}
    graph = from_onnx(translated(Program(("x",), ("y",), {}, nodes, metas)))
    np.testing.assert_allclose(graph(X.ravel()), np.where(X > 0, X, X / 2).ravel())


def test_parts_and_joins_with_an_open_batch() -> None:
    nodes = (
        Node("aten.sym_size.int", {"self": SELF, "dim": 0}, ("n",)),
        Node("_operator.mul", {"a": Ref("n"), "b": 2}, ("twice",)),
        Node("aten.view.default", {"self": SELF, "size": [Ref("twice"), -1]}, ("rows",)),
        Node("aten.view.default", {"self": Ref("rows"), "size": [Ref("n"), 4]}, ("back",)),
        Node("aten.split_with_sizes.default", {"self": Ref("back"), "split_sizes": [1, 3], "dim": 1}, ("a", "b")),
        Node("aten.cat.default", {"tensors": [Ref("b"), Ref("a")], "dim": -1}, ("y",)),
    )
    widths = {"x": 4, "back": 4, "a": 1, "b": 3, "y": 4}
    metas = {name: Meta(np.dtype(float), ("s", width)) for name, width in widths.items()}
    metas["rows"] = Meta(np.dtype(float), ("2*s", 2))
    graph = from_onnx(translated(Program(("x",), ("y",), {}, nodes, metas)))
    assert graph([1.0, 2.0, 3.0, 4.0]).tolist() == [2.0, 3.0, 4.0, 1.0]


@pytest.mark.rule("F-2")
@pytest.mark.parametrize(
    ("target", "given", "says"),
    [
        ("aten.sort.default", {}, "aten.sort.default: this operation is not read; export the model to .onnx"),
        ("aten.dropout.default", {"input": SELF, "train": True}, "it is random"),
        ("aten.batch_norm.default", {"input": SELF, "training": True}, "in training mode"),
        ("aten.div.Tensor", {"other": 2, "rounding_mode": "floor"}, "it rounds"),
        ("aten.threshold.default", {"threshold": 1, "value": 0}, "it jumps"),
        ("aten.softplus.default", {"threshold": 5}, "its threshold is below 20"),
        ("aten.elu.default", {"alpha": 0.1}, "0.1 is no float32 number"),
        ("aten.elu.default", {"scale": 2}, "it is scaled"),
        ("aten.pad.default", {"pad": [1, 1], "mode": "reflect"}, "it pads with other entries"),
        ("aten.adaptive_avg_pool2d.default", {"output_size": [3, 3]}, "does not divide"),
        ("aten.avg_pool2d.default", {"kernel_size": [2, 2], "divisor_override": 3}, "divides by another number"),
        ("aten.index.Tensor", {"indices": [SELF, SELF]}, "by several lists"),
        ("aten.clamp.default", {"min": SELF}, "clipped by a tensor"),
        ("aten.leaky_relu.default", {"self": 3}, "`self` is no tensor"),
        ("aten.slice.Tensor", {"end": SELF}, "its ends are computed"),
        ("aten.eye.default", {"n": 10**6}, "very large"),
        ("aten.mul.Tensor", {"other": "x"}, "`other` is no number"),
        ("aten.mean.dim", {"dim": ["x"]}, "no list of integers"),
    ],
)
def test_what_is_not_read_is_named(target: str, given: dict[str, Any], says: str) -> None:
    made = program(target, IMAGE, IMAGE.shape, {"self": SELF} | given, {})
    with pytest.raises(UnsupportedModel, match=says) as caught:
        translated(made)
    assert caught.value.where == "node `y`"
    assert caught.value.remedy


def test_every_operation_names_its_overload() -> None:
    assert all(name.startswith(("aten.", "_operator.")) for name in OPERATIONS)
    assert all(name.count(".") == (2 if name.startswith("aten.") else 1) for name in OPERATIONS)
