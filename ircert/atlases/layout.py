"""Where the centres of an atlas lie: on a grid, along a trajectory, or anywhere."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ircert.errors import QueryError
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph

MOST = 10_000_000
"""Centres of one atlas."""


@dataclass(frozen=True, eq=False)
class Layout:
    """kind: "grid" (axes: the coordinates along each input, in row-major order), "trajectory" or "list"."""

    kind: str
    centers: Array
    axes: tuple[Array, ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        """What tells these centres from others, as JSON."""
        there = np.ascontiguousarray(self.centers, dtype="<f8").tobytes()
        return {
            "kind": self.kind,
            "count": len(self.centers),
            "repeated": len(self.centers) - len(np.unique(self.centers, axis=0)),
            "axes": [axis.tolist() for axis in self.axes],
            "sha256": hashlib.sha256(there).hexdigest(),
        }

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the grid; otherwise the number of centres."""
        return tuple(map(len, self.axes)) if self.axes else (len(self.centers),)


def grid(*axes: Sequence[float] | tuple[float, float, int]) -> Layout:
    """All points of a grid: one (low, high, count) for each input, ends included."""
    if not axes:
        raise QueryError("a grid needs an axis for each input", remedy="give (low, high, count) for each")
    sides = tuple(_axis(axis) for axis in axes)
    if math.prod(map(len, sides)) > MOST:
        raise QueryError(f"a grid has at most {MOST} points", remedy="take fewer along each input")
    points = np.stack([part.ravel() for part in np.meshgrid(*sides, indexing="ij")], axis=1)
    return Layout("grid", points, sides)


def _axis(given: Any) -> Array:
    try:
        low, high, count = given
        low, high, number = float(low), float(high), int(count)
    except (TypeError, ValueError):
        raise QueryError(f"an axis of a grid is (low, high, count), got {given!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low <= high and 1 <= number <= MOST and number == count):
        raise QueryError(
            f"an axis of a grid has finite low <= high and a count of at least 1, got {low:g}:{high:g}:{count}"
        )
    return np.linspace(low, high, number)


def trajectory(graph: Graph, start: Any, steps: int) -> Layout:
    """The start and so many iterates of the network, in floats."""
    if graph.input_dim != graph.output_dim:
        raise QueryError(
            f"a trajectory needs as many outputs as inputs, not {graph.output_dim} of {graph.input_dim}",
            remedy="fix inputs or select outputs, or give the centres themselves",
        )
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 0 <= steps < MOST:
        raise QueryError(f"the number of steps must be an integer from 0 on, got {steps!r}")
    point = np.asarray(start, dtype=np.float64)
    if point.shape != (graph.input_dim,) or not np.isfinite(point).all():
        raise QueryError(f"a trajectory starts at {graph.input_dim} finite numbers, one per input")
    points = [point]
    for _ in range(steps):
        with np.errstate(all="ignore"):
            point = np.asarray(graph(point))
        if not np.isfinite(point).all():
            raise QueryError(
                f"the trajectory leaves the floats after {len(points)} steps", remedy="start elsewhere, or take fewer"
            )
        points.append(point)
    return Layout("trajectory", np.array(points))


def layout_of(given: Any) -> Layout:
    """Centres as they were given: a layout, or rows of numbers."""
    return given if isinstance(given, Layout) else Layout("list", given)
