"""Matrices with a large quotient."""

from __future__ import annotations

import numpy as np
import pytest

from ircert.analysis.lipschitz.choosing import chosen, quotient
from ircert.geometry.norm import Norm

NORMS = tuple(Norm)


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("norm", NORMS)
def test_a_chosen_matrix_is_better_than_an_inverse(norm: Norm) -> None:
    rng = np.random.default_rng(4)
    jacobians = np.diag([4.0, 1.0, 0.25]) + rng.uniform(-0.15, 0.15, (40, 3, 3))
    start = np.linalg.inv(jacobians[0])
    best = chosen(start, jacobians, norm)
    assert quotient(best, jacobians, norm) > 1.05 * quotient(start, jacobians, norm)
    assert np.linalg.norm(best, norm.order) == pytest.approx(1.0)


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("norm", NORMS)
def test_one_jacobian_leaves_nothing_to_wish_for(norm: Norm) -> None:
    jacobian = np.random.default_rng(1).normal(size=(4, 4))
    best = chosen(np.eye(4) + np.linalg.inv(jacobian), jacobian[None], norm)
    assert quotient(best, jacobian[None], norm) >= 0.9 / np.linalg.norm(np.linalg.inv(jacobian), norm.order)


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("start", [np.zeros((2, 2)), np.full((2, 2), np.inf)])
def test_there_is_no_matrix_to_start_from(norm: Norm, start: np.ndarray) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        chosen(start, np.eye(2)[None], norm)
