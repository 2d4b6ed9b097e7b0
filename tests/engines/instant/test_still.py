"""Directions in which networks stand still, against the same question in Fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert.engines.instant import still
from ircert.engines.instant.cuts import before, between, cuts, narrow_cuts
from ircert.engines.instant.derivatives import derivatives
from ircert.engines.instant.directions import Direction, Neighbourhood, Vector
from ircert.engines.instant.reach import reach_exponent
from ircert.engines.instant.still import still_direction
from ircert.exact.dyadics import DyadicArithmetic
from ircert.exact.residues import Floats, Residues
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine
from ircert.limits import OutOfTime, until
from ircert.questions.network import lowered as canonical
from ircert.testing import graphs, points
from tests.exact import fractions

RANDOM = np.random.default_rng(11)


def network(*sizes: int, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    shapes = zip(sizes[1:], sizes, strict=False)
    return canonical(ircert.load([(rng.normal(size=s) / s[1] ** 0.5, 0.3 * rng.normal(size=s[0])) for s in shapes]))


def unit(j: int, size: int) -> Vector:
    return [Fraction(int(k == j)) for k in range(size)]


def columns(place: Neighbourhood, inputs: list[int]) -> list[Vector]:
    """The derivatives along single inputs, one after the other."""
    return [place.along(unit(j, len(place.x))).change for j in inputs]


def is_smooth(place: Neighbourhood) -> bool:
    return not any(len(kinks) for kinks in place.kinks.values())


def place_of(graph: Graph, data: st.DataObject) -> Neighbourhood:
    return Neighbourhood(graph, [Fraction(v) for v in data.draw(points(graph)).tolist()])


def assert_still(place: Neighbourhood, direction: Direction) -> None:
    """Nothing changes, both ways, as far as the bounds say."""
    exponent = reach_exponent(place, direction, place.on)
    assert exponent is not None
    v = direction.fractions(len(place.x))
    assert any(v)
    for t in (Fraction(2) ** exponent, -(Fraction(2) ** exponent), Fraction(2) ** exponent / 3):
        moved = [a + t * b for a, b in zip(place.x, v, strict=True)]
        assert list(place.graph.exact(moved)) == list(place.graph.exact(place.x))


@given(graphs(), st.data())
def test_a_direction_is_found_where_the_rank_is_not_full(graph: Graph, data: st.DataObject) -> None:
    place = place_of(canonical(graph), data)
    every = list(range(graph.input_dim))
    inputs = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    found = still_direction(place, None, inputs)
    if is_smooth(place):
        assert (found is not None) == bool(fractions.kernel(columns(place, inputs)))
    if found is not None:
        assert set(found.inputs) <= set(inputs)
        assert_still(place, found)


@given(graphs(), graphs(), st.data())
def test_a_direction_in_which_only_the_other_changes(graph: Graph, other: Graph, data: st.DataObject) -> None:
    size = min(graph.input_dim, other.input_dim)
    first, second = (canonical(g.fix(dict.fromkeys(range(size, g.input_dim), 0.5))) for g in (graph, other))
    here = place_of(first, data)
    there = Neighbourhood(second, here.x)
    inputs = list(range(size))
    found = still_direction(here, there, inputs)
    if is_smooth(here) and is_smooth(there):
        moved = (fractions.combined(columns(there, inputs), v) for v in fractions.kernel(columns(here, inputs)))
        assert (found is not None) == any(any(change) for change in moved)
    if found is not None:
        assert_still(here, found)
        assert any(there.along(found.fractions(size)).change)


@given(graphs(), st.data())
def test_linear_parts_agree_in_every_arithmetic(graph: Graph, data: st.DataObject) -> None:
    place = place_of(canonical(graph), data)
    inputs = list(range(graph.input_dim))
    wanted = narrow_cuts(place.graph)
    exact = derivatives(place.graph, np.array(inputs), place.on, DyadicArithmetic(), wanted, place.kinks)
    if is_smooth(place):
        output = exact.of[place.graph.output]
        values = [[Fraction(int(v), 1 << output.scale) for v in column] for column in output.numerators.T]
        assert values == columns(place, inputs)
    ring = Residues()
    modular = derivatives(place.graph, np.array(inputs), place.on, ring, wanted, place.kinks)
    floats = derivatives(place.graph, np.array(inputs), place.on, Floats(), wanted, place.kinks)
    for whole, modulo, rounded in (
        *((exact.of[name], modular.of[name], floats.of[name]) for name in wanted),
        *((exact.before[name], modular.before[name], floats.before[name]) for name in exact.before),
    ):
        scaled = ring.of_floats(np.array(2.0**-whole.scale)) if whole.scale < 1000 else None
        if scaled is not None:
            assert np.array_equal(whole.residues(ring.prime) * scaled % ring.prime, modulo)
        near = np.array([[float(Fraction(int(v), 1 << whole.scale)) for v in row] for row in whole.numerators])
        assert np.allclose(near.reshape(rounded.shape), rounded, atol=1e-6, rtol=1e-6)


@pytest.mark.rule("IA-2")
@given(graphs())
def test_every_path_passes_a_cut(graph: Graph) -> None:
    graph = canonical(graph)
    for cut in cuts(graph):
        reached = {graph.input} - {cut}
        for node in graph.nodes:
            if node.name != cut and reached.intersection(node.operands):
                reached.add(node.name)
        assert graph.output not in reached or graph.output == cut
        front = [node.name for node in before(graph, cut)]
        assert front[0] == graph.input
        assert front[-1] == cut
        assert [node.name for node in between(graph, graph.input, cut)] == front
    assert set(narrow_cuts(graph)) <= set(cuts(graph))


@pytest.mark.rule("IA-2")
def test_the_cut_with_the_shortest_numbers_is_taken() -> None:
    """300-64-300: 64 neurons, half of them on, see less than 300 outputs do; with 10 outputs these decide."""
    x = [Fraction(1, 8)] * 300
    wide, narrow = (still_direction(Neighbourhood(network(300, 64, m), x), None, list(range(300))) for m in (300, 4))
    assert wide is not None
    assert narrow is not None
    assert len(wide.inputs) < 64
    assert len(narrow.inputs) == 5


@pytest.mark.rule("IA-2")
def test_few_inputs_are_enough_where_some_do_the_same() -> None:
    """Equal columns, and one that no neuron that is on reads."""
    weight = RANDOM.normal(size=(30, 40))
    weight[:, 17] = 4 * weight[:, 3]
    twice = Neighbourhood(canonical(ircert.load([(weight, None)])), [Fraction(1)] * 40)
    found = still_direction(twice, None, list(range(40)))
    assert found is not None
    assert (sorted(found.inputs), sorted(map(abs, found.numbers))) == ([3, 17], [1, 4])
    weight[:, 5] = 0.0
    none = Neighbourhood(canonical(ircert.load([(weight, None)])), [Fraction(1)] * 40)
    assert still_direction(none, None, list(range(40))) == Direction([5], [1])


@pytest.mark.rule("IA-2")
def test_tiny_weights_are_avoided() -> None:
    """Columns near 1e-60, as training with weight decay leaves them, make no long numbers."""
    weight = RANDOM.normal(size=(10, 30))
    tiny_weight = weight.copy()
    tiny_weight[:, ::3] *= 10.0 ** RANDOM.uniform(-70, -40, size=(10, 10))
    places = (Neighbourhood(canonical(ircert.load([(w, None)])), [Fraction(1)] * 30) for w in (weight, tiny_weight))
    plain, tiny = (still_direction(place, None, list(range(30))) for place in places)
    assert plain is not None
    assert tiny is not None
    assert not any(j % 3 == 0 for j in tiny.inputs)
    assert tiny.bits < 1.2 * plain.bits


def test_work_is_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all inputs can be looked at, some are enough; where none can, nothing is begun."""
    graph = network(60, 20, 5)
    x = [Fraction(1, 8)] * 60
    weights = sum(node.op.weight.size for node in graph.nodes if isinstance(node.op, Affine))
    monkeypatch.setattr(still, "MOST_WORK", 12 * weights)
    some = still_direction(Neighbourhood(graph, x), None, list(range(60)))
    assert some is not None
    monkeypatch.setattr(still, "MOST_WORK", weights - 1)
    assert still_direction(Neighbourhood(graph, x), None, list(range(60))) is None
    monkeypatch.undo()
    monkeypatch.setattr(still, "too_long", lambda size, bits: True)
    assert still_direction(Neighbourhood(graph, x), None, list(range(60))) is None


def test_the_deadline_is_asked() -> None:
    place = Neighbourhood(network(60, 20, 5), [Fraction(1, 8)] * 60)
    asked = count()
    with until(lambda: next(asked) < 0):
        still_direction(place, None, list(range(60)))
    for most in range(next(asked)):
        again = count()
        with until(partial(_is_after, again, most)), pytest.raises(OutOfTime):
            still_direction(place, None, list(range(60)))


def _is_after(asked: Iterator[int], most: int) -> bool:
    return next(asked) >= most


@pytest.mark.rule("IA-4")
@given(graphs(), st.data())
def test_neurons_keep_their_signs_as_far_as_the_bounds_say(graph: Graph, data: st.DataObject) -> None:
    place = place_of(canonical(graph), data)
    if not is_smooth(place):
        return
    numbers = data.draw(st.lists(st.integers(-99, 99), min_size=graph.input_dim, max_size=graph.input_dim))
    numbers[0] = numbers[0] or 1
    direction = Direction(list(range(graph.input_dim)), numbers)
    exponent = reach_exponent(place, direction, place.on)
    assert exponent is not None
    exact = place.along(direction.fractions(graph.input_dim)).reach
    assert exact is None or Fraction(2) ** exponent <= exact


def test_directions_are_rounded_to_floats_however_long_they_are() -> None:
    direction = Direction([1, 3, 2], [-(3 << 5000), (1 << 5001) + 1, 1])
    assert direction.bits == 5002
    assert direction.floats(4).tolist() == [0.0, -0.75, 0.0, 0.5]
    assert direction.fractions(4)[2] == Fraction(1, 1 << 5002)


@pytest.mark.rule("IA-4")
def test_floats_that_overflow_decide_nothing() -> None:
    graph = canonical(ircert.load([([[1e300, -1e300]], None), ([[1e300]], [1.0]), ([[1.0]], None)]))
    place = Neighbourhood(graph, [Fraction(2), Fraction(1)])
    assert reach_exponent(place, Direction([0], [1]), place.on) is None
    found = still_direction(place, None, [0, 1])
    assert found == Direction([0, 1], [1, 1])
