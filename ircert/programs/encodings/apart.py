"""Two copies of a network and their difference, kept apart.

Beside the copies themselves, D = z^x - z^y of every preactivation and Δ = relu(z^x) - relu(z^y) have variables, with
bounds of their own: -N <= D <= P (`ircert.bounds.slopes`). With t and s the phases of x and y:

    s = 1: Δ >= D,    s = 0: Δ >= 0,    t = 1: Δ <= D,    t = 0: Δ <= 0

    D - Δ <= P (1 - s),   -Δ <= N s,   Δ - D <= N (1 - t),   Δ <= P t

These rows follow from those of the two copies; they tighten the relaxation and replace nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ircert.bounds.bounds import Bounds
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array, diagonal
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import MARGIN, NetworkCopy
from ircert.programs.program import Block, Origin, Sense


class DifferenceCopy(NetworkCopy):
    """The difference of two copies of a network, node by node; `d` is x - y."""

    def __init__(
        self,
        build: ProgramBuilder,
        slopes: Bounds,
        d: Block,
        copies: tuple[NetworkCopy, NetworkCopy],
        *,
        prefix: str = "",
    ) -> None:
        self.copies = copies
        super().__init__(build, slopes, d, "d", prefix=prefix)

    def relu(self, name: str, x: Form) -> Form:
        (operand,) = self.graph[name].operands
        tag, origin = name, self._origin(name)
        low, high = self._finite(tag)
        delta = self.build.variables(self._name("q", tag), len(low), low, high, origin=origin)
        one, two = (copy.forms[tag] for copy in self.copies)
        one.plus(two, -1.0).rows(
            self.build, self._name("gap", tag), "=", np.zeros(len(low)), (delta, -1.0), origin=origin
        )
        self._sides(tag, operand, self._variables(operand), Form.of(delta))
        return Form.of(delta)

    def _sides(self, tag: str, operand: str, rise: Form, delta: Form) -> None:
        """Δ <= D or Δ <= 0 by the phase of x, Δ >= D or Δ >= 0 by that of y; a phase that is known needs no switch."""
        down, up = (
            np.where(side > 0, np.maximum(side, MARGIN), 0.0)
            for side in (-self.bounds.low[operand], self.bounds.high[operand])
        )
        rest = delta.plus(rise, -1.0)
        x, y = self.copies
        self._side(x, tag, operand, ("under", rest, down), ("most", delta, up), 1.0)
        self._side(y, tag, operand, ("over", rest, up), ("least", delta, down), -1.0)

    def _side(
        self,
        copy: NetworkCopy,
        tag: str,
        operand: str,
        on: tuple[str, Form, Array],
        off: tuple[str, Form, Array],
        sign: float,
    ) -> None:
        low, high = copy.bounds.low[operand], copy.bounds.high[operand]
        sense: Sense = "<=" if sign > 0 else ">="
        origin = self._origin(tag)
        for (kind, form, _), known in ((on, (low >= 0) & (high > 0)), (off, high <= 0)):
            labels = np.flatnonzero(known)
            name = self._name(f"{kind}.known", tag)
            form.take(labels).rows(self.build, name, sense, np.zeros(len(labels)), origin=origin, labels=labels)
        if tag not in copy.phases:
            return
        (t,) = copy.phases[tag]
        labels = np.array(t.labels)
        for (kind, form, sizes), rest, switch in ((on, 1.0, 1.0), (off, 0.0, -1.0)):
            size, name = sign * sizes[labels], self._name(kind, tag)
            term = (t, diagonal(switch * size))
            form.take(labels).rows(self.build, name, sense, rest * size, term, origin=origin, labels=labels)


def differences(first: Ball, second: Ball) -> Ball:
    """All x - y with x in one ball and y in another around the same centre, each cut with a box of its own."""
    (low, high), (least, most) = first.box, second.box
    below = np.where(low == most, 0.0, np.nextafter(low - most, -np.inf))
    above = np.where(high == least, 0.0, np.nextafter(high - least, np.inf))
    radius = float(np.nextafter(first.radius + second.radius, np.inf))
    return Ball(np.zeros(len(low)), radius, first.norm, below, above)


def difference_of_points(build: ProgramBuilder, ball: Ball, x: Block, y: Block, origin: Origin) -> Block:
    """Variables d = x - y, which lies in a ball."""
    d = build.variables("d", x.size, *ball.box, origin=origin)
    build.rows("difference", [(x, 1.0), (y, -1.0), (d, -1.0)], "=", 0.0, origin=origin)
    return d


def keep_apart(build: ProgramBuilder, d: Form, low: Array, high: Array, separation: float, *, both_signs: bool) -> None:
    """Some entry of d is at least the separation (or at most minus that, with both signs), given low <= d <= high.

    Where swapping x and y changes nothing one sign is enough. Entries that cannot be that large are not picked.
    """
    picks = []
    for name, sign, least, most in (("F", 1.0, low, high), ("G", -1.0, -high, -low))[: 2 if both_signs else 1]:
        able = np.flatnonzero(most >= separation)
        short = separation - np.minimum(least[able], separation)
        slack = np.where(short > 0, np.maximum(np.nextafter(short, np.inf), MARGIN), 0.0)
        pick = build.variables(name, len(d), 0.0, (most >= separation) * 1.0, integer=True)
        signed = Form({}, np.zeros(len(d))).plus(d, sign).take(able)
        choice = csr_array((-slack, (np.arange(len(able)), able)), shape=(len(able), len(d)))
        signed.rows(build, f"apart.{name}", ">=", separation - slack, (pick, choice), labels=able)
        picks.append(pick)
    build.rows("choose", [(pick, np.ones((1, len(d)))) for pick in picks], "=", 1.0)
