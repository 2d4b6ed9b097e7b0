"""Bounds on linear forms over boxes cut with a ball: safe for exact points, and as good as they can be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from ircert.engines.boxes.enclosures.support import upper
from ircert.geometry.norm import Norm

ROUND = [Norm.ONE, Norm.TWO]


def forms(rng: np.random.Generator, count: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low = rng.integers(-16, 12, (count, n)) / 16
    return rng.integers(-8, 9, (count, n)) / 8, low, low + rng.integers(0, 20, (count, n)) / 16


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("norm", ROUND)
@pytest.mark.parametrize("scale", [1e-320, 1e-160, 1.0, 1e150])
def test_no_point_of_the_ball_exceeds_a_bound(scale: float, norm: Norm) -> None:
    rng, met = np.random.default_rng(3), 0
    for n in (1, 2, 3):
        lines, low, high = forms(rng, 60, n)
        low, high = low * scale, high * scale
        found = upper(norm, lines, low, high, scale)
        for k in range(len(lines)):
            for _ in range(8):
                shares = [Fraction(int(s), 6) for s in rng.integers(0, 7, n)]
                ends = [(Fraction(a), Fraction(b)) for a, b in zip(low[k].tolist(), high[k].tolist(), strict=True)]
                point = [a + s * (b - a) for s, (a, b) in zip(shares, ends, strict=True)]
                if norm.measure(point) <= Fraction(scale) ** norm.power:
                    met += 1
                    value = sum((Fraction(a) * p for a, p in zip(lines[k].tolist(), point, strict=True)), Fraction(0))
                    assert value <= Fraction(found[k]) if np.isfinite(found[k]) else found[k] != -np.inf
    assert met > 100


def test_in_norm_1_a_bound_is_the_optimum_of_the_linear_program() -> None:
    lines, low, high = forms(np.random.default_rng(5), 40, 3)
    found = upper(Norm.ONE, lines, low, high, 1.0)
    for k in range(40):
        # x = p - q with p, q >= 0 and sum p + q <= 1
        rows = np.concatenate([np.ones((1, 6)), np.hstack([np.eye(3), -np.eye(3)]), np.hstack([-np.eye(3), np.eye(3)])])
        sides = np.concatenate([[1.0], high[k], -low[k]])
        solved = linprog(-np.concatenate([lines[k], -lines[k]]), rows, sides)
        if solved.status == 0:
            box = np.maximum(lines[k] * low[k], lines[k] * high[k]).sum()
            assert min(found[k], box) == pytest.approx(-solved.fun, abs=1e-9)


def test_in_norm_2_a_bound_is_close_to_the_optimum() -> None:
    lines, low, high = forms(np.random.default_rng(7), 30, 3)
    found = upper(Norm.TWO, lines, low, high, 1.0)
    within = {"type": "ineq", "fun": lambda x: 1.0 - x @ x}
    close = 0
    for k in range(30):
        start = np.clip(0.0, low[k], high[k])
        if start @ start >= 1.0 or not lines[k].any():
            continue
        solved = minimize(
            lambda x, k=k: -lines[k] @ x, start, bounds=list(zip(low[k], high[k], strict=True)), constraints=[within]
        )
        least = min(found[k], np.maximum(lines[k] * low[k], lines[k] * high[k]).sum())
        assert least >= -solved.fun - 1e-6
        close += least <= -solved.fun + 0.02
    assert close > 15


@pytest.mark.parametrize("norm", ROUND)
def test_what_is_no_number_is_no_bound(norm: Norm) -> None:
    lines = np.array([[1e308, 1e308], [0.0, 0.0], [np.inf, 1.0]])
    found = upper(norm, lines, np.full((3, 2), -1e308), np.full((3, 2), 1e308), 1e308)
    assert not (found < 0).any()
