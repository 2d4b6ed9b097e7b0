"""Curves that models write out with exp: sigmoid as 1 / (1 + exp(-x)), ELU as a choice, a sum or exp(min(x, 0)).

Each identity holds for all real numbers, with the numbers of the file; what is none of these stays an exp.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops.lines import Line, is_float, line_of
from ircert.frontends.onnx.values import Comparison, Const, Tensor
from ircert.ir.ops import Clip, Relu
from ircert.ir.ops.curves import Elu, Sigmoid
from ircert.ir.ops.exp import Exp


def sigmoid_of(net: Net, x: Tensor) -> Tensor | None:
    """1 / x where x = 1 + exp(z): sigmoid(-z)."""
    line = line_of(net, x.node)
    node = net.build.nodes[line.base]
    if not isinstance(node.op, Exp) or not line.has(1, 1):
        return None
    return net.node(Sigmoid(), net.negative(Tensor(node.operands[0], x.shape)), shape=x.shape)


def quotient(net: Net, above: Tensor, below: Tensor) -> Tensor | None:
    """(p + q exp(z)) c sigmoid(-z) = c (p + (q - p) sigmoid(z)): what (p + q exp(z)) / (1 + exp(z)) became."""
    top, gate = line_of(net, above.node), line_of(net, below.node)
    power, other = net.build.nodes[top.base], net.build.nodes[gate.base]
    if not isinstance(power.op, Exp) or not isinstance(other.op, Sigmoid) or gate.shift:
        return None
    z, minus = line_of(net, power.operands[0]), line_of(net, other.operands[0])
    result = Line(top.base, gate.scale * (top.scale - top.shift), gate.scale * top.shift)
    if minus != Line(z.base, -z.scale, -z.shift) or not result.is_float or not result.scale:
        return None
    found = net.node(Sigmoid(), Tensor(power.operands[0], above.shape), shape=above.shape)
    return net.shift(net.scale(found, np.array(float(result.scale))), np.array(float(result.shift)))


def chosen_elu(net: Net, condition: Comparison, a: Tensor | Const, b: Tensor | Const) -> Tensor | None:
    """where(x > 0, p x, alpha (exp(k x) - 1)), k > 0: both branches are 0 at 0."""
    if isinstance(condition.left, np.ndarray):  # where(0 > x, …)
        condition, a, b = Comparison(condition.right, condition.left), b, a
    left, right = condition.left, condition.right
    if not isinstance(left, Tensor) or not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return None
    if not isinstance(right, np.ndarray) or right.any() or not left.shape == a.shape == b.shape:
        return None
    for base in (a.node, line_of(net, a.node).base):
        asked, line = line_of(net, left.node, base), line_of(net, a.node, base)
        if asked.base == line.base and not asked.shift and not line.shift and asked.scale > 0:
            found = _elu(net, line, b)
            if found is not None:
                return found
    return None


def summed_elu(net: Net, terms: list[Tensor]) -> Tensor | None:
    """relu(x) + alpha (exp(min(k x, 0)) - 1), or + min(alpha (exp(k x) - 1), 0), alpha > 0."""
    if len(terms) != 2 or terms[0].shape != terms[1].shape:
        return None
    for first, second in (terms, terms[::-1]):
        lower = _lower_part(net, second)
        if not isinstance(net.op(first).op, Relu) or lower is None:
            continue
        x = net.op(first).operands[0]
        for base in (x, line_of(net, x).base):
            line = line_of(net, x, base)
            found = _elu(net, line, lower) if not line.shift and line.scale > 0 else None
            if found is not None:
                return found
    return None


def _lower_part(net: Net, x: Tensor) -> Tensor | None:
    """What is 0 above 0 by itself: alpha (exp(min(z, 0)) - 1), or y of min(y, 0), y = alpha (exp(z) - 1), alpha > 0."""
    node = net.op(x)
    if isinstance(node.op, Clip) and _is_min_with_zero(node.op):
        part = _part(net, node.operands[0])
        return Tensor(node.operands[0], x.shape) if part is not None and part[1] > 0 else None
    part = _part(net, x.node)
    return x if part is not None and part[2] else None


def _elu(net: Net, line: Line, lower: Tensor) -> Tensor | None:
    """p x for x >= 0 and alpha (exp(k x) - 1) below, which is elu(k x) + (p - k) relu(x)."""
    part = _part(net, lower.node)
    if part is None:
        return None
    z, alpha, _ = part
    inner = line_of(net, z, line.base)
    more = line.scale - inner.scale
    if inner.base != line.base or inner.shift or inner.scale <= 0:
        return None
    if not (is_float(alpha) and is_float(more)):
        return None
    shape = lower.shape
    result = net.node(Elu(float(alpha)), Tensor(z, shape), shape=shape)
    if not more:
        return result
    rest = net.node(Relu(), Tensor(line.base, shape), shape=shape)
    return net.add(result, net.scale(rest, np.array(float(more))))


def _part(net: Net, name: str) -> tuple[str, Fraction, bool] | None:
    """z and alpha of alpha (exp(z) - 1), or of alpha (exp(min(z, 0)) - 1): then it is 0 for z >= 0."""
    line = line_of(net, name)
    node = net.build.nodes[line.base]
    if not isinstance(node.op, Exp) or line.shift != -line.scale:
        return None
    inner = net.build.nodes[node.operands[0]]
    if isinstance(inner.op, Clip) and _is_min_with_zero(inner.op):
        return inner.operands[0], line.scale, True
    return node.operands[0], line.scale, False


def _is_min_with_zero(op: Clip) -> bool:
    return op.low is None and op.high is not None and not np.asarray(op.high).any()
