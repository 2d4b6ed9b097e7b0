"""How far a point is from where a network with two inputs is not locally injective, from its linear regions."""

from __future__ import annotations

from typing import Any

import numpy as np

import ircert
from ircert.ir.graph import Graph
from ircert.questions.query import Query

ORDERS: dict[str, Any] = {"inf": np.inf, "1": 1, "2": 2}


def fold_distance(graph: Graph, center: Any, radius: float, norm: str) -> float:
    """The distance to folds, singular regions and winding points in the ball of a radius; inf if there are none."""
    found = ircert.fold_set(graph, Query("local", center, radius, "inf"))
    center = np.asarray(center, dtype=float)
    segments = list(found.segments)
    for polygon in found.singular:
        if _holds(polygon, center):
            return 0.0
        segments += [polygon[[i, i - 1]] for i in range(len(polygon))]
    distances = [_to_segment(center, start, end, norm) for start, end in segments]
    distances += [float(np.linalg.norm(point - center, ORDERS[norm])) for point in found.points]
    nearest = min(distances, default=np.inf)
    return nearest if nearest < radius else np.inf


def _to_segment(center: Any, start: Any, end: Any, norm: str) -> float:
    """By ternary search: the distance along a segment is convex."""
    low, high = 0.0, 1.0

    def at(t: float) -> float:
        return float(np.linalg.norm(start + t * (end - start) - center, ORDERS[norm]))

    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if at(a) <= at(b) else (a, high)
    return min(at(0.0), at(1.0), at((low + high) / 2))


def _holds(polygon: Any, point: Any) -> bool:
    edges = np.roll(polygon, -1, axis=0) - polygon
    sides = edges[:, 0] * (point - polygon)[:, 1] - edges[:, 1] * (point - polygon)[:, 0]
    return bool((sides >= 0).all() or (sides <= 0).all())
