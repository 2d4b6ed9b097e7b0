"""Certificates by structure: step by step, what a network computes follows from its output, and so its input (C-21).

An entry of a node is *known* if it is the same for all inputs of K that have equal outputs. A certificate lists steps;
each says at which node a rule teaches something, and the rule is applied here, to all entries that it serves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ircert.checker import injective
from ircert.checker.injective import Injective
from ircert.checker.layers import INCREASING, independent
from ircert.checker.limits import MOST_WEIGHTS, TooLong
from ircert.checker.lipschitz import contracts
from ircert.checker.signs import Range, never_zero
from ircert.checker.walking import Step, Steps
from ircert.ir.fractions_text import from_text
from ircert.ir.graph import Graph
from ircert.ir.ops import LeakyRelu, Select
from ircert.ir.ops.curves import Elu

MOST_STEPS, MOST_AT_ONCE, MOST_SPANNED = 2**20, 2**22, 2**14
"""… weights of a map that is computed back, and of rows whose combinations are looked at."""
BOUND = "[0-9]{1,9}=[0-9]{1,40}/[0-9]{1,40}"
TOKEN = re.compile(
    rf"[<>][0-9]{{1,9}}|[+][0-9]{{1,9}}:[0-9]{{1,9}}|~[0-9]{{1,9}}:[0-9]{{1,9}}:(?:inf|1|2(?::{BOUND}(?:,{BOUND})*+)?)"
)


@dataclass(frozen=True)
class Structure(Injective):
    """The claim that a network is injective on a ball, or everywhere, or that the other network's output follows."""

    steps: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Composed(Structure):
    """The claim that a network is injective on a ball: the node that is the output of `head` follows from its output,
    and the head is injective there by one matrix and a cover."""

    head: Graph | None = None


def fault_of(claim: Structure, stop: Callable[[], bool] | None = None) -> str | None:
    """None if the claim is proved; else the first thing that is wrong. TooLong once `stop` says so."""
    known = Known(claim)
    fault = known.follow(stop or bool)
    if fault is not None:
        return fault
    if isinstance(claim, Composed):
        assert claim.head is not None
        if known.unknown[known.steps.names[claim.head.output]]:
            return f"the steps do not lead to all of `{claim.head.output}`"
        return injective.fault_of(replace(claim, model=claim.head), stop)
    return None if known.is_enough else "the steps do not lead to all inputs"


class Known:
    """What follows from the output: of every node the entries that are not known yet."""

    def __init__(self, claim: Structure) -> None:
        self.claim, self.steps = claim, Steps(claim.model, claim.other)
        self.unknown = [set(range(step.size)) for step in self.steps.steps]
        self.ranges: dict[int, list[Range]] = {}
        self.unknown[self.steps.output].clear()
        pinned = (j for j, (a, b) in enumerate(zip(claim.low, claim.high, strict=True)) if a is not None and a == b)
        self.unknown[self.steps.input].difference_update(pinned)

    @property
    def is_enough(self) -> bool:
        """Whether all inputs are known, or (`transform`) all outputs of the other network."""
        wanted = self.steps.wanted
        return not self.unknown[self.steps.input] or (wanted is not None and not self.unknown[wanted])

    def follow(self, stop: Callable[[], bool]) -> str | None:
        """Take all steps; what is wrong with the first that cannot be taken."""
        partial = self.steps.partial
        if partial is not None:
            return f"`{partial}` is not known to be defined everywhere"
        for step in self.steps.steps:
            if step.kind == "reciprocal" and not all(never_zero(self.steps, step.operands[0], self.ranges)):
                return f"`{step.name}` may divide by 0"
        for token in self.claim.steps:
            if stop():
                raise TooLong("time is over")
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
        elif step.kind in INCREASING or step.kind == "exp" or (isinstance(step.op, Elu) and step.op.alpha > 0):
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
        columns, residues = step.map.columns, step.map.residues
        self.steps.spend(len(columns))
        if len(columns) > MOST_AT_ONCE:
            raise TooLong(f"an affine map has more than {MOST_AT_ONCE} weights that are not 0: too long to be checked")
        rows = [{columns[k]: residues[k] for k in step.map.row(i) if columns[k] in unknown} for i in range(step.size)]
        rows = [row for i, row in enumerate(rows) if row and i not in hidden]
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
            row = _reduced(given.map.fractions(i, unknown), basis)
            if row:
                basis[next(iter(row))] = row
        for i in list(self.unknown[number]):
            if not _reduced(wanted.map.fractions(i, unknown), basis):
                self.unknown[number].discard(i)
        return None

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


def _reduced(row: dict[int, Fraction], basis: dict[int, dict[int, Fraction]]) -> dict[int, Fraction]:
    """What is left of a row after elimination of each pivot, in the order in which rows were found."""
    for pivot, other in basis.items():
        factor = row.get(pivot, Fraction(0)) / other[pivot]
        if factor:
            row = {
                j: v for j in {**row, **other} if (v := row.get(j, Fraction(0)) - factor * other.get(j, Fraction(0)))
            }
    return row


def read_steps(given: Any) -> list[str]:
    """The steps of a certificate."""
    if not isinstance(given, str):
        raise ValueError("`steps` is a string")
    if given.count(" ") >= MOST_STEPS:
        raise ValueError(f"there are more than {MOST_STEPS} steps")
    tokens = given.split(" ") if given else []
    for token in tokens:
        if TOKEN.fullmatch(token) is None:
            raise ValueError(f"not a step: {token[:60]!r}")
    return tokens


def head_of(graph: Graph, at: Any) -> Graph:
    """The part of a network that computes one of its nodes."""
    if not isinstance(at, str) or at not in graph:
        raise ValueError("`at` is the name of a node")
    needed = {at, graph.input}
    for node in reversed(graph.nodes):
        needed |= set(node.operands) if node.name in needed else set()
    return Graph([node for node in graph.nodes if node.name in needed], at)
