from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import PassError
from ircert.ir.graph import Graph
from ircert.passes.fix_inputs import FixInputs
from ircert.testing import assert_preserves, graphs, numbers


@pytest.mark.rule("P-1", "P-2", "P-3", "P-6")
@given(graphs(), st.data())
def test_preserves(graph: Graph, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, graph.input_dim - 1), max_size=graph.input_dim - 1))
    values = {i: data.draw(st.one_of(numbers("dyadic"), numbers("float64"))) for i in chosen}
    fixed = assert_preserves(FixInputs(values), graph)
    assert fixed.input_dim == graph.input_dim - len(values)
    assert fixed == graph.fix(values)


@pytest.mark.rule("P-2")
def test_points_are_lifted_exactly_alone_and_in_batches() -> None:
    graph = ircert.load([([[1.0, 2.0, 3.0, 4.0]], None)])
    lift = FixInputs({2: 0.1, 0: -1.0}).run(graph).lift
    assert lift.point(np.array([5.0, 7.0])).tolist() == [-1.0, 5.0, 0.1, 7.0]
    assert lift.point(np.array([[5.0, 7.0], [0.0, 1.0]])).tolist() == [[-1.0, 5.0, 0.1, 7.0], [-1.0, 0.0, 0.1, 1.0]]
    assert lift.point(np.array([5, 7])).tolist() == [-1.0, 5.0, 0.1, 7.0]
    assert lift.point(np.array([5, 7], dtype=np.float32))[2] == 0.1
    exact = lift.point(np.array([Fraction(1, 3), Fraction(2)], dtype=object))
    assert all(isinstance(v, Fraction) for v in exact)
    assert graph.exact(exact).tolist() == [Fraction(-1) + Fraction(2, 3) + 3 * Fraction(0.1) + 8]


def test_fixing_in_two_steps_is_fixing_at_once() -> None:
    rng = np.random.default_rng(0)
    graph = ircert.load([(rng.standard_normal((4, 3)), rng.standard_normal(4)), (rng.standard_normal((2, 4)), None)])
    twice, once = graph.fix({2: 2.1}).fix({0: 0.7}), graph.fix({0: 0.7, 2: 2.1})
    assert twice.exact(["1/3"]).tolist() == once.exact(["1/3"]).tolist()


def test_the_authors_network_with_its_parameter_fixed(reference_data: Path) -> None:
    """b = 2.1 rounds into no bias: the exact values are those of the three-input network."""
    folder = reference_data / "brusselator"
    layers = [(np.loadtxt(folder / f"w{k}.txt").T, np.loadtxt(folder / f"b{k}.txt")) for k in (1, 2, 3)]
    network = ircert.load(layers)
    fixed = network.fix({2: 2.1})
    x = [1.96433, 1.24951]
    assert fixed.exact(x).tolist() == network.exact([*x, 2.1]).tolist()
    assert (fixed.input_dim, fixed.output_dim) == (2, 2)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({3: 1.0}, "no input 3; this graph has inputs 0 to 2"),
        ({-1: 1.0}, "no input -1"),
        ({0: 1.0, 1: 1.0, 2: 1.0}, "all inputs are fixed"),
        ({0: float("nan")}, "cannot be fixed to nan"),
        ({0: float("inf")}, "cannot be fixed to inf"),
        ({0: "1"}, "cannot be fixed to '1'"),
        ({0: Fraction(1, 3)}, "1/3 is no float64 number; if the nearest one is meant"),
        ({0: 2**53 + 1}, "cannot be fixed"),
        ({"x": 1.0}, "numbered 0, 1"),
        ({0.5: 1.0}, "numbered 0, 1"),
    ],
)
def test_wrong_values(values: dict[Any, Any], says: str) -> None:
    graph = ircert.load([([[1.0, 2.0, 3.0]], None)])
    with pytest.raises(PassError) as caught:
        graph.fix(values)
    assert says in str(caught.value)
