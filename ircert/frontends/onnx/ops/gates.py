"""x times a gate of x, as exporters write SiLU, GELU, Mish, hard swish and softsign: one curve with the stored numbers.

Both factors are followed back through maps that scale and shift all entries alike. (a x) (b + c g(u)) is read where
the numbers can be kept exactly; whatever else there is stays a product.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ircert.frontends.onnx.net import Net
from ircert.frontends.onnx.ops.lines import Line, is_float, line_of
from ircert.frontends.onnx.values import Comparison, Const, Tensor
from ircert.ir.ops import Abs, Add, Clip, Curve, Product
from ircert.ir.ops.curves import Erf, HardSwish, Mish, Sigmoid, Silu, Softplus, Softsign, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.gates import GeluCubic, GeluErf, Swish
from ircert.ir.ops.smooth import Reciprocal

GUARD = 20.0
"""From here on exp(-x) is less than half a unit in the last place of a float32."""
ROUNDED = Fraction(1, 2**22)
"""How far beta times a stored 1 / beta may be from 1."""


_Found: TypeAlias = tuple[Curve, list[Fraction]]


def gated(net: Net, x: Tensor, gate: Tensor) -> Tensor | None:
    """The product of both as a curve, if that is what it is."""
    line = line_of(net, gate.node)
    arguments = [Line(x.node, Fraction(1), Fraction(0)), line_of(net, x.node)]
    for argument in arguments:  # x itself may be scaled
        found = None if argument.shift else _curve(net, argument.base, line)
        if found is not None:
            break
    else:
        return None
    curve, factors = found[0], [*found[1], argument.scale]
    if any(not is_float(number) for number in factors):
        return None
    result = net.node(curve, Tensor(argument.base, x.shape), shape=x.shape)
    for number in factors:
        result = net.scale(result, np.array(float(number)))
    return result


def _curve(net: Net, x: str, gate: Line) -> _Found | None:
    """A curve and factors that make x times the gate."""
    op, operands = net.build.nodes[gate.base].op, net.build.nodes[gate.base].operands
    if isinstance(op, Clip):
        return _hard(net, x, gate, op, operands[0])
    if isinstance(op, Reciprocal):
        return (Softsign(), [gate.scale]) if not gate.shift and _is_one_and_size(net, x, operands[0]) else None
    if not isinstance(op, Sigmoid | Erf | Tanh):
        return None
    if not gate.shift and isinstance(op, Tanh):
        within = net.build.nodes[operands[0]]
        return (Mish(), [gate.scale]) if isinstance(within.op, Softplus) and within.operands == (x,) else None
    inner = line_of(net, operands[0], x)
    rate = inner.scale if inner.base == x and not inner.shift else None
    if isinstance(op, Sigmoid):
        return None if gate.shift or rate is None else _with_rate(rate, Swish, [gate.scale])
    if gate.shift != gate.scale:
        return None
    if isinstance(op, Erf):
        return None if rate is None else _with_rate(rate, GeluErf, [2 * gate.scale])
    # x (1 + tanh(u)) is 2 x sigmoid(2 u)
    return _cubic(net, x, inner, gate) if rate is None else _with_rate(2 * rate, Swish, [2 * gate.scale])


def _with_rate(rate: Fraction, make: type[Swish] | type[GeluErf], factors: list[Fraction]) -> _Found | None:
    """The curve of a rate that is a float within bounds."""
    if not is_float(rate):
        return None
    if rate == 1 and make is Swish:
        return Silu(), factors
    try:
        return make(float(rate)), factors
    except ValueError:
        return None


def _cubic(net: Net, x: str, inner: Line, gate: Line) -> _Found | None:
    """u = rate (x + cube x³) or rate x (1 + cube x²), whose powers are products."""
    node = net.build.nodes[inner.base]
    if inner.shift or not isinstance(node.op, Add | Product) or len(node.operands) != 2 or x not in node.operands:
        return None
    other = node.operands[1] if node.operands[0] == x else node.operands[0]
    third, is_sum = line_of(net, other, x), isinstance(node.op, Add)
    if third.shift != (0 if is_sum else 1) or not (_is_cube if is_sum else _is_square)(net, x, third.base):
        return None
    if any(not is_float(number) for number in (inner.scale, third.scale)):
        return None
    try:
        return GeluCubic(float(inner.scale), float(third.scale)), [2 * gate.scale]
    except ValueError:
        return None


def _is_cube(net: Net, x: str, name: str) -> bool:
    node = net.build.nodes[name]
    if not isinstance(node.op, Product) or x not in node.operands:
        return False
    return _is_square(net, x, node.operands[1] if node.operands[0] == x else node.operands[0])


def _is_square(net: Net, x: str, name: str) -> bool:
    node = net.build.nodes[name]
    return isinstance(node.op, Product) and node.operands == (x, x)


def _hard(net: Net, x: str, gate: Line, op: Clip, operand: str) -> _Found | None:
    """x clip(x + 3, 0, 6) is 6 hard_swish(x)."""
    inner = line_of(net, operand, x)
    if gate.shift or inner != Line(x, Fraction(1), Fraction(3)):
        return None
    return (HardSwish(), [Fraction(6), gate.scale]) if _is_number(op.low, 0.0) and _is_number(op.high, 6.0) else None


def _is_number(bound: object, number: float) -> bool:
    return isinstance(bound, np.ndarray) and bool((bound == number).all())


def _is_one_and_size(net: Net, x: str, name: str) -> bool:
    """Whether a node is 1 + |x|."""
    line = line_of(net, name)
    node = net.build.nodes[line.base]
    return line.has(1, 1) and isinstance(node.op, Abs) and node.operands == (x,)


def negated(net: Net, name: str) -> str | None:
    """The node that a node is the negative of."""
    line = line_of(net, name)
    return line.base if line.has(-1, 0) else None


def log_of(net: Net, x: Tensor) -> Tensor | None:
    """The logarithms log(sigmoid(z)) = -softplus(-z) and log(1 + exp(z)) = softplus(z), exactly."""
    line = line_of(net, x.node)
    node = net.build.nodes[line.base]
    if isinstance(node.op, Sigmoid) and line.has(1, 0):
        inner = net.negative(Tensor(node.operands[0], x.shape))
        return net.negative(net.node(Softplus(), inner, shape=x.shape))
    if isinstance(node.op, Exp) and line.has(1, 1):
        return net.node(Softplus(), Tensor(node.operands[0], x.shape), shape=x.shape)
    return None


def guarded_softplus(net: Net, condition: Comparison, a: Tensor | Const, b: Tensor | Const) -> Tensor | None:
    """where(beta x > t, x, softplus(beta x) / beta), t >= 20: the softplus.

    Above t the two differ by less than 3e-9 / beta; the comparison is there because floats cannot tell them apart.
    """
    left, right = condition.left, condition.right
    if not all(isinstance(part, Tensor) for part in (left, a, b)) or not isinstance(right, np.ndarray):
        return None
    assert isinstance(left, Tensor)
    assert isinstance(a, Tensor)
    assert isinstance(b, Tensor)
    asked, line = line_of(net, left.node), line_of(net, b.node)
    node = net.build.nodes[line.base]
    if not isinstance(node.op, Softplus) or left.shape != b.shape or a.shape != b.shape or (right < GUARD).any():
        return None
    inner = line_of(net, node.operands[0])
    same = asked == inner and inner.base == line_of(net, a.node).base and not asked.shift and not line.shift
    plain = line_of(net, a.node) == Line(inner.base, Fraction(1), Fraction(0))
    return b if same and plain and inner.scale > 0 and abs(line.scale * inner.scale - 1) < ROUNDED else None
