"""Networks that are injective by design are found, however they are written; spoilt ones are not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.errors import QueryError, UnsupportedModel
from ircert.ir.graph import Graph
from ircert.ir.ops.base import Op
from ircert.ir.ops.curves import Elu, Gelu, Silu, Softplus, Tanh
from ircert.ir.ops.exp import Exp
from ircert.ir.ops.piecewise import LeakyRelu
from ircert.ir.ops.smooth import Log, Product, Reciprocal
from ircert.ir.ops.square import Square
from ircert.structure.known import Knowledge
from tests.structure.flows import autoregressive, couplings, numbers, residual, reversible


def is_injective(graph: Graph) -> bool:
    return Knowledge(graph).is_injective


@pytest.mark.rule("ST-1", "ST-2", "ST-3", "ST-5")
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("n", "layers"), [(2, 1), (3, 4), (8, 4), (20, 8)])
def test_couplings(n: int, layers: int, *, scaled: bool) -> None:
    assert is_injective(couplings(np.random.default_rng(n), n, layers, scaled=scaled))


@pytest.mark.rule("ST-2", "ST-3", "ST-5")
@pytest.mark.parametrize("spoilt", ["permutation", "relu", "reads itself", "singular", "scale"])
def test_spoilt_couplings(spoilt: str) -> None:
    graph = couplings(np.random.default_rng(1), 6, 3, scaled=spoilt == "scale", spoilt=spoilt)
    assert not is_injective(graph)


@pytest.mark.rule("ST-1", "ST-3")
def test_reversible_blocks() -> None:
    assert is_injective(reversible(np.random.default_rng(0), 3, 4))


@pytest.mark.rule("ST-5")
def test_autoregressive_maps() -> None:
    assert is_injective(autoregressive(np.random.default_rng(0), 6))
    assert not is_injective(autoregressive(np.random.default_rng(0), 6, spoilt=True))


@pytest.mark.rule("ST-6")
@pytest.mark.parametrize("middle", [None, Tanh(), Softplus(), LeakyRelu(np.array(0.25)), Elu()])
def test_residual_contractions(middle: Op | None) -> None:
    rng = np.random.default_rng(0)
    assert is_injective(residual(rng, 4, 3, 0.999, middle))
    assert not is_injective(residual(rng, 4, 3, 1.001, middle))


@pytest.mark.rule("ST-6")
def test_steeper_functions_need_smaller_blocks() -> None:
    rng = np.random.default_rng(0)
    assert is_injective(residual(rng, 4, 2, 0.88, Gelu()))
    assert is_injective(residual(rng, 4, 2, 0.9, Silu()))
    assert not is_injective(residual(rng, 4, 2, 0.91, Silu()))


@pytest.mark.rule("ST-4")
@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (Tanh(), True),
        (Softplus(), True),
        (Exp(), True),
        (LeakyRelu(np.array(0.125)), True),
        (LeakyRelu(np.array([0.5, 0.0, 1.0])), False),
        (LeakyRelu(np.array(-0.5)), False),
        (Elu(2.0), True),
        (Elu(-0.5), False),
        (Elu(0.0), False),
        (Silu(), False),
    ],
)
def test_functions_between_tall_maps(op: Op, *, expected: bool) -> None:
    rng = np.random.default_rng(3)
    build = ircert.Builder(3)
    h = build.node(op, build.affine(build.input, numbers(rng, 3, 3)))
    assert is_injective(build.graph(build.affine(h, numbers(rng, 5, 3)))) == expected


@pytest.mark.rule("ST-5")
def test_squares_and_scales_that_reach_zero_are_not_claimed() -> None:
    build = ircert.Builder(1)
    assert not is_injective(build.graph(build.node(Product(), build.input, build.input)))
    build = ircert.Builder(2)
    x, y = build.select(build.input, [0]), build.select(build.input, [1])
    times = build.node(Product(), x, build.relu(y))
    assert not is_injective(build.graph(build.concat(times, y)))
    build = ircert.Builder(2)
    x, y = build.select(build.input, [0]), build.select(build.input, [1])
    above = build.affine(build.relu(y), [[1.0]], [2.0**-40])
    assert is_injective(build.graph(build.concat(build.node(Product(), x, above), y)))


@pytest.mark.rule("ST-7")
def test_networks_that_are_not_defined_everywhere_are_left_alone() -> None:
    build = ircert.Builder(1)
    assert not is_injective(build.graph(build.node(Log(), build.input)))
    build = ircert.Builder(1)
    assert not is_injective(build.graph(build.node(Reciprocal(), build.input)))
    build = ircert.Builder(2)
    x, y = build.select(build.input, [0]), build.select(build.input, [1])
    below = build.node(Reciprocal(), build.node(Exp(), y))
    assert is_injective(build.graph(build.concat(build.node(Product(), x, below), y)))


@pytest.mark.rule("ST-7")
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
@pytest.mark.parametrize("scaled", [False, True])
def test_certify_answers_with_the_whole_space(problem: str, *, scaled: bool) -> None:
    graph = couplings(np.random.default_rng(2), 8, 4, scaled=scaled)
    other = ircert.load([(numbers(np.random.default_rng(3), 2, 8), np.zeros(2))]) if problem == "transform" else None
    found = ircert.certify(graph, np.zeros(8), problem, other, time_limit=60)
    assert (found.verdict, found.trust, float(found.radius.certified)) == ("certified", "exact", math.inf)
    assert "structure" in found.radius.certified.evidence


@pytest.mark.rule("ST-7")
def test_what_the_structure_does_not_show_is_searched() -> None:
    """A coupling with the scale exp(x) - 2, which is 0 at log 2."""
    build = ircert.Builder(2)
    kept, moved = (build.select(build.input, [i]) for i in range(2))
    scale = build.affine(build.node(Exp(), kept), [[1.0]], [-2.0])
    graph = build.graph(build.concat(kept, build.node(Product(), moved, scale)))
    assert not Knowledge(graph).is_injective
    found = ircert.certify(graph, np.zeros(2), tol=1e-4)
    assert found.verdict == "certified"
    assert found.radius.refuted == pytest.approx(math.log(2), rel=1e-9)
    with pytest.raises(QueryError, match="needs linear regions"):
        ircert.certify(couplings(np.random.default_rng(2), 4, 2, scaled=True), np.zeros(4), engine="milp")


@pytest.mark.rule("ST-7")
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
@pytest.mark.parametrize("asked", [{}, {"radius": 0.5}, {"engine": "boxes", "norm": 2}])
def test_what_no_search_takes_is_unresolved(problem: str, asked: dict[str, Any]) -> None:
    """A sentence names the operation and the node, in the network or in the other one; a wrong engine is an error."""
    build = ircert.Builder(2)
    shifted = build.affine(build.input, np.array([[1.0, 0.5], [0.0, 1.0]]), [2.0, 2.0])
    roots = build.graph(build.affine(build.node(Log(), shifted, name="here"), np.eye(2)))
    plain = ircert.Builder(2)
    bent = plain.graph(plain.node(Square(), plain.input))
    pairs = [(roots, None)] if problem != "transform" else [(roots, bent), (bent, roots)]
    for graph, other in pairs:
        found = ircert.certify(graph, np.ones(2), problem, other, **asked)
        assert found.verdict == "unresolved"
        assert found.radius.certified == 0.0
        which = "the network" if graph is roots else "the other network"
        assert found.reason == (
            f"no search takes `log` in {which} (node `here`), and the form of the network does not decide"
        )
    with pytest.raises(UnsupportedModel, match="no search takes `log`"):
        ircert.certify(roots, np.ones(2), engine="regions")


@pytest.mark.rule("ST-7")
def test_an_injective_network_says_nothing_of_a_partial_one() -> None:
    build, partial = ircert.Builder(2), ircert.Builder(2)
    graph = build.graph(build.node(Exp(), build.input))
    other = partial.graph(partial.node(Log(), partial.input))
    assert ircert.certify(graph, np.ones(2), "transform", other).verdict == "unresolved"
    assert math.isinf(ircert.certify(graph, np.ones(2), "transform", graph).radius.certified)


@pytest.mark.rule("ST-7")
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["", "relu", "permutation", "singular", "reads itself"]))
def test_no_network_with_a_collision_is_called_injective(seed: int, spoilt: str) -> None:
    """Against `regions`, which decides small networks of two inputs exactly."""
    graph = couplings(np.random.default_rng(seed), 2, 1, spoilt=spoilt)
    if not is_injective(graph):
        return
    found = ircert.certify(graph, np.zeros(2), engine="regions", time_limit=20)
    assert found.radius.refuted is None
