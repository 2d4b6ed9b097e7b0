"""Matrices that are good for many Jacobians at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from ircert.engines.boxes.one_matrix import fitting
from ircert.engines.boxes.one_matrix.fitting import (
    RIDGE,
    TEMPERATURE,
    fitted,
    least_eigenvalues,
    low_eigenvalues,
    lowest_directions,
    normalized,
)
from ircert.limits import OutOfTime, until


def test_least_eigenvalues_of_symmetric_parts() -> None:
    jacobians = np.stack([np.diag([2.0, 3.0]), np.array([[1.0, 4.0], [0.0, 1.0]])])
    values, vectors = lowest_directions(np.eye(2), jacobians)
    assert np.allclose(values, [2.0, -1.0])
    assert np.allclose(np.abs(vectors[0]), [1.0, 0.0])
    assert np.allclose(least_eigenvalues(np.eye(2), jacobians), [2.0, -1.0])


def test_eigenvalues_below_a_bound_are_all_there() -> None:
    rng = np.random.default_rng(2)
    for n, m in ((1, 1), (3, 3), (4, 6), (8, 8)):
        inner, jacobians = rng.standard_normal((n, m)), np.eye(m, n) + 0.5 * rng.standard_normal((300, m, n))
        inner[:, :n] += 3 * np.eye(n)
        exact = least_eigenvalues(inner, jacobians)
        bound = float(np.median(exact))
        found = low_eigenvalues(inner, jacobians, bound)
        assert np.allclose(found[exact < bound], exact[exact < bound])
        assert np.isinf(found[exact > bound + 1e-9]).all()


def test_a_fit_serves_jacobians_that_the_start_fails() -> None:
    rng = np.random.default_rng(0)
    turn = np.array([[np.cos(1.8), -np.sin(1.8)], [np.sin(1.8), np.cos(1.8)]])
    jacobians = np.stack([turn + 0.2 * rng.standard_normal((2, 2)) for _ in range(900)])
    assert least_eigenvalues(np.eye(2), jacobians).min() < 0
    inner = fitted(np.eye(2), jacobians, np.ones(900))
    assert least_eigenvalues(inner, jacobians).min() > 0
    unit = normalized(inner)
    assert unit is not None
    assert np.abs(unit).max() == 1.0
    assert least_eigenvalues(unit, jacobians).min() > 0


def test_a_fit_is_about_the_least_sum() -> None:
    rng = np.random.default_rng(1)
    for n, m in ((2, 2), (3, 3), (3, 5)):
        start, jacobians = np.eye(n, m), np.eye(m, n) + 0.6 * rng.standard_normal((60, m, n))
        weights = rng.uniform(0.5, 3.0, 60)

        def total(entries: np.ndarray, jacobians: np.ndarray = jacobians, weights: np.ndarray = weights) -> float:
            products = entries.reshape(jacobians.shape[2], jacobians.shape[1]) @ jacobians
            values = np.linalg.eigvalsh((products + products.transpose(0, 2, 1)) / 2)
            missed = TEMPERATURE * np.logaddexp(0.0, -values / TEMPERATURE).sum(axis=1)
            return float(missed @ weights + RIDGE * weights.sum() * (entries**2).sum() / 2)

        found = total(fitted(start, jacobians, weights).ravel())
        assert found <= 1.01 * float(minimize(total, start.ravel(), method="BFGS").fun)


def test_without_a_number_there_is_no_unit() -> None:
    assert normalized(np.zeros((2, 2))) is None
    assert normalized(np.array([[np.inf, 1.0]])) is None


def test_jacobians_that_are_good_already_change_nothing() -> None:
    assert (fitted(np.eye(3), np.stack([np.eye(3), 2 * np.eye(3)]), np.ones(2)) == np.eye(3)).all()


def test_pieces_find_the_same_and_ask_for_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    jacobians = np.random.default_rng(0).normal(size=(7, 3, 3))
    at_once = least_eigenvalues(np.eye(3), jacobians)
    monkeypatch.setattr(fitting, "PIECE", 60)
    assert (least_eigenvalues(np.eye(3), jacobians) == at_once).all()
    assert low_eigenvalues(np.eye(3), jacobians, 0.0).min() == at_once.min()
    with until(lambda: True), pytest.raises(OutOfTime):
        least_eigenvalues(np.eye(3), jacobians)
