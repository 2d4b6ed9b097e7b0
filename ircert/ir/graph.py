"""The graph: frozen named nodes, one input, one output, checked at birth."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ircert.ir.arrays import Array
from ircert.ir.ops import Input, Op

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    import networkx as nx

    from ircert.ir.node_bounds import NodeBounds


SHOWN = 20
"""Nodes that a notebook shows."""


@dataclass(frozen=True)
class Node:
    """A named operation applied to named operands."""

    name: str
    op: Op
    operands: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "operands", tuple(self.operands))

    def __repr__(self) -> str:
        return f"<ircert.Node {self.name} = {self.op.kind}({', '.join(self.operands)})>"


class Graph:
    """A function from R^input_dim to R^output_dim as a directed acyclic graph of nodes.

    Construction sorts the nodes (operands first) and raises GraphError unless every rule of `spec/ir.md` holds. A
    graph never changes; equality ignores names, storage and bounds: it compares the computation, number for number.

    bounds: what is known of its nodes' values on a set of inputs, or None; a graph made from another one has none
    """

    __slots__ = ("__dict__", "bounds", "nodes", "output", "sizes")

    nodes: tuple[Node, ...]
    output: str
    sizes: Mapping[str, int]
    bounds: NodeBounds | None

    def __init__(self, nodes: Iterable[Node], output: str, bounds: NodeBounds | None = None) -> None:
        from ircert.ir.verify import verified

        ordered, sizes = verified(tuple(nodes), output)
        object.__setattr__(self, "nodes", ordered)
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "bounds", bounds)
        if bounds is not None:
            bounds.check(self)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Graph is frozen: `{name}` cannot be set; build a new graph instead")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Graph is frozen: `{name}` cannot be deleted")

    def __reduce__(self) -> tuple[object, ...]:
        return (Graph, (self.nodes, self.output, self.bounds))

    def with_bounds(self, bounds: NodeBounds | None) -> Graph:
        """The same graph with other bounds; itself if it has none and is given none."""
        return self if bounds is self.bounds else Graph(self.nodes, self.output, bounds)

    # --- structure -------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Node:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def _by_name(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def input(self) -> str:
        """The name of the input node."""
        return next(node.name for node in self.nodes if isinstance(node.op, Input))

    @property
    def input_dim(self) -> int:
        """The number of inputs."""
        return self.sizes[self.input]

    @property
    def output_dim(self) -> int:
        """The number of outputs."""
        return self.sizes[self.output]

    @cached_property
    def consumers(self) -> Mapping[str, tuple[str, ...]]:
        """For each node, the nodes that read it, once each, in order."""
        found: dict[str, dict[str, None]] = {node.name: {} for node in self.nodes}
        for node in self.nodes:
            for operand in node.operands:
                found[operand][node.name] = None
        return MappingProxyType({name: tuple(readers) for name, readers in found.items()})

    def networkx(self) -> nx.MultiDiGraph:
        """A networkx view for traversal and drawing: nodes carry `op` and `size`, edges the operand's position."""
        import networkx as nx

        view: nx.MultiDiGraph = nx.MultiDiGraph()
        for node in self.nodes:
            view.add_node(node.name, op=node.op, size=self.sizes[node.name])
        for node in self.nodes:
            view.add_edges_from((operand, node.name, k) for k, operand in enumerate(node.operands))
        return nx.freeze(view)

    # --- identity --------------------------------------------------------------------------------------------------

    @cached_property
    def sha256(self) -> str:
        """A digest of the computation: the same for any names, node order and array storage."""
        number = {self.input: 0}
        digests = [self[self.input].op.fingerprint]
        for node in _operands_first(self):
            operands = [number[operand] for operand in node.operands]
            number[node.name] = len(number)
            digests.append(node.op.fingerprint + repr(operands).encode())
        return hashlib.sha256(b"\n".join(digests) + repr(number[self.output]).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Graph) and self.sha256 == other.sha256)

    def __hash__(self) -> int:
        return hash(self.sha256)

    # --- evaluation ------------------------------------------------------------------------------------------------

    def __call__(self, x: ArrayLike) -> Array:
        """float64 evaluation at one point (n,) or a batch (N, n)."""
        from ircert.ir.evaluate import evaluate

        return evaluate(self, x)

    def exact(self, x: ArrayLike | Sequence[Any]) -> NDArray[np.object_]:
        """Evaluation in exact rationals (an object array of Fraction) at one point or a batch."""
        from ircert.ir.evaluate import evaluate_exactly

        return evaluate_exactly(self, x)

    def enclosure(self, x: ArrayLike | Sequence[Any], bits: int = 128) -> NDArray[np.object_]:
        """Balls that hold the real outputs at one point (an object array of `flint.arb`), computed with so many bits.

        For all operations that evaluate exactly, and for curves (tanh, gelu, …).
        """
        from ircert.ir.enclosure import enclosed

        return enclosed(self, np.asarray(x, dtype=object).tolist(), bits)

    @cached_property
    def _exact_points(self) -> dict[tuple[Fraction, ...], list[Fraction]]:
        """Points of which the exact outputs are known: the last ones asked for."""
        return {}

    # --- text ------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        from ircert.ir.printer import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        """The graph in a notebook: its nodes, as far as somebody reads them."""
        rows = [
            f"<tr><td>{escape(node.name)}</td><td>{escape(node.op.kind)}</td>"
            f"<td>{escape(', '.join(node.operands))}</td><td>{self.sizes[node.name]}</td></tr>"
            for node in self.nodes[:SHOWN]
        ]
        more = f"<p>… and {len(self.nodes) - SHOWN} more</p>" if len(self.nodes) > SHOWN else ""
        head = "<tr><th>node</th><th>operation</th><th>of</th><th>length</th></tr>"
        return f"<p><code>{escape(repr(self))}</code></p><table>{head}{''.join(rows)}</table>{more}"

    def __repr__(self) -> str:
        return (
            f"<ircert.Graph {self.input_dim} -> {self.output_dim}, {len(self.nodes)} nodes, sha256 {self.sha256[:12]}>"
        )

    # --- shorthand for rewrites (the only place where the IR reaches for the passes) -------------------------------

    def fix(self, values: Mapping[int, float]) -> Graph:
        """Bind some inputs to numbers (pass `fix-inputs`): a graph in the remaining coordinates, in their order."""
        from ircert.passes.fix_inputs import FixInputs

        return FixInputs(dict(values)).run(self).result

    def select(self, outputs: Sequence[int]) -> Graph:
        """Keep these outputs, in this order (pass `select-outputs`), and only what they need."""
        from ircert.passes.select_outputs import SelectOutputs

        return SelectOutputs(tuple(outputs)).run(self).result

    def then(self, after: Graph) -> Graph:
        """The composition after(self(x))."""
        from ircert.ir.compose import compose

        return compose(self, after)


def _operands_first(graph: Graph) -> Iterator[Node]:
    """The nodes behind the input, depth first from the output, operands in their order: the same for any node order."""
    done, pending = {graph.input}, [graph.output]
    while pending:
        node = graph[pending[-1]]
        if node.name in done:  # first of all: a node may wait here as often as others name it
            pending.pop()
            continue
        missing = [name for name in node.operands if name not in done]
        pending += reversed(missing)
        if not missing:
            done.add(node.name)
            yield node
