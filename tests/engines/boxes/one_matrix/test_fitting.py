"""Matrices that are good for many Jacobians at once."""

from __future__ import annotations

import numpy as np

from ircert.engines.boxes.one_matrix.fitting import fitted, least_eigenvalues


def test_least_eigenvalues_of_symmetric_parts() -> None:
    jacobians = np.stack([np.diag([2.0, 3.0]), np.array([[1.0, 4.0], [0.0, 1.0]])])
    values, vectors = least_eigenvalues(np.eye(2), jacobians)
    assert np.allclose(values, [2.0, -1.0])
    assert np.allclose(np.abs(vectors[0]), [1.0, 0.0])


def test_a_fit_serves_jacobians_that_the_start_fails() -> None:
    rng = np.random.default_rng(0)
    turn = np.array([[np.cos(1.8), -np.sin(1.8)], [np.sin(1.8), np.cos(1.8)]])
    jacobians = np.stack([turn + 0.2 * rng.standard_normal((2, 2)) for _ in range(900)])
    assert least_eigenvalues(np.eye(2), jacobians)[0].min() < 0
    inner = fitted(np.eye(2), jacobians, np.ones(900))
    assert least_eigenvalues(inner, jacobians)[0].min() > 0
    assert np.abs(inner).max() == 1.0


def test_jacobians_that_are_good_already_change_nothing() -> None:
    assert (fitted(np.eye(3), np.stack([np.eye(3), 2 * np.eye(3)]), np.ones(2)) == np.eye(3)).all()
