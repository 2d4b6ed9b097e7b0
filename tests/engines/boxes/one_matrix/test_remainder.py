"""What free neurons take away: R is an upper bound for all slopes, whatever the weights."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ircert.engines.boxes.one_matrix.remainder import FLAT, Metric, Terms


def terms_of(rng: np.random.Generator, n: int, neurons: int, cubes: int, reach: float) -> tuple[Terms, np.ndarray]:
    above, below = rng.standard_normal((2, neurons, n, cubes))
    spare = np.where(rng.random((neurons, cubes)) < 0.5, 0.5, 0.0)
    off = reach * rng.random((neurons, n, cubes))
    return Terms.of(spare, above, off, below), np.stack([above, below, off])


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("reach", [0.0, 0.3])
def test_no_slopes_take_more(reach: float) -> None:
    rng = np.random.default_rng(1)
    n, neurons, cubes = 3, 4, 6
    terms, parts = terms_of(rng, n, neurons, cubes, reach)
    inverse = np.stack([np.diag(rng.random(n) + 0.1) for _ in range(cubes)])
    taken, adds = terms.taken(inverse)
    weights = terms.spread(adds, neurons)
    for k in range(cubes):
        free = np.flatnonzero(weights[:, k] > 0)
        for signs in product([-0.5, 0.5], repeat=len(free)):
            total = np.zeros((n, n))
            for i, sign in zip(free, signs, strict=True):
                a = parts[0, i, :, k] + parts[2, i, :, k] * rng.uniform(-1, 1, n)
                total += sign * np.outer(a, parts[1, i, :, k])
            assert np.linalg.eigvalsh(taken[k] + (total + total.T) / 2)[0] > -1e-9


def test_cubes_without_free_neurons_lose_nothing() -> None:
    terms = Terms.of(np.zeros((4, 2)), *np.ones((3, 4, 3, 2)))
    taken, adds = terms.taken(np.stack([np.eye(3)] * 2))
    assert (taken == 0).all()
    assert (terms.spread(adds, 4) == 0).all()


def test_excess_is_positive_where_a_remainder_is_too_large() -> None:
    metric = Metric.of(np.stack([np.eye(2), 4 * np.eye(2)]), FLAT)
    rest = np.stack([np.diag([0.5, 1.0]), np.diag([-2.0, 4.0])])
    assert np.allclose(metric.excess(rest), [-0.5, 0.5])
    assert metric.definite.all()


def test_excess_of_what_leaves_the_floats_is_no_error() -> None:
    metric = Metric.of(np.full((1, 2, 2), 1e-300) * np.eye(2), FLAT)
    assert np.isfinite(metric.excess(1e200 * np.eye(2)[None])).all()
