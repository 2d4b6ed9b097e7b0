"""No network with a collision is called injective: traps made by hand, and graphs made at random."""

from __future__ import annotations

import numpy as np
import pytest

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
