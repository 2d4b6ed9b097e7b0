"""A second checker of certificates by structure, written from C-21 to C-24 alone: pairs and fractions, no residues.

Known is a set of pairs (name of a node, entry). What an affine map determines is decided over the rationals: entry j
follows if the unit vector j lies in the span of the rows. So it knows more than the specification grants, never less.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

import ircert
from ircert.ir.graph import Graph, Node
from tests.checker.second import Second, positive

F = Fraction
INF = math.inf
End: TypeAlias = tuple[Any, int]
Ends: TypeAlias = tuple[End, End]
RISING = {"tanh", "sigmoid", "softplus", "softsign", "erf", "exp"}
STEEP = {
    "sigmoid": F(1, 4),
    "erf": F(113, 100),
    "gelu": F(6, 5),
    "gelu_tanh": F(6, 5),
    "silu": F(6, 5),
    "mish": F(6, 5),
}
STEEP |= dict.fromkeys(("relu", "abs", "clip", "tanh", "softplus", "softsign", "sin", "cos"), F(1))


def proves(text: str) -> bool:
    """Whether the text is a certificate by structure that proves what it says."""
    given = json.loads(text)
    model, other = (None if given[k] is None else ircert.parse(given[k]["ir"]) for k in ("model", "other"))
    assert model is not None
    if model.sha256 != given["model"]["sha256"]:
        return False
    second = SecondStructure(model, other)
    domain = given["domain"] or {"low": [], "high": []}
    for j, (a, b) in enumerate(zip(domain["low"], domain["high"], strict=True)):
        if a is not None and b is not None and F(a) == F(b):
            second.known.add((0, j))
    if not all(second.takes(token) for token in given["steps"].split(" ") if token):
        return False
    if given["kind"] == "composed":
        nodes = [node for node in model.nodes if needed(model, given["at"], node.name)]
        head = Graph(nodes, given["at"])
        inner = {"ir": str(head), "sha256": head.sha256}
        return second.whole(second.number[given["at"]]) and Second({**given, "model": inner}).holds()
    return second.whole(0) or (other is not None and second.whole(second.end))


def needed(graph: Graph, at: str, name: str) -> bool:
    return name in (at, graph.input) or any(needed(graph, at, reader) for reader in graph.consumers[name])


class SecondStructure:
    """What is known, step by step; nodes by their numbers, equal ones have one."""

    def __init__(self, model: Graph, other: Graph | None) -> None:
        self.nodes: list[tuple[Node, list[int], int]] = []
        self.known: set[tuple[int, int]] = set()
        self.number = self.numbered(model)
        self.end = self.number[model.output]
        self.learn(self.end, range(model.output_dim))
        if other is not None:
            self.end = self.numbered(other)[other.output]

    def numbered(self, graph: Graph) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in graph.nodes:
            reads = [found[name] for name in node.operands]
            equal = [k for k, (n, r, _) in enumerate(self.nodes) if n.op == node.op and r == reads]
            found[node.name] = equal[0] if equal else len(self.nodes)
            if not equal:
                self.nodes.append((node, reads, graph.sizes[node.name]))
        return found

    def learn(self, number: int, entries: Any) -> None:
        self.known |= {(number, int(i)) for i in entries}

    def has(self, number: int, entry: int) -> bool:
        return (number, entry) in self.known

    def whole(self, number: int) -> bool:
        return all(self.has(number, i) for i in range(self.nodes[number][2]))

    def takes(self, token: str) -> bool:
        """Take a step; False where it cannot be taken."""
        rest = token[1:].split(":")
        if int(rest[0]) >= len(self.nodes) or any(n.op.kind in ("log", "sqrt", "power") for n, _, _ in self.nodes):
            return False
        if any(n.op.kind == "reciprocal" and 0 in self.signs(r[0]) for n, r, _ in self.nodes):
            return False
        if token[0] == "~":
            return self.contracts(int(rest[0]), int(rest[1]), rest[2], rest[3] if len(rest) > 3 else "")
        if token[0] == "+":
            return self.combines(int(rest[0]), int(rest[1]))
        (self.forwards if token[0] == ">" else self.backwards)(int(rest[0]))
        return True

    def combines(self, number: int, source: int) -> bool:
        """A row is a combination of others if one unknown more, with that row, is determined by them and by 0."""
        if source >= len(self.nodes) or self.nodes[number][1] != self.nodes[source][1]:
            return False
        wanted, given = (matrix(self.nodes[k][0].op) for k in (number, source))
        if wanted is None or given is None:
            return False
        reads = self.nodes[number][1][0]
        free = [j for j in range(len(given[0])) if not self.has(reads, j)]
        known = [[given[i][j] for j in free] + [F(0)] for i in range(len(given)) if self.has(source, i)]
        for i, row in enumerate(wanted):
            system = [[*known_row] for known_row in known] + [[row[j] for j in free] + [F(1)]]
            if -1 in determined(system, [*free, -1]):
                self.learn(number, [i])
        return True

    def places(self, reads: list[int]) -> list[tuple[int, int]]:
        return [(k, i) for k in reads for i in range(self.nodes[k][2])]

    def forwards(self, number: int) -> None:
        node, reads, size = self.nodes[number]
        op: Any = node.op
        if not reads:
            return
        weight = matrix(op)
        for i in range(size):
            if weight is not None:
                needs = [(reads[0], j) for j, w in enumerate(weight[i]) if w]
            elif op.kind == "select":
                needs = [(reads[0], int(op.indices[i]))]
            elif op.kind == "concat":
                needs = [self.places(reads)[i]]
            else:
                needs = [(k, i) for k in reads] if op.elementwise else self.places(reads)
            if all(place in self.known for place in needs):
                self.learn(number, [i])

    def backwards(self, number: int) -> None:
        node, reads, size = self.nodes[number]
        op: Any = node.op
        seen = [i for i in range(size) if self.has(number, i)]
        weight = matrix(op)
        if weight is not None:
            free = [j for j in range(len(weight[0])) if not self.has(reads[0], j)]
            self.learn(reads[0], determined([[weight[i][j] for j in free] for i in seen], free))
        elif op.kind == "select":
            self.learn(reads[0], [op.indices[i] for i in seen])
        elif op.kind == "concat":
            self.known |= {self.places(reads)[i] for i in seen}
        elif op.kind == "add":
            for i in seen:
                left = {k for k in reads if not self.has(k, i)}
                self.known |= {(k, i) for k in left} if len(left) == 1 else set()
        elif op.kind == "product":
            for k, other in (reads, reads[::-1]) if reads[0] != reads[1] else []:
                signs = self.signs(k)
                self.learn(other, [i for i in seen if self.has(k, i) and signs[i]])
        elif op.kind == "leaky_relu":
            self.learn(reads[0], [i for i in seen if np.broadcast_to(op.slope, size)[i] > 0])
        elif op.kind in RISING or (op.kind == "elu" and op.alpha > 0):
            self.learn(reads[0], seen)

    # --- signs: 1, -1, or 0 where nothing is known ------------------------------------------------------------------

    def signs(self, number: int) -> list[int]:
        return [sign(*ends) for ends in self.ranges(number)]

    def ranges(self, number: int) -> list[Ends]:
        """Ends as pairs of a number and 1 or -1 where values lie above or below it, 0 where they may reach it."""
        node, reads, size = self.nodes[number]
        op: Any = node.op
        positive: Ends = (F(0), 1), (INF, 0)
        fixed: dict[str, Ends] = {"sigmoid": ((F(0), 1), (F(1), -1)), "softmax": ((F(0), 1), (F(1), 0))}
        fixed |= dict.fromkeys(("exp", "softplus"), positive)
        fixed |= dict.fromkeys(("tanh", "erf", "softsign"), ((F(-1), 1), (F(1), -1)))
        fixed |= dict.fromkeys(("sin", "cos"), ((F(-1), 0), (F(1), 0)))
        if op.kind in fixed:
            return [fixed[op.kind]] * size
        if op.kind == "elu" and op.alpha > 0:
            return [((F(-op.alpha), 1), (INF, 0))] * size
        weight = matrix(op)
        if weight is not None:
            x = self.ranges(reads[0])
            bias = op.bias if hasattr(op, "indices") or op.kind == "affine" else op.affine.bias
            return [row_range(weight[i], F(float(bias[i])), x) for i in range(size)]
        if op.kind in ("select", "concat"):
            x = [entry for k in reads for entry in self.ranges(k)]
            return [x[int(i)] for i in (op.indices if op.kind == "select" else range(size))]
        if not op.elementwise or op.kind == "choose":
            return [((-INF, 0), (INF, 0))] * size
        return [joined(op, i, [self.ranges(k)[i] for k in reads]) for i in range(size)]

    # --- contractions ------------------------------------------------------------------------------------------------

    def contracts(self, total: int, start: int, norm: str, bounds: str) -> bool:
        node, reads, _ = self.nodes[total]
        if node.op.kind != "add" or start not in reads or not self.whole(total):
            return False
        given = {int(p.split("=")[0]): F(p.split("=")[1]) for p in bounds.split(",") if p}
        sums = [self.growth(k, start, norm, given) for k in reads if k != start]
        if any(value is None for value in sums) or sum(v for v in sums if v is not None) >= reads.count(start):
            return False
        self.learn(start, range(self.nodes[start][2]))
        return True

    def growth(self, number: int, start: int, norm: str, given: dict[int, F]) -> F | None:
        """A Lipschitz constant, a little larger than it need be in norm 2."""
        node, reads, _ = self.nodes[number]
        op: Any = node.op
        if number == start:
            return F(1)
        if self.whole(number):
            return F(0)
        below = [self.growth(k, start, norm, given) for k in reads]
        values = [v for v in below if v is not None]
        if not reads or len(values) < len(below):
            return None
        if not any(values):
            return F(0)
        weight = matrix(op)
        if weight is not None:
            length = norm_of(weight, norm, given.get(number))
            return None if length is None else length * values[0]
        if op.kind == "add":
            return sum(values, F(0))
        if op.kind == "concat":
            return {"inf": max(values), "1": sum(values, F(0)), "2": root(sum((v * v for v in values), F(0)))}[norm]
        if op.kind == "select":
            return values[0] * (1 if norm == "inf" else int(np.bincount(op.indices).max()))
        if op.kind == "leaky_relu":
            return values[0] * max(F(1), *(abs(F(float(v))) for v in np.ravel(op.slope)))
        if op.kind == "elu":
            return values[0] * max(F(1), abs(F(op.alpha)))
        return STEEP[op.kind] * values[0] if op.kind in STEEP else None


def matrix(op: Any) -> list[list[F]] | None:
    if op.kind in ("conv", "average_pool"):
        op = op.affine
    if op.kind != "affine":
        return None
    weight = op.weight.toarray() if hasattr(op.weight, "toarray") else op.weight
    return [[F(v) for v in row] for row in weight.tolist()]


def determined(rows: list[list[F]], names: list[int]) -> list[int]:
    """The unknowns that a linear system determines: reduced rows with one entry."""
    reduced: list[list[F]] = []
    for j in range(len(names)):
        pivot = next((row for row in rows if row[j]), None)
        if pivot is None:
            continue
        rows = [row for row in rows if row is not pivot]
        pivot = [v / pivot[j] for v in pivot]
        rows, reduced = (
            [[a - row[j] * b for a, b in zip(row, pivot, strict=True)] for row in t] for t in (rows, reduced)
        )
        reduced.append(pivot)
    single = [[j for j, v in enumerate(row) if v] for row in reduced]
    return [names[found[0]] for found in single if len(found) == 1]


def sign(low: End, high: End) -> int:
    return 1 if low > (0, 0) else -1 if high < (0, 0) else 0


def joined(op: Any, i: int, x: list[Ends]) -> Ends:
    """Of operations on single entries: order and corners."""
    (low, high), zero = x[0], (F(0), 0)
    if op.kind == "add":
        return row_range([F(1)] * len(x), F(0), x)
    if op.kind in ("max", "min"):
        best = max if op.kind == "max" else min
        return best(a for a, _ in x), best(b for _, b in x)
    if op.kind == "relu":
        return max(low, zero), max(high, zero)
    if op.kind == "abs":
        return max(low, negated(high), zero), max(high, negated(low), zero)
    if op.kind == "clip":
        for bound, best in ((op.low, max), (op.high, min)):
            if bound is not None:
                end = (F(float(np.broadcast_to(bound, i + 1)[i if len(bound) > 1 else 0])), 0)
                low, high = best(low, end), best(high, end)
        return low, high
    if op.kind == "square":
        low, high = max(low, negated(high), zero), max(high, negated(low), zero)
        return (low[0] * low[0], low[1]), (high[0] * high[0], high[1])
    if op.kind == "leaky_relu":
        return leaky(F(float(op.slope[i % len(op.slope)])), low, high)
    found = sign(*x[0])
    if op.kind == "product":
        found *= sign(*x[-1])
        if not any(abs(v) == INF for v, _ in (*x[0], *x[-1])):
            return corners(x[0], x[-1], found)
    elif op.kind != "reciprocal":
        found = 0
    return ((F(0), 1), (INF, 0)) if found > 0 else ((-INF, 0), (F(0), -1)) if found < 0 else ((-INF, 0), (INF, 0))


def leaky(slope: F, low: End, high: End) -> Ends:
    """Values at both ends and, if it lies between them, at 0: the function is monotone on both sides of it."""

    def at(end: End) -> End:
        turned = slope < 0 and end[0] < 0
        value = end[0] if end[0] > 0 else slope * end[0] if slope else F(0)
        return value, (0 if not slope and end[0] <= 0 else -end[1] if turned else end[1])

    ends = [at(low), at(high), *([(F(0), 0)] if low < (0, 0) < high else [])]
    return min((v, max(s, 0)) for v, s in ends), max((v, min(s, 0)) for v, s in ends)


def corners(x: Ends, y: Ends, found: int) -> Ends:
    products = [a * b for a, _ in x for b, _ in y]
    inside = all(s for _, s in x) or all(s for _, s in y)
    least, most = min(products), max(products)
    low = (least, int(inside if least else found > 0))
    high = (most, -int(inside if most else found < 0))
    return low, high


def negated(end: End) -> End:
    return -end[0], -end[1]


def row_range(row: list[F], bias: F, x: list[Ends]) -> Ends:
    terms = [(abs(w), *((low, high) if w > 0 else (negated(high), negated(low)))) for w, (low, high) in added(row, x)]
    low = bias + sum((w * a[0] for w, a, _ in terms), F(0)), max((a[1] for _, a, _ in terms), default=0)
    high = bias + sum((w * b[0] for w, _, b in terms), F(0)), min((b[1] for _, _, b in terms), default=0)
    return low, high


def added(row: list[F], x: list[Ends]) -> list[tuple[F, Ends]]:
    return [(w, ends) for w, ends in zip(row, x, strict=True) if w]


def norm_of(weight: list[list[F]], norm: str, bound: F | None) -> F | None:
    by_rows = max(sum(map(abs, row), F(0)) for row in weight)
    by_columns = max(sum(map(abs, column), F(0)) for column in zip(*weight, strict=True))
    if norm != "2":
        return by_rows if norm == "inf" else by_columns
    if bound is None:
        return root(by_rows * by_columns)
    names = range(len(weight[0]))
    gram = {(i, j): sum((row[i] * row[j] for row in weight), F(0)) for i in names for j in names}
    if all(sum((abs(gram[i, j]) for j in names), F(0)) <= bound * bound for i in names):
        return bound
    table = {(i, j): (bound * bound if i == j else F(0)) - gram[i, j] for i in names for j in names}
    return bound if positive(list(names), table) else None


def root(value: F) -> F:
    """A little more than the root."""
    found = F(float(value) ** 0.5 * (1 + 1e-15))
    assert found * found >= value
    return found
