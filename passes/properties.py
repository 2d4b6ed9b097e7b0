"""Properties of graphs that passes require and ensure; the pipeline checks them, so they cannot rot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Curve, LinearImageOp, Op, Relu, is_smooth


@dataclass(frozen=True)
class Property:
    """A predicate on graphs: `broken_by` returns what breaks it, or None; the pass `pass_name` establishes it.

    beyond: operations that this pass cannot lower
    """

    name: str
    broken_by: Callable[[Graph], str | None]
    pass_name: str
    beyond: Callable[[Op], bool] = lambda op: False

    def remedy(self, graph: Graph) -> str:
        """What to do about a graph that breaks it."""
        lost = next((node.op.kind for node in graph.nodes if self.beyond(node.op)), None)
        if lost is None:
            return f"run `{self.pass_name}` before it"
        return f"no pass lowers {lost}, so run it before that comes in, or leave it out"


def _not_piecewise_linear(op: Op) -> bool:
    return not op.piecewise_linear


def _neither_linear_nor_curve(op: Op) -> bool:
    return not (op.piecewise_linear or is_smooth(op))


def _non_core(graph: Graph) -> str | None:
    return next((f"`{node.name}` is {node.op.kind}" for node in graph.nodes if not node.op.core), None)


def _rich(graph: Graph) -> str | None:
    rich = (node for node in graph.nodes if not (node.op.core or isinstance(node.op, Curve)))
    return next((f"`{node.name}` is {node.op.kind}" for node in rich), None)


def _image_map(graph: Graph) -> str | None:
    found = (node for node in graph.nodes if isinstance(node.op, LinearImageOp))
    return next((f"`{node.name}` is {node.op.kind}" for node in found), None)


def _not_plain(graph: Graph) -> str | None:
    """A plain MLP is x -> affine -> (relu -> affine)*, each node reading the one before."""
    if len(graph.nodes) % 2:
        return "it does not alternate between affine and relu"
    for k, node in enumerate(graph.nodes[1:], start=1):
        wanted = Affine if k % 2 else Relu
        if not isinstance(node.op, wanted):
            return f"`{node.name}` is {node.op.kind} where {wanted.kind} was expected"
        if node.operands != (graph.nodes[k - 1].name,):
            return f"`{node.name}` does not read the node before it"
    return None if graph.output == graph.nodes[-1].name else "its output is not its last node"


def _unbounded(graph: Graph) -> str | None:
    """Every relu needs the bounds of what it reads."""
    if graph.bounds is None:
        return "it carries no bounds"
    known = graph.bounds.low
    relus = (node for node in graph.nodes if isinstance(node.op, Relu))
    return next((f"`{n.operands[0]}` has no bounds" for n in relus if n.operands[0] not in known), None)


ALL = {
    known.name: known
    for known in (
        Property("bounded", _unbounded, "interval-bounds"),
        Property("canonical", _non_core, "canonicalize", _not_piecewise_linear),
        Property("lowered", _rich, "lower-rich", _neither_linear_nor_curve),
        Property("no-image-maps", _image_map, "lower-conv"),
        Property("plain-mlp", _not_plain, "fold-residual"),
    )
}
