"""Branch and bound over a stack of nodes, as all trees of phases do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ircert.engines.boxes.problem.outcome import Counts, Stopped, TooLarge
from ircert.limits import OutOfTime

Node = TypeVar("Node")


def close_all(
    stack: list[Node], visit: Callable[[Node], list[Node]], counts: Counts, budget: int, stop: Callable[[], bool]
) -> None:
    """Put the children of the last node in its place until no node is left; raises TooLarge or Stopped.

    After these the stack holds what is still open, and can be gone on with.
    """
    while stack:
        if budget <= 0:
            raise TooLarge
        if stop():
            raise Stopped
        budget -= 1
        counts.nodes += 1
        try:
            children = visit(stack[-1])
        except OutOfTime:
            raise Stopped from None
        stack.pop()  # not before: what interrupts a visit leaves the node open
        stack += children
