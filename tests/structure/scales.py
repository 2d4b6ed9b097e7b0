"""Functions of one number that couplings have as scales: never 0, and others that are 0 somewhere."""

from __future__ import annotations

import numpy as np

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops import Add, Relu
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Elu, Sigmoid, Silu, Sin, Softplus, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import Abs, Clip, LeakyRelu, Max, Min
from ircert.ir.ops.smooth import Product, Reciprocal
from ircert.ir.ops.square import Square


def line(op: Op | None, weight: float = 1.0, added: float = 0.0) -> Graph:
    """weight op(x) + added, of one input."""
    build = ircert.Builder(1)
    x = build.input if op is None else build.node(op, build.input)
    return build.graph(build.affine(x, [[weight]], [added]))


def joined(op: Op, first: Graph, second: Graph) -> Graph:
    """An operation on both networks' outputs."""
    build = ircert.Builder(1)
    return build.graph(build.node(op, *(build.insert(part, build.input) for part in (first, second))))


SCALES = {
    "1 + tanh": line(Tanh(), 1.0, 1.0),
    "1 - tanh": line(Tanh(), -1.0, 1.0),
    "0.1 + 0.1 tanh": line(Tanh(), 0.1, 0.1),
    "c + sigmoid": line(Sigmoid(), 1.0, 0.25),
    "1 - sigmoid": line(Sigmoid(), -1.0, 1.0),
    "exp": line(Exp()),
    "softplus": line(Softplus()),
    "softplus + c": line(Softplus(), 1.0, 1e-3),
    "exp(tanh)": line(Tanh()).then(line(Exp())),
    "exp(tanh) - 0.36": line(Tanh()).then(line(Exp(), 1.0, -0.36)),
    "exp(exp) - 1": line(Exp()).then(line(Exp(), 1.0, -1.0)),
    "abs + c": line(Abs(), 1.0, 0.5),
    "relu + c": line(Relu(), 1.0, 0.5),
    "elu + 1": line(Elu(1.0), 1.0, 1.0),
    "sin + 2": line(Sin(), 1.0, 2.0),
    "silu + 0.3": line(Silu(), 1.0, 0.3),
    "clip": line(Clip(np.array([0.1]), np.array([3.0]))),
    "-clip": line(Clip(np.array([0.1]), np.array([3.0])), -1.0),
    "hard sigmoid + c": line(Clip(np.array([0.0]), np.array([1.0])), 1.0, 2.0**-10),
    "leaky relu of exp": line(Exp()).then(line(LeakyRelu(np.array([0.1])))),
    "leaky relu of tanh + 0.26": line(Tanh()).then(line(LeakyRelu(np.array([0.25])), 1.0, 0.26)),
    "0.26 - falling relu of tanh": line(Tanh(), 1.0, -1.0).then(line(LeakyRelu(np.array([-0.125])), -1.0, 0.26)),
    "(2 + relu)^2 - 3.9": line(Relu(), 1.0, 2.0).then(line(Square(), 1.0, -3.9)),
    "relu of exp": line(Exp()).then(line(Relu())),
    "square + c": line(Square(), 1.0, 2.0**-30),
    "1 - tanh^2": line(Tanh()).then(line(Square(), -1.0, 1.0)),
    "1 - sin^2/2": line(Sin()).then(line(Square(), -0.5, 1.0)),
    "exp + sigmoid": joined(Add(), line(Exp()), line(Sigmoid())),
    "exp * softplus": joined(Product(), line(Exp()), line(Softplus(), -1.0)),
    "2 + tanh * sin": joined(Product(), line(Tanh()), line(Sin())).then(line(None, 1.0, 2.0)),
    "1 + tanh * sin": joined(Product(), line(Tanh()), line(Sin())).then(line(None, 1.0, 1.0)),
    "max(exp, x)": joined(Max(), line(Exp()), line(None)),
    "min(exp, 1 + tanh)": joined(Min(), line(Exp()), line(Tanh(), 1.0, 1.0)),
    "1 / (1 + exp)": line(Exp(), 1.0, 1.0).then(line(Reciprocal())),
}
TRAPS = {
    "x": line(None),
    "tanh": line(Tanh()),
    "tanh + 0.999": line(Tanh(), 1.0, 0.999),
    "tanh + 1 - 2^-53": line(Tanh(), 1.0, 1 - 2.0**-53),
    "1 - tanh * (1 + 2^-52)": line(Tanh(), -1.0 - 2.0**-52, 1.0),
    "sigmoid - 0.5": line(Sigmoid(), 1.0, -0.5),
    "sigmoid - 2^-60": line(Sigmoid(), 1.0, -(2.0**-60)),
    "softplus - 1e-300": line(Softplus(), 1.0, -1e-300),
    "exp - smallest": line(Exp(), 1.0, -5e-324),
    "exp(tanh) - 0.37": line(Tanh()).then(line(Exp(), 1.0, -0.37)),
    "abs": line(Abs()),
    "relu": line(Relu()),
    "relu - c": line(Relu(), 1.0, -0.5),
    "1 + sin": line(Sin(), 1.0, 1.0),
    "silu + 0.27": line(Silu(), 1.0, 0.27),
    "elu + 0.999": line(Elu(1.0), 1.0, 0.999),
    "clip from 0": line(Clip(np.array([0.0]), np.array([3.0]))),
    "clip over 0": line(Clip(np.array([-1.0]), np.array([3.0]))),
    "clip above alone": line(Clip(None, np.array([3.0]))),
    "square": line(Square()),
    "1 - sin^2": line(Sin()).then(line(Square(), -1.0, 1.0)),
    "exp - exp": joined(Add(), line(Exp()), line(Exp(), -1.0)),
    "exp * tanh": joined(Product(), line(Exp()), line(Tanh())),
    "min(exp, x)": joined(Min(), line(Exp()), line(None)),
    "max(tanh, x)": joined(Max(), line(Tanh()), line(None)),
    "leaky relu of tanh + 0.24": line(Tanh()).then(line(LeakyRelu(np.array([0.25])), 1.0, 0.24)),
    "(2 + relu)^2 - 4": line(Relu(), 1.0, 2.0).then(line(Square(), 1.0, -4.0)),
    "leaky relu": line(LeakyRelu(np.array([0.1])), 1.0, 1.0),
    "1 + leaky relu, slope 1e-300": line(LeakyRelu(np.array([1e-300])), 1.0, 1.0),
}


def coupling(scale: Graph) -> Graph:
    """(x1, x2 scale(x1) + x1)."""
    build = ircert.Builder(2)
    first, second = build.select(build.input, [0]), build.select(build.input, [1])
    moved = build.node(Product(), second, build.insert(scale, first))
    return build.graph(build.concat(first, build.add(moved, first)))
