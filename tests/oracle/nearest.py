"""The points of a polyhedron of pairs that are nearest to a centre."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tests.oracle.cells import size
from tests.oracle.optimum import linear, quadratic
from tests.oracle.rational import (
    ONE,
    ZERO,
    Matrix,
    Number,
    Rational,
    Rows,
    Vector,
    add,
    apply,
    dot,
    rank,
    solutions,
    transpose,
)

END = Rational(1, 2**60)  # a weight so small that it does not show in the brackets
WIDTH = Rational(1, 10**15)  # of a bracket, relative to its upper end


@dataclass(frozen=True)
class Bracket:
    """lower <= min of max |x_k - centre| <= upper (squares for norm 2); the point reaches `upper`.

    Where both are equal and `only` is set, no other point reaches the minimum.
    """

    lower: Number
    upper: Number
    point: Vector
    only: bool = False


class Polyhedron:
    """{v: a·v <= b for rows, e·v = d for equations}, v = (x_1, x_2, …) in blocks of the centre's size; not empty."""

    def __init__(self, center: Vector, blocks: int, rows: Rows, equations: Rows = ()) -> None:
        self.center, self.blocks, self.n = center, blocks, len(center)
        solved = solutions([a for a, _ in equations], [b for _, b in equations], blocks * self.n)
        assert solved is not None
        self.origin, self.basis = solved
        self.dimension = len(self.basis[0])
        columns = transpose(self.basis) if self.dimension else ()
        inner = [(tuple(dot(a, column) for column in columns), b - dot(a, self.origin)) for a, b in rows]
        self.rows = [(a, b) for a, b in inner if any(a)]

    def nearest(self, norm: str) -> Iterator[Bracket]:
        """Ever better brackets of the least max |x_k - centre|; the last is exact or narrow."""
        if norm != "2":
            yield self._flat(norm)
        elif self.blocks == 1:
            yield self._weighted((ONE,))
        else:
            yield from self._round()

    def _split(self, v: Vector) -> list[Vector]:
        return [v[k * self.n : (k + 1) * self.n] for k in range(self.blocks)]

    def _point(self, t: Vector) -> Vector:
        return add(self.origin, apply(self.basis, t)) if self.dimension else self.origin

    def _flat(self, norm: str) -> Bracket:
        """Norms 1 and inf: a linear program in t and the radius."""
        units = product((-ONE, ONE), repeat=self.n) if norm == "1" else _signed_units(self.n)
        rows = [((*a, ZERO), b) for a, b in self.rows]
        signs = list(units)
        for k in range(self.blocks):
            matrix, offset = self._block(k)
            columns = transpose(matrix) if self.dimension else ()
            rows += [((*(dot(s, column) for column in columns), -ONE), -dot(s, offset)) for s in signs]
        value, t = linear((*(ZERO,) * self.dimension, ONE), rows)
        return Bracket(value, value, self._point(t[:-1]))

    def _block(self, k: int) -> tuple[Matrix, Vector]:
        """x_k - centre as an affine function of t."""
        part = slice(k * self.n, (k + 1) * self.n)
        return self.basis[part], add(self.origin[part], self.center, -1)

    @cached_property
    def _grams(self) -> list[tuple[list[list[Number]], Vector]]:
        """|x_k - centre|^2 = t·H t + 2 s·t + constant: (H, s) for each block."""
        found = []
        for k in range(self.blocks):
            matrix, offset = self._block(k)
            columns = transpose(matrix)
            found.append(([[dot(a, b) for b in columns] for a in columns], tuple(dot(a, offset) for a in columns)))
        return found

    def _weighted(self, weights: Sequence[Number]) -> Bracket:
        """Minimises the weighted mean of the squares, which is a lower bound of the least maximum."""
        t: Vector = ()
        if self.dimension:
            span = range(self.dimension)
            parts = list(zip(weights, self._grams, strict=True))
            hessian = tuple(tuple(sum(w * h[i][j] for w, (h, _) in parts) for j in span) for i in span)
            slope = tuple(sum(w * s[i] for w, (_, s) in parts) for i in span)
            t = quadratic(hessian, slope, self.rows)
        v = self._point(t)
        squares = [size(add(x, self.center, -1), "2") for x in self._split(v)]
        return Bracket(dot(weights, squares), max(squares), v, True)

    def _slope(self, v: Vector) -> Number:
        x, y = (size(add(part, self.center, -1), "2") for part in self._split(v))
        return x - y

    def _round(self) -> Iterator[Bracket]:
        """Norm 2, pairs: maximises the concave dual function of the weight of x, whose slope is |x|^2 - |y|^2."""
        best = self._weighted((ONE / 2, ONE / 2))
        yield best
        if best.lower == best.upper:
            return
        middle, rising = self._slope(best.point), self._slope(best.point) > 0
        definite = rank(self._block(0 if rising else 1)[0]) == self.dimension
        end = ONE if definite else ONE - END
        end = end if rising else 1 - end
        last = self._weighted((end, 1 - end))
        best = _better(best, last)
        yield best
        slope = self._slope(last.point)
        if slope == 0 or (slope > 0) == rising:
            return  # the dual function is largest at the end
        half = ONE / 2
        yield from self._between(best, *((half, end, middle, slope) if rising else (end, half, slope, middle)))

    def _between(self, best: Bracket, left: Number, right: Number, low: Number, high: Number) -> Iterator[Bracket]:
        """Finds the weight at which both squares agree, given slopes low > 0 > high (regula falsi, Illinois)."""
        side = 0
        while best.upper - best.lower > WIDTH * best.upper:
            weight = _rounded(left + (right - left) * low / (low - high), left, right)
            found = self._weighted((weight, 1 - weight))
            slope = self._slope(found.point)
            best = _better(best, found)
            yield best
            if slope == 0:
                return
            if slope > 0:
                left, low, high, side = weight, slope, (high / 2 if side > 0 else high), 1
            else:
                right, high, low, side = weight, slope, (low / 2 if side < 0 else low), -1


def _better(a: Bracket, b: Bracket) -> Bracket:
    """The intersection of two brackets."""
    if b.lower == b.upper:
        return b
    nearer = min(a, b, key=lambda bracket: bracket.upper)
    return Bracket(max(a.lower, b.lower), nearer.upper, nearer.point)


def _rounded(weight: Number, low: Number, high: Number) -> Number:
    """A short number near the weight, strictly between the ends."""
    bits = 64
    while True:
        short = Rational(int(weight * 2**bits), 2**bits)
        if low < short < high:
            return short
        bits *= 2


def _signed_units(n: int) -> list[Vector]:
    units = [tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n)]
    return units + [tuple(-u for u in unit) for unit in units]
