"""Generated networks reach what makes passes fail."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import ircert
from ircert.ir.graph import Graph, Node
from ircert.ir.ops import Affine, Relu
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.properties import ALL as PROPERTIES
from ircert.passes.rebuilding import rebuild
from ircert.testing import assert_preserves, graphs, mlps, residual_networks


@given(mlps())
def test_mlps_are_plain(graph: Graph) -> None:
    assert PROPERTIES["plain-mlp"].broken_by(graph) is None


class FusesInFloats(GraphPass):
    """Multiplies affine maps out in floats, as a careless third party would."""

    name = "fuses-in-floats"

    def run(self, source: Graph) -> Rewrite[Graph]:
        def rule(build: ircert.Builder, node: Node, operands: tuple[str, ...]) -> str | None:
            inner = build.nodes[operands[0]]
            if not (isinstance(node.op, Affine) and isinstance(inner.op, Affine)):
                return None
            bias = node.op.weight @ inner.op.bias + node.op.bias
            return build.affine(inner.operands[0], node.op.weight @ inner.op.weight, bias)

        return Rewrite(rebuild(source, rule))


class ForgetsReluWithoutBias(GraphPass):
    """Takes relu(W x) for W x."""

    name = "forgets-relu-without-bias"

    def run(self, source: Graph) -> Rewrite[Graph]:
        def rule(build: ircert.Builder, node: Node, operands: tuple[str, ...]) -> str | None:
            inner = build.nodes[operands[0]].op
            return (
                operands[0]
                if isinstance(node.op, Relu) and isinstance(inner, Affine) and not inner.bias.any()
                else None
            )

        return Rewrite(rebuild(source, rule))


@pytest.mark.parametrize("broken", [FusesInFloats(), ForgetsReluWithoutBias()])
def test_a_hundred_graphs_find_a_wrong_pass(broken: GraphPass) -> None:
    @settings(max_examples=100, database=None, derandomize=True, phases=[Phase.generate])
    @given(graphs())
    def check(graph: Graph) -> None:
        assert_preserves(broken, graph)

    with pytest.raises(AssertionError, match="changed the value"):
        check()


def drawn(strategy: st.SearchStrategy[Graph], count: int) -> list[Graph]:
    found: list[Graph] = []

    @settings(max_examples=count, database=None, derandomize=True, phases=[Phase.generate])
    @given(strategy)
    def collect(graph: Graph) -> None:
        found.append(graph)

    collect()
    return found


def share(found: list[Graph], holds: Callable[[Graph], bool]) -> float:
    return sum(holds(graph) for graph in found) / len(found)


@pytest.mark.parametrize(("count", "sums"), [(200, 0.2), pytest.param(800, 0.3, marks=pytest.mark.slow)])
def test_graphs_are_not_trivial(count: int, sums: float) -> None:
    """What most passes need to meet must be drawn often, or property tests test nothing.

    The first graphs drawn are simple ones, and shares vary with the constants that hypothesis finds in the code: with
    many they settle.
    """

    def has(*kinds: str) -> Callable[[Graph], bool]:
        return lambda graph: all(any(node.op.kind == kind for node in graph.nodes) for kind in kinds)

    def changed_by(name: str) -> Callable[[Graph], bool]:
        pipeline = ircert.Pipeline.parse(name)
        return lambda graph: pipeline(graph) is not graph

    core = drawn(graphs(rich=False), count)
    assert share(core, lambda graph: len(graph) >= 4) > 0.5
    assert share(core, has("affine", "relu")) > 0.4
    assert share(core, has("add")) > sums
    for name in ("fuse-affine", "eliminate-zeros", "fold-residual"):
        assert share(core[::3], changed_by(name)) > 0.3, name  # of the first and the last ones
    assert share(drawn(graphs(), count // 3), changed_by("canonicalize")) > 0.3
    assert share(drawn(residual_networks(), count // 4), changed_by("fold-residual")) > 0.9


def exists(strategy: object, what: object) -> bool:
    try:
        find(strategy, what, settings=settings(max_examples=3000, database=None, phases=[Phase.generate]))  # type: ignore[arg-type]
    except NoSuchExample:
        return False
    return True


@pytest.mark.parametrize(
    "kind", ["leaky_relu", "abs", "max", "min", "clip", "conv", "average_pool", "max_pool", "select"]
)
def test_graphs_reach_every_operation(kind: str) -> None:
    assert exists(graphs(), lambda g: any(node.op.kind == kind for node in g.nodes))


def test_strategies_reach_what_makes_passes_fail() -> None:
    """Full mantissas, shared nodes, skips, pruned and duplicate rows."""

    def full_mantissa(g: Graph) -> bool:
        return any(isinstance(n.op, Affine) and bool((n.op.bias * 2.0**20 % 1).any()) for n in g.nodes)

    def shared(g: Graph) -> bool:
        return any(len(readers) > 1 for readers in g.consumers.values())

    assert exists(mlps(), full_mantissa)
    assert exists(graphs(), shared)
    assert exists(residual_networks(), shared)


WITHOUT_HYPOTHESIS = """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "hypothesis" else real(name, *rest)
import ircert
ircert.testing
"""


def test_the_extra_is_named_when_hypothesis_is_missing() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT_HYPOTHESIS], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "pip install 'ircert[testing]'" in run.stderr
