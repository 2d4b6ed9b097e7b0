"""p* of tiny networks from all activation patterns and all vertices: nothing of ircert but the graph's numbers.

On a pair of linear regions the colliding pairs form a polytope, and a norm, being convex, is largest at a vertex. So p*
on a box or diamond is the largest norm over all vertices of all pairs of regions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from ircert.ir.graph import Graph

TOLERANCE = 1e-7
NORMS: dict[str, Callable[[Any], Any]] = {
    "inf": lambda d: np.abs(d).max(axis=-1),
    "1": lambda d: np.abs(d).sum(axis=-1),
    "2": lambda d: np.sqrt((d * d).sum(axis=-1)),
}


@dataclass
class Region:
    """{x: G x <= h}, on which the network is A x + c."""

    G: Any
    h: Any
    A: Any
    c: Any


def layers(graph: Graph) -> list[tuple[Any, Any]]:
    """The weights of a plain MLP."""
    affine: list[Any] = [node.op for node in graph.nodes if node.op.kind == "affine"]
    return [
        (np.asarray(op.weight if isinstance(op.weight, np.ndarray) else op.weight.toarray()), op.bias) for op in affine
    ]


def regions(graph: Graph, box: tuple[Any, Any]) -> list[Region]:
    """The regions of a plain MLP that meet a box of the input space, thin ones included."""
    net = layers(graph)
    found = []
    for pattern in product(*(product((0.0, 1.0), repeat=len(b)) for _, b in net[:-1])):
        A, c = np.eye(graph.input_dim), np.zeros(graph.input_dim)
        G, h = [box[0], box[1]]
        for (W, b), active in zip(net[:-1], pattern, strict=True):
            Z, z = W @ A, W @ c + b
            sign = np.where(np.array(active) > 0, -1.0, 1.0)
            G, h = np.vstack([G, sign[:, None] * Z]), np.concatenate([h, -sign * z])
            A, c = np.array(active)[:, None] * Z, np.array(active) * z
        W, b = net[-1]
        if len(vertices(G, h, np.zeros((0, graph.input_dim)), np.zeros(0))):
            found.append(Region(G, h, W @ A, W @ c + b))
    return found


def ball_rows(center: Any, radius: float, norm: str) -> tuple[Any, Any]:
    """Halfspaces of an L-infinity or L1 ball."""
    n = len(center)
    normals = np.vstack([np.eye(n), -np.eye(n)]) if norm == "inf" else np.array(list(product((-1.0, 1.0), repeat=n)))
    return normals, normals @ center + radius


def vertices(G: Any, h: Any, E: Any, f: Any) -> Any:
    """The vertices of {v: G v <= h, E v = f}, by trying every set of active rows."""
    n = G.shape[1]
    rank = np.linalg.matrix_rank(E, tol=1e-9) if len(E) else 0
    found = []
    for active in combinations(range(len(G)), n - rank):
        rows = np.vstack([E, G[list(active)]])
        right = np.concatenate([f, h[list(active)]])
        v, _, full, _ = np.linalg.lstsq(rows, right, rcond=1e-10)
        scale = TOLERANCE * (1 + np.abs(v).max(initial=0))
        if full == n and np.abs(rows @ v - right).max(initial=0) <= scale and (G @ v <= h + scale).all():
            found.append(v)
    return np.array(found).reshape(-1, n)


def largest_gap(f: Graph, center: Any, radius: float, norm: str, objective: str, other: Graph | None = None) -> float:
    """p* of `local`, or of `transform` with another network (given as plain MLPs)."""
    n, ball = f.input_dim, ball_rows(center, radius, norm)
    mine = regions(f, ball)
    theirs = [None] if other is None else regions(other, ball)
    cells = [(p, g) for p in mine for g in theirs]
    best = 0.0
    for (p, gp), (q, gq) in product(cells, repeat=2):
        G, h = _paired(p, q)
        if gp is not None and gq is not None:
            extra = _paired(gp, gq)
            G, h = np.vstack([G, extra[0]]), np.concatenate([h, extra[1]])
        for v in vertices(G, h, np.hstack([p.A, -q.A]), q.c - p.c):
            x, y = v[:n], v[n:]
            d = x - y if gp is None or gq is None else (gp.A @ x + gp.c) - (gq.A @ y + gq.c)
            best = max(best, float(NORMS[objective](d)))
    return best


def farthest_preimage(f: Graph, center: Any, radius: float, norm: str, objective: str) -> float:
    """P* of `pseudo`."""
    target = f(center)
    best = 0.0
    for p in regions(f, ball_rows(center, radius, norm)):
        for x in vertices(p.G, p.h, p.A, target - p.c):
            best = max(best, float(NORMS[objective](x - center)))
    return best


def _paired(p: Region, q: Region) -> tuple[Any, Any]:
    zero_p, zero_q = np.zeros((len(p.G), q.G.shape[1])), np.zeros((len(q.G), p.G.shape[1]))
    return np.vstack([np.hstack([p.G, zero_p]), np.hstack([zero_q, q.G])]), np.concatenate([p.h, q.h])
