"""A second checker of injectivity, written from `spec/certificate.md` alone: fractions, dictionaries and recursion.

It shares nothing with `ircert.checker` but the text of the specification and the graph that both read. A form is a
dictionary from variables to fractions; "1" is the constant. Positive definiteness is decided without rounding.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Concat, Curve, Product, Relu, Select, Square
from tests.checker.second_curves import around, everywhere

F = Fraction
Form = dict[Any, Fraction]


def proves(text: str) -> bool:
    """Whether the text is a certificate of injectivity (or has one as a part) that proves what it says."""
    given = json.loads(text)
    parts = given.get("parts", [given])
    good = [part for part in parts if part["kind"] == "injective"]
    return bool(good) and all(Second({**given, **part}).holds() for part in good)


class Second:
    """One certificate."""

    def __init__(self, given: dict[str, Any]) -> None:
        graph = ircert.parse(given["model"]["ir"])
        self.right_network = graph.sha256 == given["model"]["sha256"]
        self.graph: Graph = lowered(graph)
        self.norm = given["norm"]
        self.center = [F(v) for v in given["center"]]
        self.whole = given["radius"] == "inf"
        self.radius = F(0) if self.whole else F(given["radius"])
        n = len(self.center)
        domain = given["domain"] or {"low": [None] * n, "high": [None] * n}
        self.low = [None if v is None else F(v) for v in domain["low"]]
        self.high = [None if v is None else F(v) for v in domain["high"]]
        self.matrix = [[int(v) for v in row] for row in given["matrix"]]
        self.tokens = iter(given["cover"].split(" "))
        self.relus: dict[str, int] = {}
        self.neurons = 0
        for node in self.graph.nodes:
            if isinstance(node.op, Relu | Curve):
                self.relus[node.name] = self.neurons
                self.neurons += self.graph.sizes[node.name]

    def holds(self) -> bool:
        sides = zip(self.center, self.low, self.high, strict=True)
        inside = all((a is None or a <= c) and (b is None or c <= b) for c, a, b in sides)
        if not (self.right_network and inside and (self.whole or self.radius > 0)):
            return False
        box = {}
        for j, c in enumerate(self.center):
            a, b = self.low[j], self.high[j]
            low, high = c - self.radius, c + self.radius
            box[j] = (low if a is None else max(a, low), high if b is None else min(b, high))
        pinned = [a is not None and a == b for a, b in zip(self.low, self.high, strict=True)]
        self.free = [j for j, (a, b) in box.items() if not pinned[j] and (self.whole or a < b)]
        if len(self.matrix) != len(self.free) or any(len(row) != self.graph.output_dim for row in self.matrix):
            return False
        try:
            return self.covered(box, {}) and next(self.tokens, None) is None
        except StopIteration:
            return False

    def covered(self, box: dict[int, tuple[F, F]], taken: dict[int, bool]) -> bool:
        """Whether what follows in the tree covers a part."""
        token = next(self.tokens)
        kind, rest = token[0], token[1:]
        if kind == "/":
            j = int(rest)
            if j not in self.free or self.whole:
                return False
            a, b = box[j]
            middle = (a + b) / 2
            return self.covered({**box, j: (a, middle)}, taken) and self.covered({**box, j: (middle, b)}, taken)
        if kind == "?":
            i = int(rest)
            if i in taken or i >= self.neurons or self.curve(i) is not None:
                return False
            return self.covered(box, {**taken, i: True}) and self.covered(box, {**taken, i: False})
        if kind == "-":
            gaps = [max(a - self.center[j], self.center[j] - b, F(0)) for j, (a, b) in box.items()]
            far = {"inf": max(gaps), "1": sum(gaps), "2": sum(g * g for g in gaps)}[self.norm]
            return not self.whole and far >= (self.radius**2 if self.norm == "2" else self.radius)
        sides, read = self.enclosed(box, taken)
        if kind == "!":
            total: Form = {}
            for pair in rest.split(","):
                i, factor = (int(v) for v in pair.split(":"))
                if i not in taken or i not in read:
                    return False
                total = plus(total, read[i], F(factor if taken[i] else -factor))
            return total.get("1", F(0)) + spread(total) < 0
        codes = [int(e) for e in rest.split(",")] if rest else []
        return kind == "=" and self.definite(sides, [F((2 + e % 2) * 2 ** (e // 2)) for e in codes])

    def curve(self, neuron: int) -> Curve | None:
        """The curve that a neuron is, if it is one."""
        names = [name for name, first in self.relus.items() if first <= neuron < first + self.graph.sizes[name]]
        op = self.graph[names[0]].op
        return op if isinstance(op, Curve) else None

    def values(self, start: list[Form], relu: Any, biases: bool) -> dict[str, list[Form]]:
        known = {self.graph.input: start}
        for node in self.graph.nodes:
            if not node.operands:
                continue
            operands = [known[name] for name in node.operands]
            if isinstance(node.op, Affine):
                known[node.name] = list(affine(node.op, operands[0], biases))
            elif isinstance(node.op, Relu | Curve):
                first = self.relus[node.name]
                known[node.name] = [relu(first + k, form) for k, form in enumerate(operands[0])]
            elif isinstance(node.op, Select):
                known[node.name] = [operands[0][k] for k in node.op.indices.tolist()]
            elif isinstance(node.op, Concat):
                known[node.name] = [form for forms in operands for form in forms]
            else:
                sums: list[Form] = [{} for _ in operands[0]]
                for forms in operands:
                    sums = [plus(a, b, F(1)) for a, b in zip(sums, forms, strict=True)]
                known[node.name] = sums
        return known

    def enclosed(
        self, box: dict[int, tuple[F, F]], taken: dict[int, bool]
    ) -> tuple[dict[int, bool | None], dict[int, Form]]:
        self.slopes: dict[int, tuple[F, F]] = {}
        if self.whole:
            self.slopes = {i: everywhere(op) for i in range(self.neurons) if (op := self.curve(i)) is not None}
            return {i: taken.get(i) for i in range(self.neurons)}, {}
        sides: dict[int, bool | None] = {}
        read: dict[int, Form] = {}

        def relu(i: int, z: Form) -> Form:
            read[i] = z
            low, high = z.get("1", F(0)) - spread(z), z.get("1", F(0)) + spread(z)
            curve = self.curve(i)
            if curve is not None:
                sides[i] = None
                self.slopes[i], slope, shift, error = around(curve, low, high)
                return plus({"1": shift, ("curve", i): error}, z, slope)
            side = taken.get(i)
            if side is None:
                side = True if low >= 0 else False if high <= 0 else None
            sides[i] = side
            if side is not None:
                return z if side else {}
            slope = F(int((256 * high / (high - low) + F(1, 2)) // 1), 256)
            most = max(-slope * low, (1 - slope) * high)
            return plus(plus({"1": most / 2, ("relu", i): most / 2}, z, slope), {}, F(0))

        start = [{"1": (a + b) / 2, ("x", j): (b - a) / 2} for j, (a, b) in box.items()]
        self.values(start, relu, biases=True)
        return sides, read

    def definite(self, sides: dict[int, bool | None], weights: list[F]) -> bool:
        below: dict[int, Form] = {}

        def relu(i: int, g: Form) -> Form:
            if sides[i] is None:
                below[i] = g
                return {("q", i): F(1)}
            return g if sides[i] else {}

        start: list[Form] = [{("v", j): F(1)} if j in self.free else {} for j in range(len(self.center))]
        output = self.values(start, relu, biases=False)[self.graph.output]
        if len(weights) != len(below):
            return False
        names = [("v", j) for j in self.free] + [("q", i) for i in below]
        table = {(a, b): F(0) for a in names for b in names}

        def add(a: Any, b: Any, value: F) -> None:
            table[a, b] += value / 2
            table[b, a] += value / 2

        for row, j in zip(self.matrix, self.free, strict=True):
            for factor, form in zip(row, output, strict=True):
                for name, value in form.items():
                    add(("v", j), name, factor * value)
        for weight, (i, form) in zip(weights, below.items(), strict=True):
            least, most = self.slopes.get(i, (F(0), F(1)))
            for name, value in form.items():
                add(("q", i), name, -weight * (least + most) * value)
                for other, more in form.items():
                    add(name, other, weight * least * most * value * more)
            add(("q", i), ("q", i), weight)
        return positive(names, table)


def lowered(graph: Graph) -> Graph:
    """Every operation that is no core one by its own identity, and nothing else."""
    build = ircert.Builder(graph.input_dim)
    known = {graph.input: build.input}
    for node in [node for node in graph.nodes if node.operands]:
        make: Any = node.op.lower
        if node.op.core or isinstance(node.op, Curve):
            make = lambda build, *x, op=node.op: build.node(op, *x)  # noqa: E731
        elif isinstance(node.op, Product):
            make = multiplied
        known[node.name] = make(build, *[known[name] for name in node.operands])
    return build.graph(known[graph.output])


def multiplied(build: ircert.Builder, a: str, b: str) -> str:
    """((a + b)/2)^2 - ((a - b)/2)^2; squares in this order."""
    same = np.eye(build.size(a))
    squares = []
    for sign in (0.5, -0.5):
        half = build.affine(build.concat(a, b), np.hstack([0.5 * same, sign * same]))
        squares.append(build.node(Square(), half))
    return build.affine(build.concat(*squares), np.hstack([same, -same]))


def affine(op: Affine, x: list[Form], biases: bool) -> Iterator[Form]:
    weight = op.weight.toarray() if hasattr(op.weight, "toarray") else op.weight
    for row, bias in zip(weight.tolist(), op.bias.tolist(), strict=True):
        total: Form = {"1": F(bias)} if biases else {}
        for factor, form in zip(row, x, strict=True):
            if factor:
                total = plus(total, form, F(factor))
        yield total


def plus(a: Form, b: Form, factor: F) -> Form:
    found = dict(a)
    for name, value in b.items():
        found[name] = found.get(name, F(0)) + factor * value
    return found


def spread(form: Form) -> F:
    return sum((abs(v) for name, v in form.items() if name != "1"), F(0))


def positive(names: list[Any], table: dict[tuple[Any, Any], F]) -> bool:
    """Whether a symmetric matrix is positive definite: pivots of elimination, without rounding."""
    left = list(names)
    while left:
        k = left.pop(0)
        pivot = table[k, k]
        if pivot <= 0:
            return False
        for a in left:
            factor = table[a, k] / pivot
            if factor:
                for b in left:
                    table[a, b] -= factor * table[k, b]
    return True
