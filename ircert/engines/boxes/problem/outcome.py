"""How a proof ends, and what it counts on the way."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["closed", "violated", "stopped"]


NODE = 160
WAVE = 200
DEARER, SLOPES = 4, 4
"""What a node of a tree of phases, and a wave however small, count in boxes: that much more than the time they take, so
that cutting comes first; and how many boxes one takes whose slopes are cut."""
NODE_BEYOND = 16
"""… a node where boxes have many sides: they take longer then, and nodes hardly do."""


class Violated(Exception):
    """A violation inside the ball was found; the descent has it."""


class TooLarge(Exception):
    """The budget of nodes is used up."""


class Stopped(Exception):
    """The time is over."""


@dataclass
class Counts:
    """What was looked at: boxes, pairs of boxes, those whose slopes were cut, trees of phases and what ended them."""

    waves: int = 0
    boxes: int = 0
    pairs: int = 0
    slopes: int = 0
    trees: int = 0
    nodes: int = 0
    programs: int = 0
    empty: int = 0
    secants: int = 0
    leaves: int = 0
    undecided: int = 0

    def __post_init__(self) -> None:
        self.node = NODE
        """What a node takes, for what is called effort."""

    @property
    def cutting(self) -> int:
        """The work of cutting, in boxes."""
        return self.boxes + self.pairs + WAVE * self.waves

    @property
    def work(self) -> int:
        """All of it."""
        return self.cutting + NODE * self.nodes

    @property
    def effort(self) -> int:
        """What took time, in boxes."""
        cut = self.boxes + self.pairs + SLOPES * self.slopes
        return cut + (WAVE * self.waves + self.node * self.nodes) // DEARER

    def add(self, more: Counts) -> None:
        """What was looked at elsewhere."""
        for name in (field.name for field in fields(Counts)):
            setattr(self, name, getattr(self, name) + getattr(more, name))

    def since(self, before: Counts) -> Counts:
        """What came after an earlier state."""
        return Counts(*(getattr(self, field.name) - getattr(before, field.name) for field in fields(Counts)))
