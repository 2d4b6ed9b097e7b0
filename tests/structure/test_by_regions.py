"""What the form says of small piecewise-linear networks, against exact geometry: no collision is ever near."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ircert
from ircert.ir.graph import Graph
from ircert.ir.ops import Conv, MaxPool
from ircert.structure.known import Knowledge
from ircert.testing import invertible_networks

FIXTURES = Path(__file__).parent / "fixtures"


def has_no_collision(graph: Graph) -> bool:
    """By `regions`, as far as it comes."""
    found = ircert.certify(graph, np.full(2, 0.125), engine="regions", max_radius=4.0, time_limit=20)
    return found.radius.refuted is None


@pytest.mark.rule("ST-7")
@settings(max_examples=12)
@given(invertible_networks(inputs=2, steps=4, smooth=False))
def test_networks_with_a_hidden_design(graph: Graph) -> None:
    assert Knowledge(graph).is_injective
    assert has_no_collision(graph)


@pytest.mark.rule("ST-7")
@pytest.mark.parametrize("exporter", ["torch_dynamo", "torch_script"])
def test_nice_by_torch(exporter: str) -> None:
    assert has_no_collision(ircert.load(FIXTURES / exporter / "nice_2.onnx"))


@pytest.mark.rule("ST-6")
@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_convolutional_residual_blocks(seed: int) -> None:
    """x + W relu(V x + b), as convolutions of images of two pixels: claimed only where no region disagrees."""
    rng = np.random.default_rng(seed)
    build = ircert.Builder(2)
    first = Conv((1, 2), rng.integers(-4, 5, (2, 1, 3)) / 4, rng.integers(-2, 3, 2) / 2, padding=(1, 1))
    last = Conv((2, 2), rng.integers(-4, 5, (1, 2, 3)) / 4, padding=(1, 1))
    graph = build.graph(build.add(build.input, build.node(last, build.relu(build.node(first, build.input)))))
    assert not Knowledge(graph).is_injective or has_no_collision(graph)


@pytest.mark.rule("ST-3")
def test_windows_of_one_entry() -> None:
    """A maximum over (x0), (x0, x1), (x1) shows both; over (x0, x1) alone it does not."""
    build = ircert.Builder(2)
    graph = build.graph(build.node(MaxPool((1, 2), (2,), padding=(1, 1)), build.input))
    assert Knowledge(graph).is_injective
    assert has_no_collision(graph)
    build = ircert.Builder(2)
    assert not Knowledge(build.graph(build.node(MaxPool((1, 2), (2,)), build.input))).is_injective
