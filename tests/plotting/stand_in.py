"""Regions, fold sets, preimages and answers in a few lines of float arithmetic: enough to draw, and no proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph
from ircert.ir.ops import Affine, Relu
from ircert.passes.pipeline import Pipeline
from ircert.questions.query import Query

Map = tuple[Any, Any]


@dataclass
class Regions:
    points: Any
    polygons: list[Any]
    matrices: Any
    offsets: Any
    determinants: Any
    signs: Any
    facets: Any = field(default_factory=lambda: np.zeros((0, 2), int))
    sides: Any = field(default_factory=lambda: np.zeros((0, 2), int))

    def __len__(self) -> int:
        return len(self.polygons)


def regions_of(polygons: list[Any], maps: list[Map]) -> Regions:
    """The table of vertices and facets of polygons that share them."""
    number: dict[tuple[float, ...], int] = {}
    ids = [
        np.array([number.setdefault(tuple(np.round(v, 9) + 0.0), len(number)) for v in polygon]) for polygon in polygons
    ]
    edges: dict[frozenset[int], list[int]] = {}
    for cell, loop in enumerate(ids):
        for a, b in zip(loop, np.roll(loop, -1), strict=True) if len(loop) > 2 else [(v, v) for v in loop]:
            edges.setdefault(frozenset((int(a), int(b))), []).append(cell)
    shared = {tuple(sorted(edge)): cells for edge, cells in edges.items() if len(cells) == 2}
    facets = np.array([(e[0], e[-1]) for e in shared], int).reshape(-1, 2)
    sides = np.array(list(shared.values()), int).reshape(-1, 2)
    matrices = np.array([a for a, _ in maps])
    square = matrices.shape[1] == matrices.shape[2]
    determinants = np.linalg.det(matrices) if square else None
    smallest = np.linalg.svd(matrices, compute_uv=False)[:, -1]
    tall = matrices.shape[1] >= matrices.shape[2]
    signs = np.where(smallest < 1e-12, 0, np.sign(determinants) if determinants is not None else tall)
    offsets = np.array([c for _, c in maps])
    return Regions(np.array(list(number)), ids, matrices, offsets, determinants, signs.astype(np.int8), facets, sides)


def enumerate_regions(graph: Graph, ball: Any) -> Regions:
    graph = Pipeline.parse("canonicalize,fold-residual")(graph)
    low, high = ball.box
    corners = (
        np.array([low, high])
        if len(low) == 1
        else np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    )
    cells: list[tuple[Any, Map]] = [(corners, (np.eye(len(low)), np.zeros(len(low))))]
    for node in graph.nodes[1:]:
        if isinstance(node.op, Affine):
            weight = node.op.weight
            weight = weight.toarray() if hasattr(weight, "toarray") else np.asarray(weight)
            cells = [(p, (weight @ a, weight @ c + node.op.bias)) for p, (a, c) in cells]
        else:
            assert isinstance(node.op, Relu)
            for i in range(graph.sizes[node.name]):
                cells = [cell for old in cells for cell in _split(*old, i)]
    return regions_of([p for p, _ in cells], [m for _, m in cells])


def _split(polygon: Any, linear: Map, i: int) -> list[tuple[Any, Map]]:
    a, c = linear
    z = polygon @ a[i] + c[i]
    off = (a.copy(), c.copy())
    off[0][i], off[1][i] = 0.0, 0.0
    if z.min() >= -1e-10:
        return [(polygon, linear)]
    if z.max() <= 1e-10:
        return [(polygon, off)]
    return [(_half(polygon, z), linear), (_half(polygon, -z), off)]


def _half(polygon: Any, z: Any) -> Any:
    kept = []
    for k in range(len(polygon)):
        v, w, s, t = polygon[k - 1], polygon[k], z[k - 1], z[k]
        if s * t < 0 and (len(polygon) > 2 or k == 1):
            kept.append(v + (w - v) * s / (s - t))
        if t >= 0:
            kept.append(w)
    return np.array(sorted(kept, key=tuple) if len(polygon) == 2 else kept)


def fold_set(graph: Graph, ball: Any) -> SimpleNamespace:
    regions = enumerate_regions(graph, ball)
    signs = regions.signs[regions.sides]
    folded = signs[:, 0] * signs[:, 1] < 0
    singular = [regions.points[p] for p, s in zip(regions.polygons, regions.signs, strict=True) if s == 0]
    points = np.zeros((0, regions.points.shape[1]))
    return SimpleNamespace(segments=regions.points[regions.facets[folded]], singular=singular, points=points)


def preimages(graph: Graph, y: Any, ball: Any) -> list[SimpleNamespace]:
    regions = enumerate_regions(graph, ball)
    found: list[SimpleNamespace] = []
    y = np.array(y, dtype=np.float64)
    for ids, a, c, sign in zip(regions.polygons, regions.matrices, regions.offsets, regions.signs, strict=True):
        if sign:
            x = np.linalg.lstsq(a, y - c, rcond=None)[0]
            new = not any(np.allclose(x, p.point) for p in found)
            if new and np.allclose(graph(x), y) and _inside(regions.points[ids], x):
                found.append(SimpleNamespace(point=x, exact=None, region=None, set=None))
    return found


def _inside(polygon: Any, x: Any) -> bool:
    if len(polygon) == 2:
        return bool(polygon.min() <= x[0] <= polygon.max())
    edges, rest = np.roll(polygon, -1, axis=0) - polygon, x - polygon
    return bool((edges[:, 0] * rest[:, 1] - edges[:, 1] * rest[:, 0] >= -1e-9).all())


def certify(graph: Graph, center: Any, **asked: Any) -> SimpleNamespace:
    """The distance to the fold set for `local`, to the next preimage for `pseudo`."""
    problem, norm, domain = asked.get("problem", "local"), asked.get("norm", "inf"), asked.get("domain")
    query = Query(problem, center, 8.0, norm, asked.get("other"), domain)
    ball = Ball(query.center, 8.0, Norm.INF, query.ball.low, query.ball.high)
    if problem == "pseudo":
        places = [p.point for p in preimages(graph, graph(query.center), ball)]
        places = [p for p in places if not np.allclose(p, query.center)]
    else:
        folds = fold_set(graph, ball)
        places = [p for s in folds.segments for t in np.linspace(0, 1, 500) for p in [s[0] + t * (s[-1] - s[0])]]
    order = {"inf": np.inf, "1": 1, "2": 2}[query.norm]
    nearest = min(places, key=lambda p: float(np.linalg.norm(p - query.center, order)), default=None)
    radius = None if nearest is None else float(np.linalg.norm(nearest - query.center, order))
    witness = None if nearest is None else SimpleNamespace(x=list(nearest), y=list(query.center))
    return SimpleNamespace(
        graph=graph,
        problem=problem,
        norm=query.norm,
        center=query.center,
        domain=domain,
        verdict="certified",
        radius=SimpleNamespace(certified=8.0 if radius is None else radius * (1 - 1e-7), refuted=radius),
        witness=witness if problem == "pseudo" else None,
    )
