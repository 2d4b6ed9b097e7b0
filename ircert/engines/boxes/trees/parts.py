"""Parts of a ball: its intersections with boxes, and bounds on every neuron there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ircert.bounds.bounds import Bounds
from ircert.bounds.symbolic import symbolic_bounds
from ircert.engines.boxes.linear_regions.exact_map import center_signs
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array
from ircert.ir.ops import Relu
from ircert.programs.encodings.lp_bounds import lp_bounds


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a ball; low <= z <= high for every neuron, and the phases that follow."""

    ball: Ball
    bounds: Bounds
    low: Array
    high: Array
    phases: Phases

    @property
    def open(self) -> int:
        """How many neurons have both phases."""
        return int((self.phases == 0).sum())

    def split(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The boxes of two halves, across the widest side."""
        low, high = self.ball.box
        j = int(np.argmax(high - low))
        middle = (low[j] + high[j]) / 2
        left, right = high.copy(), low.copy()
        left[j] = right[j] = middle
        return (low, left), (right, high)


def part_of(setting: Setting, radius: float, low: Array, high: Array, method: str = "symbolic") -> Part:
    """The part of the ball in a box, with bounds."""
    ball = Ball(setting.center, radius, setting.norm, np.maximum(low, setting.low), np.minimum(high, setting.high))
    bounds = symbolic_bounds(setting.graph, ball)
    if method == "lp":
        bounds = lp_bounds(bounds, ball, time_limit=20.0)
    names = [node.operands[0] for node in setting.graph.nodes if isinstance(node.op, Relu)]
    lows, highs = (np.concatenate([np.zeros(0), *(side[name] for name in names)]) for side in (bounds.low, bounds.high))
    phases = np.where(lows >= 0, 1, np.where(highs <= 0, -1, 0)).astype(np.int8)
    return Part(ball, bounds, lows, highs, phases)


def misses(setting: Setting, radius: float, low: Array, high: Array) -> bool:
    """Whether a box has no point of the ball, for sure."""
    low, high = np.maximum(low, setting.low), np.minimum(high, setting.high)
    if (low > high).any():
        return True
    nearest = np.clip(setting.center, low, high)
    norm = setting.norm
    if norm.lengths(nearest - setting.center) < radius * (1 - 1e-9):
        return False
    return norm.distance(map(Fraction, nearest.tolist()), setting.exact_center) > Fraction(radius) ** norm.power


def center_part(setting: Setting) -> Part:
    """The centre alone, with the exact sign of every neuron (0 where it is 0)."""
    part = part_of(setting, 1.0, setting.center, setting.center)
    return Part(part.ball, part.bounds, part.low, part.high, center_signs(setting))
