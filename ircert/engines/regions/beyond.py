"""Beyond the ball: where a complex goes on to infinity as it is, what its unbounded cells hold, exactly.

Once the ball holds all vertices, every cell that meets its rim goes on between two rays, and the cells fill the plane:
f is known everywhere. A violation that the ball does not show then lies in an unbounded cell, or in a pair of cells of
which one is unbounded; the sides that the ball gave them are left out, and exact linear programs ask for the nearest.

In the plane most of that is not needed. Let all determinants of a map f from the plane to the plane have one strict
sign. Then f is proper, because it is invertible on the unbounded cells, and a value has as many preimages as the images
of their directions cover each direction: where that is once, f is injective. On a line f is monotone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ircert.engines.regions.coincidence import Polytope, Row, difference, length_forms, map_rows, polygon_rows
from ircert.engines.regions.complex import Complex
from ircert.engines.regions.pairs import Images
from ircert.engines.regions.violations import Violations
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Mask

Way: TypeAlias = tuple[Any, Any]
"""A direction in integers."""

EVERY_WAY: list[Way] = [(1, 0), (-1, 0), (0, 1), (0, -1)]
DIRECTIONS = 96
"""Random directions of the output space along which images are compared, beside the axes."""


@dataclass(frozen=True)
class Open:
    """A cell that goes on to infinity: its sides, and for each of its ends two rays and what spans the ends."""

    cell: int
    sides: list[Row]
    ends: list[tuple[Way, Way]]
    ways: list[Way]


class Unbounded(Polytope):
    """A polyhedron that need not be bounded, so that it is not known by its corners."""

    corners = None


def open_cells(complex_: Complex, rim: Sequence[Any]) -> list[Open] | None:
    """The cells that go on beyond the lines of the rim, or None if one of them does not go on as it is."""
    numbers = [i for i, line in enumerate(complex_.region.lines) if line in rim]
    assert complex_.exact.lines is not None
    source = complex_.exact.lines.source.rows
    outer = (source[:, 0] < 0) & np.isin(source[:, 2], numbers)
    touching = (outer[complex_.edges] & complex_.used[:, : complex_.edges.shape[1]]).any(axis=1)
    found: list[Open] = []
    for cell in np.flatnonzero(touching).tolist():
        one = _open_cell(complex_, cell, outer[complex_.edges[cell, : complex_.count[cell]]])
        if one is None or not _keeps_signs(complex_, one):
            return None
        found.append(one)
    return found


def _open_cell(complex_: Complex, cell: int, outer: Mask) -> Open | None:
    """The cell without the rim's sides, or None if its rays meet."""
    rows = polygon_rows(complex_, cell)
    if outer.all():
        return Open(cell, [], [], EVERY_WAY)
    ends: list[tuple[Way, Way]] = []
    ways: list[Way] = []
    for i in range(len(rows)):
        if not outer[i] or outer[i - 1]:
            continue
        last = next(k for k in range(i, i + len(rows)) if not outer[(k + 1) % len(rows)])
        before, after = rows[i - 1], rows[(last + 1) % len(rows)]
        first, second = (before[1], -before[0]), (-after[1], after[0])
        turn = _cross(first, second)
        if turn < 0:
            return None
        ends.append((first, second))
        ways += [first, second]
        if turn == 0 and first[0] * second[0] + first[1] * second[1] < 0:  # a half-plane
            ways.append((before[0], before[1]))
    return Open(cell, [row for row, out in zip(rows, outer, strict=True) if not out], ends, ways)


def _keeps_signs(complex_: Complex, one: Open) -> bool:
    """Whether no neuron changes its sign where the cell goes on."""
    cell, exact = one.cell, complex_.exact
    for number in reversed(range(len(exact.stages))):
        stage = exact.stages[number]
        active, cell = stage.active[cell], int(stage.parent[cell])
        forms = exact.triples(number, cell, complex_.graph[stage.node.operands[0]], stage.before)[0]
        for u, v in one.ways:
            slopes = forms[:, 0] * u + forms[:, 1] * v
            if any(s < 0 if on else s > 0 for s, on in zip(slopes, active, strict=True)):
                return False
    return True


def _cross(p: Way, q: Way) -> Any:
    return p[0] * q[1] - p[1] * q[0]


# --- points ----------------------------------------------------------------------------------------------------------


def nearest_preimage(complex_: Complex, cells: list[Open], value: Sequence[Fraction]) -> Fraction | None:
    """The distance (norm inf) of the nearest point of unbounded cells, other than the centre, with this value."""
    best: Fraction | None = None
    forms = length_forms(Norm.INF, (0, 1), 2)
    for one in cells:
        rows = map_rows(complex_, one.cell)
        equations: list[Row] = [[*row[:2], row[2] - v] for row, v in zip(rows, value, strict=True)]
        found = Unbounded(2, equations, one.sides, Fraction(0)).nearest(forms)
        if found is not None and found[0] > 0 and (best is None or found[0] < best):
            best = found[0]
    return best


# --- pairs -----------------------------------------------------------------------------------------------------------


def surely_injective(violations: Violations, cells: list[Open], *, whole: bool) -> bool:
    """Whether f1 is injective by its orientation: on a line, or on the whole plane."""
    complex_, outputs = violations.complex, violations.outputs
    if len(outputs) != 2 or abs(int(violations.signs.astype(np.int64).sum())) != len(complex_):
        return False
    return len(complex_.center) == 1 or (whole and _sheets(complex_, cells, outputs) == 1)


def _sheets(complex_: Complex, cells: list[Open], outputs: list[int]) -> int:
    """How often the images of all directions cover one of them; determinants have one strict sign."""
    images: list[tuple[Way, Way]] = []
    for one in cells:
        (a, b, _), (c, d, _) = complex_.exact_map(one.cell)[0][outputs]
        for end in one.ends:
            p, q = ((a * u + b * v, c * u + d * v) for u, v in end)
            images.append((p, q) if a * d - b * c > 0 else (q, p))
    if not images:  # one cell: an invertible linear map
        return 1
    wide = [(p, q) for p, q in images if _cross(p, q) or p[0] * q[0] + p[1] * q[1] < 0]
    reference = wide[0][0]
    return sum(_holds(p, q, reference) for p, q in wide)


def _holds(p: Way, q: Way, r: Way) -> bool:
    """Whether the directions from p counter-clockwise to q, up to half a turn, hold r; they hold p and not q."""
    if _cross(p, r) == 0:
        return bool(p[0] * r[0] + p[1] * r[1] > 0)
    return bool(_cross(p, r) > 0 and _cross(r, q) > 0)


class TooManyPairs(Exception):
    """More pairs of cells than were allowed have images that were not separated."""


def nearest_pair(violations: Violations, cells: list[Open], most: float = math.inf) -> Fraction | None:
    """The distance (norm inf) of the nearest violation of two cells of which one is unbounded, or None.

    Violations come arbitrarily close to it, and none is nearer, if the ball holds none.
    """
    best: Fraction | None = None
    known = {one.cell: one for one in cells}
    pairs = _candidates(violations, cells)
    if len(pairs) > most:
        raise TooManyPairs
    for first, second in pairs:
        violations.between()
        found = _nearest_of(violations, first, second, known)
        if found is not None and (best is None or found < best):
            best = found
    return best


def _candidates(violations: Violations, cells: list[Open]) -> list[tuple[int, int]]:
    """Pairs (unbounded, any) whose images no direction separates with certainty."""
    low, high = _spans(violations, cells)
    numbers = {one.cell: i for i, one in enumerate(cells)}
    found: list[tuple[int, int]] = []
    for i, one in enumerate(cells):
        apart = ((low > high[one.cell]) | (high < low[one.cell])).any(axis=1)
        found += [(one.cell, k) for k in np.flatnonzero(~apart).tolist() if numbers.get(k, len(cells)) > i]
    return found


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is in doubt
def _spans(violations: Violations, cells: list[Open]) -> tuple[Array, Array]:
    """(cells, directions): where the images begin and end along directions of the output space."""
    complex_, outputs = violations.complex, violations.outputs
    axes = np.random.default_rng(len(outputs)).standard_normal((DIRECTIONS, len(outputs)))
    along = np.concatenate([np.eye(len(outputs)), axes])
    images = Images.of(complex_, np.arange(len(complex_)), outputs)
    values = images.values @ along.T
    size = np.abs(images.values).max(axis=(1, 2))
    slack = (images.error + 2.0**-48 * size)[:, None] * np.abs(along).sum(axis=1) * (1 + 2.0**-20)
    low = np.where(images.used[:, :, None], values, np.inf).min(axis=1) - slack
    high = np.where(images.used[:, :, None], values, -np.inf).max(axis=1) + slack
    low, high = np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf)
    for one in cells:
        for way in one.ways:
            down, up = _goes(complex_, one.cell, way, outputs, along)
            low[one.cell, down], high[one.cell, up] = -np.inf, np.inf
    return low, high


def _goes(complex_: Complex, cell: int, way: Way, outputs: list[int], along: Array) -> tuple[Mask, Mask]:
    """Along which directions the image may fall, and may rise, on the way."""
    longest = max(abs(way[0]), abs(way[1]))
    step = np.array([float(Fraction(int(t), int(longest))) for t in way])
    slopes, errors = complex_.maps.value[outputs, :2, cell], complex_.maps.error[outputs, :2, cell]
    moved = along @ (slopes @ step)
    doubt = np.abs(along) @ (errors.sum(axis=1) + 2.0**-48 * np.abs(slopes).sum(axis=1)) + 1e-300
    sure = np.isfinite(moved) & np.isfinite(doubt)
    return ~(sure & (moved > doubt)), ~(sure & (moved < -doubt))


def _nearest_of(violations: Violations, first: int, second: int, known: dict[int, Open]) -> Fraction | None:
    complex_ = violations.complex
    zero: Row = [0, 0]
    sides = [known[cell].sides if cell in known else polygon_rows(complex_, cell) for cell in (first, second)]
    rows: list[Row] = [[*row[:2], *zero, row[2]] for row in sides[0]]
    rows += [[*zero, *row] for row in sides[1]]
    f, g = map_rows(complex_, first), map_rows(complex_, second)
    equations = difference([f[i] for i in violations.outputs], [g[i] for i in violations.outputs])
    forms = [*length_forms(Norm.INF, (0, 1), 4), *length_forms(Norm.INF, (2, 3), 4)]
    found = Unbounded(4, equations, rows, Fraction(0)).nearest(forms)
    if found is None or not _leads_to_gap(equations, rows, violations.gaps(first, second), found[1]):
        return None
    return found[0]


def _leads_to_gap(equations: Sequence[Row], rows: Sequence[Row], gaps: Sequence[Row], z: list[Fraction]) -> bool:
    """Whether a gap is not zero at a pair z of a polyhedron, or on a way from it into the polyhedron."""
    if any(_value(form, z) for form in gaps):
        return True
    unit: list[Row] = [[*(s * int(i == k) for i in range(4)), 1] for k in range(4) for s in (1, -1)]
    active = [_linear(row) for row in rows if not _value(row, z)]
    ways = Polytope(4, [_linear(row) for row in equations], [*active, *unit], Fraction(1))
    for form in gaps:
        for sign in (1, -1):
            best = ways.maximise([sign * Fraction(t) for t in _linear(form)])
            if best is not None and best[0] > 0:
                return True
    return False


def _linear(row: Row) -> Row:
    return [*row[:-1], 0]


def _value(row: Row, z: Sequence[Fraction]) -> Fraction:
    return sum((Fraction(a) * b for a, b in zip(row, z, strict=False)), Fraction(row[-1]))
