"""Partial observations of one Euler step of the Brusselator: three of five numbers given, the other two in closed form.

With x' = x + τ (a + x² y - (b + 1) x) and y' = y + τ (b x - x² y) each of the ten choices leaves a polynomial of degree
at most three in one unknown; every root, real or complex, is a completion of the history.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ircert.ir.arrays import Array
from ircert.reproduction.maps.brusselator_map import REAL

Complexes: TypeAlias = NDArray[np.complex128]
Solver: TypeAlias = Callable[["History", Any], list[tuple[Any, Any, Any]]]
"""From the five numbers, of which it reads the given ones, to all (x, y, τ)."""

NAMES = ("x", "y", "τ", "x'", "y'")


@dataclass(frozen=True)
class History:
    """The Brusselator with its two parameters."""

    a: float = 1.0
    b: float = 2.0

    def complete(self, x: Any, y: Any, t: Any) -> Any:
        """(x, y, τ, x', y') as one row for each start."""
        after = x + t * (self.a + x * x * y - (self.b + 1) * x), y + t * (self.b * x - x * x * y)
        return np.stack([x, y, t, *after], axis=-1)

    def jacobian(self, points: Array) -> Array:
        """(N, 5, 3): the derivatives of all five numbers by (x, y, τ)."""
        x, y, t = points.T
        zero, one = np.zeros_like(x), np.ones_like(x)
        rows = [
            [one, zero, zero],
            [zero, one, zero],
            [zero, zero, one],
            [1 + t * (2 * x * y - self.b - 1), t * x * x, self.a + x * x * y - (self.b + 1) * x],
            [t * (self.b - 2 * x * y), 1 - t * x * x, self.b * x - x * x * y],
        ]
        return np.moveaxis(np.array([[*row] for row in rows]), 2, 0)

    # --- the rearranged equations ------------------------------------------------------------------------------------

    def y_before(self, x: Any, t: Any, x1: Any) -> Any:
        """From the first equation."""
        return (x1 - x + t * (self.b + 1) * x - t * self.a) / (t * x * x)

    def step_by_x(self, x: Any, y: Any, x1: Any) -> Any:
        """τ from the first equation."""
        return (x1 - x) / (self.a + x * x * y - (self.b + 1) * x)

    def step_by_y(self, x: Any, y: Any, y1: Any) -> Any:
        """τ from the second equation."""
        return (y1 - y) / (self.b * x - x * x * y)


@dataclass(frozen=True)
class Case:
    """Which three numbers are given, by their places in (x, y, τ, x', y'), and how the start is found.

    most: how many completions there are at most
    """

    number: int
    given: tuple[int, int, int]
    most: int
    solver: Solver

    @property
    def unknown(self) -> tuple[int, ...]:
        """The places of the other two."""
        return tuple(i for i in range(5) if i not in self.given)

    @property
    def name(self) -> str:
        """The givens and the unknowns, for people."""
        return f"({', '.join(NAMES[i] for i in self.given)}) ⇒ ({', '.join(NAMES[i] for i in self.unknown)})"

    def completions(self, history: History, values: Any) -> Complexes:
        """All (x, y, τ, x', y') with the given three numbers; the other two entries of `values` are not read."""
        hidden = np.array(values, dtype=np.complex128)
        hidden[list(self.unknown)] = np.nan
        with np.errstate(all="ignore"):
            starts = np.array(self.solver(history, hidden), dtype=np.complex128).reshape(-1, 3)
            found = history.complete(*starts.T)
        return found[np.isfinite(found).all(axis=1)]

    def real(self, history: History, values: Any) -> Array:
        """The real ones."""
        found = self.completions(history, values)
        return found.real[(np.abs(found.imag) <= REAL * np.maximum(1.0, np.abs(found))).all(axis=1)]


def _back(h: History, v: Any) -> list[tuple[Any, Any, Any]]:
    t, x1, y1 = v[2:]
    cubic = [t * (1 - t), t * (t * h.a - x1 - y1), t * h.b + t - 1, x1 - t * h.a]
    return [(x, h.y_before(x, t, x1), t) for x in np.roots(cubic)]


def _from_y(h: History, v: Any) -> list[tuple[Any, Any, Any]]:
    y, t, y1 = v[[1, 2, 4]]
    return [(x, y, t) for x in np.roots([t * y, -t * h.b, y1 - y])]


def _from_y_and_next_x(h: History, v: Any) -> list[tuple[Any, Any, Any]]:
    y, t, x1 = v[1:4]
    return [(x, y, t) for x in np.roots([t * y, 1 - t - t * h.b, t * h.a - x1])]


def _without_step_from_y(h: History, v: Any) -> list[tuple[Any, Any, Any]]:
    y, x1, y1 = v[[1, 3, 4]]
    cubic = [y, (y - y1) * y - h.b - x1 * y, h.b * x1 + (h.b + 1) * (y1 - y), h.a * (y - y1)]
    return [(x, y, h.step_by_x(x, y, x1)) for x in np.roots(cubic)]


def _without_step_from_x(h: History, v: Any) -> list[tuple[Any, Any, Any]]:
    x, x1, y1 = v[[0, 3, 4]]
    square = [x**2 * (h.a - x), x**3 - (x1 + y1) * x**2 + (h.b + 1) * x - h.a, x1 - x]
    return [(x, h.y_before(x, t, x1), t) for t in np.roots(square)]


CASES = (
    Case(1, (0, 1, 2), 1, lambda h, v: [(v[0], v[1], v[2])]),
    Case(2, (3, 4, 2), 3, _back),
    Case(3, (0, 3, 2), 1, lambda h, v: [(v[0], h.y_before(v[0], v[2], v[3]), v[2])]),
    Case(4, (1, 4, 2), 2, _from_y),
    Case(5, (0, 4, 2), 1, lambda h, v: [(v[0], (v[4] - v[2] * h.b * v[0]) / (1 - v[2] * v[0] ** 2), v[2])]),
    Case(6, (1, 3, 2), 2, _from_y_and_next_x),
    Case(7, (0, 1, 3), 1, lambda h, v: [(v[0], v[1], h.step_by_x(v[0], v[1], v[3]))]),
    Case(8, (0, 1, 4), 1, lambda h, v: [(v[0], v[1], h.step_by_y(v[0], v[1], v[4]))]),
    Case(9, (1, 3, 4), 3, _without_step_from_y),
    Case(10, (0, 3, 4), 2, _without_step_from_x),
)
"""In the paper's order."""
