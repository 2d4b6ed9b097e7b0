"""Where the input does not follow from the output: the part of a network that is left to ask about, and its parts.

*Cut.* The *front* is a set of known entries from which the output is computed, as near to the input as can be: equal
outputs mean an equal front, because its entries are known, and an equal front means equal outputs. So all questions
about pairs of points with equal outputs are questions about the network up to the front, its *head*.

*Parts.* In the head, an entry is tied to the entries that it reads and that are not known. What is tied, also in a
circle through known entries, is one part; part i has the inputs U_i, and reads others, A_i, through known entries
alone. With O_i, the known entries of part i that stand in the front or are read by other parts, part i asks about
g_i(x_A, x_U) = (x_A, O_i(x_A, x_U)), see `spec/structure.md` (ST-10).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ircert.ir.arrays import Indices, Mask
from ircert.ir.graph import Graph
from ircert.ir.ops import Add, Affine, Concat, Input, LinearImageOp, Select
from ircert.limits import checkpoint
from ircert.structure.known import Knowledge

PLAIN = Input | Affine | LinearImageOp | Add | Concat | Select
"""Affine operations."""
MOST_EDGES = 20_000_000
MOST_PARTS = 2_000
"""Larger heads are not taken apart."""


@dataclass(frozen=True)
class Part:
    """own: its inputs U_i; given: the inputs A_i that it reads through known entries; entries: O_i, by node."""

    own: tuple[int, ...]
    given: tuple[int, ...]
    entries: Mapping[str, tuple[int, ...]]

    @property
    def inputs(self) -> list[int]:
        """All inputs that it reads, in order."""
        return sorted(self.own + self.given)


class Head:
    """The network up to the front; `parts` has those of its parts whose inputs are not known."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge, self.graph = knowledge, knowledge.graph
        self.front = _front(knowledge)
        self._live = self._up_to_the_front()

    @property
    def entries(self) -> dict[str, tuple[int, ...]]:
        """The front, by node."""
        return {name: _listed(mask) for name, mask in self.front.items() if mask.any()}

    @property
    def is_whole(self) -> bool:
        """Whether the front is the output itself, so that nothing is cut off."""
        return set(self.entries) <= {self.graph.output}

    @property
    def neurons(self) -> int:
        """The entries of it that are not affine."""
        return sum(int(self._live[node.name].sum()) for node in self.graph.nodes if not isinstance(node.op, PLAIN))

    @property
    def given(self) -> tuple[int, ...]:
        """The inputs that are known."""
        return _listed(self.knowledge.known[self.graph.input])

    @cached_property
    def parts(self) -> list[Part] | None:
        """None where an input that is not known is not read at all, or there would be too much to do."""
        unread = ~self._live[self.graph.input] & ~self.knowledge.known[self.graph.input]
        return None if unread.any() else _Ties(self).parts()

    def _up_to_the_front(self) -> dict[str, Mask]:
        """The entries that the front is computed from, with itself."""
        live = {name: mask.copy() for name, mask in self.front.items()}
        for node in reversed(self.graph.nodes):
            if node.operands and live[node.name].any():
                for name, read in zip(node.operands, self.knowledge.reading.read(node, live[node.name]), strict=True):
                    live[name] |= read
        return live


def _front(knowledge: Knowledge) -> dict[str, Mask]:
    """Known entries that the output is computed from: each is replaced by what it reads, while that is all known."""
    graph, known, reading = knowledge.graph, knowledge.known, knowledge.reading
    front = {name: np.zeros(size, dtype=bool) for name, size in graph.sizes.items()}
    front[graph.output][:] = True
    for node in reversed(graph.nodes):
        if not node.operands or not front[node.name].any():
            continue
        passed = front[node.name] & reading.computed(node, [known[name] for name in node.operands])
        front[node.name] = front[node.name] & ~passed
        for name, read in zip(node.operands, reading.read(node, passed), strict=True):
            front[name] |= read & known[name]  # what is really read is known
    return front


class _Ties:
    """The entries of a head as one directed graph: to what they read, and back where that is not known."""

    def __init__(self, head: Head) -> None:
        self.head, self.graph = head, head.graph
        sizes = [head.graph.sizes[node.name] for node in head.graph.nodes]
        starts = np.cumsum([0, *sizes]).tolist()
        self.start = {node.name: first for node, first in zip(head.graph.nodes, starts, strict=False)}
        self.count, self._starts = starts[-1], np.array(starts)
        self.live = np.concatenate([head._live[node.name] for node in head.graph.nodes])
        self.known = np.concatenate([head.knowledge.known[node.name] for node in head.graph.nodes])

    def parts(self) -> list[Part] | None:
        edges = self._edges()
        if edges is None:
            return None
        readers, read = edges
        tied = ~self.known[np.minimum(read, self.count - 1)] | (read >= self.count)  # hubs are never known
        size = max(self.count, int(max(readers.max(initial=0), read.max(initial=0))) + 1)
        both = np.concatenate([readers, read[tied]]), np.concatenate([read, readers[tied]])
        everything = csr_array((np.ones(len(both[0]), dtype=np.int8), both), shape=(size, size))
        labels = connected_components(everything, directed=True, connection="strong")[1]
        reads = csr_array((np.ones(len(readers), dtype=np.int8), (readers, read)), shape=(size, size))
        outside = np.zeros(size, dtype=bool)
        outside[read[labels[read] != labels[readers]]] = True
        first = self.start[self.graph.input]
        inputs = np.arange(first, first + self.graph.input_dim)
        own = labels[inputs[~self.known[inputs]]]
        if len(np.unique(own)) > MOST_PARTS:
            return None
        members = _by_label(labels[: self.count])
        return [self._part(members[label], reads, outside, inputs) for label in dict.fromkeys(own.tolist())]

    def _part(self, mine: Indices, reads: csr_array, outside: Mask, inputs: Indices) -> Part:
        checkpoint()
        own = mine[(mine >= inputs[0]) & (mine <= inputs[-1])] - inputs[0]
        shown = mine[self.known[mine] & self.live[mine] & (outside[mine] | self._in_front[mine])]
        entries: dict[str, tuple[int, ...]] = {}
        starts = np.searchsorted(shown, self._starts)
        for k in np.flatnonzero(np.diff(starts)).tolist():
            here = shown[starts[k] : starts[k + 1]] - self._starts[k]
            entries[self.graph.nodes[k].name] = tuple(here.tolist())
        reached = _reached(shown, reads)
        given = set((reached[(reached >= inputs[0]) & (reached <= inputs[-1])] - inputs[0]).tolist())
        return Part(tuple(own.tolist()), tuple(sorted(given - set(own.tolist()))), entries)

    @cached_property
    def _in_front(self) -> Mask:
        return np.concatenate([self.head.front[node.name] for node in self.graph.nodes])

    def _edges(self) -> tuple[Indices, Indices] | None:
        """Who reads whom among live entries; an operation in which all read all has a hub between them."""
        readers: list[Indices] = []
        read: list[Indices] = []
        hub = self.count
        for node in self.graph.nodes:
            if not node.operands or not self.head._live[node.name].any():
                continue
            found = self.head.knowledge.reading.edges(node)
            start, mine = self.start[node.name], np.flatnonzero(self.head._live[node.name])
            if found is None:
                readers.append(start + mine)
                read.append(np.full(len(mine), hub))
                for name in node.operands:
                    other = np.arange(self.graph.sizes[name]) + self.start[name]
                    readers.append(np.full(len(other), hub))
                    read.append(other)
                hub += 1
                continue
            for name, (rows, columns) in zip(node.operands, found, strict=True):
                chosen = self.head._live[node.name][rows]
                readers.append(start + rows[chosen])
                read.append(self.start[name] + columns[chosen])
            if sum(map(len, read)) > MOST_EDGES:
                return None
            checkpoint()
        none = [np.zeros(0, dtype=np.int64)]
        return np.concatenate(readers or none), np.concatenate(read or none)


def _by_label(labels: Indices) -> dict[int, Indices]:
    """Which have each label, in order."""
    order = np.argsort(labels, kind="stable")
    found, starts = np.unique(labels[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=True))


def _reached(start: Indices, reads: csr_array) -> Indices:
    """What some vertices are computed from, with themselves, in order."""
    found = front = np.unique(start)
    while len(front):
        read = np.concatenate([reads.indices[reads.indptr[i] : reads.indptr[i + 1]] for i in front.tolist()])
        front = np.setdiff1d(read, found)
        found = np.union1d(found, front)
    return found.astype(np.int64)


def _listed(mask: Mask) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())


def neurons(graph: Graph) -> int:
    """The entries of operations that are not affine: what a search has to look at."""
    return sum(graph.sizes[node.name] for node in graph.nodes if not isinstance(node.op, PLAIN))


def listed(numbers: tuple[int, ...], most: int = 8) -> str:
    """0, 1, 2, … as people read it."""
    shown = [str(i) for i in numbers[:most]] + (["…"] if len(numbers) > most else [])
    return ", ".join(shown)
