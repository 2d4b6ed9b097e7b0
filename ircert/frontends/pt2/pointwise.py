"""Operations entry by entry: arithmetic, activations, comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ircert.frontends.onnx.tensors import is_float
from ircert.frontends.pt2.call import Call
from ircert.frontends.pt2.program import Ref

Writer = Callable[[Call], None]
LARGEST = 2**23
"""Numbers in an array that a program makes of nothing (F-6)."""


def unary(op: str) -> Writer:
    """An operation of one tensor without numbers."""

    def write(call: Call) -> None:
        call.emit(op, call.operand("self"))

    return write


def binary(op: str) -> Writer:
    """An operation of two tensors, or of one and a number."""

    def write(call: Call) -> None:
        call.emit(op, call.operand("self"), call.operand("other"))

    return write


def _sum(op: str) -> Writer:
    """self ± alpha other."""

    def write(call: Call) -> None:
        other = call.operand("other")
        if call.number("alpha", 1) != 1:
            other = call.sheet.add("Mul", other, call.sheet.constant(call.number("alpha"), dtype=call.dtype))
        call.emit(op, call.operand("self"), other)

    return write


def _rsub(call: Call) -> None:
    if call.number("alpha", 1) != 1:
        raise call.refuse("its alpha is not 1")
    call.emit("Sub", call.operand("other"), call.operand("self"))


def _div(call: Call) -> None:
    if call.get("rounding_mode") is not None:
        raise call.refuse("it rounds, so the network is not continuous")
    call.emit("Div", call.operand("self"), call.operand("other"))


def _pow(call: Call) -> None:
    call.emit("Pow", call.operand("self"), call.operand("exponent"))


def _leaky_relu(call: Call) -> None:
    slope = call.number("negative_slope", 0.01)
    if call.dtype == np.float64:
        call.emit("PRelu", call.tensor(), call.sheet.constant(slope, dtype=call.dtype))
    else:
        call.emit("LeakyRelu", call.tensor(), alpha=float(slope))


def _prelu(call: Call) -> None:
    """One slope, or one for each channel, which is the second dimension."""
    rank, slopes = len(call.shape()), call.sizes("weight")
    shape = slopes if slopes == [1] else slopes + [1] * (rank - 2)
    call.emit("PRelu", call.tensor(), call.sheet.add("Reshape", call.tensor("weight"), call.sheet.constant(shape)))


def _clip(low: Any, high: Any) -> Writer:
    """Between two arguments, or two numbers; either may be missing."""

    def write(call: Call) -> None:
        ends = [call.get(end) if isinstance(end, str) else end for end in (low, high)]
        made = [None if end is None else _end(call, end) for end in ends]
        call.emit("Clip", call.operand("self"), *made)

    return write


def _end(call: Call, end: Any) -> str:
    if isinstance(end, Ref):
        raise call.refuse("it is clipped by a tensor")
    return call.sheet.constant(end, dtype=call.dtype)


def _hardtanh(call: Call) -> None:
    ends = [call.sheet.constant(call.number(*end), dtype=call.dtype) for end in (("min_val", -1), ("max_val", 1))]
    call.emit("Clip", call.tensor(), *ends)


def _hard_sigmoid(call: Call) -> None:
    """clip(x + 3, 0, 6) / 6; in float32 with the number nearest to 1/6, as torch's exporter writes it."""
    if call.dtype != np.float64:
        call.emit("HardSigmoid", call.tensor(), alpha=1 / 6, beta=0.5)
        return
    three, zero, six = (call.sheet.constant(number, dtype=np.float64) for number in (3, 0, 6))
    call.emit("Div", call.sheet.add("Clip", call.sheet.add("Add", call.tensor(), three), zero, six), six)


def _threshold(call: Call) -> None:
    if call.number("threshold") != 0 or call.number("value") != 0:
        raise call.refuse("it jumps at its threshold", "only threshold 0 and value 0, which is relu, are continuous")
    call.emit("Relu", call.tensor())


def _elu(call: Call) -> None:
    if call.number("scale", 1) != 1 or call.number("input_scale", 1) != 1:
        raise call.refuse("it is scaled")
    call.emit("Elu", call.tensor(), alpha=call.real(call.number("alpha", 1)))


def _celu(call: Call) -> None:
    call.emit("Celu", call.tensor(), alpha=call.real(call.number("alpha", 1)))


def _gelu(call: Call) -> None:
    call.emit("Gelu", call.tensor(), approximate=call.get("approximate", "none"))


def _softplus(call: Call) -> None:
    """log(1 + exp(beta x)) / beta; torch leaves it for x where floats cannot tell (F-11)."""
    beta = call.number("beta", 1)
    if call.number("threshold", 20) < 20:
        raise call.refuse("its threshold is below 20, where it jumps by more than 3e-9")
    if beta == 1:
        call.emit("Softplus", call.tensor())
        return
    factor = call.sheet.constant(beta, dtype=call.dtype)
    inner = call.sheet.add("Softplus", call.sheet.add("Mul", call.tensor(), factor))
    call.emit("Div", inner, factor)


def _silu(call: Call) -> None:
    call.emit("Mul", call.tensor(), call.sheet.add("Sigmoid", call.tensor()))


def _glu(call: Call) -> None:
    """The first half times the sigmoid of the second."""
    axis = call.axis("dim", -1)
    halves = [call.sheet.fresh("half") for _ in range(2)]
    call.sheet.split("Split", call.tensor(), names=halves, axis=axis, num_outputs=2)
    call.emit("Mul", halves[0], call.sheet.add("Sigmoid", halves[1]))


def _softmax(op: str) -> Writer:
    def write(call: Call) -> None:
        call.emit(op, call.operand("self"), axis=call.axis())

    return write


def _compare(op: str) -> Writer:
    def write(call: Call) -> None:
        kind, other = call.meta(call.get("self")).dtype, call.get("other")
        if isinstance(other, Ref) and call.meta(other).dtype != kind:
            raise call.refuse("it compares numbers of two types")
        call.emit(op, call.tensor(), call.operand("other", kind))

    return write


def _where(call: Call) -> None:
    call.emit("Where", call.tensor("condition"), call.operand("self"), call.operand("other"))


def _to(call: Call) -> None:
    if call.dtype is None or not is_float(call.dtype):
        raise call.refuse("it rounds to another type, so the network is not continuous")
    call.emit("Identity", call.operand("self"))


def _filled(value: float | None) -> Writer:
    """An array of one number, of the result's sizes."""

    def write(call: Call) -> None:
        shape, number = call.program.metas[call.out].shape, value
        if number is None:
            number = call.number("fill_value")
        if not all(isinstance(n, int) for n in shape) and call.node.target.endswith("_like.default"):
            one = call.sheet.constant(number, dtype=call.dtype)
            call.emit("Expand", one, call.sheet.add("Shape", call.tensor()))
            return
        sizes = [n for n in shape if isinstance(n, int)]
        if len(sizes) < len(shape) or math.prod(sizes) > LARGEST:
            raise call.refuse("it makes an array whose size is open, or very large")
        call.sheet.constant(np.full(sizes, number), call.out, call.dtype)

    return write


def _eye(call: Call) -> None:
    n, m = call.number("n"), call.number("m", call.number("n"))
    if n * m > LARGEST:
        raise call.refuse("it makes a very large array")
    call.sheet.constant(np.eye(n, m), call.out, call.dtype)


POINTWISE: dict[str, Writer] = {
    **dict.fromkeys(("aten.add.Tensor", "aten.add.Scalar", "aten.add_.Tensor"), _sum("Add")),
    **dict.fromkeys(("aten.sub.Tensor", "aten.sub.Scalar", "aten.sub_.Tensor"), _sum("Sub")),
    **dict.fromkeys(("aten.rsub.Scalar", "aten.rsub.Tensor"), _rsub),
    **dict.fromkeys(("aten.mul.Tensor", "aten.mul.Scalar", "aten.mul_.Tensor"), binary("Mul")),
    **dict.fromkeys(("aten.div.Tensor", "aten.div.Scalar", "aten.div_.Tensor", "aten.true_divide.Tensor"), _div),
    **dict.fromkeys(("aten.relu.default", "aten.relu_.default"), unary("Relu")),
    **dict.fromkeys(("aten.leaky_relu.default", "aten.leaky_relu_.default"), _leaky_relu),
    **dict.fromkeys(("aten.hardtanh.default", "aten.hardtanh_.default"), _hardtanh),
    **dict.fromkeys(("aten.relu6.default", "aten.relu6_.default"), _clip(0, 6)),
    **dict.fromkeys(("aten.hardsigmoid.default", "aten.hardsigmoid_.default"), _hard_sigmoid),
    **dict.fromkeys(("aten.hardswish.default", "aten.hardswish_.default"), unary("HardSwish")),
    **dict.fromkeys(("aten.threshold.default", "aten.threshold_.default"), _threshold),
    **dict.fromkeys(("aten.clamp.default", "aten.clamp_.default", "aten.clip.default"), _clip("min", "max")),
    **dict.fromkeys(("aten.clamp_min.default", "aten.clamp_min_.default"), _clip("min", None)),
    **dict.fromkeys(("aten.clamp_max.default", "aten.clamp_max_.default"), _clip(None, "max")),
    **dict.fromkeys(("aten.elu.default", "aten.elu_.default"), _elu),
    **dict.fromkeys(("aten.silu.default", "aten.silu_.default"), _silu),
    **dict.fromkeys(("aten.mish.default", "aten.mish_.default"), unary("Mish")),
    **dict.fromkeys(("aten.selu.default", "aten.selu_.default"), unary("Selu")),
    **dict.fromkeys(("aten.celu.default", "aten.celu_.default"), _celu),
    **dict.fromkeys(("aten.sigmoid.default", "aten.sigmoid_.default"), unary("Sigmoid")),
    **dict.fromkeys(("aten.tanh.default", "aten.tanh_.default"), unary("Tanh")),
    **dict.fromkeys(("aten.neg.default", "aten.negative.default"), unary("Neg")),
    **dict.fromkeys(("aten.abs.default", "aten.absolute.default"), unary("Abs")),
    **dict.fromkeys(("aten.maximum.default", "aten.max.other"), binary("Max")),
    **dict.fromkeys(("aten.minimum.default", "aten.min.other"), binary("Min")),
    **dict.fromkeys(("aten.gt.Scalar", "aten.gt.Tensor"), _compare("Greater")),
    **dict.fromkeys(("aten.lt.Scalar", "aten.lt.Tensor"), _compare("Less")),
    **dict.fromkeys(("aten.ge.Scalar", "aten.ge.Tensor"), _compare("GreaterOrEqual")),
    **dict.fromkeys(("aten.le.Scalar", "aten.le.Tensor"), _compare("LessOrEqual")),
    **{f"aten.where.{form}": _where for form in ("self", "Scalar", "ScalarOther", "ScalarSelf")},
    **dict.fromkeys(("aten.to.dtype", "aten._to_copy.default", "aten.to.dtype_layout", "aten.type_as.default"), _to),
    **dict.fromkeys(("aten.zeros_like.default", "aten.zeros.default", "aten.new_zeros.default"), _filled(0.0)),
    **dict.fromkeys(("aten.ones_like.default", "aten.ones.default", "aten.new_ones.default"), _filled(1.0)),
    **dict.fromkeys(("aten.full_like.default", "aten.full.default", "aten.new_full.default"), _filled(None)),
    **dict.fromkeys(("aten.softmax.int", "aten._softmax.default"), _softmax("Softmax")),
    **dict.fromkeys(("aten.log_softmax.int", "aten._log_softmax.default"), _softmax("LogSoftmax")),
    "aten.eye.default": _eye,
    "aten.prelu.default": _prelu,
    "aten.pow.Tensor_Scalar": _pow,
    "aten.gelu.default": _gelu,
    "aten.softplus.default": _softplus,
    "aten.glu.default": _glu,
    **{
        f"aten.{name}.default": unary(op)
        for name, op in {
            "sin": "Sin",
            "cos": "Cos",
            "exp": "Exp",
            "log": "Log",
            "sqrt": "Sqrt",
            "erf": "Erf",
            "reciprocal": "Reciprocal",
            "softsign": "Softsign",
        }.items()
    },
}
