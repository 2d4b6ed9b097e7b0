"""A canonical graph near a point, exactly: derivatives along directions, and how far they hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from ircert.engines.kernels import Vector
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Relu
from ircert.ir.rational import Rationals, integer_type

AtZero = Literal["off", "on", "turn"]
"""What a neuron at 0 does: it is off, it is on, or it goes where the direction takes it."""


@dataclass(frozen=True)
class Along:
    """f(x + t v) = f(x) + t change for 0 <= t <= reach (None: for every t), if the neurons at 0 turn with v.

    at_zero: the derivatives of the neurons whose value is 0
    """

    change: Vector
    reach: Fraction | None
    at_zero: Vector


class Neighbourhood:
    """A point of a canonical graph with the exact value of every node."""

    def __init__(self, graph: Graph, x: Vector) -> None:
        self.graph = graph
        self.x = x
        self._values = {graph.input: Rationals.of_fractions(x)}
        self._linear: dict[str, Affine] = {}
        for node in graph.nodes:
            if node.name != graph.input:
                self._values[node.name] = node.op.exact(*(self._values[name] for name in node.operands))
            if isinstance(node.op, Affine):
                self._linear[node.name] = Affine(node.op.weight)

    def along(self, v: Vector, at_zero: AtZero = "turn") -> Along:
        """The derivative along v."""
        slopes = {self.graph.input: Rationals.of_fractions(v)}
        reach: Fraction | None = None
        kinks: Vector = []
        for node in self.graph.nodes:
            if node.name == self.graph.input:
                continue
            operands = [slopes[name] for name in node.operands]
            if isinstance(node.op, Relu):
                value = self._values[node.operands[0]]
                slopes[node.name] = _turned(value, operands[0], at_zero)
                reach = _least(reach, _first_change(value, operands[0]))
                still = Rationals(operands[0].numerators[value.numerators == 0], operands[0].denominator)
                kinks += still.fractions()
            else:
                slopes[node.name] = self._linear.get(node.name, node.op).exact(*operands)
        return Along(slopes[self.graph.output].fractions(), reach, kinks)


def _turned(value: Rationals, slope: Rationals, at_zero: AtZero) -> Rationals:
    """The derivative of relu(z) from z and the derivative of z."""
    zero = integer_type()(0)
    on, kink = value.numerators > 0, value.numerators == 0
    if at_zero == "on":
        on = on | kink
    elif at_zero == "turn":
        on = on | (kink & (slope.numerators > 0))
    return Rationals(np.where(on.astype(bool), slope.numerators, zero), slope.denominator)


def _first_change(value: Rationals, slope: Rationals) -> Fraction | None:
    """The smallest t > 0 at which an entry of value + t slope that is not 0 becomes 0."""
    facing = (value.numerators * slope.numerators < 0).astype(bool)
    if not facing.any():
        return None
    pairs = zip(value.numerators[facing], slope.numerators[facing], strict=True)
    ratio = min(Fraction(int(abs(z)), int(abs(s))) for z, s in pairs)
    return ratio * int(slope.denominator) / int(value.denominator)


def _least(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return b if a is None else a if b is None else min(a, b)
