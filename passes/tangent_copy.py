"""tangent-copy: the network together with its derivative along a direction, (x, v) -> (f(x), f'(x; v)).

    f'(x; v) = lim (f(x + t v) - f(x)) / t    as t falls to 0

exists everywhere for piecewise-linear f and follows the chain rule; through a relu that reads z with derivative g it is
g where z > 0, 0 where z < 0 and relu(g) where z = 0. It jumps as x crosses a kink, so no graph of core operations,
which are continuous, computes it: the jump is made by `choose`, and the result is not `canonical`.

The slopes of the formulation `tangent` are free at kinks: a relation between x, v and the derivative, of which f'(x; v)
is one member. A relation is no graph; it becomes rows of a program.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.build import Builder
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Relu
from ircert.ir.ops.smooth import Choose
from ircert.passes.base import Function, GraphPass, Lift, Points, Rewrite, exactly

STEP = Fraction(1, 2**4096)
"""How far along the direction the lift looks, in exact arithmetic; kinks that doubles put nearer are not expected."""
ROUGH = 2.0**-20
"""The same in floats, where a difference quotient is no more than a guess."""


@dataclass(frozen=True)
class TangentCopy(GraphPass):
    """The network's values, then its derivatives along the second half of the input."""

    name = "tangent-copy"
    requires = ("canonical",)

    def run(self, source: Graph) -> Rewrite[Graph]:
        """One walk; values are called `h1.x`, derivatives `h1.v`."""
        size = source.input_dim
        build = Builder(2 * size, name=source.input)
        x = build.select(build.input, np.arange(size), name=f"{source.input}.x")
        v = build.select(build.input, np.arange(size, 2 * size), name=f"{source.input}.v")
        values, slopes = {source.input: x}, {source.input: v}
        for node in source.nodes:
            if node.name != source.input:
                values[node.name] = build.node(node.op, *(values[n] for n in node.operands), name=f"{node.name}.x")
                slopes[node.name] = _derivative(build, node, values, slopes)
        output = build.concat(values[source.output], slopes[source.output], name="tangent")
        return Rewrite(build.graph(output), Lift(point=_point, function=_function))


def _derivative(build: Builder, node: Node, values: dict[str, str], slopes: dict[str, str]) -> str:
    name = f"{node.name}.v"
    along = [slopes[operand] for operand in node.operands]
    if isinstance(node.op, Affine):
        return build.affine(along[0], node.op.weight, name=name)
    if not isinstance(node.op, Relu):  # add, concat and select are linear
        return build.node(node.op, *along, name=name)
    z, size = values[node.operands[0]], build.size(along[0])
    zero = build.affine(z, csr_array((size, size)), name=f"{name}.zero")
    at_kink = build.node(Choose(), zero, z, zero, build.relu(along[0], name=f"{name}.up"), name=f"{name}.off")
    return build.node(Choose(), z, zero, along[0], at_kink, name=name)


def _point(z: Points) -> Points:
    given = np.asarray(z)
    return given[..., : given.shape[-1] // 2]


def _function(old: Function) -> Function:
    """Values, and difference quotients over a step that crosses no kink."""

    def tangent(z: Points) -> Points:
        given = np.asarray(z)
        half = given.shape[-1] // 2
        x, v = given[..., :half], given[..., half:]
        here = old(x)
        if here.dtype == object:
            ahead = old(exactly(x) + STEP * exactly(v))
            return np.concatenate([here, (ahead - here) / STEP], axis=-1)
        return np.concatenate([here, (old(x + ROUGH * v) - here) / ROUGH], axis=-1)

    return tangent
