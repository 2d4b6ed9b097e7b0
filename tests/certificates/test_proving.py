"""Proofs of injectivity: found where the claim is true, and confirmed by two checkers."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

import ircert
from ircert.certificates import proving
from ircert.certificates.emptiness import excluding
from ircert.certificates.floats import FloatNetwork, Slopes
from ircert.certificates.growing import NoCover, Tree, Wrong
from ircert.certificates.proving import Proving, shortened
from ircert.checker import check_text, limits
from ircert.checker.network import Curves, Network
from ircert.data.networks import bundled
from ircert.errors import UnsupportedModel
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.ops import LeakyRelu, Max
from ircert.ir.ops.curves import Sin
from ircert.limits import Deadline, OutOfTime, until
from ircert.result.certificate import injective
from tests.checker.second import proves
from tests.checker.test_injective import written


def place(center: list[float], norm: str = "inf", low: float = -math.inf, high: float = math.inf) -> Place:
    size = len(center)
    return Place(np.array(center), Norm(norm), np.full(size, low), np.full(size, high))


def confirmed(graph: ircert.Graph, where: Place, radius: float, **limits: int) -> list[str]:
    """The cover of a proof that both checkers confirm."""
    proof = Proving(graph, where).prove(radius, **limits)
    sides = {}
    for name, values in (("low", where.low), ("high", where.high)):
        sides[name] = [None if math.isinf(v) else str(Fraction(v)) for v in values.tolist()]
    center = [Fraction(v) for v in where.center.tolist()]
    given = written(graph, center, **injective(radius, proof.matrix, proof.cover))
    text = json.dumps({**given, "norm": str(where.norm), "domain": sides})
    assert check_text(text)[1] is None
    assert proves(text)
    return proof.cover


def residual() -> ircert.Graph:
    """Branches, a leaky relu, a maximum and a choice."""
    build = ircert.Builder(2)
    a = build.node(LeakyRelu(np.array([0.25])), build.affine(build.input, [[1.0, 0.5], [-0.5, 1.0]], [0.1, -0.2]))
    b = build.relu(build.affine(build.input, [[0.25, -0.25], [0.0, 0.5]], [0.05, 0.0]))
    c = build.node(Max(), a, b)
    return build.graph(build.add(build.input, build.affine(build.select(build.concat(c, b), [3, 0]), 0.25 * np.eye(2))))


@pytest.mark.rule("C-10", "C-11")
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
def test_norms(norm: str) -> None:
    assert len(confirmed(bundled("vanderpol-2-10-10-2"), place([0.5, 0.25], norm), 1.0)) >= 1


@pytest.mark.parametrize("radius", [0.25, 64.0])
def test_other_operations(radius: float) -> None:
    confirmed(residual(), place([0.0, 0.0]), radius)


def test_domains_and_pinned_inputs() -> None:
    graph = bundled("brusselator-3-24-24-2")
    where = Place(np.array([1.0, 2.0, 2.1]), Norm.INF, np.array([0.9, -9.0, 2.1]), np.array([9.0, 9.0, 2.1]))
    confirmed(graph, where, 0.25)
    with pytest.raises(NoCover, match="fewer outputs"):
        Proving(graph, place([1.0, 2.0, 2.1]))


def test_kinks_on_cuts() -> None:
    """Bounds that are exactly 0 are decided in integers, as the checker does."""
    weight = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 0.0], [0.0, -1.0]]
    out = [[1.0, 0.0, 0.3, 0.2, -1.0, 0.0], [0.0, 1.0, -0.3, 0.2, 0.0, -1.0]]
    confirmed(ircert.load([(weight, None), (out, None)]), place([0.0, 0.0]), 1.0)


def test_more_outputs_than_inputs() -> None:
    graph = ircert.load([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -1.0], [0.0, 1.0]], None)])
    confirmed(graph, place([1.0]), 0.75)


@pytest.mark.rule("C-8")
def test_the_whole_space() -> None:
    proof = Proving(residual(), place([0.0, 0.0])).prove_everywhere()
    given = written(residual(), [0, 0], **injective(proof.radius, proof.matrix, proof.cover))
    assert check_text(json.dumps(given))[1] is None
    assert proves(json.dumps(given))
    with pytest.raises(NoCover):
        Proving(bundled("vanderpol-2-10-10-2"), place([0.0, 0.0])).prove_everywhere()


def test_matrices_learn_from_what_failed() -> None:
    """A matrix for the points of a small ball is wrong in a larger one; the next one knows where."""
    proofs = Proving(bundled("vanderpol-2-10-10-2"), place([0.0, 0.0]))
    early = proofs._growing(2.38, shortened(proofs._matrices.first(0.01)))
    with pytest.raises(Wrong):
        early.cover(100_000)
    assert len(early.wrong)
    assert len(early.corners)
    later = proofs._growing(2.38, shortened(proofs._matrices.another(2.38, early.wrong, early.corners)))
    assert 1 <= later.expected(np.random.default_rng(0).random((16, 2))) < 1e6
    assert len(later.tree) == 1  # it begins anew


def test_what_is_false_is_not_covered() -> None:
    """The ball has a fold; the search for a cover ends without one."""
    graph = bundled("vanderpol-2-10-10-2")
    largest = ircert.certify(graph, [0, 0]).radius.refuted
    assert largest is not None
    with pytest.raises(NoCover):
        Proving(graph, place([0.0, 0.0])).prove(1.001 * float(largest), nodes=3_000)


def test_time_and_curves() -> None:
    proofs = Proving(bundled("lorenz-3-16-16-3"), place([0.0, 0.0, 0.0]))
    with until(Deadline(0.0)), pytest.raises((OutOfTime, NoCover)):
        proofs.prove(1.0)
    build = ircert.Builder(1)
    with pytest.raises(UnsupportedModel):
        Proving(build.graph(build.node(Sin(), build.input)), place([0.0]))


@pytest.mark.parametrize(("module", "limit"), [(proving, "MOST_WORDS"), (limits, "MOST_WEIGHTS")])
def test_networks_that_are_too_large(module: ModuleType, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, limit, 100)
    with pytest.raises(NoCover, match=r"too large|entries"):
        Proving(bundled("vanderpol-2-10-10-2"), place([0.0, 0.0]))


def test_floats_see_what_integers_do() -> None:
    """Sides and forms of a node, and derivatives, against a point's own."""
    graph = residual()
    floats = FloatNetwork(Network(graph, Curves()))
    low, high = np.array([[0.2, 0.1]]), np.array([[0.3, 0.2]])
    none = np.full((floats.neurons, 1), np.nan)
    known = floats.enclose(low, high, none, floats.noise(low[0], high[0]))
    ends = np.where(known.open, 1.0, known.slopes.least)
    tangents = floats.tangents(Slopes(ends, ends, np.zeros_like(known.open)), np.arange(2))
    middle = (low + high)[0] / 2
    step = 1e-6
    ahead = np.array([(graph(middle + step * e) - graph(middle - step * e)) / (2 * step) for e in np.eye(2)]).T
    assert np.allclose(tangents.output[0], ahead)
    assert known.rows.shape[0] == floats.neurons


def test_sides_that_exclude_each_other() -> None:
    """z0 = x - 1 and z1 = -x - 1 are never positive together, nor is either on [-1/2, 1/2]."""
    rows = np.array([[-1.0, 2.0], [-1.0, -2.0]])
    none = np.zeros(2)
    assert excluding(rows, np.array([1.0, 1.0]), 0, none) == ("!0:65536,1:65536", True)
    assert excluding(rows, np.array([1.0, 1.0]), 0, none + 2) == ("!0:65536,1:65536", False)
    assert excluding(rows, np.array([1.0, 0.0]), 0, none) is None
    assert excluding(np.array([[-1.0, 0.5]]), np.array([1.0]), 0, none) == ("!0:1", True)


def test_trees() -> None:
    tree = Tree()
    root = tree.add()
    first, second = tree.divide(root, "?1")
    tree.divide(first, "?2")
    first, second = tree.divide(root, "/0")
    tree.close(first, "=")
    inner = tree.divide(second, "/1")
    for node in inner:
        tree.close(node, "-")
    assert tree.preorder() == ["/0", "=", "/1", "-", "-"]
    assert tree.path(inner[1]) == [("/0", 1), ("/1", 1)]
    assert len(tree) == 5


def test_short_matrices() -> None:
    exact = np.array([[1.0, 1 / 3], [1e-6, -2.0]])
    short = np.array(shortened(exact), dtype=np.float64)
    assert np.allclose(short / short[0, 0], exact, rtol=1e-3)
