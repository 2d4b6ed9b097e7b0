"""Injective by structure: step by step, all that a network computes is found from its output, and so its input.

An entry of a node is *known* if equal outputs of the network imply equal values of that entry. The output is known;
a rule says which entries follow from others:

* forwards, what is computed from known entries;
* the operand of an affine map, where known entries of its result determine it (`linear_systems`);
* in a sum, the only part that is not known; the part s of s + g(s), where g is a contraction (`contraction`);
* the operand of a strictly monotone function;
* in a product, the other factor beside one that is known and never 0 (`ranges`);
* the entries that a selection or a concatenation passes on.

So couplings, reversible blocks, permutations, squeezes, autoregressive maps, 1x1 convolutions and residual
contractions are found however they are written, and compositions and parallel stacks of them. If all inputs are known,
the network is injective on the whole space: no two different inputs have the same output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from ircert.ir.arrays import Mask, nonzeros
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Add, Affine, Concat, LinearImageOp, MaxPool, Select
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Elu, Erf, Sigmoid, Softplus, Softsign, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import LeakyRelu
from ircert.ir.ops.smooth import Log, Power, Product, Reciprocal, Sqrt
from ircert.limits import checkpoint
from ircert.structure.contraction import follows
from ircert.structure.linear_maps import affine
from ircert.structure.linear_systems import determined
from ircert.structure.range import Range
from ircert.structure.ranges import ranges
from ircert.structure.reading import Reading

MONOTONE = (Tanh, Sigmoid, Erf, Softplus, Softsign, Exp)
"""Functions that are strictly monotone everywhere."""
PARTIAL = (Log, Sqrt, Power)
"""… that are not defined everywhere: nothing is said about networks with them."""
OUTPUT = "what the network returns"
FORWARD = "computed from what is known"
LINEAR = "an affine map that is one-to-one in what is not known"
SUM = "the only part of a sum that is not known"
CONTRACTION = "the part s of a sum s + g(s) with a contraction g"
FUNCTION = "the operand of a strictly monotone function"
FACTOR = "a factor beside one that is known and never 0"
PASSED = "entries that are passed on"


@dataclass(frozen=True)
class Step:
    """Some entries of a node follow, by a rule, from what a node says (its operands, or the node that reads it)."""

    node: str
    rule: str
    source: str
    entries: int
    size: int

    def __str__(self) -> str:
        count = "" if self.entries == self.size else f"[{self.entries} of {self.size}]"
        return f"{self.node}{count}: {self.rule}, by {self.source}"


def is_partial(graph: Graph) -> bool:
    """Whether a network may have no value at some points."""
    if any(isinstance(node.op, PARTIAL) for node in graph.nodes):
        return True
    divisors = [node.operands[0] for node in graph.nodes if isinstance(node.op, Reciprocal)]
    found = ranges(graph) if divisors else {}
    return not all(found[name].never_zero.all() for name in divisors)


@dataclass
class Knowledge:
    """What follows from a network's output, and why: `steps`, in order."""

    graph: Graph
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known: dict[str, Mask] = {name: np.zeros(size, dtype=bool) for name, size in self.graph.sizes.items()}
        self._seen: dict[tuple[str, bool], tuple[int, ...]] = {}
        self.reading = Reading(self.graph)
        if not is_partial(self.graph):
            self._learn(self.graph.output, np.ones(self.graph.output_dim, dtype=bool), OUTPUT, self.graph.output)
            while self._swept() or self._contracted():
                checkpoint()

    @property
    def is_injective(self) -> bool:
        """Whether all inputs are known."""
        return bool(self.known[self.graph.input].all())

    @property
    def summary(self) -> str:
        """The rules that were used, and how often."""
        used = Counter(step.rule for step in self.steps if step.rule not in (OUTPUT, FORWARD, PASSED))
        return "; ".join(f"{rule} ({count} times)" if count > 1 else rule for rule, count in used.items())

    @cached_property
    def _ranges(self) -> dict[str, Range]:
        return ranges(self.graph)

    # --- sweeps ------------------------------------------------------------------------------------------------------

    def _swept(self) -> bool:
        backwards = self._backwards()
        return self._forwards() or backwards

    def _backwards(self) -> bool:
        learned = [self._apply(node, self._operands_of, forwards=False) for node in reversed(self.graph.nodes)]
        return any(learned)

    def _forwards(self) -> bool:
        learned = [self._apply(node, self._result_of, forwards=True) for node in self.graph.nodes]
        return any(learned)

    def _apply(self, node: Node, rule: Callable[[Node], bool], *, forwards: bool) -> bool:
        """A rule at a node, unless it was applied there and nothing is new since; whether it taught something."""
        state = tuple(int(self.known[name].sum()) for name in (node.name, *node.operands))
        if self._seen.get((node.name, forwards)) == state:
            return False
        self._seen[node.name, forwards] = state
        checkpoint()
        return rule(node)

    def _learn(self, name: str, entries: Mask, rule: str, source: str) -> bool:
        new = entries & ~self.known[name]
        if not new.any():
            return False
        self.known[name] = self.known[name] | new
        self.steps.append(Step(name, rule, source, int(new.sum()), len(new)))
        return True

    # --- forwards ----------------------------------------------------------------------------------------------------

    def _result_of(self, node: Node) -> bool:
        if not node.operands or self.known[node.name].all():
            return False
        computed = self.reading.computed(node, [self.known[name] for name in node.operands])
        return self._learn(node.name, computed, FORWARD, node.op.kind)

    # --- backwards ---------------------------------------------------------------------------------------------------

    def _operands_of(self, node: Node) -> bool:
        op, result = node.op, self.known[node.name]
        if not node.operands or not result.any() or all(self.known[name].all() for name in node.operands):
            return False
        if isinstance(op, Affine | LinearImageOp):
            (operand,), written = node.operands, affine(op)
            if written is None:
                return False
            found = determined(csr_array(nonzeros(written.weight)), result, self.known[operand])
            return self._learn(operand, found, LINEAR, node.name)
        if type(op) is Add:
            return self._in_sum(node)
        if type(op) is Concat:
            parts = Concat.slices([self.graph.sizes[name] for name in node.operands])
            pairs = zip(node.operands, parts, strict=True)
            learned = [self._learn(name, result[part], PASSED, node.name) for name, part in pairs]
            return any(learned)
        if type(op) is Select:
            found = np.zeros(self.graph.sizes[node.operands[0]], dtype=bool)
            found[op.indices[result]] = True
            return self._learn(node.operands[0], found, PASSED, node.name)
        if type(op) is Product:
            return self._in_product(node)
        if type(op) is MaxPool:  # a window that has one entry passes it on
            found = np.zeros(self.graph.sizes[node.operands[0]], dtype=bool)
            found[op.members[0][result & (op.members == op.members[0]).all(axis=0)]] = True
            return self._learn(node.operands[0], found, PASSED, node.name)
        if not op.elementwise:
            return False
        return self._learn(node.operands[0], result & _is_monotone(op, len(result)), FUNCTION, node.name)

    def _in_sum(self, node: Node) -> bool:
        """Of different operands one that is not known: a multiple of it is what is left."""
        names = list(dict.fromkeys(node.operands))
        unknown = np.array([~self.known[name] for name in names])
        single = self.known[node.name] & (unknown.sum(axis=0) == 1)
        pairs = zip(names, unknown, strict=True)
        learned = [self._learn(name, single & mine, SUM, node.name) for name, mine in pairs]
        return any(learned)

    def _contracted(self) -> bool:
        """Whether a residual block teaches something: norms take longer than all other rules."""
        sums = [node for node in reversed(self.graph.nodes) if type(node.op) is Add and self.known[node.name].all()]
        return any(self._in_residual_block(node) for node in sums)

    def _in_residual_block(self, node: Node) -> bool:
        fully = {name for name, known in self.known.items() if known.all()}
        for name in dict.fromkeys(node.operands):
            if name not in fully and follows(self.graph, node, name, fully):
                return self._learn(name, np.ones(self.graph.sizes[name], dtype=bool), CONTRACTION, node.name)
        return False

    def _in_product(self, node: Node) -> bool:
        first, second = node.operands
        if first == second:
            return False
        learned = False
        for factor, other in ((first, second), (second, first)):
            found = self.known[node.name] & self.known[factor] & self._ranges[factor].never_zero
            learned |= self._learn(other, found, FACTOR, node.name)
        return learned


def _is_monotone(op: Op, size: int) -> Mask:
    """Which entries of an operation on single numbers are strictly monotone functions of their operand."""
    if type(op) is LeakyRelu:
        return np.broadcast_to(np.asarray(op.slope > 0), size)
    strictly = type(op) in MONOTONE or (type(op) is Elu and op.alpha > 0)
    return np.full(size, strictly)
