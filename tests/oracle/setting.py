"""A question to the oracle and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from tests.oracle.cells import Affine, Layers, exact_layers
from tests.oracle.polytope import Polytope, Row, box
from tests.oracle.rational import ONE, ZERO, Number, Vector, dot, fraction, number, square_root, vector

Kind: TypeAlias = Literal["none", "fold", "singular", "far"]


@dataclass(frozen=True)
class Answer:
    """lower <= supremum of the good radii <= upper; equal for norms 1 and inf, relative width below 1e-14 for norm 2.

    Nothing found below the limit: lower is the limit, upper and collision are None. kind: what decides the radius, a
    `fold` (two cells with a common facet, at a point of it), a `singular` cell, else a `far` collision. Where the
    infimum is no collision itself, the collision lies a little farther out (2^-100 of the way to some other one).
    """

    lower: Fraction
    upper: Fraction | None = None
    kind: Kind = "none"
    collision: tuple[tuple[Fraction, ...], tuple[Fraction, ...]] | None = None


@dataclass(frozen=True)
class Best:
    """The least radius so far (its square for norm 2)."""

    lower: Number
    upper: Number
    kind: Kind
    collision: tuple[Vector, Vector]


class Setting:
    """The question in rationals, without the coordinates that the domain fixes."""

    def __init__(self, center: Any, norm: Any, domain: tuple[Any, Any] | None, layers: Layers) -> None:
        self.norm = str(norm)
        assert self.norm in ("1", "2", "inf"), norm
        self.whole = vector(np.asarray(center).ravel())
        n = len(self.whole)
        low, high = (np.broadcast_to(b, n) for b in ((-np.inf, np.inf) if domain is None else domain))
        self.kept = [i for i in range(n) if low[i] < high[i]]
        if not self.kept or any(not low[i] <= self.whole[i] <= high[i] for i in range(n)):
            raise ValueError("the centre must lie in the domain, and the domain must have more than one point")
        self.center = tuple(self.whole[i] for i in self.kept)
        self.low = [number(low[i]) if np.isfinite(low[i]) else None for i in self.kept]
        self.high = [number(high[i]) if np.isfinite(high[i]) else None for i in self.kept]
        self.network = self.exact(layers)

    def exact(self, layers: Layers) -> list[Affine]:
        """A network of the coordinates that vary."""
        (w, b), *rest = exact_layers(layers)
        fixed = [i for i in range(len(self.whole)) if i not in self.kept]
        b = tuple(z + sum((row[i] * self.whole[i] for i in fixed), ZERO) for row, z in zip(w, b, strict=True))
        return [(tuple(tuple(row[i] for i in self.kept) for row in w), b), *rest]

    def box(self, radius: Number) -> Polytope:
        """The box of half width `radius`, cut with the domain: it holds the balls of all three norms."""
        low = [c - radius if x is None else max(x, c - radius) for c, x in zip(self.center, self.low, strict=True)]
        high = [c + radius if x is None else min(x, c + radius) for c, x in zip(self.center, self.high, strict=True)]
        return box(tuple(low), tuple(high))

    def ball(self, radius: Number) -> Polytope:
        """The ball cut with the domain; for norm 2 the box around it."""
        rows = []
        if self.norm == "1":
            signs = product((-ONE, ONE), repeat=len(self.center))
            rows = [Row(s, radius + dot(s, self.center)) for s in signs]
        cut = self.box(radius).cut_all(rows)
        assert cut is not None
        return cut

    def size(self, radius: Number) -> Number:
        """A radius as it is compared: squared for norm 2."""
        return radius * radius if self.norm == "2" else radius

    def lifted(self, x: Vector) -> tuple[Fraction, ...]:
        """A point in all coordinates."""
        inner = dict(zip(self.kept, x, strict=True))
        return tuple(fraction(inner.get(i, c)) for i, c in enumerate(self.whole))

    def answer(self, best: Best | None, limit: Number) -> Answer:
        """The answer in fractions."""
        if best is None or best.upper >= self.size(limit):
            return Answer(fraction(limit))
        x, y = best.collision
        ends = fraction(best.lower), fraction(best.upper)
        if self.norm == "2":
            ends = square_root(best.lower, up=False), square_root(best.upper, up=True)
        return Answer(*ends, best.kind, (self.lifted(x), self.lifted(y)))
