"""Where and comparisons, read where the result is a continuous piecewise-linear function.

where(l > r, a, b) is continuous and piecewise linear if a - b = k (l - r) entry by entry: it is max(a, b) for k >= 0
and min(a, b) for k <= 0. The proportionality is checked in exact rationals. Where a branch is smooth anyway the choice
is kept as it is, as a node that only evaluates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops.exponentials import chosen_elu
from ircert.frontends.onnx.ops.extremes import largest, one_or_each, smallest
from ircert.frontends.onnx.ops.gates import guarded_softplus
from ircert.frontends.onnx.refuse import refuse_op
from ircert.frontends.onnx.values import Call, Comparison, Const, Tensor, Value
from ircert.ir.build import needed_nodes
from ircert.ir.ops import Affine, LeakyRelu
from ircert.ir.ops.smooth import Choose, Log, Power, Reciprocal, Sqrt

MOST_LINES = 2**16
"""Each is compared in exact rationals."""
_SIMPLER = "where(x > c, x, c) and where(x > 0, x, a x) are read; write others with Relu, Max or Clip"


def _compare(net: Net, call: Call) -> Value:
    a, b = net.numeric(call.input(0)), net.numeric(call.input(1))
    left, right = (a, b) if call.op.startswith("Greater") else (b, a)
    return Comparison(left, right, call.op.endswith("OrEqual"))


def _equal(net: Net, call: Call) -> Value:
    """x = x, which is how some ask for nan, is true: numbers are real."""
    a, b = call.input(0), call.input(1)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a == b and _is_total(net, a):
        return np.ones(a.shape, dtype=bool)
    raise refuse_op(call)


def _is_nan(net: Net, call: Call) -> Value:
    """What is computed of real numbers, and defined everywhere, is one."""
    x = call.input(0)
    if isinstance(x, Tensor) and _is_total(net, x):
        return np.zeros(x.shape, dtype=bool)
    raise refuse_op(call)


def _is_total(net: Net, x: Tensor) -> bool:
    return not any(isinstance(n.op, Log | Power | Reciprocal | Sqrt) for n in needed_nodes(net.build.nodes, x.node))


def _not(net: Net, call: Call) -> Value:
    condition = call.input(0)
    if isinstance(condition, np.ndarray):
        return ~condition.astype(bool)
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
    if mask.all() or not mask.any():
        return net.broadcast(net.tensor(a if mask.all() else b), shape)
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
    (left, right, upper, lower), whose = _lines(net, (condition.left, condition.right, a, b), shape)
    gap = _minus(left, right)
    if gap is not None and not any(gap.slope):
        truth = [q > 0 or (q == 0 and condition.or_equal) for q in gap.offset]
        return _mixed(net, np.array(truth)[whose].reshape(shape), a, b)
    signs = _signs(_minus(upper, lower), gap, condition.or_equal)
    known = None
    if signs is None:
        known = guarded_softplus(net, condition, a, b) or chosen_elu(net, condition, a, b)
    if known is not None:
        return known
    if signs is None and any(isinstance(branch, Tensor) and _is_smooth(net, branch) for branch in (a, b)):
        return _choice(net, condition, a, b, shape)
    if signs is None:
        raise UnsupportedModel(
            "Where chooses between two branches that are not proved to meet where its condition changes",
            where=net.where,
            remedy=_SIMPLER,
        )
    slope = _leaky_slope(upper, lower, gap)
    if slope is not None and upper.base is not None:
        return net.node(
            LeakyRelu(one_or_each(slope[whose].reshape(shape), shape)), Tensor(upper.base, shape), shape=shape
        )
    return _by_sign(net, signs[whose].reshape(shape), a, b)


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


def _lines(net: Net, values: Sequence[Tensor | Const], shape: tuple[int, ...]) -> tuple[list[_Line], Const]:
    """Each value as a line. Entries with the same numbers share a line; the second result says which is whose."""
    chains = [_chain(net, value, shape) for value in values]
    table = np.stack([np.zeros(math.prod(shape)), *(column for _, columns in chains for column in columns)], axis=1)
    rows, whose = np.unique(table, axis=0, return_inverse=True)
    if len(rows) > MOST_LINES:
        raise UnsupportedModel(f"Where compares {len(rows)} different pairs of lines", where=net.where, remedy=_SIMPLER)
    found, start = [], 1
    for base, columns in chains:
        found.append(_composed(base, rows[:, start : start + len(columns)]))
        start += len(columns)
    return found, whose.ravel()


def _chain(net: Net, value: Tensor | Const, shape: tuple[int, ...]) -> tuple[str | None, list[Const]]:
    """A node and the factors and offsets, last applied first, that lead from it to the value."""
    if isinstance(value, np.ndarray):
        numbers = np.broadcast_to(net.numbers(value), shape).ravel()
        return None, [np.zeros(numbers.size), numbers]
    name, columns = net.broadcast(value, shape).node, []
    while isinstance(op := net.build.nodes[name].op, Affine) and _is_diagonal(op):
        assert isinstance(op.weight, csr_array)
        columns += [op.weight.diagonal(), op.bias]
        name = net.build.nodes[name].operands[0]
    return name, columns


def _composed(base: str | None, columns: Const) -> _Line:
    slopes, offsets = [], []
    for row in columns.tolist():
        slope, offset = Fraction(1), Fraction(0)
        for factor, shift in zip(row[::2], row[1::2], strict=True):
            offset += slope * Fraction(shift)
            slope *= Fraction(factor)
        slopes.append(slope)
        offsets.append(offset)
    return _Line(base, slopes, offsets)


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


def _signs(branches: _Line | None, condition: _Line | None, or_equal: bool) -> Const | None:
    """1 where the choice is max(a, b), -1 where it is min(a, b), 0 where both are the same; None if it may jump."""
    if branches is None or condition is None or condition.base is None or branches.base not in (None, condition.base):
        return None
    rows = zip(branches.slope, branches.offset, condition.slope, condition.offset, strict=True)
    signs = [_sign(s, o, p, q, or_equal) for s, o, p, q in rows]
    return None if None in signs else np.array(signs)


def _sign(s: Fraction, o: Fraction, p: Fraction, q: Fraction, or_equal: bool) -> int | None:
    """The same for one entry with a - b = s z + o and the condition p z + q > 0."""
    if s == 0 and o == 0:
        return 0
    if s == 0 and p == 0:  # two constants, of which the condition always takes the same
        holds = q > 0 or (q == 0 and or_equal)
        return 1 if holds == (o > 0) else -1
    if p == 0 or s * q != o * p:
        return None
    return 1 if s * p > 0 else -1


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
    **dict.fromkeys(("Greater", "GreaterOrEqual", "Less", "LessOrEqual"), _compare),
    "Equal": _equal,
    "IsNaN": _is_nan,
    "Not": _not,
    "Where": _where,
}
