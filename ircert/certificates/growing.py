"""A cover of a ball by nodes that one matrix closes: boxes, and sides of neurons where cutting boxes does not help.

Boxes are cut in the middle, the deepest first. A box that is not closed is divided by sides of its heaviest neurons, a
few times, and cut where that leaves anything open. All in floats: what is written is what the checker will look at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from ircert.certificates.emptiness import excluding
from ircert.certificates.floats import Slopes
from ircert.certificates.leaves import Leaves, Tested
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

LEVELS, MOST_OPEN = 5, 16
"""How often a box is divided by sides of neurons, and how many may be open."""
AT_ONCE, MOST_AT_ONCE = 3_000_000, 1024
"""Numbers in an array, and boxes in a wave."""
CORNERS, MOST_CORNERS = 32, 300
"""Of nodes that were not closed: of a wave, and in all."""
DEEPEST = 200
MOST_NODES = 200_000
ON, OFF = 1.0, 0.0


Way: TypeAlias = list[tuple[str, int]]


class Exact(Protocol):
    """What integers say about a node, by the way to it: asked where floats are in doubt."""

    def definite(self, way: Way, codes: Indices) -> str | None:
        """The token of a definite leaf, with about the codes that floats suggest; None if it is not closed."""
        ...

    def closes(self, way: Way, token: str) -> bool:
        """Whether a leaf is closed by a token."""
        ...


class NoCover(Exception):
    """There is no cover of reasonable size; the reason is said."""


class Wrong(NoCover):
    """There are points of the ball where C J is not positive definite: `Growing.wrong` has some."""


@dataclass
class Tree:
    """Nodes: a token each, two parts where they are divided, and where each hangs (the node above, which part)."""

    tokens: list[str] = field(default_factory=list)
    parts: list[tuple[int, int] | None] = field(default_factory=list)
    above: list[tuple[int, int]] = field(default_factory=list)
    _dropped: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens) - len(self._dropped)

    def add(self, above: int = -1, side: int = 0) -> int:
        """A node to be filled in."""
        if self._dropped:
            node = self._dropped.pop()
            self.tokens[node], self.parts[node], self.above[node] = "", None, (above, side)
            return node
        self.tokens.append("")
        self.parts.append(None)
        self.above.append((above, side))
        return len(self.tokens) - 1

    def divide(self, node: int, token: str) -> tuple[int, int]:
        """Two new parts of a node; what hung below is dropped."""
        waiting = list(self.parts[node] or ())
        while waiting:
            self._dropped.append(waiting.pop())
            waiting += self.parts[self._dropped[-1]] or ()
        parts = self.add(node, 0), self.add(node, 1)
        self.tokens[node], self.parts[node] = token, parts
        return parts

    def close(self, node: int, token: str) -> None:
        """A leaf."""
        self.tokens[node] = token

    def path(self, node: int) -> Way:
        """How a node was divided off: tokens from the root on, and which part was taken."""
        found = []
        while (step := self.above[node])[0] >= 0:
            found.append((self.tokens[step[0]], step[1]))
            node = step[0]
        return found[::-1]

    def preorder(self) -> list[str]:
        """The tokens of all nodes, each before its parts."""
        found, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            found.append(self.tokens[node])
            waiting += reversed(self.parts[node] or ())
        return found


@dataclass(frozen=True)
class Ground:
    """What is covered: a box around the ball, and which boxes lie outside of the ball."""

    low: Array
    high: Array
    center: Array
    radius: float
    norm: Norm

    def outside(self, low: Array, high: Array) -> Mask:
        """Which boxes have no inner point of the ball, with room for roundings."""
        if self.norm == Norm.INF:
            return np.zeros(len(low), dtype=bool)
        gaps = np.maximum(np.maximum(low - self.center, self.center - high), 0.0)
        return np.asarray(self.norm.lengths(gaps) > self.radius * (1 + 1e-12))


@dataclass
class _Front:
    """Boxes that are not closed: corners, cuts, and their nodes in the tree."""

    low: Array
    high: Array
    depth: Indices
    node: Indices

    def take(self, chosen: Indices | Mask) -> _Front:
        return _Front(self.low[chosen], self.high[chosen], self.depth[chosen], self.node[chosen])

    def plus(self, other: _Front) -> _Front:
        return _Front(
            *(np.concatenate([getattr(self, k), getattr(other, k)]) for k in ("low", "high", "depth", "node"))
        )


class Growing:
    """The search for a cover with one matrix."""

    def __init__(self, leaves: Leaves, ground: Ground, exact: Exact) -> None:
        self.leaves, self.ground, self.exact = leaves, ground, exact
        self.batch = min(MOST_AT_ONCE, max(1, AT_ONCE // leaves.network.numbers))
        size = len(leaves.free)
        self.wrong, self.corners = np.zeros((0, size)), np.zeros((0, leaves.matrix.shape[1], size))
        """Points where C is wrong, and Jacobians of corners of nodes that were not closed."""
        self._begin()

    def _begin(self) -> None:
        self.tree = Tree()
        none = np.zeros(1, dtype=np.int64)
        self._front = _Front(self.ground.low[None], self.ground.high[None], none, np.array([self.tree.add()]))

    def cover(self, nodes: int) -> list[str]:
        """The tokens of the cover in preorder; NoCover where it has more nodes: asked again, it goes on."""
        while len(self._front.node):
            checkpoint()
            if len(self.tree) > nodes:
                raise NoCover(f"the cover has more than {nodes} nodes")
            if self._front.depth.max() > DEEPEST:
                raise NoCover(f"boxes cut {DEEPEST} times are still open")
            order = np.argsort(-self._front.depth, kind="stable")
            here, rest = self._front.take(order[: self.batch]), self._front.take(order[self.batch :])
            self._front = rest.plus(self._worked(here))
        return self.tree.preorder()

    def expected(self, shares: Array) -> float:
        """How many boxes a cover takes, about: random ways down its tree (Knuth's estimate), which begins anew then.

        shares: where points lie in the box around the ball, between 0 and 1 (ways, inputs)
        """
        self._begin()
        points = self.ground.low + shares * (self.ground.high - self.ground.low)
        front, total, ways = self._front, 0.0, len(points)
        for _ in range(DEEPEST):
            checkpoint()
            if not len(points):
                break
            halves = self._worked(front)
            inside, within = _holding(halves, points), _holding(front, points)
            on: Mask = np.asarray(inside.any(axis=1))
            total += float(np.exp2(front.depth[np.argmax(within[~on], axis=1)].astype(np.float64)).sum())
            points, inside = points[on], inside[on]
            front = halves.take(np.unique(np.argmax(inside, axis=1))) if len(points) else halves
        self._begin()
        return 2 * (total + len(points) * 2.0**DEEPEST) / ways

    def _worked(self, here: _Front) -> _Front:
        outside = self.ground.outside(here.low, here.high)
        for node in here.node[outside].tolist():
            self.tree.close(node, "-")
        here = here.take(~outside)
        if not len(here.node):
            return here
        tested = self.leaves.test(here.low, here.high, self._no_sides(len(here.node)))
        closed = self._close(here, tested)
        self._look(here, tested, np.flatnonzero(~closed))
        most = MOST_OPEN if not self.leaves.network.curved.any() else -1  # curves have no sides
        few = np.flatnonzero(~closed & (tested.enclosed.open.sum(axis=0) <= most))
        closed[few] |= self._by_sides(here.take(few), tested, few)
        left = np.flatnonzero(~closed)
        self._remember(tested.enclosed.slopes.take(left[:: max(1, len(left) // CORNERS)]))
        return self._cut(here, tested, left)

    def _look(self, here: _Front, tested: Tested, which: Indices) -> None:
        """Boxes without an open neuron that are not closed: C is wrong there. Curves are open everywhere: of some boxes
        the middle is looked at, alone."""
        bad = which[~tested.enclosed.open[:, which].any(axis=0)]
        if self.leaves.network.curved.any():
            bad = which[:: max(1, len(which) // CORNERS)]
        middles = (here.low[bad] + here.high[bad]) / 2
        inside = self.ground.norm.lengths(middles - self.ground.center) < self.ground.radius
        if inside.any() and self.leaves.network.curved.any():
            inside[inside] = ~self.leaves.test(
                middles[inside], middles[inside], self._no_sides(int(inside.sum()))
            ).closed
        if inside.any():
            self.wrong = middles[inside][:, self.leaves.free]
            raise Wrong("C is wrong somewhere in this ball")

    def _no_sides(self, count: int) -> Array:
        return np.full((self.leaves.network.neurons, count), np.nan)

    def _remember(self, slopes: Slopes) -> None:
        """Corners of nodes that were not closed; the last ones count."""
        if slopes.open.shape[1]:
            found = self.leaves.corners(slopes)
            self.corners = np.concatenate([self.corners, found])[-MOST_CORNERS:]

    def _close(self, here: _Front, tested: Tested) -> Mask:
        """Write leaves; where a sign is in doubt, that of the checker counts, and it may deny a leaf."""
        closed = np.zeros(len(here.node), dtype=bool)
        for k in np.flatnonzero(tested.closed).tolist():
            codes, node = tested.codes[:, k], int(here.node[k])
            token: str | None = "=" + ",".join(map(str, codes[codes >= 0].tolist()))
            if tested.enclosed.doubtful[k]:
                token = self.exact.definite(self.tree.path(node), codes)
            if token is not None:
                self.tree.close(node, token)
                closed[k] = True
        return closed

    def _empty(self, node: int, rows: Array, given: Array, neuron: int) -> bool:
        """Write a leaf that is empty, if it is."""
        found = excluding(rows, given, neuron, self.leaves.noise)
        if found is None or not (found[1] or self.exact.closes(self.tree.path(node), found[0])):
            return False
        self.tree.close(node, found[0])
        return True

    def _cut(self, here: _Front, tested: Tested, which: Indices) -> _Front:
        """Halves of boxes, across the input by which the neurons that take away most change most."""
        left, free = here.take(which), self.leaves.free
        lines = np.abs(tested.enclosed.rows[:, 1 + free][:, :, which])
        lines /= np.maximum(np.sqrt((lines**2).sum(axis=1, keepdims=True)), 1e-300)
        gains = np.einsum("kib,kb->ib", lines, np.nan_to_num(tested.weights[:, which]))
        sides = free[np.argmax(gains + 1e-9 * (left.high - left.low)[:, free].T, axis=0)]
        at = np.arange(len(which)), sides
        middle = (left.low[at] + left.high[at]) / 2
        below, above = left.high.copy(), left.low.copy()
        below[at] = above[at] = middle
        pairs = [self.tree.divide(node, f"/{j}") for node, j in zip(left.node.tolist(), sides.tolist(), strict=True)]
        nodes = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return _Front(left.low, below, left.depth + 1, nodes[:, 0]).plus(
            _Front(above, left.high, left.depth + 1, nodes[:, 1])
        )

    def _by_sides(self, boxes: _Front, tested: Tested, which: Indices) -> Mask:
        """Which boxes are closed by sides of a few neurons."""
        failed = np.zeros(len(which), dtype=bool)
        owner = np.arange(len(which))
        node = boxes.node
        given = np.full((len(tested.codes), len(which)), np.nan)
        weights, opened = tested.weights[:, which], tested.enclosed.open[:, which]
        for _ in range(LEVELS):
            failed[owner[~opened.any(axis=0)]] = True
            kept = ~failed[owner]
            owner, node, given, weights, opened = (
                owner[kept],
                node[kept],
                given[:, kept],
                weights[:, kept],
                opened[:, kept],
            )
            if not len(owner):
                break
            checkpoint()
            neurons = np.argmax(np.where(opened, np.nan_to_num(weights), -1.0), axis=0)
            parts = [self.tree.divide(k, f"?{i}") for k, i in zip(node.tolist(), neurons.tolist(), strict=True)]
            node = np.array(parts, dtype=np.int64).T.ravel()
            given = np.concatenate([given, given], axis=1)
            given[neurons, np.arange(len(owner))] = ON
            given[neurons, np.arange(len(owner)) + len(owner)] = OFF
            owner, neurons = np.concatenate([owner, owner]), np.concatenate([neurons, neurons])
            here = _Front(boxes.low[owner], boxes.high[owner], boxes.depth[owner], node)
            found = self.leaves.test(here.low, here.high, given)
            done = self._close(here, found)
            for k in np.flatnonzero(~done).tolist():
                done[k] = self._empty(int(node[k]), found.enclosed.rows[:, :, k], given[:, k], int(neurons[k]))
            rest = ~done
            stuck = np.flatnonzero(rest & ~found.enclosed.open.any(axis=0))
            self._remember(found.enclosed.slopes.take(stuck[:: max(1, len(stuck) // CORNERS)]))
            owner, node, given = owner[rest], node[rest], given[:, rest]
            weights, opened = found.weights[:, rest], found.enclosed.open[:, rest]
        failed[owner] = True
        return ~failed


def _holding(boxes: _Front, points: Array) -> Mask:
    """Which boxes hold which points (points, boxes)."""
    return np.asarray(((points[:, None] >= boxes.low) & (points[:, None] <= boxes.high)).all(axis=2))
