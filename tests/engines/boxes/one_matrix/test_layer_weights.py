"""One matrix for all slopes, with one weight for each layer."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.one_matrix import layer_weights
from ircert.engines.boxes.one_matrix.layer_weights import holds_by_layers
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.place import Place
from ircert.ir.graph import Graph
from ircert.questions.network import Network


def flow(n: int, width: int, depth: int, step: float, seed: int = 0, bias: float = 0.0) -> Graph:
    """x + step g(x)."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(n)
    at, size = build.input, n
    for _ in range(depth):
        weight = rng.normal(size=(width, size)) / np.sqrt(size)
        at, size = build.relu(build.affine(at, weight, bias * rng.normal(size=width))), width
    return build.graph(build.add(build.input, build.affine(at, step * rng.normal(size=(n, width)) / np.sqrt(width))))


def parts(graph: Graph) -> tuple[Batches, Secants]:
    setting = Setting(Network(graph).merged, "local", graph.output_dim, Place.everywhere(np.zeros(graph.input_dim)))
    return Batches(setting), Secants(setting)


@pytest.mark.rule("E-23")
@pytest.mark.parametrize(("n", "width", "depth"), [(40, 8, 1), (40, 8, 2), (100, 24, 2)])
def test_flows_with_many_inputs_hold_for_all_slopes(n: int, width: int, depth: int) -> None:
    assert holds_by_layers(*parts(flow(n, width, depth, 0.4)))


@pytest.mark.rule("E-23")
def test_what_holds_has_no_singular_corner() -> None:
    """All corners of random networks, small enough to look at each."""
    held = 0
    for seed, step in itertools.product(range(12), (0.2, 0.5, 1.0, 2.0)):
        network, secants = parts(flow(5, 4, 2, step, seed))
        corners = np.array(list(itertools.product((0.0, 1.0), repeat=network.setting.neurons)))
        signs = np.sign(np.linalg.det(secants.jacobians(corners)))
        if holds_by_layers(network, secants):
            held += 1
            assert (signs == signs[0]).all()
    assert held > 5


def test_a_fold_is_not_overlooked() -> None:
    """x - 2 relu(x) turns around in one entry."""
    build = ircert.Builder(8)
    first = build.relu(build.affine(build.input, np.eye(1, 8)))
    graph = build.graph(build.add(build.input, build.affine(first, -2.0 * np.eye(8, 1))))
    assert not holds_by_layers(*parts(graph))


def test_the_test_decides_and_not_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """With weights that are far off nothing is proved."""
    chosen = layer_weights._chosen

    def worse(*given: Any) -> Any:
        matrix, weights = chosen(*given)  # type: ignore[misc]
        return matrix, 1e6 * weights

    network, secants = parts(flow(40, 8, 2, 0.4))
    monkeypatch.setattr(layer_weights, "_chosen", worse)
    assert not holds_by_layers(network, secants)


@pytest.mark.rule("E-23")
@pytest.mark.parametrize("problem", ["local", "pseudo", "transform"])
def test_centres_in_which_all_neurons_are_0(problem: str) -> None:
    graph = flow(40, 16, 2, 0.4)
    other = flow(40, 16, 2, 0.4, 1) if problem == "transform" else None
    found = ircert.certify(graph, np.zeros(40), problem=problem, other=other)
    assert found.radius.certified == np.inf
    assert "whatever the slopes are" in found.radius.certified.evidence


def test_a_ball_is_decided_so_as_well() -> None:
    found = ircert.certify(flow(40, 16, 2, 0.4), np.zeros(40), radius=3.0)
    assert found.verdict == "certified"
    assert "whatever the slopes are" in found.radius.certified.evidence


def test_more_outputs_than_inputs() -> None:
    build = ircert.Builder(30)
    rng = np.random.default_rng(1)
    hidden = build.relu(build.affine(build.input, rng.normal(size=(8, 30)) / 6, rng.normal(size=8)))
    first = build.add(build.input, build.affine(hidden, 0.3 * rng.normal(size=(30, 8))))
    more = build.affine(first, np.vstack([np.eye(30), rng.normal(size=(3, 30))]))
    assert holds_by_layers(*parts(build.graph(more)))
