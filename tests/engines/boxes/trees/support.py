"""What trees of a question need, without an engine around them."""

from __future__ import annotations

from ircert.engines.boxes.falsification.descent import Descent
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.trees.parts import Part, part_of
from ircert.engines.boxes.trees.phase_tree import Tools


def tools_of(setting: Setting) -> Tools:
    return Tools.of(setting, Descent(setting, ExactMaps(setting)), Counts())


def ball_of(setting: Setting, radius: float) -> Part:
    """The whole ball as one part."""
    return part_of(setting, radius, *setting.ball(radius).box)


def never() -> bool:
    return False
