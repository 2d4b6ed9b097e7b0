"""One tree of phases for a whole ball: of its pairs, or of its points. The shortest way where few neurons are open."""

from __future__ import annotations

from ircert.engines.boxes.effort.portfolio import Stop
from ircert.engines.boxes.problem.outcome import Outcome, Stopped, TooLarge, Violated
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.trees.cell_tree import CellTree
from ircert.engines.boxes.trees.parts import center_part, part_of
from ircert.engines.boxes.trees.phase_tree import PhaseTree, Tools, slopes

MANY = 10**9
FEW_OPEN = 12
"""With more open neurons (for `transform`, in each network) trees are too large …"""
MOST_CUT, FEW_BEYOND = 6, 24
"""… but with more inputs than this cutting boxes leads nowhere, so that larger ones are tried."""


def few_open(setting: Setting, radius: float) -> bool:
    """Whether one tree may do."""
    networks = 2 if setting.unknowns else 1
    return part_of(setting, radius, *setting.ball(radius).box).open <= networks * most_open(setting)


def most_open(setting: Setting) -> int:
    """How many neurons may be open: twice as many where only one of two points has phases to decide."""
    if setting.size <= MOST_CUT:
        return FEW_OPEN
    return 2 * FEW_BEYOND if setting.pseudo else FEW_BEYOND


class WholeTree:
    """All pairs: first those with equal constrained outputs, where that is another question (`transform`), then all
    violations."""

    def __init__(self, tools: list[Tools], radius: float) -> None:
        self.radius = radius
        self._tools = list(tools)
        self._tree: PhaseTree | None = None

    def advance(self, stop: Stop) -> Outcome:
        """Go on until the tree is closed."""
        while self._tools:
            if self._tree is None:
                self._tree = self._planted(self._tools[0])
            try:
                self._tree.close(MANY, stop)
            except Violated:
                self._tools.pop(0)
                self._tree = None
                continue
            except Stopped:
                return "stopped"
            return "stopped" if self._tree.undecided else "closed"
        return "violated"

    def _planted(self, tools: Tools) -> PhaseTree:
        first = part_of(tools.setting, self.radius, *tools.setting.ball(self.radius).box)
        second = center_part(tools.setting) if tools.setting.pseudo else first
        effects = tools.secants.effects(slopes(tools.setting, tools.matter, first.phases, second.phases))
        return PhaseTree(tools, first, second, effects)


class WholeCells:
    """All single points: whether their regions have the reference orientation."""

    def __init__(self, tree: CellTree, radius: float) -> None:
        self._tree = tree
        self._part = part_of(tree.setting, radius, *tree.setting.ball(radius).box)
        self._stack = [self._part.phases]
        tree.counts.trees += 1

    def advance(self, stop: Stop) -> Outcome:
        """Go on until the tree is closed; gives up at a region that exact programs cannot decide."""
        try:
            self._tree.close(self._part, MANY, stop, self._stack)
        except Violated:
            return "violated"
        except (Stopped, TooLarge):
            return "stopped"
        return "closed"
