"""Max, Min, Clip and comparisons, read where the result is a continuous piecewise-linear function.

where(l > r, a, b) is continuous and piecewise linear if a - b = k (l - r) entry by entry: it is max(a, b) for k >= 0
and min(a, b) for k <= 0. The proportionality is checked in exact rationals. Where a
branch is smooth anyway the choice is kept as it is, as a node that only evaluates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np
from scipy.sparse import csr_array

from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.values import Call, Comparison, Const, Tensor, Value
from ircert.ir.build import needed_nodes
from ircert.ir.ops import Affine, Clip, LeakyRelu, Max, Min, Op, Relu
from ircert.ir.ops.smooth import Choose

# ONNX writes "no bound" as the largest number of the type, or as an infinity.
_NO_BOUND = float(np.finfo(np.float32).max)


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
    bound = _bound(reduce(join, constants), shape)
    useless = -math.inf if isinstance(op, Max) else math.inf
    return x if np.all(bound == useless) else net.node(bounded(net.numbers(bound)), x, shape=shape)


def _bound(values: Const, shape: tuple[int, ...]) -> Const:
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
    return None if np.all(sign * bound >= _NO_BOUND) else bound


# --- comparisons ---------------------------------------------------------------------------------------------------


def _compare(net: Net, call: Call) -> Value:
    a, b = net.numeric(call.input(0)), net.numeric(call.input(1))
    left, right = (a, b) if call.op.startswith("Greater") else (b, a)
    return Comparison(left, right, call.op.endswith("OrEqual"))


def _not(net: Net, call: Call) -> Value:
    condition = call.input(0)
    assert isinstance(condition, Comparison)
    return Comparison(condition.right, condition.left, not condition.or_equal)


def _where(net: Net, call: Call) -> Value:
    condition, a, b = call.input(0), net.numeric(call.input(1)), net.numeric(call.input(2))
    if isinstance(condition, Comparison):
        return chosen(net, condition, a, b)
    if not isinstance(condition, np.ndarray):
        raise call.refuse("its condition is not a comparison")
    return _mixed(net, condition.astype(bool), a, b)


def _mixed(net: Net, mask: Const, a: Tensor | Const, b: Tensor | Const) -> Tensor:
    """The entries of a where the known mask holds, else those of b."""
    shape = np.broadcast_shapes(mask.shape, a.shape, b.shape)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return net.tensor(np.where(mask, a, b))
    if isinstance(a, np.ndarray):
        mask, a, b = ~mask, b, a
    x = net.broadcast(net.tensor(a), shape)
    if isinstance(b, np.ndarray):
        other = np.where(np.broadcast_to(mask, shape), 0.0, b)
        return net.shift(net.scale(x, mask.astype(np.float64)), other)
    joined = net.concat(x, net.broadcast(b, shape))
    return net.select(joined, np.where(np.broadcast_to(mask, shape), x.index, x.index + x.index.size))


def chosen(net: Net, condition: Comparison, a: Tensor | Const, b: Tensor | Const) -> Tensor:
    """where(condition, a, b), if both branches meet where the condition changes."""
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    left, right, upper, lower = (_line(net, value, shape) for value in (condition.left, condition.right, a, b))
    gap = _minus(left, right)
    if gap is not None and not any(gap.slope):
        truth = [q > 0 or (q == 0 and condition.or_equal) for q in gap.offset]
        return _mixed(net, np.array(truth).reshape(shape), a, b)
    signs = _signs(_minus(upper, lower), gap)
    if signs is None and any(isinstance(branch, Tensor) and _is_smooth(net, branch) for branch in (a, b)):
        return _choice(net, condition, a, b, shape)
    if signs is None:
        raise UnsupportedModel(
            "Where chooses between two branches that are not proved to meet where its condition changes",
            where=net.where,
            remedy="where(x > c, x, c) and where(x > 0, x, a x) are read; write others with Relu, Max or Clip",
        )
    slope = _leaky_slope(upper, lower, gap)
    if slope is not None and upper.base is not None:
        return net.node(LeakyRelu(_bound(slope.reshape(shape), shape)), Tensor(upper.base, shape), shape=shape)
    return _by_sign(net, signs.reshape(shape), a, b)


def _by_sign(net: Net, signs: Const, a: Tensor | Const, b: Tensor | Const) -> Tensor:
    """max(a, b) where the sign is not negative, else min(a, b)."""
    high = largest(net, a, b) if np.any(signs >= 0) else None
    low = smallest(net, a, b) if np.any(signs < 0) else None
    if high is None or low is None:
        return net.broadcast(net.tensor(low if high is None else high), signs.shape)
    return _mixed(net, signs >= 0, high, low)


def _is_smooth(net: Net, x: Tensor) -> bool:
    """Whether x is computed with ops that are not piecewise linear anyway."""
    return not all(node.op.piecewise_linear for node in needed_nodes(net.build.nodes, x.node))


def _choice(net: Net, condition: Comparison, a: Tensor | Const, b: Tensor | Const, shape: tuple[int, ...]) -> Tensor:
    """where(condition, a, b) as a node that only evaluates; l >= r is the opposite of r > l."""
    values = (condition.left, condition.right, a, b)
    left, right, upper, lower = (net.broadcast(net.tensor(value), shape) for value in values)
    operands = (right, left, lower, upper) if condition.or_equal else (left, right, upper, lower)
    return net.node(Choose(), *operands, shape=shape)


@dataclass(frozen=True)
class _Line:
    """slope * base + offset, entry by entry, in exact rationals; base None for constants."""

    base: str | None
    slope: list[Fraction]
    offset: list[Fraction]


def _line(net: Net, value: Tensor | Const, shape: tuple[int, ...]) -> _Line:
    size = math.prod(shape)
    if isinstance(value, np.ndarray):
        numbers = np.broadcast_to(net.numbers(value), shape).ravel().tolist()
        return _Line(None, [Fraction(0)] * size, [Fraction(n) for n in numbers])
    name = net.broadcast(value, shape).node
    slope, offset = [Fraction(1)] * size, [Fraction(0)] * size
    while (op := net.build.nodes[name].op) and isinstance(op, Affine) and _is_diagonal(op):
        assert isinstance(op.weight, csr_array)
        factors = [Fraction(n) for n in op.weight.diagonal().tolist()]
        offset = [o + s * Fraction(n) for o, s, n in zip(offset, slope, op.bias.tolist(), strict=True)]
        slope = [s * f for s, f in zip(slope, factors, strict=True)]
        name = net.build.nodes[name].operands[0]
    return _Line(name, slope, offset)


def _is_diagonal(op: Affine) -> bool:
    weight = op.weight
    if not isinstance(weight, csr_array) or weight.shape[0] != weight.shape[1]:
        return False
    return bool(
        np.array_equal(weight.indices, np.flatnonzero(np.diff(weight.indptr))) and np.diff(weight.indptr).max() < 2
    )


def _minus(a: _Line, b: _Line) -> _Line | None:
    if a.base is not None and b.base is not None and a.base != b.base:
        return None
    slope = [p - q for p, q in zip(a.slope, b.slope, strict=True)]
    offset = [p - q for p, q in zip(a.offset, b.offset, strict=True)]
    return _Line(a.base or b.base, slope, offset)


def _signs(branches: _Line | None, condition: _Line | None) -> Const | None:
    """The sign of k in branches = k * condition for each entry; None unless there is such a k for all."""
    if branches is None or condition is None or condition.base is None or branches.base not in (None, condition.base):
        return None
    signs = []
    for s, o, p, q in zip(branches.slope, branches.offset, condition.slope, condition.offset, strict=True):
        branches_agree = s == 0 and o == 0
        if not branches_agree and (p == 0 or s * q != o * p):
            return None
        signs.append(0 if branches_agree else 1 if s * p > 0 else -1)
    return np.array(signs)


def _leaky_slope(upper: _Line, lower: _Line, condition: _Line | None) -> Const | None:
    """The slopes a of where(x > 0, x, a x), if that is what it is."""
    if condition is None or any(s != 1 for s in upper.slope) or any(o != 0 for o in upper.offset + lower.offset):
        return None
    if lower.base != upper.base or any(p <= 0 for p in condition.slope) or any(q != 0 for q in condition.offset):
        return None
    slope = np.array([float(s) for s in lower.slope])
    exact = all(Fraction(n) == s for n, s in zip(slope.tolist(), lower.slope, strict=True))
    return slope if exact else None


HANDLERS = {
    "Clip": _clip,
    **dict.fromkeys(("Greater", "GreaterOrEqual", "Less", "LessOrEqual"), _compare),
    "Max": _max,
    "Min": _min,
    "Not": _not,
    "Where": _where,
}
