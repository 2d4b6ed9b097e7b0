"""Segments from a point on kinks or on the domain's sides, against all edges of the cones in Fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.engines.instant import cones
from ircert.engines.instant.cones import cone_direction
from ircert.engines.instant.cuts import narrow_cuts
from ircert.engines.instant.derivatives import dense, derivatives
from ircert.engines.instant.directions import Neighbourhood, Vector
from ircert.engines.instant.still import standing, still_direction
from ircert.exact.dyadics import DyadicArithmetic, Dyadics
from ircert.ir.arrays import Mask
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine
from ircert.limits import OutOfTime, until
from ircert.questions.network import lowered as canonical
from ircert.testing import mlps
from tests.exact import fractions


def rationals(matrix: Dyadics) -> list[Vector]:
    return [[Fraction(int(v), 1 << matrix.scale) for v in row] for row in matrix.numerators]


def subsets(count: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(count), k) for k in range(count + 1)))


def has_edge(rows: list[Vector], kinks: list[Vector], ways: list[int], side: int) -> bool:
    """Whether some v != 0 has rows v = 0, side * kinks v >= 0 and the signs of `ways`, if the cone holds no line."""
    for chosen in subsets(len(ways))[1:]:
        for tight in subsets(len(kinks)):
            equal = rows + [kinks[i] for i in tight] + [[Fraction(0)] * len(ways)]
            basis = fractions.kernel([[row[j] for row in equal] for j in chosen])
            if len(basis) == 1:
                short = dict(zip(chosen, basis[0], strict=True))
                v = [short.get(j, Fraction(0)) for j in range(len(ways))]
                moved = [side * sum(a * b for a, b in zip(kink, v, strict=True)) for kink in kinks]
                signed = [way * a for way, a in zip(ways, v, strict=True)]
                if all(a >= 0 for a in moved + signed) or all(a <= 0 for a in moved + signed):
                    return True
    return False


def some_cone_has_an_edge(here: Neighbourhood, ways: list[int]) -> bool:
    inputs, graph = np.arange(len(ways)), here.graph
    turned: dict[str, Mask] = {name: on | (here.before[name].numerators == 0) for name, on in here.on.items()}
    for on, side in ((here.on, -1), (turned, 1)):
        for cut in narrow_cuts(graph):
            found = derivatives(graph, inputs, on, DyadicArithmetic(), [cut], here.kinks)
            rows, *kinks = standing(found, cut, graph)
            if has_edge(rationals(rows), [row for part in kinks for row in rationals(part)], ways, side):
                return True
    return False


@pytest.mark.rule("IA-1")
def rescaled(graph: Graph, data: st.DataObject) -> Graph:
    """The same with weights of all sizes."""
    exponents = data.draw(st.lists(st.integers(-200, 0), min_size=5, max_size=5))
    build = ircert.Builder(graph.input_dim)
    names = {graph.input: build.input}
    for node in graph.nodes[1:]:
        op, operands = node.op, [names[name] for name in node.operands]
        if isinstance(op, Affine):
            rows, columns = np.indices(op.weight.shape)
            op = Affine(dense(op.weight) * 2.0 ** np.array(exponents)[(3 * rows + columns) % 5], op.bias)
        names[node.name] = build.node(op, *operands)
    return build.graph(names[graph.output])


@given(mlps(inputs=4, width=3, depth=2), st.booleans(), st.data())
def test_a_segment_is_found_where_a_cone_has_an_edge(graph: Graph, spread: bool, data: st.DataObject) -> None:
    graph = rescaled(canonical(graph), data) if spread else canonical(graph)
    x = data.draw(st.lists(st.integers(-1, 1), min_size=graph.input_dim, max_size=graph.input_dim))
    here = Neighbourhood(graph, [Fraction(v) for v in x])
    if sum(len(kinks) for kinks in here.kinks.values()) > 4:
        return
    ways = data.draw(st.lists(st.sampled_from([0, 1, -1]), min_size=graph.input_dim, max_size=graph.input_dim))
    inside = [j for j, way in enumerate(ways) if way == 0]
    still = still_direction(here, None, inside) if inside else None
    if still is not None:
        return
    found = cone_direction(here, dict(enumerate(ways)))
    if found is None:
        assert not some_cone_has_an_edge(here, ways)
    else:
        v = found[0].fractions(graph.input_dim)
        assert any(v)
        assert all(way * a >= 0 for way, a in zip(ways, v, strict=True))
        along = here.along(v)
        assert not any(along.change)
        t = Fraction(1) if along.reach is None else along.reach
        moved = [a + t * b for a, b in zip(here.x, v, strict=True)]
        assert list(graph.exact(moved)) == list(graph.exact(here.x))


def test_neurons_at_0_that_go_different_ways() -> None:
    """relu(x) - relu(-x) - x stands still everywhere, relu(x) + relu(-2 x) - x to the right: one on, one off."""
    for last, expected in (([1.0, -1.0, -1.0, 1.0], {1, -1}), ([1.0, 2.0, -1.0, 1.0], {1})):
        graph = canonical(ircert.load([([[1.0], [-1.0], [1.0], [-1.0]], None), ([last], None)]))
        found = cone_direction(Neighbourhood(graph, [Fraction(0)]), {0: 0})
        assert found is not None
        assert found[0].numbers[0] in expected


def test_a_direction_that_no_basis_vector_is() -> None:
    """In a corner: x1 + x2 - x3 - x4 and x1 - x2 + x3 - x4 stand still along (1, 1, 1, 1) and its like."""
    graph = canonical(ircert.load([([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0]], None)]))
    found = cone_direction(Neighbourhood(graph, [Fraction(0)] * 4), dict.fromkeys(range(4), 1))
    assert found is not None
    assert found[0].numbers == [1, 1, 1, 1]


def test_nothing_is_asked_where_all_ways_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cones, "_guess", lambda *given: pytest.fail("no cone, no program"))
    graph = canonical(ircert.load([(np.eye(2), None)]))
    assert cone_direction(Neighbourhood(graph, [Fraction(0)] * 2), {0: 0, 1: 0}) is None


def test_large_programs_are_not_begun_and_the_deadline_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = canonical(ircert.load([([[1.0, -1.0]], None)]))
    here, sides = Neighbourhood(graph, [Fraction(0)] * 2), {0: 1, 1: 1}
    assert cone_direction(here, sides) is not None
    with until(lambda: True), pytest.raises(OutOfTime):
        cone_direction(here, sides)
    monkeypatch.setattr(cones, "MOST_NUMBERS", 1)
    monkeypatch.setattr(cones, "FEW_NUMBERS", 1)
    assert cone_direction(here, sides) is None
