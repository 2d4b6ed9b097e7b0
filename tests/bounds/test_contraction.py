"""Interval matrices without a kernel, and what kernels of others may hold."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.bounds.contraction import best_residual, keeps_apart, kernels_within, largest_kernel, residual, shrinks
from ircert.geometry.norm import Norm

EYE = np.eye(2)


@pytest.mark.parametrize(
    ("spread", "apart"), [(0.0, True), (0.25, True), (0.49, True), (0.5, False), (1.0, False), (np.inf, False)]
)
def test_matrices_around_the_identity(spread: float, apart: bool) -> None:
    """All entries within the spread: [[1/2, 1/2], [1/2, 1/2]] is the first without an inverse."""
    assert keeps_apart(EYE - spread, EYE + spread) is apart


def test_singular_and_wide_matrices_prove_nothing() -> None:
    assert not keeps_apart(np.ones((2, 2)), np.ones((2, 2)))
    assert best_residual(np.ones((1, 2)), np.ones((1, 2))) is None
    assert keeps_apart(np.array([[1.0], [0.0]]), np.array([[1.0], [9.0]])), "more rows than columns"


def test_the_residual_holds_every_matrix() -> None:
    low, high = np.array([[1.0, -0.5], [0.0, 2.0]]), np.array([[1.5, 0.5], [0.25, 3.0]])
    middle, spread = (low + high) / 2, (high - low) / 2
    inverse = np.linalg.inv(middle)
    found = residual(inverse, middle, spread)
    rng = np.random.default_rng(0)
    for _ in range(50):
        exact = np.eye(2) - inverse @ (low + rng.integers(0, 2, (2, 2)) * (high - low))
        assert (np.abs(exact) <= found.bound + 1e-15).all()
        assert np.linalg.norm(exact, np.inf) <= float(found.size(Norm.INF)) + 1e-12


def test_kernels_in_a_box() -> None:
    """J = (1, s) with s in [-1/4, 1/4] and J d = 0: |d_1| <= |d_2| / 4."""
    low, high = np.array([[1.0, -0.25], [0.0, 0.0]]), np.array([[1.0, 0.25], [0.0, 0.0]])
    box = np.array([0.5, -1.0]), np.array([1.0, 1.0])
    assert largest_kernel(EYE, EYE, box) is None
    assert largest_kernel(low, high, box) is None, "d_1 >= 1/2 would need |d_2| >= 2"
    around = -box[1], box[1]
    found = largest_kernel(low, high, around)
    assert found is not None
    assert found == pytest.approx([0.25, 1.0], rel=1e-6)
    most, empty = kernels_within(np.array([[0.0, 0.25], [0.0, 1.0]])[..., None], box[0][:, None], box[1][:, None], 3)
    assert empty.tolist() == [True]
    assert most[0, 0] == pytest.approx(0.25)


def test_weights_find_what_norms_do_not() -> None:
    """E = [[0.1, 4], [0.01, 0.1]] has norms above 1 and a spectral radius of 0.3."""
    stack = np.stack([np.array([[0.1, 4.0], [0.01, 0.1]]), EYE, np.zeros((2, 2))], axis=2)
    assert shrinks(stack).tolist() == [True, False, True]
