"""What open relus are off by, followed through later layers with its sign: columns of states that grow on the way.

An open relu is s z + μ + e, with |e| <= μ. Layers above it that add up absolute values lose the sign of e in each of
them; a column with the coefficients of e keeps it, as columns of the inputs do: e is one more number between two
bounds. That matters from the second relu above on, and for the largest errors: the others stay one sum. However many
layers there are, states have not much more than ten times as many columns for it.
"""

from __future__ import annotations

import numpy as np

from ircert.bounds.rounding import UNIT
from ircert.ir.arrays import Array, Mask
from ircert.ir.graph import Graph

MOST, ALL = 6, 12
"""Columns for the errors of one layer, and of all layers, for each column that a state has anyway."""


class Noise:
    """The errors of some boxes that have columns: in each state behind its own ones, in order.

    An entry of a column is a coefficient times the bound on its error.

    own:  the columns that a state has anyway
    many: how many layers have errors that are followed: each gets as many columns
    """

    def __init__(self, own: int, many: int = 1) -> None:
        self._own = own
        self._most = min(MOST * own, max(1, ALL * own // max(1, many)))
        self._columns = 0

    def reach(self, state: Array) -> Array:
        """A bound on what these errors do to every entry of a state (entries, boxes)."""
        known = state[:, self._own :]
        return np.asarray(np.abs(known).sum(axis=1) * (1 + 8 * (known.shape[1] + 8) * UNIT))

    def followed(self, state: Array, errors: Array) -> tuple[Array, Array]:
        """The state with columns for the largest errors of its entries (entries, boxes), and the other errors."""
        chosen = _largest(errors, self._most)
        ranks = np.cumsum(chosen, axis=0) - 1
        start, more = self._own + self._columns, int(ranks.max(initial=-1)) + 1
        self._columns += more
        result = np.zeros((len(state), start + more, state.shape[2]))
        result[:, : state.shape[1]] = state
        entries, boxes = np.nonzero(chosen)
        result[entries, start + ranks[entries, boxes], boxes] = errors[entries, boxes]
        return result, np.where(chosen, 0.0, errors)


def _largest(errors: Array, most: int) -> Mask:
    """Which errors (entries, boxes) are not 0, and at most so many of each box: the largest."""
    chosen = errors != 0
    if len(errors) <= most or not (chosen.sum(axis=0) > most).any():
        return np.asarray(chosen)
    places = np.argpartition(errors, len(errors) - most, axis=0)[-most:]
    largest = np.zeros_like(chosen)
    np.put_along_axis(largest, places, True, axis=0)
    return np.asarray(chosen & largest)


def relus_to_follow(graph: Graph, neurons: set[str]) -> set[str]:
    """The nodes of neurons from which two others, one above the other, can be reached."""
    above: dict[str, int] = {}
    for node in reversed(graph.nodes):
        here = above.get(node.name, 0) + (node.name in neurons)
        above[node.name] = here
        for name in node.operands:
            above[name] = max(above.get(name, 0), here)
    return {name for name in neurons if above[name] > 2}
