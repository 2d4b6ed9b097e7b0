"""A network and its derivative along a direction, with slopes that are free where a neuron is at its kink.

The derivative is a second copy of the network, without biases: g is what a relu reads, q = λ g what it gives, with
-N <= g <= P. One of four binaries is 1 for each neuron that may have either phase:

    on    z >= 0,  q = g                  rise  z = 0,  0 <= q <= g
    down  z <= 0,  q = 0                  fall  z = 0,  g <= q <= 0

    q - g <= N (down + fall),   g - q <= P (down + rise),   q <= P (on + rise),   -q <= N (on + fall)
    y >= z,   y <= z - l down,   y <= u on                  (y = relu(z); l <= z <= u)

For pairs up to δ apart x is the middle and g, q are differences over their distance. A neuron with |z| > θ, where
θ = δ max(P, N) / 2, is on or down at both points. Where q is free z may have either sign, with a binary t of its own:

    on <= t,   down <= 1 - t,   z <= u on + θ (rise + fall),   -z <= -l down + θ (rise + fall)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask, diagonal
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import MARGIN, NetworkCopy
from ircert.programs.program import Block, Origin


class KinkedCopy(NetworkCopy):
    """A copy of a network with two binaries for each open neuron, `on` and `down`; where both are 0, z is 0."""

    def _open(self, z: Form, y: Form, low: Array, high: Array, labels: Indices, tag: str, origin: Origin) -> None:
        low, high = np.minimum(low, -MARGIN), np.maximum(high, MARGIN)
        on, down = (
            self.build.variables(self._name(kind, tag), len(low), 0.0, 1.0, integer=True, origin=origin, labels=labels)
            for kind in ("on", "down")
        )
        self.phases[tag] = (on, down)
        above, zero = y.plus(z, -1.0), np.zeros(len(low))
        above.rows(self.build, self._name("above", tag), ">=", zero, origin=origin, labels=labels)
        above.rows(
            self.build, self._name("phase", tag), "<=", zero, (down, diagonal(low)), origin=origin, labels=labels
        )
        y.rows(self.build, self._name("off", tag), "<=", zero, (on, diagonal(-high)), origin=origin, labels=labels)


class DirectionCopy(NetworkCopy):
    """The derivative of a network at a copy of it, along v; `thickness` is δ, 0 for true derivatives.

    `slopes` are bounds of the network without its biases, valid for every point of the ball and every v.
    """

    def __init__(
        self, build: ProgramBuilder, slopes: Bounds, v: Block, at: NetworkCopy, thickness: float = 0.0
    ) -> None:
        self.at = at
        self.thickness = thickness
        super().__init__(build, slopes, v, "v")

    def relu(self, name: str, x: Form) -> Form:
        (operand,) = self.graph[name].operands
        low, high = self._finite(name)
        q = self.build.variables(self._name("q", name), len(low), low, high, origin=self._origin(name))
        g = self._variables(operand)
        on = np.flatnonzero((self.at.bounds.low[operand] >= 0) & (self.at.bounds.high[operand] > 0))
        same = Form.of(q).take(on).plus(g.take(on), -1.0)
        self._put("same", name, same, "=", np.zeros(len(on)), on)
        if name in self.at.phases:
            self._free(name, operand, g, Form.of(q))
        return Form.of(q)

    def _free(self, tag: str, operand: str, g: Form, q: Form) -> None:
        """The rows of the neurons that may have either phase."""
        labels = np.array(self.at.phases[tag][0].labels)
        low, high = self.bounds.low[operand][labels], self.bounds.high[operand][labels]
        down_to, up_to = (diagonal(np.where(side > 0, np.maximum(side, MARGIN), 0.0)) for side in (-low, high))
        rise, fall = (self._binaries(kind, tag, labels, most) for kind, most in (("rise", high > 0), ("fall", low < 0)))
        if self.thickness > 0:
            on, down = self._thick(tag, operand, (rise, fall), np.maximum(-low, high), labels)
        else:
            on, down = self.at.phases[tag]
        self._put("one", tag, Form.of(on), "=", np.ones(len(labels)), labels, (down, 1.0), (rise, 1.0), (fall, 1.0))
        zero, q = np.zeros(len(labels)), q.take(labels)
        rest = q.plus(g.take(labels), -1.0)
        self._put("under", tag, rest, "<=", zero, labels, (down, -down_to), (fall, -down_to))
        self._put("over", tag, rest, ">=", zero, labels, (down, up_to), (rise, up_to))
        self._put("most", tag, q, "<=", zero, labels, (on, -up_to), (rise, -up_to))
        self._put("least", tag, q, ">=", zero, labels, (on, down_to), (fall, down_to))

    def _thick(
        self, tag: str, operand: str, free: tuple[Block, Block], size: Array, labels: Indices
    ) -> tuple[Block, Block]:
        """The binaries on and down where z may have either sign when neither is 1."""
        (t,) = self.at.phases[tag]
        every = np.ones(len(labels), dtype=np.bool_)
        on, down = (self._binaries(kind, tag, labels, every) for kind in ("on", "down"))
        self._put("positive", tag, Form.of(on), "<=", np.zeros(len(labels)), labels, (t, -1.0))
        self._put("negative", tag, Form.of(down), "<=", np.ones(len(labels)), labels, (t, 1.0))
        z = self.at.preactivations[tag].take(labels)
        width = diagonal(np.maximum(np.nextafter(self.thickness * size / 2 * (1 + 1e-12), np.inf), MARGIN))
        low = np.minimum(self.at.bounds.low[operand][labels], -MARGIN)
        high = np.maximum(self.at.bounds.high[operand][labels], MARGIN)
        for kind, sense, phase, end, sign in (
            ("near", "<=", on, high, -1.0),
            ("close", ">=", down, low, 1.0),
        ):
            wide = [(block, sign * width) for block in free]
            self._put(kind, tag, z, sense, np.zeros(len(labels)), labels, (phase, diagonal(-end)), *wide)
        return on, down

    def _binaries(self, kind: str, tag: str, labels: Indices, possible: Mask) -> Block:
        return self.build.variables(
            self._name(kind, tag),
            len(labels),
            0.0,
            possible * 1.0,
            integer=True,
            origin=self._origin(tag),
            labels=labels,
        )

    def _put(
        self, kind: str, tag: str, form: Form, sense: Any, rhs: Array, labels: Indices, *more: tuple[Block, Any]
    ) -> None:
        form.rows(self.build, self._name(kind, tag), sense, rhs, *more, origin=self._origin(tag), labels=labels)


def direction(build: ProgramBuilder, slopes: Bounds, coordinate: int | None) -> Block:
    """Variables for a direction: |v| <= 1 and v_j = 1 for the given coordinate, or for one that the program picks.

    v and -v say the same, so that v_j = -1 need not be looked at. Bounds on v are those of its copy in `slopes`.
    """
    graph = slopes.graph
    low, high = slopes.low[graph.input], slopes.high[graph.input]
    v = build.variables("v", len(low), low, high, origin=Origin(graph.input, "v"))
    free = np.flatnonzero(high > 0)
    if coordinate is None and len(free):
        pick = build.variables("pick", len(free), 0.0, 1.0, integer=True, labels=free)
        Form.of(v).take(free).rows(build, "full", ">=", -np.ones(len(free)), (pick, -2.0), labels=free)
        build.rows("choose", [(pick, np.ones((1, len(free))))], "=", 1.0)
    return v


def unit_directions(ball: Ball, coordinate: int | None = None) -> Ball:
    """The box of directions: |v| <= 1, v_j = 1 for the coordinate, and v_i = 0 where the domain pins x_i down."""
    low, high = ball.box
    moves = np.where(low < high, 1.0, 0.0)
    if coordinate is not None and not (0 <= coordinate < len(moves) and moves[coordinate]):
        raise QueryError(f"input {coordinate} is none, or does not vary", remedy="count inputs from 0")
    least = -moves
    if coordinate is not None:
        least[coordinate] = 1.0
    return Ball(np.zeros(len(moves)), 1.0, Norm.INF, least, moves)
