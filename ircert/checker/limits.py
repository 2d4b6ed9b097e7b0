"""Bounds on the time and memory of a check (C-6, C-15): what is here can refuse a certificate, and lets none pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ircert.ir.arrays import nonzeros
from ircert.ir.cost import is_affordable
from ircert.ir.dyadic import shift
from ircert.ir.ops import Affine, LinearImageOp, Max, MaxPool, Min, Op

if TYPE_CHECKING:
    from ircert.checker.network import Column, Forms, Map, Slopes
    from ircert.ir.graph import Graph

MOST_PARTS, MOST_IN_ARRAYS = 2**22, 2**29
LONGEST_DENOMINATOR, MOST_BITS = 2**23, 2**31
"""Lists and objects of the file, and bytes of the arrays of a network's file; bits of the common denominator, and of
numbers over it (or of all matrices of a network)."""
MOST_NODES, DEEPEST, LARGEST = 2**23, 2**10, 2**128
"""Nodes of a cover, those on a way down, and entries of C."""
LARGEST_READ = 2**12
"""Bits before the point of numbers that curves read."""
MOST_WEIGHTS, MOST_WORDS, MOST_EFFORT = 2**23, 2**27, 2**37
"""Entries of all matrices together; words of all forms that are held at once; products of numbers of one word, about:
an hour or two."""
AT_ONCE, BY_LENGTH, PACKED = 2**30, 2**15, 16
"""Of these, what any text may ask for (half a minute), and what it may for each of its characters; a byte of a packed
file stands for at most so many characters."""
MOST_COMPARED = 2**14
"""Operands of maxima and minima, or entries of their windows, together: they are lowered to as many maxima of two."""
WORD, NUMBER, STEP = 64, 4, 256
"""Bits of a word; words that a number takes beside its digits, and the effort of a step beside what it computes."""


class TooLong(ValueError):
    """It would take too long to check."""


class Effort:
    """Work that is counted, step by step, for a text of some length; `stop` says whether time is over."""

    def __init__(self, stop: Callable[[], bool] = bool, length: int = MOST_EFFORT) -> None:
        self.effort, self.stop = 0, stop
        self.most = min(MOST_EFFORT, AT_ONCE + BY_LENGTH * length)

    def spend(self, effort: int) -> None:
        """Count the work of a step; TooLong where it is too much."""
        self.effort += effort + STEP
        if self.effort > self.most:
            raise TooLong("it takes too long to be checked, for a certificate of its length")
        if self.stop():
            raise TooLong("time is over")

    def spend_on_forms(self, size: int, given: list[Forms], unit: int, held: int, known: Map | None) -> None:
        """The forms of a node of so many entries, from those that it reads, perhaps by a matrix."""
        exponent, count = max(forms.exponent for forms in given), max(len(forms.columns) for forms in given)
        bits = max(forms.bits + exponent - forms.exponent for forms in given) + len(given).bit_length()
        factors = 1
        if known is not None:
            factors = min(len(known.rows), len(known.columns)) * words(known.bits)
            bits = max(bits + len(known.columns).bit_length(), unit.bit_length() + exponent) + known.bits
        numbers = count * max(size, sum(len(forms.columns[0]) for forms in given))
        require_room(numbers, bits, held)
        self.spend(numbers * factors * words(max(forms.bits for forms in given)))

    def spend_on_table(
        self,
        output: Forms,
        matrix: list[list[int]],
        weights: list[int],
        below: list[tuple[Column, int, Slopes]],
        top: int,
    ) -> None:
        """H over 2**top: products with C, and for each weight the row below its neuron, squared where slopes are."""
        size, outputs = len(matrix) + len(weights), len(matrix[0])
        longest = output.bits + top - output.exponent
        read = max((max(map(int.bit_length, row)) - exponent for row, exponent, _ in below), default=0)
        squared = any(slopes[0] for _, _, slopes in below)
        bits = (1 + squared) * max(1, read) + max(weights, default=1).bit_length() + 4 + top
        bits = max(longest + max(v.bit_length() for row in matrix for v in row), bits)
        require_room(size * max(size, outputs), bits)
        squares = sum(len(row) ** 2 for row, _, slopes in below if slopes[0]) * words(max(0, read) + top)
        self.spend(size * (len(matrix) * outputs * words(longest) + size * words(bits)) + size**3 + squares)


def words(bits: int) -> int:
    """How many words so many bits take."""
    return 1 + bits // WORD


def room(forms: Forms) -> int:
    """How many words forms take, at most."""
    return len(forms.columns) * len(forms.columns[0]) * (NUMBER + words(forms.bits))


def require_room(numbers: int, bits: int = 0, held: int = 0) -> None:
    """TooLong where so many numbers, of so many bits, are more than memory should hold beside the words it holds."""
    if held + numbers * (NUMBER + words(bits)) > MOST_WORDS:
        raise TooLong("its network has too many neurons that may be on or off, or its numbers are too long")


def require_size(bits: int) -> None:
    """TooLong where numbers that a curve reads have too many bits before the point: squares would double them."""
    if bits > LARGEST_READ:
        raise TooLong(f"curves read numbers of more than 2**{LARGEST_READ}: too long to be checked")


def require_few_parts(text: str) -> None:
    """ValueError where a text has too many lists and objects."""
    if text.count("[") + text.count("{") > MOST_PARTS:
        raise ValueError(f"it has more than {MOST_PARTS} lists and objects")


def require_shallow(cover: list[str], inputs: int, bits: int) -> None:
    """TooLong where a cover, right or wrong, has too many nodes on a way down, or its boxes take too much room."""
    waiting, deepest = [0], 0
    for token in cover:
        if not waiting:
            break
        depth = waiting.pop() + 1
        deepest = max(deepest, depth)
        waiting += [depth, depth] if token[0] in "/?" else []
    if deepest > DEEPEST:
        raise TooLong(f"the cover has more than {DEEPEST} nodes on a way down: too long to be checked")
    require_room(2 * deepest * inputs, bits + deepest)


def require_few_weights(graph: Graph) -> None:
    """TooLong where convolutions, means and maxima of windows, of a line each, would be too large once lowered."""
    images = (node for node in graph.nodes if isinstance(node.op, LinearImageOp))
    if sum(graph.sizes[node.name] * graph.sizes[node.operands[0]] for node in images) > MOST_WEIGHTS:
        raise TooLong(f"the matrices of its network have more than {MOST_WEIGHTS} entries: too long to be checked")
    compared = (node for node in graph.nodes if isinstance(node.op, Max | Min | MaxPool))
    if sum(math.prod(n.op.kernel) if isinstance(n.op, MaxPool) else len(n.operands) for n in compared) > MOST_COMPARED:
        raise TooLong(f"its network has maxima of more than {MOST_COMPARED} entries: too long to be checked")


def require_short_weights(ops: Iterable[Op]) -> None:
    """TooLong where affine maps, as dense matrices of integers, have too many entries or bits."""
    weights = bits = 0
    for op in ops:
        if isinstance(op, Affine):
            numbers = np.concatenate([nonzeros(op.weight).data, op.bias])
            weights += math.prod(op.weight.shape)
            bits += len(numbers) * (shift(numbers) + max(0, math.frexp(float(np.abs(numbers).max()))[1]))
    if weights > MOST_WEIGHTS or bits > MOST_BITS:
        raise TooLong(f"the matrices of its network have more than {MOST_WEIGHTS} entries, or {MOST_BITS} bits")


def require_evaluation(graph: Graph | None, unit: Any, numbers: list[Any]) -> None:
    """ValueError for networks whose exact evaluation at points, over `unit`, would be endless, or fill the memory."""
    size = max(0, max(v.bit_length() for v in numbers) - unit.bit_length() + 1)
    if graph is not None and not is_affordable(graph, unit, size):
        raise ValueError("exact evaluation of its network at these points is too long to be checked")
