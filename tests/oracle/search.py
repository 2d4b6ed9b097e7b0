"""The least radius over all cells and pairs of cells, nearest cells first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.oracle.cells import Cell, Shadows, forward, image, meeting, neighbours
from tests.oracle.nearest import Bracket, Polyhedron
from tests.oracle.polytope import Row
from tests.oracle.rational import ZERO, Number, Rational, Rows, Vector, add, apply, dot, solutions, transpose
from tests.oracle.setting import Best, Kind, Setting

TINY = Rational(1, 2**100)
Pair = tuple[Vector, Vector]


def search(setting: Setting, found: Sequence[Cell], limit: Number) -> Best | None:
    """The least radius below the limit at which g stops being a function of f."""
    near = [_last(setting, cell.polytope.facets) for cell in found]
    order = sorted(range(len(found)), key=lambda i: near[i].upper)
    ordered = [found[i] for i in order]
    shadows = Shadows(ordered)
    best: Best | None = None
    for k, p in enumerate(ordered):
        start = near[order[k]]
        if _beyond(start.upper, best, limit):
            break
        if not p.determined:
            return _best_of(best, Best(start.upper, start.upper, "singular", _singular_pair(p, start.point)))
        for q in (ordered[j] for j in shadows.touching(k)):
            if pair := _violation(p, q):
                best = _with_pair(setting, best, limit, p, q, pair)
    return best


def violations(found: Sequence[Cell]) -> Iterator[tuple[Cell, Cell, Pair]]:
    """Pairs of cells on which the property fails, each with a violation."""
    shadows = Shadows(found)
    for k, p in enumerate(found):
        for q in (found[j] for j in shadows.touching(k)):
            if pair := _violation(p, q):
                yield p, q, pair


def holds_on_round_ball(setting: Setting, found: Sequence[Cell], square: Number) -> bool | None:
    """Whether the property holds on the closed ball of norm 2, given the cells of the box around it."""
    near = [_last(setting, cell.polytope.facets).upper for cell in found]
    # A cell at distance r meets the ball in a single point.
    if any(distance < square and not cell.determined for cell, distance in zip(found, near, strict=True)):
        return False
    within = [cell for cell, distance in zip(found, near, strict=True) if distance <= square]
    verdict: bool | None = True
    for p, q, _ in violations(within):
        holds = _pair_holds(setting, p, q, square)
        if holds is False:
            return False
        verdict = None if holds is None else verdict
    return verdict


def nearest_preimage(setting: Setting, found: Sequence[Cell]) -> Best | None:
    """The nearest point other than the centre that has the centre's image."""
    center, best = setting.center, None
    target = forward(setting.network, center)
    for cell in found:
        equations = [Row(row, t - c) for row, c, t in zip(*cell.f, target, strict=True)]
        part = cell.polytope.cut_all(equations, equal=True)
        others = [v for v in part.vertices if v != center] if part else []
        if not others:
            continue
        if all(dot(a, center) <= b for a, b in cell.polytope.facets):
            return Best(ZERO, ZERO, "singular", (_towards(center, others[0]), center))
        bracket = _last(setting, cell.polytope.facets, equations)
        if best is None or bracket.upper < best.upper:
            best = Best(bracket.lower, bracket.upper, "far", (bracket.point, center))
    return best


def _last(setting: Setting, rows: Rows, equations: Rows = ()) -> Bracket:
    """The point of a polyhedron that is nearest to the centre."""
    *_, bracket = Polyhedron(setting.center, 1, rows, equations).nearest(setting.norm)
    return bracket


def _beyond(radius: Number, best: Best | None, limit: Number) -> bool:
    """Whether a radius is too large to matter; equal ones matter while only a far collision explains it."""
    if best is None:
        return radius >= limit
    return radius > best.upper if best.kind == "far" else radius >= best.upper


def _violation(p: Cell, q: Cell) -> Pair | None:
    """A pair of points with one image under f and two under g, if there is one."""
    return next(((x, y) for x, y in meeting(p, q) if image(p.g, x) != image(q.g, y)), None)


def _colliding(setting: Setting, p: Cell, q: Cell) -> Polyhedron:
    """{(x, y) in p × q: f(x) = f(y)}."""
    nothing = (ZERO,) * len(setting.center)
    rows = [((*a, *nothing), b) for a, b in p.polytope.facets] + [((*nothing, *a), b) for a, b in q.polytope.facets]
    equations = [((*a, *(-x for x in b)), d - c) for a, c, b, d in zip(*p.f, *q.f, strict=True)]
    return Polyhedron(setting.center, 2, rows, equations)


def _with_pair(setting: Setting, best: Best | None, limit: Number, p: Cell, q: Cell, pair: Pair) -> Best | None:
    """The better of the best so far and a pair of cells on which the property fails."""
    for bracket in _colliding(setting, p, q).nearest(setting.norm):
        if _beyond(bracket.lower, best, limit):
            return best
    n = len(setting.center)
    x, y = bracket.point[:n], bracket.point[n:]
    if image(p.g, x) == image(q.g, y):
        x, y = _towards(x, pair[0]), _towards(y, pair[1])
    return _best_of(best, Best(bracket.lower, bracket.upper, _kind(setting, p, q, bracket), (x, y)))


def _best_of(a: Best | None, b: Best) -> Best:
    """The nearer of two; of equals the one that is not far."""
    if a is None:
        return b
    lower = min(a.lower, b.lower)
    nearer = b if (b.upper, b.kind == "far") < (a.upper, a.kind == "far") else a
    return Best(lower, nearer.upper, nearer.kind, nearer.collision)


def _kind(setting: Setting, p: Cell, q: Cell, bracket: Bracket) -> Kind:
    """`fold` if a common facet is as near as the nearest collision."""
    if not neighbours(p, q):
        return "far"
    crease = _last(setting, [*p.polytope.facets, *q.polytope.facets])
    return "fold" if crease.lower <= bracket.upper else "far"


def _pair_holds(setting: Setting, p: Cell, q: Cell, square: Number) -> bool | None:
    """Whether two cells on which the property fails somewhere have no violation in the ball; None for a tie."""
    n = len(setting.center)
    for bracket in _colliding(setting, p, q).nearest("2"):
        if bracket.lower > square:
            return True
        if bracket.upper < square:
            return False
        x, y = bracket.point[:n], bracket.point[n:]
        if bracket.upper == square and image(p.g, x) != image(q.g, y):
            return False
        if bracket.lower == square and bracket.upper == square and bracket.only:
            return True
    return None


def _towards(a: Vector, b: Vector) -> Vector:
    """A point of the segment very near to a."""
    return add(a, add(b, a, -1), TINY)


def _singular_pair(cell: Cell, start: Vector) -> Pair:
    """Two points of the cell near one of its points, with one image under f and two under g."""
    vertices = cell.polytope.vertices
    middle = tuple(sum(column, ZERO) / len(vertices) for column in transpose(vertices))
    x = _towards(start, middle)
    solved = solutions(cell.f[0], (ZERO,) * len(cell.f[0]), len(x))
    assert solved is not None
    kernel = transpose(solved[1])
    step = next(d for d in kernel if any(apply(cell.g[0], d)))
    room = [(b - dot(a, x)) / abs(dot(a, step)) for a, b in cell.polytope.facets if dot(a, step) != 0]
    length = min([TINY, *room]) / 2
    return add(x, step, length), add(x, step, -length)
