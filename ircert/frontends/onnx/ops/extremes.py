"""Max, Min and Clip: the largest and smallest of tensors, with all constants gathered in one bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.values import Call, Comparison, Const, Tensor, Value
from ircert.ir.ops import Clip, Max, Min, Op, Relu

# ONNX writes "no bound" as the largest float32, or as an infinity.
_NO_BOUND = (float(np.finfo(np.float32).max), math.inf)


def largest(net: Net, *values: Value | None) -> Tensor | Const:
    """The entrywise maximum, constants gathered in one bound."""
    return _extreme(net, values, Max(), np.maximum, lambda c: Relu() if not c.any() else Clip(low=c))


def smallest(net: Net, *values: Value | None) -> Tensor | Const:
    """The entrywise minimum, constants gathered in one bound."""
    return _extreme(net, values, Min(), np.minimum, lambda c: Clip(high=c))


def _extreme(
    net: Net, values: tuple[Value | None, ...], op: Op, join: np.ufunc, bounded: Callable[[Const], Op]
) -> Tensor | Const:
    terms = [net.numeric(value) for value in values]
    tensors = [term for term in terms if isinstance(term, Tensor)]
    constants = [np.asarray(term, dtype=np.float64) for term in terms if isinstance(term, np.ndarray)]
    if not tensors:
        return np.asarray(reduce(join, constants))
    shape = np.broadcast_shapes(*(term.shape for term in terms))
    same = [net.broadcast(tensor, shape) for tensor in tensors]
    x = same[0] if len(same) == 1 else net.node(op, *same, shape=shape)
    if not constants:
        return x
    bound = one_or_each(reduce(join, constants), shape)
    useless = -math.inf if isinstance(op, Max) else math.inf
    return x if np.all(bound == useless) else net.node(bounded(net.numbers(bound)), x, shape=shape)


def one_or_each(values: Const, shape: tuple[int, ...]) -> Const:
    """One number if all entries agree, else one per entry."""
    flat = np.broadcast_to(values, shape).ravel()
    return flat[:1].copy() if np.all(flat == flat[0]) else flat


def _max(net: Net, call: Call) -> Value:
    return largest(net, *call.inputs)


def _min(net: Net, call: Call) -> Value:
    return smallest(net, *call.inputs)


def _clip(net: Net, call: Call) -> Value:
    """min(max(x, low), high); bounds are attributes before operator set 11, inputs after."""
    low, high = (_clip_bound(call, k, name) for k, name in ((1, "min"), (2, "max")))
    x = call.tensor(0)
    if isinstance(low, np.ndarray) and isinstance(high, np.ndarray) and low.size == high.size == 1:
        bounds = (net.numbers(low).ravel(), net.numbers(high).ravel())
        return net.node(Clip(*bounds), x, shape=x.shape)
    raised = x if low is None else largest(net, x, low)
    return raised if high is None else smallest(net, raised, high)


def _clip_bound(call: Call, k: int, name: str) -> Tensor | Const | None:
    value = call.input(k) if call.opset >= 11 else call.attributes.get(name)
    if value is None or isinstance(value, Tensor):
        return value
    if isinstance(value, Comparison):
        raise call.refuse("a bound is a comparison")
    bound = np.asarray(value, dtype=np.float64)
    sign = -1 if name == "min" else 1
    return None if bound.size and np.all(np.isin(sign * bound, _NO_BOUND)) else bound


HANDLERS = {"Clip": _clip, "Max": _max, "Min": _min}
