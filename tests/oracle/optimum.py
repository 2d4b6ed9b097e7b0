"""The smallest linear and convex quadratic functions on polyhedra, exactly."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.rational import ONE, ZERO, Matrix, Number, Rows, Vector, add, apply, dot, inverse


class Infeasible(Exception):
    """No point satisfies the rows."""


def linear(cost: Vector, rows: Rows) -> tuple[Number, Vector]:
    """The least cost·t over {t: a·t <= b} and where; the set must be bounded where the cost is."""
    table = _Dictionary(cost, rows)
    table.make_feasible()
    table.minimise()
    point = table.point()
    return dot(cost, point), point


class _Dictionary:
    """Every basic variable (slack or t) as an affine function of the nonbasic slacks: [constant, coefficients…].

    Slacks are numbered 0, 1, …, the free variables -1, -2, …. Bland's rule: no cycles.
    """

    def __init__(self, cost: Vector, rows: Rows) -> None:
        self.free = len(cost)
        self.nonbasic = [-1 - j for j in range(self.free)]
        self.basic = {i: [b, *(-x for x in a)] for i, (a, b) in enumerate(rows)}
        self.cost = [ZERO, *cost]
        for k in range(self.free):
            leaving = next((i for i, row in self.basic.items() if i >= 0 and row[k + 1] != 0), None)
            if leaving is None:
                raise ValueError("the polyhedron contains a line")
            self.pivot(leaving, k)

    def pivot(self, leaving: int, k: int) -> None:
        """The k-th nonbasic variable becomes basic in place of the leaving one."""
        row = self.basic.pop(leaving)
        scale = -ONE / row[k + 1]
        row = [x * scale for x in row]
        row[k + 1] = -scale
        entering, self.nonbasic[k] = self.nonbasic[k], leaving
        for i, other in self.basic.items():
            self.basic[i] = _substituted(other, row, k + 1)
        self.cost = _substituted(self.cost, row, k + 1)
        self.basic[entering] = row

    def make_feasible(self) -> None:
        """Pivots until no slack is negative (the dual simplex method for the cost 0)."""
        while bad := [i for i, row in self.basic.items() if i >= 0 and row[0] < 0]:
            leaving = min(bad)
            row = self.basic[leaving]
            entering = [(name, k) for k, name in enumerate(self.nonbasic) if row[k + 1] > 0]
            if not entering:
                raise Infeasible
            self.pivot(leaving, min(entering)[1])

    def minimise(self) -> None:
        """Pivots until no nonbasic slack lowers the cost."""
        while better := [(name, k) for k, name in enumerate(self.nonbasic) if self.cost[k + 1] < 0]:
            k = min(better)[1]
            steps = [(row[0] / -row[k + 1], i) for i, row in self.basic.items() if i >= 0 and row[k + 1] < 0]
            if not steps:
                raise ValueError("the cost is unbounded")
            self.pivot(min(steps)[1], k)

    def point(self) -> Vector:
        """The free variables where all nonbasic slacks vanish."""
        return tuple(self.basic[-1 - j][0] for j in range(self.free))


def _substituted(row: list[Number], entering: list[Number], k: int) -> list[Number]:
    """A row after its k-th variable is replaced by the row `entering`."""
    factor = row[k]
    if factor == 0:
        return row
    row = [x + factor * y for x, y in zip(row, entering, strict=True)]
    row[k] = factor * entering[k]
    return row


def quadratic(hessian: Matrix, slope: Vector, rows: Rows) -> Vector:
    """The minimiser of t·H t / 2 + slope·t over {t: a·t <= b}, H positive definite (Goldfarb and Idnani)."""
    solved = inverse(hessian)
    point = tuple(-x for x in apply(solved, slope))
    active: list[int] = []
    multipliers: list[Number] = []
    while True:
        excess, new = max(((dot(a, point) - b, i) for i, (a, b) in enumerate(rows)), default=(ZERO, -1))
        if excess <= 0:
            return point
        price = ZERO
        while True:
            step, ratios = _directions(solved, rows, active, new)
            moves = [(u / r, k) for k, (u, r) in enumerate(zip(multipliers, ratios, strict=True)) if r > 0]
            speed = dot(step, rows[new][0])
            if speed > 0:
                moves.append((excess / speed, -1))
            if not moves:
                raise Infeasible
            length, leaving = min(moves)
            point, excess, price = add(point, step, -length), excess - length * speed, price + length
            multipliers = [u - length * r for u, r in zip(multipliers, ratios, strict=True)]
            if leaving < 0:
                active, multipliers = [*active, new], [*multipliers, price]
                break
            del active[leaving], multipliers[leaving]


def _directions(solved: Matrix, rows: Rows, active: Sequence[int], new: int) -> tuple[Vector, Vector]:
    """How the minimiser on the active rows and their multipliers move as the new row gets a price."""
    straight = apply(solved, rows[new][0])
    if not active:
        return straight, ()
    normals = [rows[i][0] for i in active]
    moved = [apply(solved, a) for a in normals]
    gram = inverse([[dot(a, w) for w in moved] for a in normals])
    ratios = apply(gram, [dot(a, straight) for a in normals])
    for ratio, w in zip(ratios, moved, strict=True):
        straight = add(straight, w, -ratio)
    return straight, ratios
