"""Layers: products with matrices, convolutions, pools, means, normalisations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ircert.frontends.pt2.call import Call
from ircert.frontends.pt2.pointwise import Writer

Settings = dict[str, Any]


def _linear(call: Call) -> None:
    """x @ W.T + b."""
    x, weight, bias = call.tensor("input"), call.tensor("weight"), call.optional("bias")
    if len(call.shape("input")) == 2:
        call.emit("Gemm", x, weight, bias, transB=1)
        return
    turned = call.sheet.add("Transpose", weight, perm=[1, 0])
    if bias is None:
        call.emit("MatMul", x, turned)
    else:
        call.emit("Add", call.sheet.add("MatMul", x, turned), bias)


def _product(left: str, right: str) -> Writer:
    def write(call: Call) -> None:
        call.emit("MatMul", call.tensor(left), call.tensor(right))

    return write


def _addmm(call: Call) -> None:
    factors = {"alpha": call.real(call.number("alpha", 1)), "beta": call.real(call.number("beta", 1))}
    call.emit("Gemm", call.tensor("mat1"), call.tensor("mat2"), call.tensor(), **factors)


def _windows(call: Call, axes: int, *names: str) -> list[list[int]]:
    """Arguments that have a number for each axis, or one for all."""
    return [_spread(call.numbers(name, [0] if name == "padding" else [1]), axes) for name in names]


def _spread(numbers: list[int], axes: int) -> list[int]:
    return numbers * axes if len(numbers) == 1 else numbers


def _conv(axes: int) -> Writer:
    def write(call: Call) -> None:
        strides, dilations = _windows(call, axes, "stride", "dilation")
        named = isinstance(call.get("padding"), str)
        pads = _same_pads(call, axes, dilations) if named else _windows(call, axes, "padding")[0] * 2
        settings: Settings = {"strides": strides, "dilations": dilations, "pads": pads}
        settings["group"] = int(call.number("groups", 1))
        _batched(call, "input", axes, "Conv", settings, call.tensor("weight"), call.optional("bias"))

    return write


def _same_pads(call: Call, axes: int, dilations: Sequence[int]) -> list[int]:
    """`same` pads dilation·(kernel − 1) in all, the odd one behind; `valid` nothing."""
    if call.get("padding") == "valid":
        return [0] * (2 * axes)
    if call.get("padding") != "same":
        raise call.refuse(f"the padding {call.get('padding')!r:.20}")
    whole = [d * (k - 1) for d, k in zip(dilations, call.sizes("weight", 2), strict=True)]
    return [n // 2 for n in whole] + [n - n // 2 for n in whole]


def _conv_transpose(axes: int) -> Writer:
    def write(call: Call) -> None:
        strides, dilations, pads = _windows(call, axes, "stride", "dilation", "padding")
        settings: Settings = {"strides": strides, "dilations": dilations, "pads": pads * 2}
        settings["output_padding"] = _spread(call.numbers("output_padding", [0]), axes)
        settings["group"] = int(call.number("groups", 1))
        _batched(call, "input", axes, "ConvTranspose", settings, call.tensor("weight"), call.optional("bias"))

    return write


def _batched(call: Call, name: str, axes: int, op: str, settings: Settings, *inputs: str | None) -> None:
    """The node, with a batch of one around an image without a batch."""
    x = call.tensor(name)
    if len(call.shape(name)) != axes + 1:
        call.emit(op, x, *inputs, **settings)
        return
    first = call.sheet.constant([0])
    inner = call.sheet.split(
        op, call.sheet.add("Unsqueeze", x, first), *inputs, names=[call.sheet.fresh(op)], **settings
    )
    call.emit("Squeeze", inner[0], first)


def _pool(op: str, axes: int) -> Writer:
    def write(call: Call) -> None:
        kernel = _spread(call.numbers("kernel_size"), axes)
        (pads,) = _windows(call, axes, "padding")
        strides = _spread(call.numbers("stride", []), axes) or kernel
        settings: Settings = {"kernel_shape": kernel, "strides": strides, "pads": pads * 2}
        settings["ceil_mode"] = int(bool(call.get("ceil_mode", False)))
        if op == "MaxPool":
            settings["dilations"] = _windows(call, axes, "dilation")[0]
        else:
            settings["count_include_pad"] = int(bool(call.get("count_include_pad", True)))
            if call.get("divisor_override") is not None:
                raise call.refuse("it divides by another number")
        _batched(call, "self", axes, op, settings)

    return write


def _adaptive(op: str, axes: int) -> Writer:
    """Pools to a size that divides the image's."""

    def write(call: Call) -> None:
        wanted = _spread(call.numbers("output_size"), axes)
        given = call.sizes(first=len(call.shape()) - axes)
        if any(n % m for n, m in zip(given, wanted, strict=True)):
            raise call.refuse(f"{wanted} does not divide the sizes {given}: its windows differ in size")
        kernel = [n // m for n, m in zip(given, wanted, strict=True)]
        if wanted == [1] * axes and op == "AveragePool" and len(call.shape()) == axes + 2:
            call.emit("GlobalAveragePool", call.tensor())
            return
        _batched(call, "self", axes, op, {"kernel_shape": kernel, "strides": kernel})

    return write


def _batch_norm(call: Call) -> None:
    """At inference; in float64 epsilon is added to the variance here, since ONNX would keep it in float32."""
    if call.get("training") or call.get("running_mean") is None:
        raise call.refuse("it is in training mode", "export the model for inference (model.eval())")
    constants = call.program.constants
    mean, variance = (constants.get(call.tensor(name)) for name in ("running_mean", "running_var"))
    if mean is None or variance is None:
        raise call.refuse("its statistics are computed")
    epsilon = float(call.number("eps", 1e-5))
    if variance.dtype == np.float64:
        variance, epsilon = variance + epsilon, 0.0
    kind = variance.dtype
    scale = call.optional("weight") or call.sheet.constant(np.ones(len(mean)), dtype=kind)
    shift = call.optional("bias") or call.sheet.constant(np.zeros(len(mean)), dtype=kind)
    statistics = (call.tensor("running_mean"), call.sheet.constant(variance, dtype=kind))
    call.emit("BatchNormalization", call.tensor("input"), scale, shift, *statistics, epsilon=epsilon)


def _layer_norm(call: Call) -> None:
    shape = call.numbers("normalized_shape")
    scale = call.optional("weight") or call.sheet.constant(np.ones(shape), dtype=call.dtype)
    epsilon = call.real(call.number("eps", 1e-5))
    inputs = (call.tensor("input"), scale, call.optional("bias"))
    call.emit("LayerNormalization", *inputs, axis=-len(shape), epsilon=epsilon)


def _reduce(op: str) -> Writer:
    def write(call: Call) -> None:
        rank = len(call.shape())
        given = call.get("dim")
        axes = list(range(rank)) if given in (None, []) else [axis % rank for axis in call.numbers("dim")]
        keep = int(bool(call.get("keepdim", False)))
        call.emit(op, call.operand("self"), call.sheet.constant(axes), keepdims=keep)

    return write


LINEAR: dict[str, Writer] = {
    "aten.linear.default": _linear,
    "aten.addmm.default": _addmm,
    "aten.matmul.default": _product("self", "other"),
    "aten.mm.default": _product("self", "mat2"),
    "aten.bmm.default": _product("self", "mat2"),
    "aten.mv.default": _product("self", "vec"),
    "aten.dot.default": _product("self", "tensor"),
    **{f"aten.conv{k}d.{form}": _conv(k) for k in (1, 2, 3) for form in ("default", "padding")},
    "aten.conv_transpose1d.default": _conv_transpose(1),
    "aten.conv_transpose2d.input": _conv_transpose(2),
    "aten.conv_transpose3d.input": _conv_transpose(3),
    **{f"aten.max_pool{k}d.default": _pool("MaxPool", k) for k in (1, 2, 3)},
    **{f"aten.avg_pool{k}d.default": _pool("AveragePool", k) for k in (1, 2, 3)},
    **{f"aten.adaptive_avg_pool{k}d.default": _adaptive("AveragePool", k) for k in (1, 2, 3)},
    **{f"aten.adaptive_max_pool{k}d.default": _adaptive("MaxPool", k) for k in (1, 2, 3)},
    "aten.batch_norm.default": _batch_norm,
    "aten.layer_norm.default": _layer_norm,
    **dict.fromkeys(("aten.mean.dim", "aten.mean.default"), _reduce("ReduceMean")),
    **dict.fromkeys(("aten.sum.dim_IntList", "aten.sum.default"), _reduce("ReduceSum")),
    **dict.fromkeys(("aten.amax.default", "aten.max.default", "aten.max.dim"), _reduce("ReduceMax")),
    **dict.fromkeys(("aten.amin.default", "aten.min.default", "aten.min.dim"), _reduce("ReduceMin")),
}
