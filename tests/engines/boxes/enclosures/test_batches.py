"""Walks over many boxes at once, and the inverses of many small matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches, inverses, left_inverses, times
from tests.engines.boxes.making import residual, setting_of


def test_products_go_along_the_first_axis() -> None:
    values = np.arange(12.0).reshape(2, 3, 2)
    found = times(np.array([[1.0, 10.0], [0.0, -1.0], [2.0, 0.0]]), values)
    assert found.shape == (3, 3, 2)
    assert np.array_equal(found[0], values[0] + 10 * values[1])
    assert np.array_equal(found[1], -values[1])


def walked(network: Batches, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J for given slopes, going forward from the inputs and backward from the outputs."""
    relus, size = network.setting.relus, network.size

    def relu(name: str, given: np.ndarray) -> np.ndarray:
        return given * slopes[relus[name], None, None]

    ahead = network.forward(np.eye(size)[:, :, None], lambda name, v: times(network.weights[name], v), relu)
    start = np.eye(network.constrained)[:, :, None]
    back = network.backward(start, lambda name, v: times(network.transposed[name], v), relu)
    return network.output(ahead)[:, :, 0], back[:, :, 0].T


@pytest.mark.parametrize("outputs", [2, 3])
def test_both_walks_give_the_same_matrix(outputs: int) -> None:
    setting = setting_of(residual(np.random.default_rng(outputs), 2, 4, outputs=outputs), [0.0, 0.0])
    ahead, back = walked(Batches(setting), np.linspace(0, 1, setting.neurons))
    assert ahead.shape == (outputs, 2)
    np.testing.assert_allclose(ahead, back, rtol=1e-13)


def test_the_doubt_covers_what_floats_round() -> None:
    """A sum of 0.1 times 0.1 many times over, against the exact product."""
    count = 50
    setting = setting_of(
        ircert.load([(np.full((count, 1), 0.1), np.ones(count)), (np.full((1, count), 0.1), np.zeros(1))]), [0.0]
    )
    network = Batches(setting)
    (row,) = walked(network, np.ones(count))[0].tolist()
    exact = count * Fraction(0.1) * Fraction(0.1)
    assert exact != Fraction(row[0])
    assert abs(exact - Fraction(row[0])) <= Fraction(float(network.doubt[0, 0]))
    assert network.terms > count


def test_graphs_without_an_affine_map() -> None:
    build = ircert.Builder(2)
    network = Batches(setting_of(build.graph(build.relu(build.input)), [1.0, 1.0]))
    assert np.array_equal(walked(network, np.array([1.0, 0.0]))[1], [[1.0, 0.0], [0.0, 0.0]])


def test_inverses_and_which_there_are() -> None:
    stack = np.stack([np.array([[2.0, 0.0], [0.0, -4.0]]), np.ones((2, 2)), np.full((2, 2), np.nan)], axis=2)
    found, good = inverses(stack)
    assert good.tolist() == [True, False, False]
    assert np.array_equal(found[:, :, 0], [[0.5, 0.0], [0.0, -0.25]])


def test_left_inverses_of_tall_matrices() -> None:
    tall = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])[:, :, None]
    found, good = inverses(tall)
    assert good.all()
    np.testing.assert_allclose(found[:, :, 0] @ tall[:, :, 0], np.eye(2), atol=1e-14)


def test_still_columns_have_rows_of_zeros() -> None:
    square = np.array([[1.0, 5.0], [1.0, 7.0]])[:, :, None]
    found, good = left_inverses(square, np.array([[False], [True]]))
    assert good.all()
    assert np.array_equal(found[1, :, 0], [0.0, 0.0])
    np.testing.assert_allclose(found[0, :, 0] @ square[:, 0, 0], 1.0)
