"""Curves in integers: what they say holds for arb; and certificates of networks with curves, by both checkers."""

from __future__ import annotations

import json
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
from ircert.checker import check_text, curves
from ircert.checker.curved import curve_of
from ircert.checker.curves import BITS, FINE, PLACES
from ircert.data.networks import bundled
from ircert.errors import FileError
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.ops import BY_KIND, Curve, Product
from ircert.result.certificate import injective
from tests.checker.second_curves import at
from tests.checker.test_injective import fault, larger, moved, nodes, swap, thin, written

KINDS = [*sorted(curves.KINDS), "elu 1.67", "elu -0.5"]
CLOSE = Fraction(1, 2**150)
FOLDS = ("silu", "gelu", "mish", "square", "hard_swish", "elu -0.5")
"""What is not one to one by itself."""


def curve(kind: str) -> Curve:
    word, *numbers = kind.split()
    found = BY_KIND[word](*map(float, numbers))
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
    for (low, high), exact in zip(curves._at(curve_of(curve(kind)), x), at(curve(kind), real(x, PLACES)), strict=True):
        assert real(low, BITS) <= exact + CLOSE
        assert exact - CLOSE <= real(high, BITS)
        most = (1 + abs(x >> PLACES)) << (BITS - 36) if kind != "exp" else 1 + (high >> 60)
        assert high - low <= most or real(x, PLACES) in curve(kind).kinks


@pytest.mark.rule("C-27", "C-28")
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(
    a=numbers,
    width=st.sampled_from([0, 1, 1 << 20, 1 << 40, 1 << 47, 3 << PLACES, 40 << PLACES]),
    seed=st.integers(0, 99),
)
def test_slopes_and_lines_on_intervals(kind: str, a: int, width: int, seed: int) -> None:
    line = curves.around(curve_of(curve(kind)), a, a + width)
    dice = random.Random(seed)
    for x in [a, a + width, *(dice.randint(a, a + width) for _ in range(4))]:
        value, slope = at(curve(kind), real(x, PLACES))
        assert real(line.least, FINE) <= slope + CLOSE
        assert slope - CLOSE <= real(line.most, FINE)
        on_line = real(line.slope, FINE) * real(x, PLACES) + real(line.shift, PLACES)
        assert abs(value - on_line) <= real(line.error, PLACES) + CLOSE
    whole = curve_of(curve(kind)).whole
    if whole is None:
        assert kind in curves.STEEP
        return
    assert whole[0] - 2 <= line.least
    assert line.most <= whole[1] + 2


@pytest.mark.rule("C-27")
@pytest.mark.parametrize("kind", sorted(curves.TURNS))
def test_where_slopes_turn(kind: str) -> None:
    """The slope falls, rises and falls, and is within the bounds at the places between."""
    for sign, (inner, outer, bound) in zip((-1, 1), curves.TURNS[kind], strict=True):
        places = [Fraction(v, 10**4) for v in (inner - 1, inner, outer, outer + 1)]
        slopes = [sign * at(curve(kind), x)[1] for x in places]
        assert slopes[0] < slopes[1]
        assert slopes[2] > slopes[3]
        assert max(slopes) + Fraction(1, 10**8) < sign * Fraction(bound, 10**5)


@pytest.mark.rule("C-27")
def test_the_second_derivative_of_mish_changes_its_sign_twice() -> None:
    """It is 4 w/d³ (P + x Q); P'Q − PQ' (derivatives by w) has positive coefficients alone, so that x + P/Q rises."""
    w = np.polynomial.Polynomial([0, 1])
    p, q = 2 * (w + 1) * (w**2 + 2 * w + 2), -2 * w**3 - 3 * w**2 + 2 * w + 2
    assert (p.deriv() * q - p * q.deriv()).trim().coef.tolist() == [8, 48, 72, 40, 6]
    for x in (-9.0, -2.26, -2.25, -0.1, 0.0, 1.48, 1.5, 9.0):
        step = Fraction(1, 2**20)
        rise = at(curve("mish"), Fraction(x) + step)[1] - at(curve("mish"), Fraction(x) - step)[1]
        assert (rise > 0) == (p(np.exp(x)) + x * q(np.exp(x)) > 0)


@pytest.mark.rule("C-28")
@pytest.mark.parametrize("kind", KINDS)
def test_floats_see_what_integers_see(kind: str) -> None:
    """And hardly less: what is closed in floats is closed in integers."""
    rng = np.random.default_rng(0)
    low = rng.normal(size=200) * 3
    high = low + np.abs(rng.normal(size=200)) * np.array([1e-9, 1e-3, 0.1, 3])[rng.integers(0, 4, 200)]
    found = lines(curve_of(curve(kind)), low, high)
    for k, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        line = curves.around(curve_of(curve(kind)), int(Fraction(a) * 2**PLACES), int(Fraction(b) * 2**PLACES) + 1)
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
    last = build.affine(
        hidden, np.round(rng.normal(size=(size, 4)) * 4) / {"square": 256, "elu 1.67": 32, "exp": 512}.get(kind, 16)
    )
    return build.graph(build.add(last, build.input))


def proof(graph: ircert.Graph, radius: float) -> dict[str, Any]:
    n = graph.input_dim
    found = Proving(graph, Place(np.zeros(n), Norm.INF, np.full(n, -np.inf), np.full(n, np.inf))).prove(radius)
    return written(graph, [0] * n, **injective(found.radius, found.matrix, found.cover))


@pytest.mark.rule("C-29")
@pytest.mark.parametrize("kind", KINDS)
def test_both_checkers_pass_networks_with_curves(kind: str) -> None:
    assert fault(proof(network(kind), 0.5)) is None


@pytest.mark.rule("C-26")
def test_exp_is_too_long_far_out() -> None:
    low, high = curves._at(curve_of(curve("exp")), 1023 << PLACES)[0]
    assert 0 < high - low < high >> 60
    with pytest.raises(ValueError, match="too long to be checked"):
        curves._at(curve_of(curve("exp")), 1024 << PLACES)


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
    """σ(x) − x/8, or what folds alone,: no cover of a ball around the fold passes."""
    build = ircert.Builder(1)
    hidden = build.node(curve(kind), build.input)
    if kind not in FOLDS:
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
    graph = build.graph(build.node(curve("sin"), build.input))
    found = fault(written(graph, [0], radius="1", matrix=[["8"]], cover="=4"))
    assert found is not None
    assert "sin" in found


@pytest.mark.rule("C-28", "C-29")
def test_products_are_squares() -> None:
    """x + 2 + x (x/8) rises for x > -4, and has no bound on its slopes on the whole space."""
    build = ircert.Builder(1)
    square = build.node(Product(), build.input, build.affine(build.input, [[0.125]]))
    graph = build.graph(build.add(build.input, square))
    good = proof(graph, 3.0)
    assert fault(good) is None
    dice = random.Random(0)
    for _ in range(30):
        leaf = f"={dice.randrange(110, 130)},{dice.randrange(110, 130)}"
        assert fault({**good, "radius": "5", "cover": leaf if dice.random() < 0.5 else f"/0 {leaf} {leaf}"}) is not None
    found = check_text(json.dumps(written(graph, [0], radius="inf", matrix=[["64"]], cover="=8,8")))[1]
    assert found is not None
    assert "no bounds" in found


@pytest.mark.rule("C-15")
def test_squares_of_squares_are_refused_in_time() -> None:
    lines = "".join(f"a{k} = square(a{k - 1})\n" for k in range(1, 40))
    graph = ircert.parse(f"ircert.ir/1\nx = input(length=1)\na0 = square(x)\n{lines}return a39\n")
    cover = "=" + ",".join(["4"] * 40)
    with pytest.raises(FileError, match="too long"):
        check_text(json.dumps(written(graph, [2], radius="1", matrix=[["8"]], cover=cover)))


@pytest.mark.rule("C-29")
@pytest.mark.parametrize("kind", ["mish", "elu", "elu 1.67", "hard_swish", "square", "exp"])
def test_new_curves_from_question_to_proof(kind: str, tmp_path: Path) -> None:
    result = ircert.certify(network(kind), [0, 0], radius=0.5, certificate=tmp_path / "c.json", time_limit=60)
    assert result.certificate is not None
    assert result.certificate.reason is None
    assert "all x != y" in result.certificate.claims[0]


@pytest.mark.rule("C-29")
def test_a_gate_from_question_to_proof(tmp_path: Path) -> None:
    """A x times the sigmoid of B x: at 0 the sigmoids have no effect."""
    rng = np.random.default_rng(0)
    build = ircert.Builder(2)
    first, second = (build.affine(build.input, rng.normal(size=(4, 2)) / 2) for _ in range(2))
    gated = build.node(Product(), first, build.node(curve("sigmoid"), second))
    graph = build.graph(build.add(build.input, build.affine(gated, rng.normal(size=(2, 4)) / 5)))
    result = ircert.certify(graph, [0, 0], radius=0.5, certificate=tmp_path / "c.json", time_limit=60)
    assert result.certificate is not None
    assert result.certificate.reason is None


@pytest.mark.rule("C-29")
def test_a_bundled_network_from_question_to_proof(tmp_path: Path) -> None:
    graph = bundled("vanderpol-silu-2-32-32-2")
    result = ircert.certify(graph, [0, 0], radius=1.0, certificate=tmp_path / "c.json", time_limit=60)
    assert result.certificate is not None
    assert result.certificate.reason is None
    assert "all x != y" in result.certificate.claims[0]
