"""Keras layers as ONNX nodes. Images have their channels last, and are turned around where ONNX wants them first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ircert.frontends.keras.call import Call, Tensor

Writer = Callable[[Call], Tensor]

_PLAIN = {
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "softplus": "Softplus",
    "softsign": "Softsign",
    "elu": "Elu",
    "selu": "Selu",
    "exponential": "Exp",
    "mish": "Mish",
}


def activated(call: Call, x: str, given: Any) -> str:
    """What stands behind a layer: a name, or a layer in its settings."""
    if isinstance(given, dict):
        given = given.get("config") if given.get("class_name") == "function" else given
    name = given if isinstance(given, str) else None
    if given is None or name == "linear":
        return x
    if name in _PLAIN:
        return call.add(_PLAIN[str(name)], x)
    if name in ("silu", "swish"):
        return call.add("Mul", x, call.add("Sigmoid", x))
    if name == "gelu":  # Keras' default is the exact one
        return call.add("Gelu", x, approximate="none")
    if name == "leaky_relu":
        return call.add("LeakyRelu", x, alpha=0.2)
    if name == "relu6":
        return call.add("Clip", x, call.constant(0.0), call.constant(6.0))
    if name in ("hard_silu", "hard_swish"):
        return call.add("HardSwish", x)
    if name == "hard_sigmoid":
        return call.add("HardSigmoid", x, alpha=1 / 6, beta=0.5)
    if name == "hard_tanh":
        return call.add("Clip", x, call.constant(-1.0), call.constant(1.0))
    if name in ("softmax", "log_softmax"):
        return call.add("Softmax" if name == "softmax" else "LogSoftmax", x, axis=-1)
    raise call.refuse(f"the activation {given!r:.60} is not known")


def _dense(call: Call) -> Tensor:
    kernel, *bias = call.need(2, 1) if call.config["use_bias"] else call.need(2)
    x, rank = call.x.name, call.x.rank
    if rank == 2:
        y = call.add("Gemm", x, call.constant(kernel), call.constant(bias[0]) if bias else None)
    else:
        y = call.add("MatMul", x, call.constant(kernel))
        y = call.add("Add", y, call.constant(bias[0])) if bias else y
    return Tensor(activated(call, y, call.config["activation"]), rank)


def _activation(call: Call) -> Tensor:
    return Tensor(activated(call, call.x.name, call.config["activation"]), call.x.rank)


def _relu(call: Call) -> Tensor:
    """max(0, x), below it a slope, above it an end."""
    x, slope = call.x.name, call.number("negative_slope", 0.0)
    if call.number("threshold", 0.0) != 0:
        raise call.refuse("it jumps at its threshold")
    end = call.config.get("max_value")
    y = call.add("LeakyRelu", x, alpha=slope) if slope else call.add("Relu", x)
    return Tensor(y if end is None else call.add("Min", y, call.constant(float(end))), call.x.rank)


def _leaky(call: Call) -> Tensor:
    return Tensor(call.add("LeakyRelu", call.x.name, alpha=call.number("negative_slope", 0.3)), call.x.rank)


def _elu(call: Call) -> Tensor:
    return Tensor(call.add("Elu", call.x.name, alpha=call.number("alpha", 1.0)), call.x.rank)


def _prelu(call: Call) -> Tensor:
    (slopes,) = call.need(call.x.rank - 1)
    return Tensor(call.add("PRelu", call.x.name, call.constant(slopes)), call.x.rank)


def _softmax(call: Call) -> Tensor:
    axis = call.config.get("axis", -1)
    if not isinstance(axis, int):
        raise call.refuse("it takes several axes")
    return Tensor(call.add("Softmax", call.x.name, axis=axis), call.x.rank)


def _same(call: Call) -> Tensor:
    return call.x


# --- numbers that are multiplied and added --------------------------------------------------------------------------


def _batch_norm(call: Call) -> Tensor:
    """gamma, beta (either may be missing), mean and variance of the last axis."""
    rank, axis = call.x.rank, call.config.get("axis", -1)
    axis = axis[0] if isinstance(axis, list) else axis
    if axis not in (-1, rank - 1):
        raise call.refuse("it normalises another axis than the last one")
    parts = [word for word in ("scale", "center") if call.config.get(word, True)]
    weights = dict(zip([*parts, "mean", "variance"], call.need(*[1] * (len(parts) + 2)), strict=True))
    size = len(weights["mean"])
    scale = weights.get("scale", np.ones(size, dtype=np.float32))
    shift = weights.get("center", np.zeros(size, dtype=np.float32))
    inputs = [call.constant(array) for array in (scale, shift, weights["mean"], weights["variance"])]
    epsilon = call.number("epsilon", 1e-3)
    return _channels_first(call, lambda x: call.add("BatchNormalization", x, *inputs, epsilon=epsilon))


def _layer_norm(call: Call) -> Tensor:
    axis = call.config.get("axis", -1)
    axis = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    if axis not in (-1, call.x.rank - 1) or call.config.get("rms_scaling"):
        raise call.refuse("it normalises another axis than the last one, or in another way")
    parts = [word for word in ("scale", "center") if call.config.get(word, True)]
    weights = dict(zip(parts, call.need(*[1] * len(parts)), strict=True))
    if "scale" not in weights:
        raise call.refuse("it has no scale")
    shift = call.constant(weights["center"]) if "center" in weights else None
    inputs = (call.x.name, call.constant(weights["scale"]), shift)
    y = call.add("LayerNormalization", *inputs, axis=-1, epsilon=call.number("epsilon", 1e-3))
    return Tensor(y, call.x.rank)


def _rescaling(call: Call) -> Tensor:
    y = call.add("Mul", call.x.name, call.constant(np.asarray(call.config["scale"], dtype=np.float32)))
    return Tensor(call.add("Add", y, call.constant(np.asarray(call.config["offset"], dtype=np.float32))), call.x.rank)


# --- images ---------------------------------------------------------------------------------------------------------


def _channels_first(call: Call, write: Callable[[str], str]) -> Tensor:
    """A node that wants channels before the pixels, between two turns."""
    rank = call.x.rank
    if call.config.get("data_format", "channels_last") != "channels_last":
        return Tensor(write(call.x.name), rank)
    if rank == 2:
        return Tensor(write(call.x.name), rank)
    forth, back = [0, rank - 1, *range(1, rank - 1)], [0, *range(2, rank), 1]
    return Tensor(call.add("Transpose", write(call.add("Transpose", call.x.name, perm=forth)), perm=back), rank)


def _windows(call: Call, axes: int) -> dict[str, Any]:
    """Strides, dilations and padding; `same` pads the odd entry behind."""
    settings: dict[str, Any] = {"strides": _each(call.config["strides"], axes)}
    if call.config["padding"] not in ("valid", "same"):
        raise call.refuse(f"the padding {call.config['padding']!r:.20}")
    if call.config["padding"] == "same":
        settings["auto_pad"] = "SAME_UPPER"
    if "dilation_rate" in call.config:
        settings["dilations"] = _each(call.config["dilation_rate"], axes)
    return settings


def _each(given: Any, axes: int) -> list[int]:
    return [given] * axes if isinstance(given, int) else list(given)


def _conv(axes: int) -> Writer:
    """Kernels are (pixels…, in, out); ONNX has (out, in, pixels…)."""

    def write(call: Call) -> Tensor:
        weights = call.need(axes + 2, 1) if call.config["use_bias"] else call.need(axes + 2)
        inputs = [call.constant(np.moveaxis(weights[0], (-1, -2), (0, 1))), *map(call.constant, weights[1:])]
        settings = _windows(call, axes) | {"group": int(call.config.get("groups", 1))}
        y = _channels_first(call, lambda x: call.add("Conv", x, *inputs, **settings))
        return Tensor(activated(call, y.name, call.config["activation"]), y.rank)

    return write


def _depthwise(axes: int) -> Writer:
    """Kernels are (pixels…, in, multiplier): each channel has its own."""

    def write(call: Call) -> Tensor:
        weights = call.need(axes + 2, 1) if call.config["use_bias"] else call.need(axes + 2)
        *pixels, channels, times = weights[0].shape
        kernel = np.moveaxis(weights[0], (-2, -1), (0, 1)).reshape(channels * times, 1, *pixels)
        inputs = [call.constant(kernel), *map(call.constant, weights[1:])]
        settings = _windows(call, axes) | {"group": channels}
        y = _channels_first(call, lambda x: call.add("Conv", x, *inputs, **settings))
        return Tensor(activated(call, y.name, call.config["activation"]), y.rank)

    return write


def _pool(op: str, axes: int) -> Writer:
    def write(call: Call) -> Tensor:
        settings = _windows(call, axes) | {"kernel_shape": _each(call.config["pool_size"], axes)}
        return _channels_first(call, lambda x: call.add(op, x, **settings))

    return write


def _global(op: str, axes: int) -> Writer:
    def write(call: Call) -> Tensor:
        last = call.config.get("data_format", "channels_last") == "channels_last"
        over = call.constant([k + (1 if last else 2) for k in range(axes)])
        keep = bool(call.config.get("keepdims", False))
        return Tensor(call.add(op, call.x.name, over, keepdims=int(keep)), call.x.rank if keep else 2)

    return write


def _padding(axes: int) -> Writer:
    def write(call: Call) -> Tensor:
        given = call.config["padding"]
        pairs = [given] if axes == 1 and isinstance(given[0], int) else given
        first, last = ([0, *(pair[k] for pair in pairs), 0] for k in (0, 1))
        if call.config.get("data_format", "channels_last") != "channels_last":
            raise call.refuse("its channels come first")
        return Tensor(call.add("Pad", call.x.name, call.constant(first + last), call.constant(0.0)), call.x.rank)

    return write


# --- shapes ---------------------------------------------------------------------------------------------------------


def _flatten(call: Call) -> Tensor:
    if call.config.get("data_format", "channels_last") != "channels_last":
        raise call.refuse("its channels come first")
    return Tensor(call.add("Flatten", call.x.name, axis=1), 2)


def _reshape(call: Call) -> Tensor:
    shape = list(call.config["target_shape"])
    return Tensor(call.add("Reshape", call.x.name, call.constant([0, *shape])), len(shape) + 1)


def _permute(call: Call) -> Tensor:
    return Tensor(call.add("Transpose", call.x.name, perm=[0, *call.config["dims"]]), call.x.rank)


def _merge(op: str) -> Writer:
    def write(call: Call) -> Tensor:
        if len(call.operands) < 2 or len({x.rank for x in call.operands}) != 1:
            raise call.refuse("it merges one tensor, or tensors of several ranks")
        return Tensor(call.add(op, *(x.name for x in call.operands)), call.operands[0].rank)

    return write


def _pair(op: str) -> Writer:
    def write(call: Call) -> Tensor:
        if len(call.operands) != 2 or call.operands[0].rank != call.operands[1].rank:
            raise call.refuse("it takes two tensors of one rank")
        return Tensor(call.add(op, *(x.name for x in call.operands)), call.operands[0].rank)

    return write


def _concatenate(call: Call) -> Tensor:
    names = [x.name for x in call.operands]
    return Tensor(call.add("Concat", *names, axis=int(call.number("axis", -1))), call.operands[0].rank)


LAYERS: dict[str, Writer] = {
    "Dense": _dense,
    "Activation": _activation,
    "ReLU": _relu,
    "LeakyReLU": _leaky,
    "ELU": _elu,
    "PReLU": _prelu,
    "Softmax": _softmax,
    **dict.fromkeys(("Dropout", "SpatialDropout1D", "SpatialDropout2D", "GaussianNoise", "GaussianDropout"), _same),
    **dict.fromkeys(("ActivityRegularization", "AlphaDropout", "Identity"), _same),
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm,
    "Rescaling": _rescaling,
    **{f"Conv{k}D": _conv(k) for k in (1, 2, 3)},
    **{f"DepthwiseConv{k}D": _depthwise(k) for k in (1, 2)},
    **{f"MaxPooling{k}D": _pool("MaxPool", k) for k in (1, 2, 3)},
    **{f"AveragePooling{k}D": _pool("AveragePool", k) for k in (1, 2, 3)},
    **{f"GlobalAveragePooling{k}D": _global("ReduceMean", k) for k in (1, 2, 3)},
    **{f"GlobalMaxPooling{k}D": _global("ReduceMax", k) for k in (1, 2, 3)},
    **{f"ZeroPadding{k}D": _padding(k) for k in (1, 2, 3)},
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Permute": _permute,
    "Add": _merge("Sum"),
    "Average": _merge("Mean"),
    "Maximum": _merge("Max"),
    "Minimum": _merge("Min"),
    "Subtract": _pair("Sub"),
    "Multiply": _pair("Mul"),
    "Concatenate": _concatenate,
}
