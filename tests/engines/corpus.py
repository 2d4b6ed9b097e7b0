"""Numbers that must not fool anyone: a fixed corpus of small networks that solvers, floats or habits get wrong."""

from __future__ import annotations

import numpy as np

from tests.oracle.build import Array, Network, beside, curve, line, square, stacked, then

Case = tuple[Network, Array]
FOLD = beside(curve([0.5], [[-1.0], [1.0]]), line(1))
"""(|x1 - 1/2|, x2)"""
EYE = np.eye(2)
LOOP = [[0.0, 1.0], [0.0, -0.5], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
"""Slopes of a curve that folds back after 1 and meets its beginning once more after 4."""


def min_net(e: float) -> Network:
    """x - relu(e x) / e = min(x, 0)."""
    return [(np.array([[1.0], [-1.0], [e]]), np.zeros(3)), (np.array([[1.0, -1.0, -1 / e]]), np.zeros(1))]


def slope(s: float) -> Network:
    """s x, and s / 3 x for negative x: injective however small s is."""
    return [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[s, -s / 3]]), np.zeros(1))]


def rescaled(network: Network, factors: list[float]) -> Network:
    """Neurons multiplied by these factors in turn, and divided where they are read; outputs as well (all rounded)."""
    (w, b), (v, a) = network
    units, out = np.resize(factors, len(b)), np.resize(factors, len(a))
    return [(units[:, None] * w, units * b), (out[:, None] * v / units, out * a)]


def tooth(width: float) -> Network:
    """(x1 + 3 relu(x1) - 6 relu(x1 - w) + 3 relu(x1 - 2 w), x2): up, down and up again within 2 w."""
    return beside(curve([0.0, width, 2 * width], [[1.0], [4.0], [-2.0], [1.0]]), line(1))


def near_pair(e: float) -> Network:
    """(t - 2relu(t) + relu(t - e), relu(t) - 2relu(t - e)): f(-e) = f(2e), with no fold."""
    return curve([0.0, e], [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])


def nearly_parallel(angle: float) -> Network:
    """(x1 + relu(x1 + a x2) - 4 relu(x1 - a x2), x2): a fold between lines that are all but one."""
    w = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, angle], [1.0, -angle], [0.0, 1.0], [0.0, -1.0]])
    v = np.array([[1.0, -1.0, 1.0, -4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, -1.0]])
    return [(w, np.zeros(6)), (v, np.zeros(2))]


def corpus() -> dict[str, Case]:
    """The networks by name, each with a centre."""
    found: dict[str, Case] = {}
    for k in (20, 27, 30, 37, 45):
        found[f"min-2^-{k}"] = min_net(2.0**-k), [-0.75]
        found[f"min-at-kink-2^-{k}"] = min_net(2.0**-k), [0.0]
    for k in (10, 20, 30, 45):
        found[f"slope-2^-{k}"] = slope(2.0**-k), [0.25]
    for scale in (1e-12, 1e12, 3e-7):
        found[f"spread-{scale:g}"] = rescaled(FOLD, [scale, 1.0, 1 / scale]), [0.0, 0.0]
    for width in (1e-9, 2.0**-40, 1e-3):
        found[f"tooth-{width:g}"] = tooth(width), [-0.5, 0.0]
        found[f"inside-tooth-{width:g}"] = tooth(width), [width / 2, 0.0]
        found[f"near-pair-{width:g}"] = near_pair(width), [0.5]
        found[f"amid-near-pair-{width:g}"] = near_pair(width), [width / 2]
    for angle in (1e-9, 2.0**-30):
        found[f"parallel-{angle:g}"] = nearly_parallel(angle), [-0.25, 0.125]
        found[f"on-parallel-{angle:g}"] = nearly_parallel(angle), [0.0, 0.0]
    found |= {
        "at-kink": (line(2), [0.0, 0.0]),
        "at-fold": (FOLD, [0.5, 0.25]),
        "beside-fold": (FOLD, [0.5 - 2.0**-30, 0.25]),
        "at-winding": (square(), [0.0, 0.0]),
        "at-vertex": (stacked(square(), [(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2)), _join(1)]), [0.0, 0.0]),
        "vertex": (stacked(square(), [(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2)), _join(1)]), [0.25, 0.0]),
        "fold-before-crossing": (curve([1.0, 2.0, 3.0, 4.0], LOOP), [0.75]),
        "sheets": (then(square(), square()), [1.0, 0.0]),
        "constant": ([(0 * EYE, np.ones(2))], [0.0, 0.0]),
        "linear": ([(EYE + 1, np.ones(2))], [0.5, 0.0]),
        "singular": ([(np.ones((2, 2)), np.ones(2))], [0.5, 0.0]),
        "nearly-singular": ([(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), np.zeros(2))], [0.0, 0.0]),
        "width-one": ([(np.array([[1.0, 1.0]]), np.zeros(1)), (np.ones((2, 1)), np.zeros(2))], [1.0, 0.0]),
        "duplicated": ([(np.tile(EYE, (3, 1)), np.zeros(6)), (np.tile(EYE, 3), np.zeros(2))], [1.0, 0.5]),
        "dead": ([(EYE, np.full(2, -1000.0)), (EYE, np.zeros(2))], [0.0, 0.0]),
        "huge-bias": ([(EYE, np.full(2, 2.0**40)), (EYE, np.full(2, -(2.0**40)))], [0.1, 0.3]),
        "rounded-bias": ([(EYE, np.full(2, 1e17)), (EYE, np.full(2, -1e17))], [0.1, 0.3]),
    }
    return {name: (layers, np.array(center)) for name, (layers, center) in found.items()}


def _join(n: int) -> tuple[Array, Array]:
    return np.hstack([np.eye(n), -np.eye(n)]), np.zeros(n)
