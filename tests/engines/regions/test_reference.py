"""The published Brusselator network: exact radii next to the published ones, and its three preimages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert import Graph
from tests.engines.regions.asking import ask, check_witness, verdict

CENTER = (1.96433, 1.24951)
OTHERS = [(4.73825188, -1.10571284), (8.83688484, -4.29014662)]


@pytest.fixture(scope="module")
def brusselator(reference_data: Path) -> Graph:
    """The network (x, y, b) -> R² with b = 2.1; the files are written for x @ w + b."""
    folder = reference_data / "brusselator"
    layers = [(np.loadtxt(folder / f"w{k}.txt").T, np.loadtxt(folder / f"b{k}.txt")) for k in (1, 2, 3)]
    graph = ircert.load(layers)
    assert (graph.input_dim, graph.output_dim) == (3, 2)
    return graph.fix({2: 2.1})


@pytest.mark.parametrize(("problem", "radius"), [("local", 0.6554703443149), ("pseudo", 2.773914031806)])
def test_radii(brusselator: Graph, problem: str, radius: float) -> None:
    found = ask(brusselator, CENTER, "inf", problem=problem)
    assert found.refuted is not None
    assert float(found.certified) == pytest.approx(radius, rel=1e-9)
    assert float(found.refuted) == pytest.approx(radius, rel=1e-9)
    check_witness(found, brusselator, CENTER, "inf", problem=problem)
    # a bisection to 1e-3 published slightly less
    published = {"local": 0.655344127938151, "pseudo": 2.77382102844230}[problem]
    assert published < float(found.certified) < published + 1e-3
    assert verdict(brusselator, CENTER, "inf", published, problem=problem) == "certified"
    assert verdict(brusselator, CENTER, "inf", radius + 1e-9, problem=problem) == "refuted"


def test_norms(brusselator: Graph) -> None:
    inf, two, one = (float(ask(brusselator, CENTER, norm).certified) for norm in ("inf", "2", "1"))
    assert inf <= two <= one <= 2 * inf
    assert two <= 2**0.5 * inf


def test_preimages(brusselator: Graph) -> None:
    value = brusselator.exact(CENTER)
    found = ircert.preimages(brusselator, value, (CENTER, 8.0))
    assert all(list(brusselator.exact(p.exact)) == list(value) for p in found)
    points = sorted(p.point.tolist() for p in found)
    np.testing.assert_allclose(points, [CENTER, *OTHERS], rtol=1e-5)  # published from a solver


def test_folds(brusselator: Graph) -> None:
    folds = ircert.fold_set(brusselator, (CENTER, 1.0))
    assert len(folds) > 0
    assert (folds.determinants.prod(axis=1) < 0).all()
    reached = np.abs(folds.segments - np.array(CENTER)).max(axis=2).min()
    assert reached >= 0.6554703443149 * (1 - 1e-12)
