"""Activations by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ircert
from ircert.errors import UnsupportedModel
from ircert.frontends.activations import _PLAIN, activation, activations, rounded
from ircert.ir.build import Builder

EYE = np.eye(2)
POINTS = np.array([[-2.5, 0.5], [-0.1, 7.0]])


@pytest.mark.parametrize("name", [*_PLAIN, "leaky_relu", "elu", "LeakyReLU:0.2", "ELU:0.5"])
def test_every_name_is_read(name: str) -> None:
    graph = ircert.load([(EYE, None), (EYE, None)], activation=name)
    assert np.isfinite(graph(POINTS)).all()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relu", np.maximum(POINTS, 0)),
        ("relu6", np.clip(POINTS, 0, 6)),
        ("hard_tanh", np.clip(POINTS, -1, 1)),
        ("tanh", np.tanh(POINTS)),
        ("SiLU", POINTS / (1 + np.exp(-POINTS))),
        ("leaky_relu", np.where(POINTS > 0, POINTS, 0.01 * POINTS)),
        ("leaky-relu:0.25", np.where(POINTS > 0, POINTS, 0.25 * POINTS)),
        ("elu:2", np.where(POINTS > 0, POINTS, 2 * np.expm1(POINTS))),
        ("selu", 1.0507009873554805 * np.where(POINTS > 0, POINTS, 1.6732632423543772 * np.expm1(POINTS))),
        ("identity", POINTS),
    ],
)
def test_what_they_compute(name: str, expected: Any) -> None:
    build = Builder(2)
    graph = build.graph(activation(name)(build, build.input, None))
    np.testing.assert_allclose(graph(POINTS), expected, rtol=1e-12)


def test_numbers_are_rounded_to_the_type_of_the_weights() -> None:
    assert rounded(0.01, np.float32) == float(np.float32(0.01)) != rounded(0.01, np.float64) == 0.01
    single = ircert.load([(EYE.astype(np.float32), None)] * 2, activation="leaky_relu")
    assert single == ircert.load([(EYE, None)] * 2, activation=f"leaky_relu:{float(np.float32(0.01))!r}")


@pytest.mark.parametrize("name", ["rely", "", "relu:2", "leaky_relu:x", 5])
def test_other_names_are_refused_with_the_list(name: object) -> None:
    with pytest.raises(UnsupportedModel, match=r"is not known; use one of relu, .*identity"):
        activation(name)


def test_one_between_the_layers_or_one_behind_each() -> None:
    layers = [(EYE, None)] * 3
    assert ircert.load(layers) == ircert.load(layers, activation="relu") == ircert.load(layers, activation="relu,relu")
    last = ircert.load(layers, activation=["relu", "relu", "tanh"])
    np.testing.assert_allclose(last(POINTS), np.tanh(np.maximum(POINTS, 0)))
    assert len(activations("relu", 1)) == 1
    single = ircert.load(layers[:1], activation=["tanh"])  # a list says what stands behind each layer, the last too
    np.testing.assert_allclose(single(POINTS), np.tanh(POINTS))
    assert ircert.load(layers[:1], activation="tanh") == ircert.load(layers[:1])
    with pytest.raises(UnsupportedModel, match="4 activations for 3 layers"):
        ircert.load(layers, activation="relu,relu,relu,relu")
