from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import ircert
from ircert.errors import PassError, UnsupportedModel
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs, Product
from ircert.ir.ops.curves import Gelu, Sigmoid, Tanh
from ircert.ir.ops.smooth import Log
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
    with pytest.raises(UnsupportedModel, match="log is not piecewise linear"):
        LowerRich().run(build.graph(build.node(Log(), curved)))


@pytest.mark.rule("IR-21", "IR-13")
def test_products_become_squares_exactly() -> None:
    """Factors of very different sizes are measured in powers of two."""
    build, rng = ircert.Builder(2), np.random.default_rng(0)
    a, b = (build.affine(build.input, size * rng.normal(size=(3, 2)), rng.normal(size=3)) for size in (1e-4, 1e3))
    graph = build.graph(build.concat(build.node(Product(), a, b), build.node(Product(), a, a)))
    lowered = LowerRich().run(graph).result
    assert LowerRich().run(lowered).result is lowered
    assert {node.op.kind for node in lowered.nodes if not node.op.core} == {"square"}
    for point in ([0, 0], [Fraction(1, 3), -7], [1e-200, 1e100]):
        assert lowered.exact(point).tolist() == graph.exact(point).tolist()
    gate = build.graph(build.node(Product(), build.node(Sigmoid(), a), b))
    assert np.allclose(LowerRich().run(gate).result([0.3, 0.2]), gate([0.3, 0.2]), rtol=1e-12)
