"""Cubes of slopes on which C J is positive in a norm, against exact arithmetic at their corners."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.analysis.lipschitz.positivity import Dominant, one_matrix, positivity
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.geometry.norm import Norm
from tests.engines.boxes.making import determinant, setting_of

NORMS = tuple(Norm)
Rows = list[list[Fraction]]


def product_of(matrix: Any, jacobian: Any) -> Rows:
    left, right = ([[Fraction(v) for v in row] for row in part.tolist()] for part in (matrix, jacobian))
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*right, strict=True)]
            for row in left]  # fmt: skip


def is_positive(matrix: Rows, norm: Norm, least: Fraction) -> bool:
    """Whether a matrix is more positive than `least` in a norm, exactly."""
    n = len(matrix)
    if norm == "2":
        whole = [[(matrix[i][j] + matrix[j][i]) / 2 - (least if i == j else 0) for j in range(n)] for i in range(n)]
        return all(determinant([row[:k] for row in whole[:k]]) > 0 for k in range(1, n + 1))
    lines = matrix if norm == "inf" else [list(column) for column in zip(*matrix, strict=True)]
    return all(row[i] - sum(abs(v) for j, v in enumerate(row) if j != i) > least for i, row in enumerate(lines))


@pytest.mark.rule("E-15", "L-8")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_corners_of_closed_cubes_are_that_positive(norm: Norm, n: int) -> None:
    closed = refused = 0
    for seed in range(30):
        rng = np.random.default_rng([n, seed])
        setting = setting_of(_near_identity(rng, n), np.zeros(n))
        network, secants = Batches(setting), Secants(setting)
        free = rng.integers(4, size=(setting.neurons, 8)) == 0
        slopes = Slopes.of((rng.integers(2, size=free.shape) > 0) & ~free, free, np.zeros((n, 8), dtype=bool))
        base = secants.jacobians(slopes.middle.T)[0]
        matrix = np.round(np.linalg.pinv(base) * 64) / 64
        seen = float(positivity(np.matmul(matrix, base)[None], norm).min())
        least = max(seen, 0.0) * float(rng.choice([0.25, 0.5, 0.9]))
        good = one_matrix(network, matrix, norm, least).closed(slopes).closed
        for k in range(8):
            corners = _corners(slopes.middle[:, k], slopes.free[:, k])
            exact = (product_of(matrix, secants.jacobians(corner[None])[0]) for corner in corners)
            whole = all(is_positive(one, norm, Fraction(least)) for one in exact)
            assert whole or not good[k]
            closed, refused = closed + bool(good[k]), refused + (not whole)
    assert closed > 5
    assert refused > 5


def _near_identity(rng: np.random.Generator, n: int) -> ircert.Graph:
    """x and a little of two layers of neurons; dyadic, so that Jacobians at corners are exact."""
    build = ircert.Builder(n)
    first = build.relu(build.affine(build.input, rng.integers(-4, 5, (4, n)) / 4, rng.integers(-4, 5, 4) / 4))
    second = build.relu(build.affine(first, rng.integers(-4, 5, (3, 4)) / 4, rng.integers(-4, 5, 3) / 4))
    return build.graph(
        build.add(build.input, build.affine(build.concat(first, second), rng.integers(-2, 3, (n, 7)) / 16))
    )


def _corners(middle: Any, free: Any) -> Any:
    places = np.flatnonzero(free)
    for bits in product([0.0, 1.0], repeat=len(places)):
        corner = middle.copy()
        corner[places] = bits
        yield corner


@pytest.mark.rule("E-15", "L-8")
@pytest.mark.parametrize("norm", NORMS)
def test_what_is_exactly_that_positive_is_not_closed(norm: Norm) -> None:
    setting = setting_of(ircert.load([(np.diag([3.0, 0.5]), np.zeros(2))]), np.zeros(2))
    none = np.zeros((0, 1), dtype=bool)
    slopes = Slopes.of(none, none, np.zeros((2, 1), dtype=bool))
    for least, expected in ((0.5, False), (np.nextafter(0.5, 0), False), (0.5 - 1e-9, True), (np.nan, False)):
        assert one_matrix(Batches(setting), np.eye(2), norm, least).closed(slopes).closed[0] == expected


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("norm", [Norm.INF, Norm.ONE])
def test_what_overflows_is_not_closed(norm: Norm) -> None:
    setting = setting_of(ircert.load([(np.eye(2) * 2.0**1000, np.zeros(2))]), np.zeros(2))
    none = np.zeros((0, 1), dtype=bool)
    slopes = Slopes.of(none, none, np.zeros((2, 1), dtype=bool))
    with np.errstate(all="ignore"):
        assert not Dominant(Batches(setting), np.eye(2) * 2.0**100, norm).closed(slopes).closed[0]


@pytest.mark.rule("L-8")
@pytest.mark.parametrize("norm", NORMS)
def test_a_matrix_stretches_by_its_positivity(norm: Norm) -> None:
    rng = np.random.default_rng(2)
    matrices = 3 * np.eye(3) + rng.normal(size=(50, 3, 3))
    least = positivity(matrices, norm).min(axis=1)
    d = rng.normal(size=(3, 2000))
    seen = np.linalg.norm(matrices @ d, norm.order, axis=1) / np.linalg.norm(d, norm.order, axis=0)
    assert (least > 0).any()
    assert (seen.min(axis=1) >= least * (1 - 1e-12)).all()
