"""Certificates by structure: step by step, what a network computes follows from its output, and so its input (C-21).

An entry of a node is *known* if it is the same for all inputs of K that have equal outputs. A certificate lists steps;
each says at which node a rule teaches something, and the rule is applied here, to all entries that it serves.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from ircert.checker.curved import Covered
from ircert.checker.limits import MOST_WEIGHTS, TooLong, words
from ircert.checker.lipschitz import contracts
from ircert.checker.reading import Claim, Fields, Stop, tokens_of
from ircert.checker.signs import Range, never_zero
from ircert.checker.walking import Step, Steps
from ircert.ir.fractions_text import from_text
from ircert.ir.graph import Graph
from ircert.ir.ops import LeakyRelu, Select
from ircert.ir.ops.curves import Elu

PRIME = 2**61 - 1
"""Larger than every mantissa: a weight that is not 0, times a power of two, is not 0 modulo it."""
INCREASING = frozenset({"tanh", "sigmoid", "softplus", "softsign", "erf", "exp"})
"""Functions of each entry that are strictly increasing on the whole line."""
MOST_STEPS, MOST_AT_ONCE, MOST_SPANNED = 2**20, 2**22, 2**14
"""… weights of a map that is computed back, and of rows whose combinations are looked at."""
QUICK = 256
"""How many products of two words a fraction of many words does in the time of a step's unit."""
BOUND = "[0-9]{1,9}=[0-9]{1,40}/[0-9]{1,40}"
TOKEN = re.compile(
    rf"[<>][0-9]{{1,9}}|[+][0-9]{{1,9}}:[0-9]{{1,9}}|~[0-9]{{1,9}}:[0-9]{{1,9}}:(?:inf|1|2(?::{BOUND}(?:,{BOUND})*+)?)"
)


@dataclass(frozen=True)
class Structure(Claim):
    """The claim that a network is injective on a ball, or everywhere, or that the other network's output follows.

    counts: how many steps of each kind were taken; for words
    """

    fields: ClassVar[tuple[str, ...]] = ("steps",)
    steps: list[str]
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, place: Fields, fields: Fields) -> Self:
        """Steps are words."""
        steps = fields["steps"]
        return cls(**place, steps=tokens_of(steps, "steps", TOKEN, MOST_STEPS) if steps != "" else [])

    def fault(self, stop: Stop) -> str | None:
        """The centre in the domain, steps that can be taken, and lead to all inputs."""
        if not self.in_box(self.center):
            return "the centre lies outside the domain"
        known = Known(self, stop)
        return known.follow(self.way(known)) or (None if known.is_enough else "the steps do not lead to all inputs")

    def way(self, known: Known) -> list[str]:
        """The steps."""
        return self.steps


class Layers(Structure):
    """The claim that a network is injective by its layers alone: steps go back from each to the one before (C-20)."""

    fields: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, place: Fields, fields: Fields) -> Self:
        """There is nothing to read."""
        return cls(**place, steps=[])

    def way(self, known: Known) -> list[str]:
        """From the last node to the first."""
        return [f"<{k}" for k in reversed(range(len(known.steps.steps)))]


@dataclass(frozen=True)
class Composed(Structure):
    """The claim that a network is injective on a ball: the node that is the output of a head follows from its output,
    and the head is injective there by one matrix and a cover (C-25)."""

    fields: ClassVar[tuple[str, ...]] = ("steps", "at", "matrix", "cover")
    head: Covered | None = None

    @classmethod
    def read(cls, place: Fields, fields: Fields) -> Self:
        """The head has a matrix and a cover as networks have."""
        head = Covered.read({**place, "model": head_of(place["model"], fields["at"])}, fields)
        return replace(super().read(place, fields), head=head)

    def fault(self, stop: Stop) -> str | None:
        """Steps that lead to the head's output, and a head that is injective."""
        assert self.head is not None
        known, end = Known(self, stop), self.head.model.output
        if (fault := known.follow(self.steps)) is not None:
            return fault
        if known.unknown[known.steps.names[end]]:
            return f"the steps do not lead to all of `{end}`"
        return self.head.fault(stop)


class Known:
    """What follows from the output: of every node the entries that are not known yet."""

    def __init__(self, claim: Structure, stop: Stop = bool) -> None:
        self.claim, self.steps = claim, Steps(claim.model, claim.other, stop, claim.length)
        self.unknown = [set(range(step.size)) for step in self.steps.steps]
        self.ranges: dict[int, list[Range]] = {}
        self.unknown[self.steps.output].clear()
        self.unknown[self.steps.input] -= claim.pinned

    @property
    def is_enough(self) -> bool:
        """Whether all inputs are known, or (`transform`) all outputs of the other network."""
        wanted = self.steps.wanted
        return not self.unknown[self.steps.input] or (wanted is not None and not self.unknown[wanted])

    def follow(self, tokens: list[str]) -> str | None:
        """Take all steps; what is wrong with the first that cannot be taken."""
        partial = self.steps.partial
        if partial is not None:
            return f"`{partial}` is not known to be defined everywhere"
        for step in self.steps.steps:
            if step.kind == "reciprocal" and not all(never_zero(self.steps, step.operands[0], self.ranges)):
                return f"`{step.name}` may divide by 0"
        for token in tokens:
            fault = self.take(token)
            if fault is not None:
                return fault
        return None

    def take(self, token: str) -> str | None:
        """Take one step; what is wrong with it."""
        first, *rest = token[1:].split(":")
        if int(first) >= len(self.steps.steps):
            return f"there is no node {first}"
        self.claim.counts[token[0]] += 1
        if token[0] == "~":
            return self._contracted(int(first), *rest)
        if token[0] == "+":
            return self._spanned(int(first), int(rest[0]))
        (self._forward if token[0] == ">" else self._backward)(int(first), self.steps.steps[int(first)])
        return None

    def _forward(self, number: int, step: Step) -> None:
        """What is computed from known entries alone is known."""
        operands = [self.unknown[k] for k in step.operands]
        self.steps.spend(step.size * (1 + len(operands)) + (len(step.map.columns) if step.map else 0))
        if not operands:
            return
        if step.map is not None:
            columns = step.map.columns
            found = {i for i in self.unknown[number] if any(columns[k] in operands[0] for k in step.map.row(i))}
        elif isinstance(step.op, Select):
            found = {i for i, j in enumerate(step.op.indices.tolist()) if j in operands[0]}
        elif step.kind == "concat":
            found = {first + i for first, part in self._parts(step) for i in self.unknown[part]}
        elif step.op.elementwise:
            found = set().union(*operands)
        else:
            found = set(range(step.size)) if any(operands) else set()
        self.unknown[number] &= found

    def _parts(self, step: Step) -> list[tuple[int, int]]:
        """Where each operand of a concatenation begins, and its number."""
        found, first = [], 0
        for k in step.operands:
            found.append((first, k))
            first += self.steps.steps[k].size
        return found

    def _backward(self, number: int, step: Step) -> None:
        """What known entries of a node say about its operands."""
        hidden, operands = self.unknown[number], [self.unknown[k] for k in step.operands]
        self.steps.spend(step.size * (1 + len(operands)))
        if step.map is not None:
            operands[0] -= self._determined(step, hidden, operands[0])
        elif isinstance(step.op, Select):
            operands[0] -= {j for i, j in enumerate(step.op.indices.tolist()) if i not in hidden}
        elif step.kind == "concat":
            for first, k in self._parts(step):
                size = self.steps.steps[k].size
                self.unknown[k] &= {i - first for i in hidden if first <= i < first + size} if hidden else set()
        elif step.kind == "add":
            self._in_sum(step, hidden)
        elif step.kind == "product":
            self._in_product(step, hidden)
        elif isinstance(step.op, LeakyRelu):
            slopes = step.op.slope.ravel().tolist()
            operands[0] &= hidden | {i for i in range(step.size) if not slopes[i % len(slopes)] > 0}
        elif step.kind in INCREASING or (isinstance(step.op, Elu) and step.op.alpha > 0):
            operands[0] &= hidden

    def _in_sum(self, step: Step, hidden: set[int]) -> None:
        """The only operand that is not known at an entry, however often it is added."""
        different = [self.unknown[k] for k in dict.fromkeys(step.operands)]
        single = [i for i in range(step.size) if i not in hidden and sum(i in part for part in different) == 1]
        for part in different:
            part.difference_update(single)

    def _in_product(self, step: Step, hidden: set[int]) -> None:
        """The factor beside one that is known and never 0."""
        first, second = step.operands
        for factor, other in ((first, second), (second, first)) if first != second else ():
            candidates = [i for i in self.unknown[other] if i not in hidden and i not in self.unknown[factor]]
            if candidates:
                nonzero = never_zero(self.steps, factor, self.ranges)
                self.unknown[other].difference_update(i for i in candidates if nonzero[i])

    def _determined(self, step: Step, hidden: set[int], unknown: set[int]) -> set[int]:
        """Entries of u that known rows of W u + b, and known entries of u, determine (C-22)."""
        assert step.map is not None
        columns, numbers = step.map.columns, step.map.integers
        self.steps.spend(len(columns))
        if len(columns) > MOST_AT_ONCE:
            raise TooLong(f"an affine map has more than {MOST_AT_ONCE} weights that are not 0: too long to be checked")
        known = (step.map.row(i) for i in range(step.size) if i not in hidden)
        rows = [{columns[k]: numbers[k] % PRIME for k in row if columns[k] in unknown} for row in known]
        readers: dict[int, list[dict[int, int]]] = {}
        for row in rows:
            for j in row:
                readers.setdefault(j, []).append(row)
        found: set[int] = set()
        alone = [row for row in rows if len(row) == 1]
        while alone:
            for j in list(alone.pop()):  # none or one is left of it
                found.add(j)
                for row in readers.pop(j, ()):
                    row.pop(j, None)
                    alone += [row] if len(row) == 1 else []
        return found | self._in_groups(readers)

    def _in_groups(self, readers: dict[int, list[dict[int, int]]]) -> set[int]:
        """Rows and columns that share no weight with others: their entries, if the columns are independent."""
        found: set[int] = set()
        seen: dict[tuple[tuple[int, ...], ...], bool] = {}
        while readers:
            group, rows, waiting = set[int](), dict[int, dict[int, int]](), [next(iter(readers))]
            while waiting:
                j = waiting.pop()
                for row in readers.pop(j, ()):
                    if id(row) not in rows:
                        rows[id(row)] = row
                        waiting += row
                group.add(j)
            if len(rows) < len(group) or len(rows) * len(group) > MOST_WEIGHTS:
                continue
            places = sorted(group)
            self.steps.spend(len(rows) * len(group))
            block = tuple(tuple(row.get(j, 0) for j in places) for row in rows.values())
            if block not in seen:
                self.steps.spend(len(block) * len(places) ** 2)
                seen[block] = independent([list(row) for row in block], len(places))
            found |= group if seen[block] else set()
        return found

    def _spanned(self, number: int, source: int) -> str | None:
        """Entries of V u + a whose rows are combinations of known rows of W u + b, where entries of u are not known."""
        if source >= len(self.steps.steps):
            return f"there is no node {source}"
        wanted, given = (self.steps.steps[k] for k in (number, source))
        if wanted.map is None or given.map is None or wanted.operands != given.operands:
            return f"`{wanted.name}` and `{given.name}` are not affine maps of one node"
        unknown = self.unknown[wanted.operands[0]]
        known = [i for i in range(given.size) if i not in self.unknown[source]]
        if len(known) * len(unknown) > MOST_SPANNED:
            raise TooLong(f"known rows have more than {MOST_SPANNED} entries: too long to be checked")
        self.steps.spend(
            (len(known) + wanted.size) * len(known) * (1 + len(unknown)) * (given.map.bits + wanted.map.bits)
        )
        basis: dict[int, dict[int, Fraction]] = {}
        for i in known:
            row = self._reduced(given.map.fractions(i, unknown), basis)
            if row:
                basis[next(iter(row))] = row
        for i in list(self.unknown[number]):
            if not self._reduced(wanted.map.fractions(i, unknown), basis):
                self.unknown[number].discard(i)
        return None

    def _reduced(self, row: dict[int, Fraction], basis: dict[int, dict[int, Fraction]]) -> dict[int, Fraction]:
        """What is left of a row after elimination of each pivot, in the order in which rows were found."""
        for pivot, other in basis.items():
            factor = row.get(pivot, Fraction(0)) / other[pivot]
            if factor:
                length = words(_longest(row) + _longest(other))  # they grow with every pivot
                self.steps.spend((len(row) + len(other)) * length**2 // QUICK)
                row = {
                    j: v
                    for j in {**row, **other}
                    if (v := row.get(j, Fraction(0)) - factor * other.get(j, Fraction(0)))
                }
        return row

    def _contracted(self, total: int, start: str, norm: str, bounds: str = "") -> str | None:
        """s follows from k s + g(s), if that is known and g has a Lipschitz constant below k (C-23)."""
        step, at = self.steps.steps[total], int(start)
        if self.unknown[total] or step.kind != "add" or at not in step.operands:
            return f"the sum `{step.name}` is not known, or is none, or node {start} is not added there"
        self.steps.spend(len(self.unknown) + 8 * len(step.operands))
        constant = {k for k, entries in enumerate(self.unknown) if not entries} - {at}
        pairs = (pair.split("=") for pair in bounds.split(",") if pair)
        given = {int(number): from_text(bound) for number, bound in pairs}
        if not contracts(self.steps, total, at, constant, norm, given):
            return f"what `{step.name}` adds to `{self.steps.steps[at].name}` is not seen to be a contraction"
        self.unknown[at].clear()
        return None


def _longest(row: dict[int, Fraction]) -> int:
    """Bits of the longest number."""
    return max(v.numerator.bit_length() + v.denominator.bit_length() for v in row.values())


def independent(rows: list[list[int]], width: int) -> bool:
    """Whether the columns of a matrix modulo the prime are independent there; then they are over the rationals."""
    for column in range(width):
        at = next((i for i, row in enumerate(rows) if row[column]), None)
        if at is None:
            return False
        pivot = rows.pop(at)
        inverse = pow(pivot[column], -1, PRIME)
        for i, row in enumerate(rows):
            if row[column]:
                factor = row[column] * inverse % PRIME
                rows[i] = [(a - factor * b) % PRIME for a, b in zip(row, pivot, strict=True)]
    return True


def head_of(graph: Graph, at: Any) -> Graph:
    """The part of a network that computes one of its nodes."""
    if not isinstance(at, str) or at not in graph:
        raise ValueError("`at` is the name of a node")
    needed = {at, graph.input}
    for node in reversed(graph.nodes):
        needed |= set(node.operands) if node.name in needed else set()
    return Graph([node for node in graph.nodes if node.name in needed], at)
