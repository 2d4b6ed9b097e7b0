"""A canonical graph near a point, exactly: derivatives along directions, and how far they hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ircert.ir.arrays import Array, Indices, Mask
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Relu
from ircert.ir.rational import Rationals, integer_type
from ircert.limits import checkpoint

Vector = list[Fraction]


@dataclass(frozen=True)
class Direction:
    """The vector numbers / 2^bits at `inputs`, and 0 elsewhere; no entry is larger than 1."""

    inputs: list[int]
    numbers: list[int]

    @cached_property
    def bits(self) -> int:
        """The length of the largest number."""
        return max(abs(v) for v in self.numbers).bit_length()

    def floats(self, size: int) -> Array:
        """The vector, rounded to floats."""
        vector = np.zeros(size)
        vector[self.inputs] = [v / (1 << self.bits) for v in self.numbers]
        return vector

    def fractions(self, size: int) -> Vector:
        """The vector."""
        vector = [Fraction(0)] * size
        for j, v in zip(self.inputs, self.numbers, strict=True):
            vector[j] = Fraction(v, 1 << self.bits)
        return vector


@dataclass(frozen=True)
class Along:
    """f(x + t v) = f(x) + t change for 0 <= t <= reach (None: for every t); on: the neurons that are on before that."""

    change: Vector
    reach: Fraction | None
    on: dict[str, Mask]


class Neighbourhood:
    """A point of a canonical graph with the exact value of every node."""

    def __init__(self, graph: Graph, x: Vector) -> None:
        self.graph = graph
        self.x = x
        self._values = {graph.input: Rationals.of_fractions(x)}
        for node in graph.nodes:
            checkpoint()
            if node.name != graph.input:
                self._values[node.name] = node.op.exact(*(self._values[name] for name in node.operands))

    @cached_property
    def before(self) -> dict[str, Rationals]:
        """The operand of each relu."""
        return {n.name: self._values[n.operands[0]] for n in self.graph.nodes if isinstance(n.op, Relu)}

    @cached_property
    def on(self) -> dict[str, Mask]:
        """For each relu, the neurons above 0."""
        return {name: np.asarray(z.numerators > 0, dtype=bool) for name, z in self.before.items()}

    @cached_property
    def kinks(self) -> dict[str, Indices]:
        """For each relu, the neurons at 0."""
        return {name: np.flatnonzero(z.numerators == 0) for name, z in self.before.items()}

    def along(self, v: Vector) -> Along:
        """The derivative along v; the neurons at 0 turn with it."""
        slopes = {self.graph.input: Rationals.of_fractions(v)}
        reach: Fraction | None = None
        on: dict[str, Mask] = {}
        for node in self.graph.nodes:
            if node.name == self.graph.input:
                continue
            checkpoint()
            operands = [slopes[name] for name in node.operands]
            if isinstance(node.op, Relu):
                value = self._values[node.operands[0]]
                on[node.name] = _turned(value, operands[0])
                still = np.where(on[node.name], operands[0].numerators, integer_type()(0))
                slopes[node.name] = Rationals(still, operands[0].denominator)
                reach = _least(reach, _first_change(value, operands[0]))
            elif isinstance(node.op, Affine):
                slopes[node.name] = node.op.exact_product(*operands)
            else:
                slopes[node.name] = node.op.exact(*operands)
        return Along(slopes[self.graph.output].fractions(), reach, on)


def _turned(value: Rationals, slope: Rationals) -> Mask:
    """Where relu(z) has a slope, from z and the derivative of z."""
    on = (value.numerators > 0) | ((value.numerators == 0) & (slope.numerators > 0))
    return np.asarray(on, dtype=bool)


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
