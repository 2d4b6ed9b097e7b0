"""Certificates of injectivity: one matrix C, and a cover of the ball on whose leaves sym(C J) is positive definite.

`spec/certificate.md` proves that what passes here is true (C-7 to C-15); the names are those of its proofs. All
numbers are integers; nothing is rounded but in `positive_definite`, and there downward.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ircert.checker import curves
from ircert.checker.curves import PLACES
from ircert.checker.limits import WORD, TooLong, require_room, words
from ircert.checker.network import Column, Forms, Network
from ircert.errors import UnsupportedModel
from ircert.ir.graph import Graph

KEPT = 96
"""Bits of a diagonal entry that are kept."""
FINE = 8
"""Bits of the slope of the lines that enclose a relu."""
EVALUATIONS = 4096
"""What the line of a curve takes, in products."""
MOST_NODES, DEEPEST, LARGEST = 2**23, 2**10, 2**128
"""Nodes of a cover, those on a way down, and entries of C."""
TOKEN = re.compile(
    r"/[0-9]{1,9}|\?[0-9]{1,9}|-|=(?:[0-9]{1,4}(?:,[0-9]{1,4}+)*+)?|!(?:[0-9]{1,9}:[0-9]{1,39})(?:,[0-9]{1,9}+:[0-9]{1,39}+)*+"
)
"""Possessive: there is nothing to remember of a long leaf."""


@dataclass(frozen=True)
class Injective:
    """The claim that a network is injective on the closed ball of `radius` around `center`, cut with a box.

    unit:   the denominator of all numbers of the place
    radius: None is the whole space
    matrix: C, a row for each free input
    cover:  the tree, in preorder
    """

    problem: str
    norm: str
    unit: int
    center: list[int]
    radius: int | None
    low: list[int | None]
    high: list[int | None]
    model: Graph
    other: Graph | None
    matrix: list[list[int]]
    cover: list[str]
    counts: Counter[str] = field(default_factory=Counter)
    """How many nodes of each kind were met; for words."""


@dataclass(frozen=True)
class Part:
    """A part of the box around the ball: a box, and sides of neurons that are taken for granted (1 on, 0 off)."""

    low: list[int]
    high: list[int]
    sides: dict[int, int]


def fault_of(claim: Injective, stop: Callable[[], bool] | None = None) -> str | None:
    """None if the claim is proved; else the first thing that is wrong. TooLong once `stop` says so."""
    for c, a, b in zip(claim.center, claim.low, claim.high, strict=True):
        if (a is not None and c < a) or (b is not None and c > b):
            return "the centre lies outside the domain"
    try:
        network = Network(claim.model)
    except UnsupportedModel as error:
        return str(error)
    return Checking(claim, network, _deepest(claim.cover)).fault(stop or bool)


class Checking:
    """A claim being checked; boxes are cut at most `depth` times."""

    def __init__(self, claim: Injective, network: Network, depth: int) -> None:
        self.claim, self.network = claim, network
        more = depth + 1
        require_room(depth * len(claim.center))
        self.unit = claim.unit << more
        self.center = [c << more for c in claim.center]
        self.whole, self.radius = claim.radius is None, (claim.radius or 0) << more
        low, high = [c - self.radius for c in self.center], [c + self.radius for c in self.center]
        low = [v if a is None else max(a << more, v) for v, a in zip(low, claim.low, strict=True)]
        high = [v if b is None else min(b << more, v) for v, b in zip(high, claim.high, strict=True)]
        self.root = Part(low, high, {})
        pinned = {j for j, (a, b) in enumerate(zip(claim.low, claim.high, strict=True)) if a is not None and a == b}
        self.free = [
            j for j, (a, b) in enumerate(zip(low, high, strict=True)) if (a < b or self.whole) and j not in pinned
        ]
        self.words = words(max(map(int.bit_length, low + high)))

    def fault(self, stop: Callable[[], bool]) -> str | None:
        """Walk down the tree, in preorder."""
        if not self.free:
            return "no input is free"
        self.claim.counts["neurons"] = self.network.neurons
        shape = [len(row) for row in self.claim.matrix]
        if shape != [self.claim.model.output_dim] * len(self.free):
            return "`matrix` has not a row for each free input and a column for each output"
        open_: list[Part] = [self.root]
        for number, token in enumerate(self.claim.cover):
            if stop():
                raise TooLong("time is over")
            if not open_:
                return "the cover goes on after its last leaf"
            node = open_.pop()
            self.claim.counts[token[0]] += 1
            if token[0] in "/?":
                parts = self.parts(node, token[0], int(token[1:]))
                if parts is None:
                    return f"node {number} of the cover cannot be divided by {token}"
                open_ += reversed(parts)
            elif not self.closed(node, token):
                return f"leaf {number} of the cover is not closed by {token[:60]}"
        return "the cover ends before its last leaf" if open_ else None

    def parts(self, node: Part, kind: str, index: int) -> list[Part] | None:
        """Both parts of a node: neuron `index` on or off, or the halves of its box; None where there are none."""
        self.network.spend(len(node.sides) if kind == "?" else len(node.low) + self.words)
        if kind == "?":
            if index >= self.network.neurons or index in node.sides or index in self.network.curved:
                return None
            return [Part(node.low, node.high, {**node.sides, index: side}) for side in (1, 0)]
        if index not in self.free or self.whole:
            return None
        middle = (node.low[index] + node.high[index]) // 2  # exact: `unit` has a factor 2 for every cut, and one more
        below, above = node.high.copy(), node.low.copy()
        below[index] = above[index] = middle
        return [Part(node.low, below, node.sides), Part(above, node.high, node.sides)]

    def closed(self, node: Part, token: str) -> bool:
        """Whether a leaf is closed as it says."""
        if token == "-":
            return not self.whole and self._outside(node)
        if token.count(",") > self.network.neurons:
            return False
        enclosed = Enclosure(self, node)
        if token[0] == "!":
            pairs = (pair.split(":") for pair in token[1:].split(","))
            return enclosed.empty({int(i): int(m) for i, m in pairs})
        return self._definite(enclosed, [int(e) for e in token[1:].split(",") if e])

    def _outside(self, node: Part) -> bool:
        """Whether a box has no inner point of the ball: of the coordinates' distances from the centre, their norm."""
        self.network.spend(len(node.low) * self.words * (self.words if self.claim.norm == "2" else 1))
        sides = zip(node.low, node.high, self.center, strict=True)
        gaps = [max(a - c, c - b, 0) for a, b, c in sides]
        if self.claim.norm == "2":
            return sum(g * g for g in gaps) >= self.radius**2
        return (sum(gaps) if self.claim.norm == "1" else max(gaps)) >= self.radius

    def _definite(self, enclosed: Enclosure, codes: list[int]) -> bool:
        """Whether v C J v > 0 for all v != 0 and all slopes of open neurons: H of C-11 is positive definite."""
        tangent = _Tangent(enclosed, len(self.free))
        if len(codes) != tangent.size - len(self.free):
            return False
        require_room(tangent.size * max(tangent.size, len(self.root.low)))
        weights = [(2 + e % 2) << (e // 2) for e in codes]
        self.claim.counts["most open"] = max(self.claim.counts["most open"], len(weights))
        start = Forms([[int(i == j) for i in range(len(self.root.low))] for j in self.free], 0)
        output = self.network.walk(self.network.nodes, start, tangent.neurons, 0)
        top = max([output.exponent, *((1 + bool(b.least)) * (b.exponent + b.fine) for b in tangent.below)])
        below = (1 + bool(self.network.curved)) * max(1, tangent.bits) + max(weights, default=1).bit_length() + 2
        self.network.spend_on_table(tangent.size, output, self.claim.matrix, below, top)
        columns = output.over(top, tangent.size)
        rows = [[sum(map(int.__mul__, row, column)) for column in columns] for row in self.claim.matrix]
        rows += [[0] * tangent.size for _ in weights]
        for rank, (given, weight) in enumerate(zip(tangent.below, weights, strict=True)):
            form, filled = rows[len(self.free) + rank], [(j, v) for j, v in enumerate(given.row) if v]
            factor = -weight * (given.least + given.most) << (top - given.exponent - given.fine)
            for j, v in filled:  # - τ (q - least g) (most g - q): - τ (least + most) q g …
                form[j] += factor * v
            form[len(self.free) + rank] += weight << top  # … + τ q q …
            if given.least:  # … + τ least most g g
                self.network.spend(len(filled) ** 2 * words(tangent.bits))
                factor = weight * given.least * given.most << (top - 2 * (given.exponent + given.fine))
                for i, v in filled:
                    for j, w in filled:
                        rows[i][j] += factor * v * w
        return positive_definite([[rows[i][j] + rows[j][i] for j in range(i + 1)] for i in range(tangent.size)])


class Enclosure:
    """What holds in a node for all neurons: forms in variables between -1 and 1 (C-10), and sides that follow."""

    def __init__(self, checking: Checking, node: Part) -> None:
        self.given, self.sides, self.spend = node.sides, dict[int, int | None](), checking.network.spend
        self.unit, self.slopes = checking.unit, dict[int, tuple[int, int]]()
        self.rows: dict[int, tuple[Column, int]] = {}
        self.size = 1 + len(checking.free)
        if checking.whole:  # nothing is known but what is given
            self.sides = {i: node.sides.get(i) for i in range(checking.network.neurons)}
            for name, first in checking.network.first.items():
                slopes = curves.WHOLE.get(checking.network.graph[name].op.kind, (0, 1))
                self.slopes |= dict.fromkeys(range(first, first + checking.network.graph.sizes[name]), slopes)
            return
        size = len(node.low)
        require_room(size * self.size, WORD * checking.words // size)
        checking.network.spend(size * (self.size + checking.words))
        start = [[(a + b) // 2 for a, b in zip(node.low, node.high, strict=True)]]
        for j in checking.free:
            start.append([(node.high[j] - node.low[j]) // 2 if i == j else 0 for i in range(size)])
        checking.network.walk(checking.network.hidden, Forms(start, 0), self.neurons, checking.unit)

    def neurons(self, first: int, forms: Forms, curve: str | None) -> Forms:
        """Forms of relus, over 2**(FINE + 1) more; an open one has a variable of its own."""
        if curve is not None:
            return self._curves(first, forms, curve)
        middles, *others = forms.columns
        reaches = list(map(sum, zip(*(map(abs, column) for column in others), strict=True)))
        factors, shifts = [], []
        for i, (middle, reach) in enumerate(zip(middles, reaches, strict=True)):
            low, high = middle - reach, middle + reach
            side = self.given.get(first + i, 1 if low >= 0 else 0 if high <= 0 else None)
            if first + i in self.given:
                self.rows[first + i] = [column[i] for column in forms.columns], forms.exponent
            self.sides[first + i] = side
            slope = side << FINE if side is not None else ((high << FINE) + (high - low) // 2) // (high - low)
            factors.append(2 * slope)
            shifts.append(0 if side is not None else max(-slope * low, ((1 << FINE) - slope) * high))
        require_room(len(middles) * (self.size + sum(map(bool, shifts))), forms.bits + FINE + 1)
        columns = [[f * v for f, v in zip(factors, column, strict=True)] for column in forms.columns]
        columns[0] = [v + t for v, t in zip(columns[0], shifts, strict=True)]
        columns += [[0] * len(middles) for _ in range(self.size - len(columns))]
        columns += [_unit(len(middles), i, t) for i, t in enumerate(shifts) if t]
        self.size = len(columns)
        return Forms(columns, forms.exponent + FINE + 1)

    def _curves(self, first: int, forms: Forms, curve: str) -> Forms:
        """Forms of curves, over 2**PLACES: lines, rounded down, and a variable for what each may be off (C-28)."""
        size, scale, more = len(forms.columns[0]), self.unit << forms.exponent, PLACES - forms.exponent - curves.FINE
        require_room(size * (self.size + size), forms.bits + PLACES)
        self.spend(size * (EVALUATIONS + self.size) * words(forms.bits))
        lines, errors = [], []
        for i, (middle, *others) in enumerate(zip(*forms.columns, strict=True)):
            reach = sum(map(abs, others))
            low, high = ((middle - reach) << PLACES) // scale, -((-middle - reach << PLACES) // scale)
            line = curves.around(curve, low, high)
            self.sides[first + i], self.slopes[first + i] = None, (line.least, line.most)
            lines.append(line)
            errors.append(line.error * self.unit + len(forms.columns))
        columns = [
            [_shifted(a.slope * v, -more) for a, v in zip(lines, column, strict=True)] for column in forms.columns
        ]
        columns[0] = [v + a.shift * self.unit for a, v in zip(lines, columns[0], strict=True)]
        columns += [[0] * size for _ in range(self.size - len(columns))]
        columns += [_unit(size, i, error) for i, error in enumerate(errors)]
        self.size = len(columns)
        return Forms(columns, PLACES)

    def empty(self, multipliers: dict[int, int]) -> bool:
        """Whether a sum of ± z_i that is not negative in the node is negative everywhere in the box (C-12)."""
        if not set(multipliers) <= set(self.rows):
            return False
        top = max(exponent for _, exponent in (self.rows[i] for i in multipliers))
        longest = max(max(map(int.bit_length, row)) + top - exponent for row, exponent in self.rows.values())
        self.spend(len(multipliers) * self.size * words(longest))
        total = [0] * self.size
        for i, multiplier in multipliers.items():
            row, exponent = self.rows[i]
            sign = (1 if self.given[i] else -1) * multiplier << (top - exponent)
            for c, v in enumerate(row):
                total[c] += sign * v
        return total[0] + sum(map(abs, total[1:])) < 0


@dataclass(frozen=True)
class Below:
    """The derivative g below an open neuron, a row over 2**exponent, and its slopes, over 2**fine."""

    row: Column
    exponent: int
    least: int = 0
    most: int = 1
    fine: int = 0


class _Tangent:
    """Derivatives in a direction v: forms in v and in q_i, the derivative of open neuron i (C-11)."""

    def __init__(self, enclosed: Enclosure, size: int) -> None:
        self.enclosed, self.known = enclosed, size
        self.size = size + sum(side is None for side in enclosed.sides.values())
        self.below: list[Below] = []
        self.bits = 0  # before the point, of the longest number below open neurons

    def neurons(self, first: int, forms: Forms, curve: str | None) -> Forms:
        """Derivatives of relus and curves; those of what open neurons read are kept."""
        sides = [self.enclosed.sides[first + i] for i in range(len(forms.columns[0]))]
        require_room(len(sides) * (self.known + sides.count(None)), forms.bits)
        if None in sides:
            self.bits = max(self.bits, forms.bits - forms.exponent)
        columns = [[v if side else 0 for v, side in zip(column, sides, strict=True)] for column in forms.columns]
        columns += [[0] * len(sides) for _ in range(self.known - len(columns))]
        exponent = forms.exponent if curve is None else 0
        for i, side in enumerate(sides):
            if side is None:
                row = [column[i] for column in forms.columns]
                slopes = () if curve is None else (*self.enclosed.slopes[first + i], curves.FINE)
                self.below.append(Below(row, forms.exponent, *slopes))
                columns.append(_unit(len(sides), i, 1 << exponent))
        self.known = len(columns)
        return Forms(columns, exponent)


def _unit(size: int, index: int, value: int) -> Column:
    column = [0] * size
    column[index] = value
    return column


def positive_definite(table: list[Column]) -> bool:
    """Whether a symmetric matrix of integers (its lower triangle) is positive definite, for sure (C-14).

    Entries are scaled by powers of two and rounded down, as are those of every remainder; each rounding is by less
    than 1, and as many units as there are rows are taken off the diagonal, which is more than it can do.
    """
    if any(row[i] <= 0 for i, row in enumerate(table)):
        return False
    scale = [(row[i].bit_length() - KEPT) // 2 for i, row in enumerate(table)]
    rows = [[_shifted(v, scale[i] + scale[j]) for j, v in enumerate(row)] for i, row in enumerate(table)]
    if not all(map(_is_short, rows)):
        return False
    for i, row in enumerate(rows):
        row[i] -= len(rows)
    while rows:
        *last, pivot = rows.pop()
        if pivot <= 0 or not _is_short(last):
            return False
        for i, row in enumerate(rows):
            if last[i]:
                rows[i] = row = [v + (-last[i] * w) // pivot for v, w in zip(row, last, strict=False)]
            row[i] -= len(rows)
    return True


def _is_short(row: Column) -> bool:
    """Whether no number has more bits than those on the diagonal: else it is not definite, and gets ever longer."""
    return all(v.bit_length() <= KEPT + 1 for v in row)


def _shifted(value: int, right: int) -> int:
    return value >> right if right >= 0 else value << -right


def _deepest(cover: list[str]) -> int:
    """How many nodes lie on the longest way down; the tree may be wrong, which is seen later."""
    waiting, most = [0], 0
    for token in cover:
        if not waiting:
            break
        depth = waiting.pop() + 1
        most = max(most, depth)
        if token[0] in "/?":
            waiting += [depth, depth]
    if most > DEEPEST:
        raise TooLong(f"the cover has more than {DEEPEST} nodes on a way down")
    return most


def read_cover(given: Any) -> list[str]:
    """The nodes of a cover."""
    if not isinstance(given, str):
        raise ValueError("`cover` is a string")
    if given.count(" ") >= MOST_NODES:
        raise ValueError(f"the cover has more than {MOST_NODES} nodes")
    tokens = given.split(" ")
    for token in tokens:
        if TOKEN.fullmatch(token) is None:
            raise ValueError(f"not a node of a cover: {token[:60]!r}")
    return tokens
