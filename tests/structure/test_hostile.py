"""No network with a collision is called injective, by the search or by the checker: traps made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.certificates.structure import steps_to
from ircert.checker.structure import Known
from ircert.ir.graph import Graph
from ircert.structure.known import Knowledge
from tests.structure.hostile import Trap, traps

TRAPS = traps()


def collide(trap: Trap) -> bool:
    """In exact arithmetic, or, where there are curves, in floats that are far from their ends."""
    graph: Graph = trap.graph
    if all(node.op.piecewise_linear for node in graph.nodes):
        return bool((graph.exact(trap.x) == graph.exact(trap.y)).all())
    return bool(np.allclose(graph(trap.x), graph(trap.y), rtol=1e-15, atol=0.0))


def test_there_are_many() -> None:
    assert len(TRAPS) >= 200


@pytest.mark.rule("ST-7")
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name.replace(" ", "-"))
def test_no_trap_is_called_injective(trap: Trap) -> None:
    assert not np.array_equal(trap.x, trap.y)
    assert collide(trap)
    assert not Knowledge(trap.graph).is_injective


@pytest.mark.rule("C-21")
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name.replace(" ", "-"))
def test_no_steps_persuade_the_checker(trap: Trap) -> None:
    """A certificate may list any steps; all that there are do not lead to all inputs of a trap."""
    known = steps_to(trap.graph, None, Knowledge(trap.graph))
    nodes = known.steps.steps
    sums = [(i, k) for i, step in enumerate(nodes) if step.kind == "add" for k in sorted(set(step.operands))]
    tokens = [*(f"<{i}" for i in reversed(range(len(nodes)))), *(f">{i}" for i in range(len(nodes)))]
    tokens += [f"~{i}:{k}:{norm}" for i, k in sums for norm in ("inf", "1", "2")]
    before = None
    while before != (before := [len(entries) for entries in known.unknown]):
        for token in tokens:
            known.take(token)
    partial = Known(known.claim).follow([]) is not None
    assert partial or not known.is_enough
