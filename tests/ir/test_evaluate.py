from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.errors import PointError
from ircert.ir import evaluate as evaluation
from ircert.ir import rational
from ircert.ir.evaluate import all_values
from ircert.ir.graph import Graph
from ircert.ir.ops import Clip, LeakyRelu, Max
from ircert.testing import graphs, mlps, points

NETWORK = ircert.load([([[1.0, -1.0], [0.5, 2.0]], [0.0, 1.0]), ([[1.0, 3.0]], [0.25])])


@pytest.mark.rule("IR-11")
def test_exact_values_are_fractions_whatever_the_coordinates() -> None:
    for x in ([1, 2], [1.0, 2.0], ["1", "2"], [Fraction(1), np.float32(2)], np.array([1.0, 2.0])):
        assert NETWORK.exact(x).tolist() == [Fraction(67, 4)]
    assert NETWORK.exact(["1/3", Fraction(1, 7)]).tolist() == [Fraction(4, 21) + 3 * Fraction(61, 42) + Fraction(1, 4)]
    batch = NETWORK.exact([[1, 2], ["1/3", 0]])
    assert batch.shape == (2, 1)
    assert type(batch[0, 0]) is Fraction


@pytest.mark.rule("IR-11", "IR-12")
@given(graphs(), st.data())
def test_float_and_exact_evaluation_agree(graph: Graph, data: st.DataObject) -> None:
    x = data.draw(points(graph))
    exact = [float(v) for v in graph.exact(x)]
    # The error of a float evaluation is relative to the numbers on the way, not to the result.
    scale = 1 + max(np.abs(v).max() for v in all_values(graph, x).values())
    assert np.allclose(graph(x), exact, rtol=0, atol=1e-9 * scale)


@pytest.mark.rule("IR-11")
@given(mlps(), st.data())
def test_exact_values_are_those_of_an_independent_evaluation(graph: Graph, data: st.DataObject) -> None:
    """Plain Fractions and loops, from the printed numbers."""
    x = data.draw(points(graph))
    current = [Fraction(v) for v in x.tolist()]
    for node in graph.nodes[1:]:
        if node.op.kind == "relu":
            current = [max(Fraction(0), v) for v in current]
        else:
            weight: Any = node.op.weight  # type: ignore[attr-defined]
            rows = (weight if isinstance(weight, np.ndarray) else weight.toarray()).tolist()
            bias = node.op.bias.tolist()  # type: ignore[attr-defined]
            current = [
                sum((Fraction(w) * v for w, v in zip(r, current, strict=True)), Fraction(b))
                for r, b in zip(rows, bias, strict=True)
            ]
    assert graph.exact(x).tolist() == current


@pytest.mark.rule("IR-11")
@pytest.mark.parametrize("package", ["gmpy2", "flint", None])
def test_every_integer_package_gives_the_same(package: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rational, "find_spec", lambda name: name == package)
    rational.integer_type.cache_clear()
    try:
        kind = rational.integer_type()
        assert getattr(kind, "__module__", "").split(".")[0] == (package or "builtins")
        network = ircert.parse(str(NETWORK))  # a new graph: an operation remembers its integers
        x, y = Fraction(1, 3), Fraction(0.1)
        assert network.exact(["1/3", 0.1]).tolist() == [(x - y) + 3 * (x / 2 + 2 * y + 1) + Fraction(1, 4)]
        assert all(type(v) is Fraction for v in network.exact([1, 2]))
        build = ircert.Builder(2)
        clipped, leaky = Clip(np.array([0.1]), np.array([0.7])), LeakyRelu(np.array([0.3]))
        bounded = build.graph(build.node(Max(), build.node(clipped, build.input), build.node(leaky, build.input)))
        assert bounded.exact([-1, "1/2"]).tolist() == [Fraction(0.1), Fraction(1, 2)]
    finally:
        rational.integer_type.cache_clear()


@pytest.mark.rule("IR-12")
def test_a_batch_is_its_points() -> None:
    batch = np.random.default_rng(0).standard_normal((50, 2))
    assert NETWORK(batch).shape == (50, 1)
    assert np.allclose(NETWORK(batch), [NETWORK(x) for x in batch])
    assert NETWORK(batch[:0]).shape == (0, 1)
    assert NETWORK([1, 2]).tolist() == NETWORK(np.array([1, 2], dtype=np.float32)).tolist() == [16.75]


@pytest.mark.parametrize(
    ("x", "says"),
    [
        ([1.0], "(2,) or a batch (N, 2)"),
        ([1.0, 2.0, 3.0], "shape (3,)"),
        (1.0, "shape ()"),
        ([[[1.0, 2.0]]], "shape (1, 1, 2)"),
        ([np.nan, 0.0], "finite"),
        ([np.inf, 0.0], "finite"),
        (["a", "b"], "real"),
        ([1j, 2.0], "real"),
        ([None, 2.0], "real"),
        ([[1.0, 2.0], [3.0]], "list of real numbers"),
        ([10**400, 0], "real"),
    ],
)
def test_points_that_are_none_are_refused(x: Any, says: str) -> None:
    with pytest.raises(PointError) as caught:
        NETWORK(x)
    assert says in str(caught.value)


@pytest.mark.parametrize("x", [[np.nan, 0], ["1/0", 0], ["x", 0], [True, 0], [1j, 0], [[1], [1, 2]], [float("inf"), 0]])
def test_exact_points_that_are_none_are_refused(x: Any) -> None:
    with pytest.raises(PointError):
        NETWORK.exact(x)


def test_the_last_exact_values_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A witness is measured, judged and replayed: large networks evaluate it once."""
    calls: list[object] = []
    original = evaluation.exact_values

    def noted(graph: Graph, point: rational.Rationals) -> rational.Rationals:
        calls.append(point)
        return original(graph, point)

    monkeypatch.setattr(evaluation, "exact_values", noted)
    build = ircert.Builder(2)
    graph = build.graph(build.affine(build.input, np.eye(2), [1.0, 0.0]))
    first = graph.exact([Fraction(1, 3), 2])
    first[0] = Fraction(7)
    assert graph.exact([Fraction(1, 3), 2]).tolist() == [Fraction(4, 3), 2]
    assert len(calls) == 1
    for k in range(evaluation.REMEMBERED):
        assert graph.exact([k, 0]).tolist() == [k + 1, 0]
    assert len(graph._exact_points) == evaluation.REMEMBERED
    graph.exact([Fraction(1, 3), 2])
    assert len(calls) == 2 + evaluation.REMEMBERED
