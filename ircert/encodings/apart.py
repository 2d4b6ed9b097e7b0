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
from ircert.encodings.form import Form
from ircert.encodings.network import MARGIN, NetworkCopy
from ircert.ir.arrays import Array, Indices, diagonal
from ircert.ir.graph import Node
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Block, Origin
from ircert.query import Ball


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

    def _relu(self, node: Node) -> Form:
        (operand,) = node.operands
        tag, origin = node.name, self._origin(node.name)
        low, high = self._finite(tag)
        delta = self.build.variables(self._name("q", tag), len(low), low, high, origin=origin)
        x, y = (copy.forms[tag] for copy in self.copies)
        x.plus(y, -1.0).rows(self.build, self._name("gap", tag), "=", np.zeros(len(low)), (delta, -1.0), origin=origin)
        rises = self._variables(operand)
        if tag in self.copies[0].phases:
            (t,), (s,) = (copy.phases[tag] for copy in self.copies)
            labels = np.array(t.labels)
            self._open_pair(tag, operand, rises.take(labels), Form.of(delta).take(labels), (t, s), labels)
        return Form.of(delta)

    def _open_pair(
        self, tag: str, operand: str, rise: Form, delta: Form, phases: tuple[Block, Block], labels: Indices
    ) -> None:
        t, s = phases
        down, up = (
            np.where(side > 0, np.maximum(side, MARGIN), 0.0)
            for side in (-self.bounds.low[operand][labels], self.bounds.high[operand][labels])
        )
        rest, zero, origin = delta.plus(rise, -1.0), np.zeros(len(labels)), self._origin(tag)
        for kind, form, sense, rhs, switch in (
            ("over", rest, ">=", -up, (s, diagonal(-up))),
            ("least", delta, ">=", zero, (s, diagonal(down))),
            ("under", rest, "<=", down, (t, diagonal(down))),
            ("most", delta, "<=", zero, (t, diagonal(-up))),
        ):
            name = self._name(kind, tag)
            form.rows(self.build, name, sense, rhs, switch, origin=origin, labels=labels)  # type: ignore[arg-type]


def differences(ball: Ball) -> Ball:
    """The ball of all x - y with x and y in a ball: twice as large, around 0, and as wide as its box."""
    low, high = ball.box
    width = np.nextafter(high - low, np.inf) * (low < high)
    radius = float(np.nextafter(2 * ball.radius, np.inf))
    return Ball(np.zeros(len(low)), radius, ball.norm, -width, width)


def difference_of_points(build: ProgramBuilder, ball: Ball, x: Block, y: Block, origin: Origin) -> Block:
    """Variables d = x - y."""
    low, high = differences(ball).box
    d = build.variables("d", x.size, low, high, origin=origin)
    build.rows("difference", [(x, 1.0), (y, -1.0), (d, -1.0)], "=", 0.0, origin=origin)
    return d


def keep_apart(build: ProgramBuilder, d: Form, reach: Array, separation: float, *, both_signs: bool) -> None:
    """Some entry of d is at least the separation (or at most minus that, with both signs), given |d| <= reach.

    Where swapping x and y changes nothing one sign is enough. Entries that cannot be that large are not picked.
    """
    able = np.flatnonzero(reach >= separation)
    slack, zero = np.nextafter(reach[able] + separation, np.inf), np.zeros(len(d))
    picks = []
    for name, sign in (("F", 1.0), ("G", -1.0))[: 2 if both_signs else 1]:
        pick = build.variables(name, len(d), 0.0, (reach >= separation) * 1.0, integer=True)
        signed = Form({}, zero).plus(d, sign).take(able)
        choice = csr_array((-slack, (np.arange(len(able)), able)), shape=(len(able), len(d)))
        signed.rows(build, f"apart.{name}", ">=", separation - slack, (pick, choice), labels=able)
        picks.append(pick)
    build.rows("choose", [(pick, np.ones((1, len(d)))) for pick in picks], "=", 1.0)
