"""Bounds on the time and memory of a check (C-6, C-15): what is here can refuse a certificate, and lets none pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ircert.ir.ops import LinearImageOp

if TYPE_CHECKING:
    from ircert.checker.network import Forms, Map
    from ircert.ir.graph import Graph

MOST_WEIGHTS, MOST_WORDS, MOST_EFFORT = 2**23, 2**27, 2**37
"""Entries of all matrices together; words of all forms that are held at once; products of numbers of one word, about:
an hour or two."""
WORD, NUMBER, STEP = 64, 4, 256
"""Bits of a word; words that a number takes beside its digits, and the effort of a step beside what it computes."""


class TooLong(ValueError):
    """It would take too long to check."""


class Effort:
    """Work that is counted, step by step."""

    effort = 0

    def spend(self, effort: int) -> None:
        """Count the work of a step; TooLong where it is too much."""
        self.effort += effort + STEP
        if self.effort > MOST_EFFORT:
            raise TooLong("it takes too long to be checked")

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

    def spend_on_table(self, size: int, output: Forms, matrix: list[list[int]], below: int, top: int) -> None:
        """H, of so many variables: products with C, and rows below neurons whose numbers have so many bits."""
        longest = output.bits + top - output.exponent
        bits = max(longest + max(v.bit_length() for row in matrix for v in row), below + top)
        outputs = len(matrix[0])
        require_room(size * max(size, outputs), bits)
        self.spend(size * (len(matrix) * outputs * words(longest) + size * words(bits)) + size**3)


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


def require_few_weights(graph: Graph) -> None:
    """TooLong where convolutions and means of windows, of a line each, would be too large as matrices."""
    images = (node for node in graph.nodes if isinstance(node.op, LinearImageOp))
    if sum(graph.sizes[node.name] * graph.sizes[node.operands[0]] for node in images) > MOST_WEIGHTS:
        raise TooLong(f"the matrices of its network have more than {MOST_WEIGHTS} entries: too long to be checked")
