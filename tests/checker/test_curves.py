"""Curves in integers: what they say holds for arb; and certificates of networks with curves, by both checkers."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.certificates.curves import lines
from ircert.certificates.proving import Proving
from ircert.checker import curves
from ircert.checker.curves import BITS, FINE, PLACES, WHOLE
from ircert.data.networks import bundled
from ircert.errors import FileError
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.ops import BY_KIND, Curve
from ircert.result.certificate import injective
from tests.checker.second_curves import at
from tests.checker.test_injective import fault, larger, moved, nodes, swap, thin, written

KINDS = sorted(WHOLE)
CLOSE = Fraction(1, 2**150)


def curve(kind: str) -> Curve:
    found = BY_KIND[kind]()
    assert isinstance(found, Curve)
    return found


def real(x: int, bits: int) -> Fraction:
    return Fraction(x, 1 << bits)


numbers = st.one_of(
    st.integers(-(8 << PLACES), 8 << PLACES), st.integers(-(99 << PLACES), 99 << PLACES), st.integers(-9, 9)
)


@pytest.mark.rule("C-26")
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=150)
@given(x=numbers)
def test_values_and_slopes_at_points(kind: str, x: int) -> None:
    for (low, high), exact in zip(curves._at(kind, x), at(curve(kind), real(x, PLACES)), strict=True):
        assert real(low, BITS) <= exact + CLOSE
        assert exact - CLOSE <= real(high, BITS)
        assert high - low < (1 + abs(x >> PLACES)) << (BITS - 36)


@pytest.mark.rule("C-27", "C-28")
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(
    a=numbers,
    width=st.sampled_from([0, 1, 1 << 20, 1 << 40, 1 << 47, 3 << PLACES, 40 << PLACES]),
    seed=st.integers(0, 99),
)
def test_slopes_and_lines_on_intervals(kind: str, a: int, width: int, seed: int) -> None:
    line = curves.around(kind, a, a + width)
    dice = random.Random(seed)
    for x in [a, a + width, *(dice.randint(a, a + width) for _ in range(4))]:
        value, slope = at(curve(kind), real(x, PLACES))
        assert real(line.least, FINE) <= slope + CLOSE
        assert slope - CLOSE <= real(line.most, FINE)
        on_line = real(line.slope, FINE) * real(x, PLACES) + real(line.shift, PLACES)
        assert abs(value - on_line) <= real(line.error, PLACES) + CLOSE
    assert WHOLE[kind][0] - 2 <= line.least
    assert line.most <= WHOLE[kind][1] + 2


@pytest.mark.rule("C-27")
@pytest.mark.parametrize("kind", ["silu", "gelu"])
def test_where_slopes_turn(kind: str) -> None:
    """The slope rises before the place and falls after it, and is less than the bound; at -x it is 1 less that at x."""
    inner, outer, top, bottom = curves.TURNS[kind]
    places = [Fraction(v, 10**4) for v in (inner - 1, inner, outer, outer + 1)]
    slopes = [at(curve(kind), x)[1] for x in places]
    assert slopes[0] < slopes[1]
    assert slopes[2] > slopes[3]
    assert max(slopes) + Fraction(1, 10**7) < Fraction(top, 10**5)
    assert bottom == 10**5 - top
    assert abs(at(curve(kind), -places[0])[1] + slopes[0] - 1) < CLOSE


@pytest.mark.rule("C-28")
@pytest.mark.parametrize("kind", KINDS)
def test_floats_see_what_integers_see(kind: str) -> None:
    """And hardly less: what is closed in floats is closed in integers."""
    rng = np.random.default_rng(0)
    low = rng.normal(size=200) * 3
    high = low + np.abs(rng.normal(size=200)) * np.array([1e-9, 1e-3, 0.1, 3])[rng.integers(0, 4, 200)]
    found = lines(kind, low, high)
    for k, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        line = curves.around(kind, int(Fraction(a) * 2**PLACES), int(Fraction(b) * 2**PLACES) + 1)
        assert found.least[k] <= line.least / 2**FINE <= found.least[k] + 1e-6
        assert found.most[k] - 1e-6 <= line.most / 2**FINE <= found.most[k]
        assert line.error / 2**PLACES <= found.error[k] * (1 + 1e-6) + 1e-11


def network(kind: str, size: int = 2, seed: int = 0) -> ircert.Graph:
    """Two layers with weights of few bits."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(size)
    hidden = build.input
    for width in (5, 4):
        weight = np.round(rng.normal(size=(width, build.size(hidden))) * 16) / 16
        hidden = build.node(curve(kind), build.affine(hidden, weight, np.round(rng.normal(size=width) * 4) / 4))
    last = build.affine(hidden, np.round(rng.normal(size=(size, 4)) * 4) / 16)
    return build.graph(build.add(last, build.input))


def proof(graph: ircert.Graph, radius: float) -> dict[str, Any]:
    n = graph.input_dim
    found = Proving(graph, Place(np.zeros(n), Norm.INF, np.full(n, -np.inf), np.full(n, np.inf))).prove(radius)
    return written(graph, [0] * n, **injective(found.radius, found.matrix, found.cover))


@pytest.mark.rule("C-29")
@pytest.mark.parametrize("kind", KINDS)
def test_both_checkers_pass_networks_with_curves(kind: str) -> None:
    assert fault(proof(network(kind), 0.5)) is None


@pytest.mark.rule("C-29")
def test_curves_beside_relus_and_on_the_whole_space() -> None:
    build = ircert.Builder(1)
    bend = build.add(build.relu(build.input), build.node(curve("tanh"), build.input))
    graph = build.graph(build.add(bend, build.affine(build.input, [[0.5]])))
    assert fault(written(graph, [0], radius="1", matrix=[["8"]], cover="=4,4")) is None
    assert fault(written(graph, [0], radius="inf", matrix=[["8"]], cover="=4,4")) is None
    assert fault(written(graph, [0], radius="1", matrix=[["8"]], cover="?0 =4 =4")) is None
    assert fault(written(graph, [0], radius="1", matrix=[["8"]], cover="?1 =4 =4")) is not None
    assert fault(written(graph, [0], radius="1", matrix=[["8"]], cover="=4")) is not None


@pytest.mark.rule("C-29")
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_proves_that_a_curve_is_one_to_one_where_it_turns(kind: str) -> None:
    """σ(x) − x/8, or silu and gelu alone, fold: no cover of a ball around the fold passes."""
    build = ircert.Builder(1)
    hidden = build.node(curve(kind), build.input)
    if kind not in ("silu", "gelu"):
        hidden = build.add(hidden, build.affine(build.input, [[-0.125]]))
    graph = build.graph(hidden)
    dice = random.Random(0)
    for _ in range(60):
        leaves = [f"={dice.randrange(40)}" for _ in range(4)]
        cover = dice.choice([leaves[0], "/0 {} {}", "/0 /0 {} {} {}", "/0 /0 {} {} /0 {} {}"]).format(*leaves)
        matrix = [[dice.choice(["8", "-8", "1", "1000"])]]
        assert fault(written(graph, [0], radius="8", matrix=matrix, cover=cover)) is not None


@pytest.mark.rule("C-29")
def test_mutants_of_a_real_proof() -> None:
    """Nodes that are swapped or left out, and larger or other balls: what passes is confirmed."""
    good = proof(network("tanh"), 1.0)
    dice = random.Random(1)
    for change in (nodes(swap), nodes(thin), larger, moved):
        for _ in range(6):
            mutant = {**good, "center": list(good["center"])}
            change(mutant, dice)
            try:
                fault(mutant)
            except FileError:
                continue


@pytest.mark.rule("C-28")
def test_other_curves_have_no_such_certificate() -> None:
    build = ircert.Builder(1)
    graph = build.graph(build.node(curve("mish"), build.input))
    found = fault(written(graph, [0], radius="1", matrix=[["8"]], cover="=4"))
    assert found is not None
    assert "mish" in found


@pytest.mark.rule("C-29")
def test_a_bundled_network_from_question_to_proof(tmp_path: Path) -> None:
    graph = bundled("vanderpol-silu-2-32-32-2")
    result = ircert.certify(graph, [0, 0], radius=1.0, certificate=tmp_path / "c.json", time_limit=60)
    assert result.certificate is not None
    assert result.certificate.reason is None
    assert "all x != y" in result.certificate.claims[0]
