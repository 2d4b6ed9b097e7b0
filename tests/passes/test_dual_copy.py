from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given

import ircert
from ircert.errors import PassError
from ircert.ir.graph import Graph
from ircert.passes.base import GraphPass, Rewrite
from ircert.passes.dual_copy import DualCopy
from ircert.passes.interval_bounds import IntervalBounds
from ircert.passes.pipeline import Pipeline
from ircert.testing import assert_preserves, graphs, sample_points

FOLD = ircert.load(
    [([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], None), ([[1.0, 1.0, 0, 0], [0, 0, 1, -1]], None)]
)


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs())
def test_preserves(graph: Graph) -> None:
    assert_preserves(DualCopy(), graph)
    assert_preserves(DualCopy("pseudo", tuple(np.linspace(-1, 1, graph.input_dim).tolist())), graph)
    assert_preserves(DualCopy("transform", other=graph.select([0])), graph)


@pytest.mark.rule("P-14")
def test_a_collision_is_a_zero_of_the_first_outputs() -> None:
    """|x0| has the same value at 1/3 and -1/3; the differences say so exactly."""
    both = Pipeline.parse("dual-copy").run(FOLD)
    pair = [Fraction(1, 3), 1, Fraction(-1, 3), 1]
    assert both.result.exact(pair).tolist() == [0, 0, Fraction(2, 3), 0]
    assert both.lift.point(np.array(pair, dtype=object)).tolist() == [pair[:2], pair[2:]]
    alone = Pipeline.parse("dual-copy{problem=pseudo, center=[1, 1]}").run(FOLD)
    assert alone.result.exact([-1, 1]).tolist() == [0, 0, -2, 0]
    assert alone.lift.point(np.array([-1.0, 1.0])).tolist() == [[-1.0, 1.0], [1.0, 1.0]]
    other = DualCopy("transform", other=ircert.load([([[1.0, 1.0]], None)])).run(FOLD).result
    assert other.exact([1, 0, -1, 0]).tolist() == [0, 0, 2]


@pytest.mark.rule("P-2")
def test_pairs_are_mapped_back_through_earlier_passes() -> None:
    run = Pipeline.parse("fix-inputs{values={1: 0.5}},dual-copy").run(FOLD)
    assert run.lift.point(np.array([1.0, -1.0])).tolist() == [[1.0, 0.5], [-1.0, 0.5]]
    assert run.lift.reads(FOLD.exact)(np.array([1.0, -1.0])).tolist() == run.result.exact([1, -1]).tolist() == [0, 0, 2]


@pytest.mark.rule("P-14")
def test_another_runtime_reads_it(tmp_path: Path) -> None:
    both = DualCopy().run(FOLD).result
    ircert.save(both, tmp_path / "both.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "both.onnx")
    points = sample_points(both)
    kind = session.get_inputs()[0]
    given = points.astype(np.float64 if "double" in kind.type else np.float32)
    found = np.concatenate([session.run(None, {kind.name: row[None]})[0] for row in given])
    assert np.allclose(found, both(points), rtol=1e-5, atol=1e-5)
    again = ircert.load(tmp_path / "both.onnx")
    assert again.exact(points[3]).tolist() == both.exact(points[3]).tolist()


@pytest.mark.rule("P-13")
@given(graphs(rich=False))
def test_bounds_hold_at_both_points(graph: Graph) -> None:
    """What the copies carry are bounds of the product of both balls, checked by values."""
    center = (0.5,) * graph.input_dim
    made = Pipeline((IntervalBounds(center, 0.75, 1), DualCopy())).run(graph).result
    assert made.bounds is not None
    assert made.bounds.region.copies == 2
    rng = np.random.default_rng(0)
    for _ in range(5):
        offsets = (
            rng.dirichlet(np.ones(graph.input_dim), size=2) * 0.75 * rng.choice([-1, 1], size=(2, graph.input_dim))
        )
        pair = (np.array(center) + 0.999 * offsets).ravel()
        for name, low in made.bounds.low.items():
            part = ircert.Graph([n for n in made.nodes if n.name in _needed(made, name)], name)
            values = part.exact(pair)
            assert all(low <= values)
            assert all(values <= made.bounds.high[name])


def _needed(graph: Graph, name: str) -> set[str]:
    found, pending = {graph.input, name}, [name]
    while pending:
        operands = graph[pending.pop()].operands
        pending += [o for o in operands if o not in found]
        found |= set(operands)
    return found


def test_the_difference_of_outputs_is_bounded() -> None:
    made = Pipeline.parse("interval-bounds{center=[0,0], radius=1, method=interval},dual-copy").run(FOLD).result
    assert made.bounds is not None
    assert made.bounds.low["y.d"] == pytest.approx([-2, -2])
    assert made.bounds.high["x.d"] == pytest.approx([2, 2])


@pytest.mark.rule("P-13")
def test_a_pass_that_does_not_keep_bounds_loses_them() -> None:
    class Claims(GraphPass):
        """Passes on the bounds of another graph, without saying that they hold."""

        name = "claims"

        def run(self, source: Graph) -> Rewrite[Graph]:
            return Rewrite(ircert.load([([[2.0, 0.0]], None)]).with_bounds(source.bounds))

    first = IntervalBounds((0.0, 0.0), 1.0).run(ircert.load([([[1.0, 0.0]], None)])).result
    assert first.bounds is not None
    assert Pipeline((Claims(),)).run(first).result.bounds is None
    unchanged = Pipeline.parse("canonicalize,eliminate-zeros").run(first)
    assert unchanged.result is first


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"problem": "pseudo"}, "`pseudo` needs its centre"),
        ({"center": (0.0, 0.0)}, "`local` takes no centre"),
        ({"problem": "pseudo", "center": (0.0,)}, "the centre has 1 coordinates, the graph 2"),
        ({"problem": "transform"}, "`transform` needs another network; other=… in Python, --other on the command"),
        ({"other": FOLD}, "`local` takes no other network"),
        ({"problem": "transform", "other": ircert.load([([[1.0]], None)])}, "the other network has 1 coordinates"),
    ],
)
def test_refusals(options: dict[str, object], says: str) -> None:
    with pytest.raises(PassError) as caught:
        DualCopy(**options).run(FOLD)  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_the_other_network_is_not_part_of_the_text() -> None:
    assert str(Pipeline((DualCopy("transform", other=FOLD),))) == "dual-copy{problem=transform}"
