"""The linear regions of networks on a polytope, by splitting it neuron by neuron."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from tests.oracle.polytope import Polytope, Row, homogeneous, pairs
from tests.oracle.rational import (
    ZERO,
    Matrix,
    Number,
    Rational,
    Vector,
    add,
    apply,
    dot,
    identity,
    inverse,
    product,
    rank,
    reduced,
    transpose,
    vector,
)

Layers: TypeAlias = Sequence[tuple[Any, Any]]  # as users write them: arrays W, b
Affine: TypeAlias = tuple[Matrix, Vector]


def exact_layers(layers: Layers) -> list[Affine]:
    """The weights as rationals."""
    return [(tuple(vector(row) for row in np.asarray(w)), vector(np.asarray(b))) for w, b in layers]


def image(f: Affine, x: Vector) -> Vector:
    """f(x)."""
    return add(apply(f[0], x), f[1])


def forward(network: Sequence[Affine], x: Vector) -> Vector:
    """The network's output."""
    for layer in network[:-1]:
        x = tuple(max(z, ZERO) for z in image(layer, x))
    return image(network[-1], x)


@dataclass(frozen=True, eq=False)
class Cell:
    """A full-dimensional polytope on which f is affine, and a second map g as well."""

    polytope: Polytope
    f: Affine
    g: Affine

    @cached_property
    def determined(self) -> bool:
        """Whether g is a function of f on this cell."""
        return rank(self.f[0]) == rank([*self.f[0], *self.g[0]])

    @cached_property
    def regular(self) -> bool:
        """Whether f is injective on this cell."""
        return rank(self.f[0]) == len(self.f[0][0])

    @cached_property
    def back(self) -> Affine:
        """The affine map from f(x) back to x, through as many outputs as there are inputs."""
        a, c = self.f
        chosen = reduced(transpose(a), len(a))[1]
        solved = inverse([a[i] for i in chosen])
        wide = tuple(tuple(dict(zip(chosen, row, strict=True)).get(i, ZERO) for i in range(len(a))) for row in solved)
        return wide, tuple(-x for x in apply(wide, c))

    @cached_property
    def shadow(self) -> Polytope:
        """f(cell), with the same faces: f is injective here."""
        cell = self.polytope
        return Polytope(tuple(homogeneous(image(self.f, v)) for v in cell.vertices), cell.masks, cell.rows)

    @cached_property
    def _known(self) -> dict[Vector, Vector]:
        return dict(zip(self.shadow.points, self.polytope.vertices, strict=True))

    def preimage(self, point: Vector) -> Vector:
        """The x with f(x) = a point in homogeneous coordinates; mostly a vertex, which need not be computed again."""
        found = self._known.get(point)
        *p, d = point
        return image(self.back, tuple(Rational(x, d) for x in p)) if found is None else found

    @cached_property
    def shadow_rows(self) -> list[Row]:
        """The facets of f(cell) in the space of outputs."""
        a, b = self.back
        columns = transpose(a)
        return [Row(tuple(dot(g, column) for column in columns), h - dot(g, b)) for g, h in self.polytope.facets]

    @cached_property
    def rough_shadow(self) -> Any:
        """The vertices of f(cell) as floats."""
        return np.array([[float(x) for x in v] for v in self.shadow.vertices])

    @cached_property
    def rough_rows(self) -> tuple[Any, Any]:
        """The facets of f(cell) as floats, moved inward by a little."""
        normals = np.array([[float(x) for x in a] for a, _ in self.shadow_rows])
        sides = np.array([float(b) for _, b in self.shadow_rows])
        return normals, sides - 1e-9 * (np.abs(sides) + np.abs(normals).sum(axis=1))

    @cached_property
    def shadow_plane(self) -> list[Row]:
        """Equations of the affine space that f(cell) lies in."""
        a, c = self.f
        through = product(a, self.back[0])
        chosen = reduced(transpose(a), len(a))[1]
        rows = [add(through[i], identity(len(a))[i], -1) for i in range(len(a)) if i not in chosen]
        return [Row(row, dot(row, c)) for row in rows]


def cells(start: Polytope, f: Sequence[Affine], g: Sequence[Affine] | None = None) -> list[Cell]:
    """The cells of f (and g, else the identity) whose interior meets the polytope of full dimension."""
    n = len(start.vertices[0])
    plain = identity(n), (ZERO,) * n
    found = []
    for piece, first in _through(start, f, plain):
        if g is None:
            found.append(Cell(piece, first, plain))
        else:
            found += [Cell(part, first, second) for part, second in _through(piece, g, plain)]
    return found


def _through(piece: Polytope, network: Sequence[Affine], before: Affine) -> Iterator[tuple[Polytope, Affine]]:
    """The cells of a network in a piece on which its input is affine, with the affine maps."""
    (w, b), *rest = network
    z = product(w, before[0]), add(apply(w, before[1]), b)
    if not rest:
        yield piece, z
        return
    for part, active in _split(piece, z, ()):
        nothing = (ZERO,) * len(z[0][0])
        a = tuple(row if on else nothing for row, on in zip(z[0], active, strict=True))
        c = tuple(value if on else ZERO for value, on in zip(z[1], active, strict=True))
        yield from _through(part, rest, (a, c))


def _split(piece: Polytope, z: Affine, active: tuple[bool, ...]) -> Iterator[tuple[Polytope, tuple[bool, ...]]]:
    """The parts of a piece on which every neuron of a layer has one sign."""
    k = len(active)
    if k == len(z[1]):
        yield piece, active
        return
    below = Row(z[0][k], -z[1][k])
    above = Row(tuple(-x for x in below.a), -below.b)
    values = piece.values(below)
    positive, negative = any(x > 0 for x in values), any(x < 0 for x in values)
    for on, occurs in ((True, positive), (False, negative or not positive)):
        if not occurs:
            continue
        part = piece.cut(above if on else below) if positive and negative else piece
        assert part is not None
        yield from _split(part, z, (*active, on))


def meeting(p: Cell, q: Cell) -> list[tuple[Vector, Vector]]:
    """The vertices of {(x, y) in p × q: f(x) = f(y)}."""
    if p.regular and q.regular:
        return _common_shadow(p, q)
    n = len(p.polytope.vertices[0])
    rows = [Row((*a, *(-x for x in b)), d - c) for a, b, c, d in zip(p.f[0], q.f[0], p.f[1], q.f[1], strict=True)]
    part = pairs(p.polytope, q.polytope).cut_all(rows, equal=True)
    return [(v[:n], v[n:]) for v in part.vertices] if part else []


def _common_shadow(p: Cell, q: Cell) -> list[tuple[Vector, Vector]]:
    """The same for two cells on which f is injective: the vertices of f(p) ∩ f(q), carried back."""
    part = p.shadow.cut_all(q.shadow_plane, equal=True)
    if part is None:
        return []
    # The row that leaves least comes first (floats will do for that): cells that only touch shrink at once to the
    # common face.
    normals, sides = q.rough_rows
    left = (p.rough_shadow @ normals.T < sides).sum(axis=0)
    part = part.cut_all([q.shadow_rows[i] for i in np.argsort(left)])
    return [(p.preimage(point), q.preimage(point)) for point in part.points] if part else []


class Shadows:
    """Intervals that hold the outputs of each cell in several directions, in floats rounded outward."""

    def __init__(self, found: Sequence[Cell]) -> None:
        outputs = len(found[0].f[1])
        rng = np.random.default_rng(0)
        directions = np.vstack([np.eye(outputs), rng.normal(size=(4 * outputs, outputs))])
        low, high = [], []
        for cell in found:
            points = cell.rough_shadow
            values, size = points @ directions.T, np.abs(points) @ np.abs(directions).T
            error = size * (outputs + 4) * 2.0**-52 + 1e-300
            low.append((values - error).min(axis=0))
            high.append((values + error).max(axis=0))
        self._low, self._high = np.array(low), np.array(high)

    def touching(self, k: int) -> list[int]:
        """The earlier cells whose outputs may coincide with some of cell k."""
        apart = (self._low[:k] > self._high[k]) | (self._high[:k] < self._low[k])
        return [int(j) for j in np.flatnonzero(~apart.any(axis=1))]


def neighbours(p: Cell, q: Cell) -> bool:
    """Whether two cells share a facet."""
    common = p.polytope.cut_all(q.polytope.facets)
    return common is not None and common.dimension == len(p.polytope.vertices[0]) - 1


def size(x: Vector, norm: str) -> Number:
    """The norm of a vector; its square for norm 2."""
    if norm == "2":
        return dot(x, x)
    return sum(map(abs, x), ZERO) if norm == "1" else max(map(abs, x))
