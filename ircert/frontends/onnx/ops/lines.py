"""Nodes followed back through maps that scale and shift all entries alike, in exact rationals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from scipy.sparse import csr_array

from ircert.frontends.onnx.net import Net
from ircert.ir.ops import Affine, Op


@dataclass(frozen=True)
class Line:
    """scale * (a node) + shift, the same for all entries, in exact rationals."""

    base: str
    scale: Fraction
    shift: Fraction

    def has(self, scale: int, shift: int) -> bool:
        """Whether both are these."""
        return self.scale == scale and self.shift == shift

    @property
    def is_float(self) -> bool:
        """Whether floats hold both numbers exactly."""
        return all(is_float(number) for number in (self.scale, self.shift))


def is_float(number: Fraction) -> bool:
    """Whether a float holds it exactly."""
    return Fraction(float(number)) == number


def line_of(net: Net, name: str, stop: str | None = None) -> Line:
    """A node as a line of the first one before it that is none, or of the one to stop at."""
    scale, shift = Fraction(1), Fraction(0)
    while name != stop and (found := _alike(net.build.nodes[name].op)) is not None:
        shift += scale * found[1]
        scale *= found[0]
        name = net.build.nodes[name].operands[0]
    return Line(name, scale, shift)


def _alike(op: Op) -> tuple[Fraction, Fraction] | None:
    """The factor and the offset of a map that treats all entries alike."""
    if not isinstance(op, Affine) or not isinstance(op.weight, csr_array) or op.weight.shape[0] != op.weight.shape[1]:
        return None
    diagonal = op.weight.diagonal()
    if op.weight.nnz != len(diagonal) or not diagonal.size:
        return None
    if (diagonal != diagonal[0]).any() or not diagonal[0] or (op.bias != op.bias[0]).any():
        return None
    return Fraction(float(diagonal[0])), Fraction(float(op.bias[0]))
