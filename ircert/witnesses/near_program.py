"""The pairs near a float pair, on the linear regions of its points, as a linear program: as far apart as can be.

Points are offsets s = (x - c) / r from the centre, in parts of the radius. Around s0, with |s - s0| <= room, neurons
keep their signs by a margin, and a round ball is replaced by a flat piece inside: with u = s0 / |s0| and n coordinates,
u·s <= sqrt(1 - n room²) leaves |s| <= 1. Where there is too much room for that the way from s0 ends at the rim.
Everything is in floats: what comes out is a proposal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import block_array, csr_array, vstack

from ircert.exact.linear_regions import FloatMaps, Pattern
from ircert.exact.live_program import LiveProgram
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Matrix, identity
from ircert.limits import checkpoint, left

ROOM = {"inf": 1e-3, "1": 1e-3, "2": 1e-4}
"""How far a coordinate may be moved, unless said otherwise."""
AT = 1e-9
"""What is as close as that to a bound or a kink is at it."""
CLOSE = 1e-6
"""What is as close as that to a kink may be taken across it."""
FLAT = 1e-2
"""How much of the square of a ball's radius is given up for a flat piece."""
TOLERANCE = 1e-10
LONGEST = 2.0
"""Seconds for one program, which is small."""


@dataclass(frozen=True)
class Side:
    """One of the points: its offsets, and the affine maps of its region over (x - c, 1)."""

    offsets: Array
    maps: FloatMaps
    pattern: Pattern
    radius: float

    def signs(self, name: str) -> tuple[Array, Array]:
        """Rows A s + b, of size 1, that are not negative where a relu reads what its pattern says; 0 = 0 without x."""
        forms = np.where(self.pattern[name], 1.0, -1.0)[:, None] * self.maps.read[name]
        rows = forms[:, :-1] * self.radius
        size = np.abs(rows).max(axis=1, initial=0.0)
        good = (size > 0) & np.isfinite(size) & np.isfinite(forms[:, -1])
        scale = np.where(good, size, 1.0)
        return np.where(good[:, None], rows, 0.0) / scale[:, None], np.where(good, forms[:, -1], 0.0) / scale

    def kinks(self, offsets: Array) -> dict[str, Indices]:
        """The entries of each relu that reads about 0 at a point."""
        found = {}
        for name in self.maps.read:
            rows, rest = self.signs(name)
            found[name] = np.flatnonzero(rows.any(axis=1) & (np.abs(rows @ offsets + rest) <= AT))
        return found

    @property
    def output(self) -> Array:
        """The outputs over (s, 1)."""
        return np.column_stack([self.maps.output[:, :-1] * self.radius, self.maps.output[:, -1]])


@dataclass(frozen=True)
class NearProgram:
    """Pairs s = (s_x, s_y), or points s_x, with rows @ s = rest, in a ball and between bounds.

    apart @ s - shift is what a norm makes the distance of a pair.
    """

    sides: Sequence[Side]
    norm: Norm
    low: Array
    high: Array
    rows: Array
    rest: Array
    apart: Array
    shift: Array
    objective_norm: Norm

    def length(self, points: Sequence[Array]) -> float:
        """The distance of a pair: in parts of the radius, or of outputs (`transform`)."""
        return float(np.linalg.norm(self.apart @ np.concatenate(points) - self.shift, ord=self.objective_norm.order))

    def best(
        self,
        margin: float,
        rim: float = 0.0,
        room: float | None = None,
        *,
        cost: Array | None = None,
        over_kinks: bool = False,
    ) -> list[Array] | None:
        """The offsets of a pair that is as far apart as can be seen from here; None if there is none.

        It stays `margin` away from kinks and the ball's rim, and `rim` from bounds. With `over_kinks` neurons that are
        about 0 at the start may change their sign, as if the network went on being affine. `cost` is a linear form to
        be maximised instead of the one that grows like the distance here.
        """
        room = ROOM[self.norm] if room is None else room
        form = _of_size_1(self._steepest if cost is None else cost)
        points = self._solved(form, self._inequalities(margin, room, over_kinks=over_kinks), self._bounds(rim, room))
        return None if points is None else self._in_ball(points, margin)

    def _solved(self, form: Array, inequalities: tuple[Matrix, Array, int], bounds: Array) -> list[Array] | None:
        checkpoint()
        above, least, extra = inequalities
        size = np.abs(self.rows).max(axis=1, initial=0.0)
        good = (size > 0) & np.isfinite(size) & np.isfinite(self.rest)
        rows, rest = self.rows[good] / size[good, None], self.rest[good] / size[good]
        equal = np.column_stack([rows, np.zeros((len(rows), extra))])
        live = LiveProgram(
            csr_array(vstack([csr_array(equal), csr_array(above)], format="csr")),
            (np.concatenate([rest, least]), np.concatenate([rest, np.full(len(least), np.inf)])),
            (np.append(bounds[:, 0], np.zeros(extra)), np.append(bounds[:, 1], np.ones(extra))),
            primal_feasibility_tolerance=TOLERANCE,
        )
        status = live.maximise(np.append(form, np.zeros(extra)), seconds=min(LONGEST, left()))
        return np.split(live.point[: self.width], len(self.sides)) if status == "optimal" else None

    @property
    def width(self) -> int:
        """The number of coordinates of a pair."""
        return len(self.low) * len(self.sides)

    @cached_property
    def _start(self) -> Array:
        return np.concatenate([side.offsets for side in self.sides])

    @cached_property
    def _steepest(self) -> Array:
        """The linear form that grows like the distance here."""
        gaps = self.apart @ self._start - self.shift
        if self.objective_norm != "2":
            signs = np.where(gaps < 0, -1.0, 1.0)
            largest = np.arange(len(gaps)) == np.argmax(np.abs(gaps))
            gaps = signs if self.objective_norm == "1" else np.where(largest, signs, 0.0)
        return np.asarray((gaps if gaps.any() else np.ones(len(gaps))) @ self.apart)

    def others(self, value: float) -> Array:
        """Norm inf: forms of single coordinates of the distance that may grow beyond a value, the likeliest first."""
        if self.objective_norm != "inf":
            return np.zeros((0, self.width))
        forms, shifts = np.concatenate([self.apart, -self.apart]), np.concatenate([self.shift, -self.shift])
        low, high = (np.tile(end, len(self.sides)) for end in (self.low, self.high))
        most = np.maximum(forms * low, forms * high).sum(axis=1) - shifts
        return np.asarray(forms[[k for k in np.argsort(-most, kind="stable") if most[k] > value]])

    def _bounds(self, rim: float, room: float) -> Array:
        low, high = (np.tile(end, len(self.sides)) for end in (self.low, self.high))
        rims = np.minimum(rim, (high - low) / 4)
        start = np.clip(self._start, low + rims, high - rims)
        return np.column_stack([np.maximum(low + rims, start - room), np.minimum(high - rims, start + room)])

    def _inequalities(self, margin: float, room: float, *, over_kinks: bool) -> tuple[Matrix, Array, int]:
        """Rows and what they must reach at least, and how many variables are added for sizes of coordinates."""
        n, blocks = len(self.low), [(np.zeros((0, self.width)), np.zeros(0))]
        for k, side in enumerate(self.sides):
            parts = [side.signs(name) for name in side.maps.read]
            for rows, rest in parts:
                values = rows @ side.offsets + rest
                # others keep their sign all around
                kept = rows.any(axis=1) & (values <= margin + room * np.abs(rows).sum(axis=1))
                kept &= ~(over_kinks & (np.abs(values) <= CLOSE))
                blocks.append((self._wide(rows[kept], k * n), margin - rest[kept]))
            if self.norm == "2":
                rows, rest = _flat_piece(side.offsets, room)
                blocks.append((self._wide(rows, k * n), rest))
        above, least = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return self._with_sizes(above, least, margin) if self.norm == "1" else (above, least, 0)

    def _wide(self, rows: Array, start: int) -> Array:
        found = np.zeros((len(rows), self.width))
        found[:, start : start + len(self.low)] = rows
        return found

    def _with_sizes(self, above: Array, least: Array, margin: float) -> tuple[Matrix, Array, int]:
        """Norm 1: a >= s, a >= -s, and the a of each point add up to at most 1."""
        width, count = self.width, len(self.sides)
        eye, sums = identity(width), csr_array(np.kron(np.eye(count), -np.ones((1, len(self.low)))))
        rows = block_array([[csr_array(above), None], [-eye, eye], [eye, eye], [None, sums]], format="csr")
        return rows, np.concatenate([least, np.zeros(2 * width), np.full(count, margin - 1.0)]), width

    def _in_ball(self, points: list[Array], margin: float) -> list[Array]:
        """Norm 2: as far on the way to the points as the ball allows."""
        if self.norm != "2":
            return points
        share = min(_share(side.offsets, p, 1.0 - margin) for side, p in zip(self.sides, points, strict=True))
        return [side.offsets + share * (p - side.offsets) for side, p in zip(self.sides, points, strict=True)]


def _of_size_1(form: Array) -> Array:
    size = np.abs(form).max(initial=0.0)
    return form / size if 0 < size < np.inf else np.zeros(len(form))


def _flat_piece(offsets: Array, room: float) -> tuple[Array, Array]:
    flat, length = len(offsets) * room**2, float(np.linalg.norm(offsets))
    if flat > FLAT or length + np.sqrt(flat) <= 1:
        return np.zeros((0, len(offsets))), np.zeros(0)
    return -offsets[None] / length, np.array([-np.sqrt(1 - flat) + 1e-15])


def _share(start: Array, end: Array, most: float) -> float:
    """The largest t <= 1 with |start + t (end - start)| <= most, at least 0."""
    way = end - start
    a, b, c = float(way @ way), float(start @ way), float(start @ start) - most * most
    if a == 0 or a + 2 * b + c <= 0:
        return 1.0
    return max(0.0, (-b + float(np.sqrt(max(b * b - a * c, 0.0)))) / a)
