"""Radii from programs over parts: never too large, streamed as they rise, and exact where they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.data.networks import bundled
from ircert.engines.base import Question
from ircert.engines.milp import part_search
from ircert.engines.milp.tangent import Tangents, tangents
from ircert.errors import ProgramError
from ircert.geometry.norm import norm_of
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from tests.oracle.build import beside, curve, line, plain, square, summed, then
from tests.oracle.families import sample
from tests.oracle.oracle import local_radius, pseudo_radius, transform_radius
from tests.programs.encodings.fold_distance import ORDERS, fold_distance

UPPER = 4.0
ABSOLUTE = curve([0.0], [[-1.0], [1.0]])


def ask(network: Any, center: Any, problem: str = "local", norm: Any = "inf", **more: Any) -> Tangents:
    graph = network if isinstance(network, Graph) else ircert.load(network)
    options = {"upper": UPPER, "certified": 0.0, "seconds": 20.0, **more}
    size = graph.input_dim
    low, high = options.pop("domain", (np.full(size, -np.inf), np.full(size, np.inf)))
    other, backend = options.pop("other", None), options.pop("backend", None)
    question = Question(
        graph, other, problem, Place(np.asarray(center, float), norm_of(norm), low, high), None, UPPER, backend=backend
    )
    return tangents(question, **options)


@pytest.mark.rule("PR-15")
@pytest.mark.slow
@pytest.mark.parametrize("norm", ["inf", "1", "2"])
def test_the_fold_distance_of_random_networks(norm: str) -> None:
    rng = np.random.default_rng(2)
    network, center = summed(line(2, 2), plain(rng, [2, 4, 4, 2], True), 0.5), rng.uniform(-1, 1, 2)
    wanted = min(UPPER, fold_distance(ircert.load(network), center, UPPER, norm))
    found = ask(network, center, norm=norm, seconds=60.0)
    assert found.j0_lower == pytest.approx(wanted, abs=2e-5)
    assert found.certified <= wanted + 1e-9


@pytest.mark.rule("PR-15")
def test_a_bundled_network() -> None:
    """The nearest violation is a fold: T is the radius, and δ leaves most of it."""
    graph, center = bundled("vanderpol-2-10-10-2"), [1.5, 0.0]
    radius = float(ircert.certify(graph, center, engine="regions").radius.certified)
    steps: list[tuple[str, float]] = []
    found = ask(graph, center, upper=1.25, seconds=60.0, report=lambda what, bound: steps.append((what, bound)))
    assert found.stop is None
    assert found.j0_lower == pytest.approx(radius, rel=1e-6)
    assert 0.9 * radius <= found.certified <= radius
    for what in ("tangent", "near", "far"):
        bounds = [bound for name, bound in steps if name == what]
        assert bounds == sorted(bounds)
    x, y = (np.array(p) for p in found.candidates[0])
    assert np.abs((x + y) / 2 - center).max() == pytest.approx(radius, rel=1e-6)


@pytest.mark.rule("PR-15")
@pytest.mark.parametrize("inputs", [2, 3])
def test_the_whole_ball_first(inputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """… with three inputs; with two, boxes with open neurons are halved before a solver sees them."""
    monkeypatch.setattr(part_search, "MOST_OPEN", 0)
    monkeypatch.setattr(part_search, "COARSEST", 0.25)
    asked: list[float] = []
    solve = part_search.PartSearch._solved

    def seen(search: part_search.PartSearch, program: Any, seconds: float) -> Any:
        where = program.block("x").where
        asked.append(float((program.upper[where] - program.lower[where]).max()))
        return solve(search, program, seconds)

    monkeypatch.setattr(part_search.PartSearch, "_solved", seen)
    network = beside(curve([0.5], [[-1.0], [1.0]]), line(inputs - 1))
    found = ask(network, np.zeros(inputs), upper=1.0)
    assert found.j0_lower == pytest.approx(0.5, abs=2e-5)
    assert (asked[0] >= 2.0) == (inputs == 3)


@pytest.mark.rule("PR-15")
@pytest.mark.parametrize("start", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (22, 44, 66))])
def test_no_radius_is_larger_than_the_oracles(start: int) -> None:
    """All families, in all problems that they are for."""
    rng = np.random.default_rng(start)
    for index in range(start, start + 22):
        found = sample(rng, index)
        if len(found.center) > 2 or np.abs(found.center).max() > 1e3:
            continue
        norm = ("inf", "1")[index % 2]
        true = {
            "local": local_radius(found.layers, found.center, norm, limit=UPPER),
            "pseudo": pseudo_radius(found.layers, found.center, norm, limit=UPPER),
        }
        if found.other is not None:
            true["transform"] = transform_radius(found.layers, found.other, found.center, norm, limit=UPPER)
        for problem, radius in true.items():
            other = ircert.load(found.other) if problem == "transform" else None
            answer = ask(found.layers, found.center, problem, norm, seconds=0.5, other=other)
            most = UPPER if radius.upper is None else float(radius.upper)
            assert answer.certified <= most + 1e-9, (found.name, problem)


@pytest.mark.parametrize("t", [-1.0, 1.5, 0.0])
def test_a_fold_on_the_border_of_parts(t: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halving [-3, 5] meets these kinks exactly; they are kinks of both halves."""
    monkeypatch.setattr(part_search, "MOST_OPEN", 0)
    monkeypatch.setattr(part_search, "NARROWEST", 2.0**-6)
    found = ask(curve([t], [[-1.0], [1.0]]), [1.0])
    assert found.j0_lower == pytest.approx(abs(1.0 - t), abs=1e-4)
    assert found.certified <= abs(1.0 - t)


def test_far_collisions_are_not_forgotten() -> None:
    """s∘s at (1, 0): tangents from 1 on, a collision at 1/2."""
    found = ask(then(square(), square()), [1.0, 0.0], upper=1.1, seconds=1.5)
    assert found.j0_lower <= 1.0
    assert found.certified <= 0.5


def test_the_known_radius_is_kept() -> None:
    found = ask(beside(ABSOLUTE, line(1)), [1.0, 0.0], certified=0.75)
    assert 0.95 <= found.certified <= 1.0
    assert ask(beside(ABSOLUTE, line(1)), [1.0, 0.0], certified=0.75, seconds=0.0).certified == 0.75


@pytest.mark.parametrize("norm", ["inf", "1", "2"])
def test_other_points_with_the_same_image(norm: str) -> None:
    found = ask(beside(ABSOLUTE, line(1)), [1.0, 0.5], "pseudo", norm)
    assert found.certified == pytest.approx(2.0, abs=1e-3)
    (x, y) = found.candidates[-1]
    assert np.linalg.norm(x - y, ORDERS[norm]) == pytest.approx(2.0, abs=1e-4)
    tent = ircert.load([(np.vstack([np.eye(2), -np.eye(2)]), np.zeros(4)), (np.ones((1, 4)), np.zeros(1))])
    assert ask(tent, [0.0, 0.0], "pseudo", norm).certified == pytest.approx(UPPER, rel=1e-3)


def test_a_centre_with_its_image_everywhere_near_it() -> None:
    flat = ircert.load([([[1.0, 0.0]], None)])
    found = ask(flat, [0.0, 0.0], "pseudo")
    assert found.certified == 0.0
    assert str(found.stop) == "a point with the centre's image may lie arbitrarily near"


def test_transform_is_certified_by_the_givens() -> None:
    """… as far as they are injective; what is known of `transform` is not known of them."""
    other = ircert.load([([[3.0]], None)])
    for known in (0.0, 0.125, 1.5):
        found = ask(ABSOLUTE, [1.0], "transform", other=other, certified=known)
        assert max(known, 0.9) < found.certified <= max(known, 1.0) or found.certified == known == 1.5
        assert found.j0_lower == pytest.approx(1.0, abs=2e-5)
    assert "gaps below" in str(found.stop)
    x, y = found.candidates[-1]
    assert x[0] == pytest.approx(-y[0], abs=1e-4)


@pytest.mark.rule("PR-15", "PR-16")
@pytest.mark.parametrize("k", [20, 30, 40])
def test_coefficients_far_apart_are_brought_together(k: int) -> None:
    """relu(e x + 1) / e - relu(x) is x + 1 / e up to 0, and 1 / e from there: no tangent is nearer than 1."""
    e = 2.0**-k
    steep = [(np.array([[1.0], [e]]), np.array([0.0, 1.0])), (np.array([[-1.0, 1 / e]]), np.zeros(1))]
    found = ask(beside(steep, line(1)), [-1.0, 0.0], certified=0.125)
    assert found.stop is None
    assert found.certified <= 1
    assert found.j0_lower <= 1 + 1e-6


def test_delicate_numbers_and_other_troubles_are_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(program: Any) -> Any:
        raise ProgramError("variable `v_0` has no bounds")

    with monkeypatch.context() as patch:
        patch.setattr("ircert.engines.milp.part_tasks.balanced", refuse)
        found = ask(ABSOLUTE, [1.0], certified=0.125)
    assert "no bounds" in str(found.stop)
    assert found.certified == 0.125
    assert "there is no such backend" in str(ask(ABSOLUTE, [1.0], backend="nothing").stop)
    assert "does not solve" in str(ask(ABSOLUTE, [1.0], backend="lp").stop)


def test_a_domain() -> None:
    """(|x1|, x2) at (1, 0) cut at x1 >= 0: no pair is left."""
    found = ask(beside(ABSOLUTE, line(1)), [1.0, 0.0], domain=(np.array([0.0, -9.0]), np.array([9.0, 9.0])), upper=2.0)
    assert found.certified == pytest.approx(2.0, rel=1e-3)
