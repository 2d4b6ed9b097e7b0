from __future__ import annotations

import pytest
from hypothesis import given

import ircert
from ircert.errors import PassError, UnsupportedModel
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs
from ircert.ir.ops.curves import Gelu, Tanh
from ircert.ir.ops.smooth import Exp
from ircert.passes.lower_rich import LowerRich
from ircert.testing import assert_preserves, graphs


@pytest.mark.rule("P-1", "P-3")
@given(graphs())
def test_preserves(graph: Graph) -> None:
    once = assert_preserves(LowerRich(), graph)
    assert all(node.op.core for node in once.nodes)


def test_curves_stay_and_others_are_refused() -> None:
    build = ircert.Builder(2)
    curved = build.node(Gelu(), build.node(Abs(), build.node(Tanh(), build.input)))
    graph = build.graph(curved)
    lowered = ircert.Pipeline.parse("lower-rich")(graph)
    assert [node.op.kind for node in lowered.nodes if not node.op.core] == ["tanh", "gelu"]
    assert LowerRich().run(lowered).result is lowered
    assert (lowered([0.5, -2.0]) == graph([0.5, -2.0])).all()
    with pytest.raises(PassError, match=r"canonical, but .* is tanh"):
        ircert.Pipeline.parse("lower-rich,fold-residual")(graph)
    with pytest.raises(UnsupportedModel, match="exp is not piecewise linear"):
        LowerRich().run(build.graph(build.node(Exp(), curved)))
