"""Certificates of injectivity: one matrix C, and a cover of the ball on whose leaves sym(C J) is positive definite.

`spec/certificate.md` proves that what passes here is true (C-7 to C-15, C-29); the names are those of its proofs. All
numbers are integers; nothing is rounded but in `positive_definite`, and there downward.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar, Self

from ircert.checker.definite import positive_definite
from ircert.checker.limits import LARGEST, MOST_NODES, require_room, require_shallow, words
from ircert.checker.network import RELU, Column, Curves, Forms, Network, Slopes
from ircert.checker.reading import Claim, Fields, Stop, listed, number, tokens_of
from ircert.errors import UnsupportedModel
from ircert.ir.ops import Op

FINE = 8
"""Bits of the slope of the lines that enclose a relu."""
TOKEN = re.compile(
    r"/[0-9]{1,9}|\?[0-9]{1,9}|-|=(?:[0-9]{1,4}(?:,[0-9]{1,4}+)*+)?|!(?:[0-9]{1,9}:[0-9]{1,39})(?:,[0-9]{1,9}+:[0-9]{1,39}+)*+"
)
"""Possessive: there is nothing to remember of a long leaf."""


@dataclass(frozen=True)
class Part:
    """A part of the box around the ball: a box over `unit` 2**cuts, and sides of neurons that are taken for granted (1
    on, 0 off)."""

    low: list[int]
    high: list[int]
    cuts: int
    sides: dict[int, int]

    def halves(self, index: int) -> list[Part]:
        """Both closed halves of the box, over twice the denominator."""
        low, high = [2 * v for v in self.low], [2 * v for v in self.high]
        below, above = high.copy(), low.copy()
        below[index] = above[index] = self.low[index] + self.high[index]
        return [Part(a, b, self.cuts + 1, self.sides) for a, b in ((low, below), (above, high))]

    def ways(self, neuron: int) -> list[Part]:
        """Its points where a neuron is on, and those where it is off."""
        return [Part(self.low, self.high, self.cuts, {**self.sides, neuron: side}) for side in (1, 0)]


@dataclass(frozen=True)
class Injective(Claim):
    """The claim that a network is injective on the ball.

    matrix: C, a row for each free input
    cover:  the tree, in preorder
    counts: how many nodes of each kind were met; for words
    """

    fields: ClassVar[tuple[str, ...]] = ("matrix", "cover")
    curves: ClassVar[Curves] = Curves()
    matrix: list[list[int]]
    cover: list[str]
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, place: Fields, fields: Fields) -> Self:
        """C is a list of rows of integers."""
        if not isinstance(fields["matrix"], list):
            raise ValueError("`matrix` is a list of rows")
        rows = [listed(row, "matrix", place["model"].output_dim) for row in fields["matrix"]]
        pairs = [[number(value) for value in row] for row in rows]
        if any(bottom != 1 or abs(top) > LARGEST for row in pairs for top, bottom in row):
            raise ValueError(f"entries of `matrix` are integers of at most {LARGEST}")
        cover = tokens_of(fields["cover"], "cover", TOKEN, MOST_NODES)
        return cls(**place, matrix=[[top for top, _ in row] for row in pairs], cover=cover)

    def fault(self, stop: Stop) -> str | None:
        """The centre in the domain, and a cover whose leaves are closed."""
        if not self.in_box(self.center):
            return "the centre lies outside the domain"
        try:
            return Checking(self, Network(self.model, self.curves, stop, self.length)).fault()
        except UnsupportedModel as error:
            return str(error)


class Checking:
    """A claim being checked."""

    def __init__(self, claim: Injective, network: Network) -> None:
        self.claim, self.network, self.whole = claim, network, claim.radius is None
        self.radius = radius = claim.radius or 0
        low = [c - radius if a is None else max(a, c - radius) for c, a in zip(claim.center, claim.low, strict=True)]
        high = [c + radius if b is None else min(b, c + radius) for c, b in zip(claim.center, claim.high, strict=True)]
        self.root = Part(low, high, 0, {})
        sides, pinned = enumerate(zip(low, high, strict=True)), claim.pinned
        self.free = [j for j, (a, b) in sides if (a < b or self.whole) and j not in pinned]
        self.bits = max(map(int.bit_length, low + high))

    def fault(self) -> str | None:
        """Walk down the tree, in preorder."""
        if not self.free:
            return "no input is free"
        if [len(row) for row in self.claim.matrix] != [self.network.graph.output_dim] * len(self.free):
            return "`matrix` has not a row for each free input and a column for each output"
        require_shallow(self.claim.cover, len(self.root.low), self.bits)
        self.claim.counts["neurons"] = self.network.neurons
        open_ = [self.root]
        for place, token in enumerate(self.claim.cover):
            if not open_:
                return "the cover goes on after its last leaf"
            node = open_.pop()
            self.claim.counts[token[0]] += 1
            if token[0] in "/?":
                parts = self.parts(node, token)
                if parts is None:
                    return f"node {place} of the cover cannot be divided by {token}"
                open_ += reversed(parts)
            elif not self.closed(node, token):
                return f"leaf {place} of the cover is not closed by {token[:60]}"
        return "the cover ends before its last leaf" if open_ else None

    def parts(self, node: Part, token: str) -> list[Part] | None:
        """Both parts of a node: a neuron on or off, or the halves of its box; None where there are none."""
        index, length = int(token[1:]), words(self.bits + node.cuts)
        self.network.spend(len(node.sides) if token[0] == "?" else len(node.low) * length)
        if token[0] == "/":
            return None if index not in self.free or self.whole else node.halves(index)
        sided = index in node.sides or index not in self.network.relus
        return None if sided else node.ways(index)

    def closed(self, node: Part, token: str) -> bool:
        """Whether a leaf is closed as it says."""
        if token == "-":
            return not self.whole and self._outside(node)
        if token.count(",") > self.network.neurons:
            return False
        enclosed = Enclosure(self, node)
        if token[0] == "!":
            return enclosed.empty([(int(i), int(m)) for i, m in (pair.split(":") for pair in token[1:].split(","))])
        return self._definite(enclosed, [(2 + int(e) % 2) << (int(e) // 2) for e in token[1:].split(",") if e])

    def _outside(self, node: Part) -> bool:
        """Whether a box has no inner point of the ball: of the coordinates' distances from the centre, their norm."""
        self.network.spend(len(node.low) * words(self.bits + node.cuts) ** 2)
        center = [c << node.cuts for c in self.claim.center]
        gaps = [max(a - c, c - b, 0) for a, b, c in zip(node.low, node.high, center, strict=True)]
        return bool(self.claim.measure(gaps) >= self.claim.measure([self.radius << node.cuts]))

    def _definite(self, enclosed: Enclosure, weights: list[int]) -> bool:
        """Whether v C J v > 0 for all v != 0 and all slopes of open neurons: H of C-11 is positive definite."""
        free, size = len(self.free), len(self.free) + len(enclosed.open)
        if len(weights) != len(enclosed.open):
            return False
        self.claim.counts["most open"] = max(self.claim.counts["most open"], len(weights))
        require_room(size * max(size, len(self.root.low)))
        start = Forms([[int(i == j) for i in range(len(self.root.low))] for j in self.free], 0)
        tangent = Tangent(enclosed, free)
        output = self.network.walk(self.network.nodes, start, tangent.neurons, 0)
        top = max([output.exponent, *((1 + bool(s[0])) * (exponent + s[2]) for _, exponent, s in tangent.below)])
        self.network.spend_on_table(output, self.claim.matrix, weights, tangent.below, top)
        columns = output.over(top, size)
        rows = [[sum(map(int.__mul__, row, column)) for column in columns] for row in self.claim.matrix]
        rows += [[0] * size for _ in weights]
        for at, (g, exponent, (least, most, fine)) in enumerate(tangent.below, free):
            weight = weights[at - free]  # - τ (q - p g) (P g - q) = τ q q - τ (p + P) q g + τ p P g g
            rows[at][at] += weight << top
            for i, v in enumerate(g):
                rows[at][i] -= (weight * (least + most) * v) << (top - exponent - fine)
                if least and v:
                    factor = (weight * least * most * v) << (top - 2 * (exponent + fine))
                    rows[i][: len(g)] = [a + factor * w for a, w in zip(rows[i], g, strict=False)]
        return positive_definite([[rows[i][j] + rows[j][i] for j in range(i + 1)] for i in range(size)])


class Enclosure:
    """What holds in a node for all neurons: forms in variables between -1 and 1 (C-10), and sides that follow."""

    def __init__(self, checking: Checking, node: Part) -> None:
        self.network, self.given, self.unit = checking.network, node.sides, checking.claim.unit << (node.cuts + 1)
        self.sides, self.open = dict[int, int](), dict[int, Slopes]()
        self.rows: dict[int, tuple[Column, int]] = {}
        self.size, size = 1 + len(checking.free), len(node.low)
        if checking.whole:  # nothing is known but what is given
            self.sides = node.sides
            self.open = {i: self.network.anywhere(i) for i in range(self.network.neurons) if i not in self.sides}
            return
        require_room(size * self.size, (checking.bits + node.cuts) // size)
        self.network.spend(size * (self.size + words(checking.bits + node.cuts)))
        start = [[a + b for a, b in zip(node.low, node.high, strict=True)]]
        start += [[node.high[j] - node.low[j] if i == j else 0 for i in range(size)] for j in checking.free]
        self.network.walk(self.network.hidden, Forms(start, 0), self.neurons, self.unit)

    def neurons(self, first: int, forms: Forms, op: Op) -> Forms:
        """Forms of relus, over 2**(FINE + 1) more; an open one has a variable of its own."""
        if not op.core:
            found, slopes = self.network.curves.enclosed(op, forms, self.unit, self.size, self.network)
            self.open |= {first + i: pair for i, pair in enumerate(slopes)}
            self.size = len(found.columns)
            return found
        middles, *others = forms.columns
        reaches = map(sum, zip(*(map(abs, column) for column in others), strict=True))
        factors, shifts = [], []
        for i, (middle, reach) in enumerate(zip(middles, reaches, strict=True), first):
            low, high = middle - reach, middle + reach
            side = self.given.get(i, 1 if low >= 0 else 0 if high <= 0 else None)
            if i in self.given:
                self.rows[i] = [column[i - first] for column in forms.columns], forms.exponent
            if side is None:
                self.open[i] = RELU
                slope = ((high << FINE) + (high - low) // 2) // (high - low)
                shifts.append(max(-slope * low, ((1 << FINE) - slope) * high))
            else:
                self.sides[i], slope = side, side << FINE
                shifts.append(0)
            factors.append(2 * slope)
        require_room(len(middles) * (self.size + sum(map(bool, shifts))), forms.bits + FINE + 1)
        columns = [[f * v for f, v in zip(factors, column, strict=True)] for column in forms.columns]
        columns[0] = [v + t for v, t in zip(columns[0], shifts, strict=True)]
        columns += [[0] * len(middles) for _ in range(self.size - len(columns))]
        columns += [unit_column(len(middles), i, t) for i, t in enumerate(shifts) if t]
        self.size = len(columns)
        return Forms(columns, forms.exponent + FINE + 1)

    def empty(self, multipliers: list[tuple[int, int]]) -> bool:
        """Whether a sum of ± z_i that is not negative in the node is negative everywhere in the box (C-12)."""
        if not {i for i, _ in multipliers} <= set(self.rows):
            return False
        top = max(exponent for _, exponent in self.rows.values())
        longest = max(max(map(int.bit_length, row)) for row, _ in self.rows.values())
        self.network.spend(len(multipliers) * self.size * words(longest + top))
        total = [0] * self.size
        for i, multiplier in multipliers:
            row, exponent = self.rows[i]
            factor = (multiplier if self.given[i] else -multiplier) << (top - exponent)
            total[: len(row)] = [t + factor * v for t, v in zip(total, row, strict=False)]
        return total[0] + sum(map(abs, total[1:])) < 0


class Tangent:
    """Derivatives in a direction v: forms in v and in q_i, the derivative of open neuron i (C-11)."""

    def __init__(self, enclosed: Enclosure, size: int) -> None:
        self.enclosed, self.size = enclosed, size
        self.below: list[tuple[Column, int, Slopes]] = []
        """Of each open neuron the derivative of what it reads, a row over 2**exponent, and its slopes."""

    def neurons(self, first: int, forms: Forms, op: Op) -> Forms:
        """Derivatives of relus and curves; those of what open neurons read are kept."""
        numbers = range(first, first + len(forms.columns[0]))
        opened = [i for i in numbers if i in self.enclosed.open]
        require_room(len(numbers) * (self.size + len(opened)), forms.bits)
        on = [self.enclosed.sides.get(i, 0) for i in numbers]
        columns = [[v if side else 0 for v, side in zip(column, on, strict=True)] for column in forms.columns]
        columns += [[0] * len(numbers) for _ in range(self.size - len(columns))]
        exponent = forms.exponent if any(on) else 0
        for i in opened:
            row = [column[i - first] for column in forms.columns]
            self.below.append((row, forms.exponent, self.enclosed.open[i]))
            columns.append(unit_column(len(numbers), i - first, 1 << exponent))
        self.size = len(columns)
        return Forms(columns, exponent)


def unit_column(size: int, index: int, value: int) -> Column:
    """A column of zeros but for one number."""
    return [value if i == index else 0 for i in range(size)]
