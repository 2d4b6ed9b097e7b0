"""Pairs of parts of a ball: near ones close by their secants, far ones by intervals, the rest in trees of phases."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from ircert.ir.arrays import Array
from ircert.proofs.descent import Descent
from ircert.proofs.exact_map import ExactMaps
from ircert.proofs.parts import Part, center_part, misses, part_of
from ircert.proofs.phase_tree import Counts, PhaseTree, Stopped, TooLarge, Tools, Violated, slopes
from ircert.proofs.relaxation import Relaxation
from ircert.proofs.secants import Secants
from ircert.proofs.setting import Setting, neurons_that_matter

Box: TypeAlias = tuple[Array, Array]
Node: TypeAlias = tuple[Box, Box, int, int, int, bool]
"""Two boxes, the depth, the open phases of the parent, how often splitting did not help, and whether pairs with equal
givens are known there (for `transform`, where they need not be violations)."""
Outcome: TypeAlias = Literal["closed", "violated", "stopped"]

FEW_OPEN = 14
"""Pairs of parts with at most this many open phases go to a tree of phases."""
BUDGET = (60, 300)
"""Nodes of such a tree before the parts are split again, up to two inputs and beyond; more where splitting did not
decide a neuron."""
STUBBORN = 4
PATIENCE = 12
DEEPEST = 60
MANY = 10**9


@dataclass
class SpaceTree:
    """All pairs of points of a closed ball.

    shrink:    a smaller radius from the measure of the best violation: it does not end the search then, the ball
               shrinks, and what was closed stays closed
    injective: for `transform`, the givens alone: where they tell points apart nothing else matters
    nearer:    only pairs with |x - y| at most this in every coordinate are looked at
    """

    setting: Setting
    descent: Descent
    radius: float
    stop: Callable[[], bool]
    shrink: Callable[[Fraction], float] | None = None
    injective: Setting | None = None
    nearer: float = math.inf
    report: Callable[[str], None] | None = None
    counts: Counts = field(default_factory=Counts)

    def __post_init__(self) -> None:
        self.tools = tools_for(self.setting, self.descent, self.counts, self.stop)
        self.center = center_part(self.setting) if self.setting.pseudo else None
        self.inner: Tools | None = None
        if self.injective is not None:
            own = Descent(self.injective, ExactMaps(self.injective), lambda: not self.stop())
            self.inner = tools_for(self.injective, own, self.counts, self.stop)
        self._known: dict[tuple[bytes, bytes, bool], Part] = {}

    def run(self) -> Outcome:
        """Close all pairs, find a violation, or stop."""
        whole: Box = self.setting.ball(self.radius).box
        stack: list[Node] = [(whole, whole, 0, MANY, 0, self.inner is None)]
        while stack:
            if self.stop():
                return "stopped"
            node = stack.pop()
            try:
                stack += self._visit(*node)
            except Violated:
                if not self._shrunk():
                    return "violated"
                stack.append(node)
            except Stopped:
                return "stopped"
        return "stopped" if self.counts.undecided else "closed"

    def _shrunk(self) -> bool:
        best = self.descent.best
        radius = 0.0 if self.shrink is None or best is None else self.shrink(best[0])
        if not 0 < radius < self.radius:
            return False
        self.radius = radius
        self._known.clear()
        return True

    def _part(self, box: Box, setting: Setting) -> Part:
        key = box[0].tobytes(), box[1].tobytes(), setting is self.setting
        if key not in self._known:
            if len(self._known) > 20_000:
                self._known.clear()
            self._known[key] = part_of(setting, self.radius, *box)
        return self._known[key]

    def _visit(self, first: Box, second: Box, depth: int, before: int, stubborn: int, hard: bool) -> list[Node]:
        tools = self.tools if hard or self.inner is None else self.inner
        setting = tools.setting
        if misses(setting, self.radius, *first) or (second is not first and misses(setting, self.radius, *second)):
            return []
        self.counts.parts += 1
        if self.report is not None and self.counts.parts % 500 == 0:
            self.report(f"{self.counts.parts} pairs of parts, {self.counts.nodes} nodes")
        x = self._part(first, setting)
        y = self.center if self.center is not None else x if second is first else self._part(second, setting)
        low, high = _difference(x, y)
        if ((low > self.nearer) | (high < -self.nearer)).any():
            return []
        known = slopes(setting, tools.matter, x.phases, y.phases)
        if tools.secants.injective(known) or tools.secants.apart(known, low, high):
            self.counts.secants += 1
            return []
        open_ = x.open + (0 if self.center is not None else y.open)
        stubborn = stubborn + 1 if open_ >= before else max(0, stubborn - 1)
        last = setting.size > 6 or depth >= DEEPEST
        if last or open_ <= FEW_OPEN or stubborn > PATIENCE * setting.size:
            budget = MANY if last else BUDGET[setting.size > 2] * STUBBORN ** min(6, max(0, stubborn - 1))
            try:
                PhaseTree(tools, x, y, budget).close()
                return []
            except TooLarge:
                pass
            except Violated:
                if hard:
                    raise
                return [(first, second, depth, MANY, 0, True)]
        return [(a, b, depth + 1, open_, stubborn, hard) for a, b in self._split(first, second, x, y)]

    def _split(self, first: Box, second: Box, x: Part, y: Part) -> list[tuple[Box, Box]]:
        if self.center is not None:
            return [(half, half) for half in x.split()]
        if second is first:
            left, right = x.split()
            return [(left, right), (left, left), (right, right)]
        if (x.ball.box[1] - x.ball.box[0]).max() >= (y.ball.box[1] - y.ball.box[0]).max():
            return [(half, second) for half in x.split()]
        return [(first, half) for half in y.split()]


def tools_for(setting: Setting, descent: Descent, counts: Counts, stop: Callable[[], bool]) -> Tools:
    """What the trees of a question share."""
    matter = neurons_that_matter(setting)
    return Tools(setting, descent, Secants(setting), matter, counts, stop, Relaxation(setting))


def _difference(x: Part, y: Part) -> tuple[Array, Array]:
    """A box that holds x - y."""
    (a, b), (c, d) = x.ball.box, y.ball.box
    return np.nextafter(a - d, -np.inf), np.nextafter(b - c, np.inf)
