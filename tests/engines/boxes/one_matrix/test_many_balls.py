"""One matrix for many balls at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.many_balls import ManyBalls
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.boxes import around, joined
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.ir.arrays import Array
from tests.engines.boxes.making import fold, residual, setting_of

EYE = np.eye(2)


def _many(settings: list[Setting], radii: list[float], matrix: Array) -> ManyBalls:
    first = settings[0]
    roots = joined([around(setting, radius) for setting, radius in zip(settings, radii, strict=True)])
    return ManyBalls(OneMatrix(Batches(first), matrix), Points(first), Counts(), roots)


def test_balls_up_to_the_fold_are_closed_and_no_others() -> None:
    at = 0.5
    centers = [[0.0, 0.0], [0.25, 3.0], [-1.0, 0.0], [0.4, 0.0]]
    settings = [setting_of(fold(at), c) for c in centers]
    radii = [0.499999, 0.249999, 1.499999, 0.2]  # the last one goes beyond the fold
    many = _many(settings, radii, EYE)
    many.advance(1_000, lambda: False)
    assert many.closed.tolist() == [True, True, True, False]
    wrong = np.concatenate(many.failing_in(3))
    assert len(wrong)
    assert (wrong[:, 0] > at).all()
    assert not sum(map(len, many.failing_in(0)))


def test_a_ball_on_the_other_side_is_closed_by_another_matrix_alone() -> None:
    settings = [setting_of(fold(), [-1.0, 0.0]), setting_of(fold(), [2.0, 0.0])]
    mirrored = np.diag([-1.0, 1.0])
    for matrix, closed in ((EYE, [True, False]), (mirrored, [False, True])):
        many = _many(settings, [1.0, 1.0], matrix)
        many.advance(1_000, lambda: False)
        assert many.closed.tolist() == closed


@pytest.mark.parametrize("seed", range(6))
def test_many_say_what_single_covers_say_and_points_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = residual(rng, 3, 6, scale=1.5)
    settings = [setting_of(graph, c) for c in rng.uniform(-1, 1, (8, 3))]
    radii = rng.uniform(0.05, 0.8, 8).tolist()
    matrix = np.linalg.inv(Points(settings[0]).reference(1e-3)).astype(np.float64)
    many = _many(settings, radii, matrix)
    many.advance(400, lambda: False)
    for k, (setting, radius) in enumerate(zip(settings, radii, strict=True)):
        points = setting.center + radius * rng.uniform(-1, 1, (300, 3))
        product = np.matmul(matrix, Points(setting).jacobians(points))
        least = np.linalg.eigvalsh(product + product.transpose(0, 2, 1))[:, 0].min()
        cover = Cover(OneMatrix(Batches(setting), matrix), Points(setting), Counts(), lambda: None)
        cover.begin_with(many.left_of(k, setting), radius)
        closed = bool(many.closed[k])
        while not closed and cover.spent < 500 and cover.step(radius, lambda: False) is None:
            closed = not cover.some_open(radius, 1)[0].keys.size
        assert least > 0 or not closed


def test_roots_hold_their_balls_exactly() -> None:
    setting = setting_of(fold(), [0.1, 1e9])
    radius = 0.3
    root = around(setting, radius)
    for j, c in enumerate(setting.exact_center):
        assert Fraction(float(root.low[0, j])) <= c - Fraction(radius)
        assert Fraction(float(root.high[0, j])) >= c + Fraction(radius)


def test_time_that_is_over_leaves_all_open() -> None:
    many = _many([setting_of(fold(), [0.0, 0.0])], [0.4], EYE)
    many.advance(100, lambda: True)
    assert not many.closed.any()
    assert many.open.tolist() == [1]
