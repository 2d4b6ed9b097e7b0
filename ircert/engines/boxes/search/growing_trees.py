"""The trees that serve balls of all sizes, in turns of counted effort."""

from __future__ import annotations

from ircert.engines.boxes.effort.portfolio import Portfolio, Stop, Way
from ircert.engines.boxes.problem.outcome import Counts, Outcome
from ircert.engines.boxes.trees.growing_tree import GrowingTree
from ircert.engines.boxes.trees.phase_tree import Tools
from ircert.engines.boxes.trees.signed_tree import SignedTree

SIGNED = 8.0
"""What a tree gets that knows signs of differences, beside one that does not: its nodes take less time."""


class GrowingTrees:
    """One, or two where there are more outputs than inputs: that which knows signs gets further, but finds violations
    later where all regions meet in the centre."""

    def __init__(self, tools: Tools, counts: Counts) -> None:
        self.counts = counts
        self._trees: list[tuple[GrowingTree, float]] = []
        if SignedTree.suits(tools):
            self._trees.append((SignedTree(tools), SIGNED))
        self._trees.append((GrowingTree(tools), 1.0))
        self._turns: dict[float, Portfolio] = {}

    @property
    def reached(self) -> float:
        """The radius of the largest closed ball that is good."""
        return max(tree.reached for tree, _ in self._trees)

    def advance(self, radius: float, stop: Stop, *, at_last: bool = False) -> Outcome:
        """Go on until the closed ball is good, or all have given up.

        at_last: by that which takes any number of neurons
        """
        if at_last:
            return self._trees[-1][0].advance(radius, stop)
        if radius not in self._turns:
            self._turns = {radius: Portfolio(self.counts, [(self._way(t, radius), share) for t, share in self._trees])}
        return self._turns[radius].advance(stop)

    @staticmethod
    def _way(tree: GrowingTree, radius: float) -> Way:
        return lambda stop: tree.advance(radius, stop)
