from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import IrcertError, PassError
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.build import needed_nodes
from ircert.ir.evaluate import all_values
from ircert.ir.graph import Graph
from ircert.ir.ops import Abs
from ircert.passes.interval_bounds import IntervalBounds, bounds_of
from ircert.passes.pipeline import Pipeline
from ircert.programs.encodings.analyse import analyse
from ircert.testing import assert_preserves, graphs

NETWORK = ircert.load([([[1.0, -1.0], [0.5, 2.0]], [0.0, 4.0]), ([[1.0, 0.5]], None)])
FREE = np.full(2, np.inf)


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs(rich=False), st.sampled_from(["interval", "symbolic", "lp"]), st.sampled_from(["inf", "1", "2"]))
def test_preserves(graph: Graph, method: str, norm: str) -> None:
    assert_preserves(IntervalBounds((0.25,) * graph.input_dim, 0.5, norm, method=method), graph)  # type: ignore[arg-type]


@pytest.mark.rule("B-1", "IR-18")
@given(graphs(rich=False), st.sampled_from(["interval", "symbolic", "lp"]), st.sampled_from(["inf", "1", "2"]))
def test_exact_values_lie_inside(graph: Graph, method: str, norm: str) -> None:
    """At corners of the ball, in rationals."""
    center = (0.5,) * graph.input_dim
    made = IntervalBounds(center, 0.75, norm, method=method).run(graph).result  # type: ignore[arg-type]
    assert made.bounds is not None
    nodes = {node.name: node for node in made.nodes}
    for sign in (1.0, -1.0):
        corner = np.array(center)
        corner[0] += 0.75 * sign
        for name, low in made.bounds.low.items():
            values = Graph(needed_nodes(nodes, name), name).exact(corner)
            assert all(low <= values)
            assert all(values <= made.bounds.high[name])


@pytest.mark.rule("P-13")
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
def test_several_points_each_lie_in_the_ball(norm: str) -> None:
    pipeline = Pipeline.parse(f"dual-copy,interval-bounds{{center=[1, 0], radius=0.5, norm='{norm}', copies=2}}")
    made = pipeline.run(NETWORK)
    bounds = made.result.bounds
    assert bounds is not None
    rng = np.random.default_rng(1)
    order = {"inf": np.inf, "1": 1, "2": 2}[norm]
    offsets = rng.normal(size=(100, 2, 2))
    offsets *= 0.4999 / np.linalg.norm(offsets, ord=order, axis=2, keepdims=True)
    values = all_values(made.result, (np.array([1.0, 0.0]) + offsets).reshape(100, 4))
    for name, low in bounds.low.items():
        assert (low <= values[name]).all()
        assert (values[name] <= bounds.high[name]).all()


def test_they_are_what_the_analysis_finds() -> None:
    ball = Ball(np.array([0.5, 0.25]), 0.75, Norm.TWO, -FREE, np.array([1.0, np.inf]))
    made = IntervalBounds(method="lp").about(ball).run(NETWORK).result
    found, known = analyse(NETWORK, ball, "lp"), bounds_of(made)
    assert known.method == found.method
    for name in found.low:
        assert known.low[name].tolist() == found.low[name].tolist()
        assert known.high[name].tolist() == found.high[name].tolist()


def test_what_overflows_has_no_bounds() -> None:
    huge = ircert.load([([[1e300]], None), ([[1e300]], None)])
    run = Pipeline.parse("interval-bounds{center=[1], radius=0.5}").run(huge)
    assert run.notes == ("interval-bounds: `y` has no finite bounds on this ball",)
    assert "y" not in run.result.bounds.low
    assert bounds_of(run.result).high["y"].tolist() == [np.inf]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("", "it needs a ball; write interval-bounds{center=…, radius=…}"),
        ("{center=[0, 0]}", "it needs a ball"),
        (
            "{center=[0], radius=1}",
            "it is about 1 inputs; the graph has 2; write copies=2 (behind `dual-copy`), or a center of length 2",
        ),
        ("{center=[0, 0], radius=1, copies=2}", "the graph has 2; write no copies, or a center of length 1"),
        ("{center=[0, 0], radius=1, copies=3}", "write no copies, or a center of length 2 and no copies"),
        ("{center=[0, 0, 0], radius=1, copies=2}", "the graph has 2; write a center of length 1"),
        ("{center=[0, 0], radius=-1}", "a radius of at least 0"),
        ("{center=[0, 0], radius=1, norm=3}", "there is no norm 3"),
        ("{center=[0, 0], radius=1, domain=[[1, 1], [2, 2]]}", "its centre lies outside its box"),
        ("{center=[0, 0], radius=1, method=magic}", "`method` must be one of interval, symbolic, lp"),
    ],
)
def test_refusals(options: str, says: str) -> None:
    with pytest.raises(IrcertError) as caught:
        Pipeline.parse(f"interval-bounds{options}").run(NETWORK)
    assert says in str(caught.value)


@pytest.mark.rule("P-4", "P-7")
def test_it_wants_a_canonical_graph_and_prints() -> None:
    text = "interval-bounds{center=[0.5, 0.0], radius=1.0, norm='1', domain=[[0.0, -1.0], [1.0, 1.0]], method=lp}"
    assert str(Pipeline.parse(text)) == text
    build = ircert.Builder(1)
    with pytest.raises(PassError, match="run `canonicalize` before it"):
        Pipeline.parse("interval-bounds{center=[0], radius=1}").run(build.graph(build.node(Abs(), "x")))
