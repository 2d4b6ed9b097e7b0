"""What curves do in a cover (C-28, C-29): products become squares, and lines enclose each curve on a box."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ircert.checker.curves import FINE, KINDS, PLACES, Curve, around
from ircert.checker.definite import shifted
from ircert.checker.injective import Injective, unit_column
from ircert.checker.limits import Effort, require_room, require_size, words
from ircert.checker.network import Curves, Forms, Slopes
from ircert.ir.arrays import diagonal
from ircert.ir.build import Builder
from ircert.ir.graph import Node
from ircert.ir.ops import BY_KIND, Op, Product, Square
from ircert.ir.ops.curves import Elu

EVALUATIONS = 4096
"""What the line of a curve takes, in products."""


def curve_of(op: Op) -> Curve:
    """The curve that an operation is."""
    return Curve(op.kind, Fraction(op.alpha) if isinstance(op, Elu) else Fraction(1))


def _scaled(build: Builder, x: str, factor: float) -> str:
    return build.affine(x, diagonal(np.full(build.size(x), factor)))


def _product(build: Builder, a: str, b: str) -> str:
    """a b = u² - v² for u, v = (a ± b) / 2."""
    halves = _scaled(build, b, 0.5), _scaled(build, b, -0.5)
    u, v = (build.node(Square(), build.add(_scaled(build, a, 0.5), half)) for half in halves)
    return build.add(u, _scaled(build, v, -1.0))


class KnownCurves(Curves):
    """The curves of C-26."""

    def lowered(self, node: Node) -> Callable[..., str]:
        """Curves stay, and products are squares."""
        op = node.op
        if BY_KIND.get(op.kind) is type(op) and (op.kind in KINDS or isinstance(op, Product)):
            return _product if isinstance(op, Product) else lambda build, *operands: build.node(op, *operands)
        return super().lowered(node)

    def whole(self, op: Op) -> Slopes:
        """As a part of the whole line."""
        found = curve_of(op).whole
        return super().whole(op) if found is None else (*found, FINE)

    def enclosed(self, op: Op, forms: Forms, unit: int, size: int, effort: Effort) -> tuple[Forms, list[Slopes]]:
        """Forms over 2**PLACES: lines, rounded down, and a variable for what each may be off."""
        entries, scale, curve = len(forms.columns[0]), unit << forms.exponent, curve_of(op)
        require_size(forms.bits - scale.bit_length())
        require_room(entries * (size + entries), forms.bits + PLACES)
        effort.spend(entries * (EVALUATIONS + size) * words(forms.bits))
        lines = []
        for middle, *others in zip(*forms.columns, strict=True):
            reach = sum(map(abs, others))
            low, high = ((middle - reach) << PLACES) // scale, -((-middle - reach << PLACES) // scale)
            lines.append(around(curve, low, high))
        right = forms.exponent + FINE - PLACES
        columns = [
            [shifted(line.slope * v, right) for line, v in zip(lines, column, strict=True)] for column in forms.columns
        ]
        columns[0] = [v + line.shift * unit for line, v in zip(lines, columns[0], strict=True)]
        columns += [[0] * entries for _ in range(size - len(columns))]
        errors = [line.error * unit + len(forms.columns) for line in lines]
        columns += [unit_column(entries, i, error) for i, error in enumerate(errors)]
        return Forms(columns, PLACES), [(line.least, line.most, FINE) for line in lines]


class Covered(Injective):
    """The claim that a network of relus and curves is injective on the ball."""

    curves: ClassVar[Curves] = KnownCurves()
