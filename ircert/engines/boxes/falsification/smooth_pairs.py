"""Violations of smooth networks: pairs that floats find, brought near to the centre, and proved in boxes (R-13).

Pairs of random points are moved by the Gauss-Newton method until the outputs agree, or one starts on both sides of a
fold. The best of them are moved along the set of all collisions towards the centre; inputs of x and y, as many as there
are equations, are then solved for in interval arithmetic, while the others stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.linalg import qr

from ircert.engines.boxes.falsification.collision_equations import CollisionEquations
from ircert.engines.boxes.falsification.linear_pairs import linear_starts
from ircert.engines.boxes.falsification.nearest_pair import NearestPair
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array
from ircert.ir.boxed_pair import BoxedPair, boxed
from ircert.ir.ops import Affine
from ircert.limits import checkpoint

STARTS, ROUNDS = 256, 16
"""Points that are moved at once, alone (`pseudo`) or as pairs, and how often."""
FEW = 32
"""… where violations are everywhere."""
MOST_NUMBERS = 2**23
"""… as far as all their Jacobians have no more entries, at all nodes of a network together."""
MOST_EQUATIONS, MOST_UNKNOWNS, MOST_WEIGHTS = 128, 128, 2**20
"""Larger systems are not solved, larger pairs not brought nearer, and larger networks not looked at: each takes seconds
that cannot be interrupted."""
KEPT = 3
"""So many of them are brought nearer."""
SOLVED = 1e-6
"""A divided difference below this, in parts of the largest slope, may become 0."""
SIDEWAYS = 1e-3
"""How far from a fold a pair starts, in parts of the ball."""
CLOSEST = (1e-2, 1e-4, 1e-6, 1e-7)
"""How close the points may come to each other, in parts of the ball, while they are brought nearer."""
NEARER = 1 - 1e-9
INSIDE = 1 - 1e-12
SHRUNK = (0.0, 2.0**-30, 2.0**-20, 2.0**-12)
"""Parts of the way to the centre by which a pair is moved until its boxes lie in the ball."""


@dataclass(eq=False)
class SmoothPairs:
    """The search; `best` is the nearest violation that was proved, with the radius of a ball that holds it.

    given: the network whose outputs must agree; told: for `transform`, the one that must tell the points apart
    """

    given: Setting
    told: Setting | None
    pseudo: bool
    seed: int = 0
    best: tuple[float, BoxedPair] | None = None
    equations: CollisionEquations = field(init=False)
    _open: Array | None = field(default=None, init=False)  # what was brought nearer when time ended

    def __post_init__(self) -> None:
        self.equations = CollisionEquations(self.given, self.told, self.pseudo)
        self._generator = np.random.default_rng(self.seed)

    @property
    def is_hopeless(self) -> bool:
        """Whether there are more equations than unknowns, so that collisions would be a coincidence; or too many."""
        rows = len(self.equations.rows)
        return not 0 < rows <= min(self.equations.size, MOST_EQUATIONS) or self._weights > MOST_WEIGHTS

    @property
    def _weights(self) -> int:
        graphs = [setting.graph for setting in (self.given, self.told) if setting is not None]
        ops = [node.op for graph in graphs for node in graph.nodes]
        return sum(op.weight.shape[0] * op.weight.shape[1] for op in ops if isinstance(op, Affine))

    # --- searching ---------------------------------------------------------------------------------------------------

    def look(self, reach: float) -> bool:
        """Whether a nearer violation than before was found within the reach."""
        if self.is_hopeless:
            return False
        reach = reach if self.best is None else min(reach, NEARER * self.best[0])
        with np.errstate(all="ignore"):
            if self._open is not None and self._follow_best(self._open[None], reach):
                return True
            return self._follow_best(self._candidates(reach), reach)

    def look_at(self, point: Array, reach: float) -> bool:
        """Whether the centre's output is taken near a point (`pseudo`), nearer than before."""
        with np.errstate(all="ignore"):
            return not self.is_hopeless and self._follow_best((point - self.given.center)[None], reach)

    def look_at_fold(self, point: Array, reach: float, *, near: bool = True) -> bool:
        """Whether a pair on both sides of a fold, next to this point, is a nearer violation; `near`: as near as can be,
        else with points that people tell apart."""
        if self.is_hopeless:
            return False
        with np.errstate(all="ignore"):
            slopes = self.equations.jacobian(point)
            around = point - self.given.center
            step = SIDEWAYS * np.linalg.norm(around) * np.linalg.svd(slopes)[2][-1]
            pair = np.concatenate([around + step, around - step])
            return self._follow_best(pair[None], reach, CLOSEST if near else CLOSEST[:1])

    def _box(self, reach: float) -> tuple[Array, Array]:
        """The box around a ball, relative to the centre, for all points of a pair."""
        low, high = self.given.low - self.given.center, self.given.high - self.given.center
        copies = self.equations.size // self.given.size
        return np.tile(np.maximum(low, -reach), copies), np.tile(np.minimum(high, reach), copies)

    def _candidates(self, reach: float, most: int = STARTS) -> Array:
        """Pairs that seem to be violations, the nearest first."""
        low, high = self._box(reach)
        width = sum(self.given.graph.sizes.values()) * len(low)
        count = min(most * self.given.size // len(low), max(MOST_NUMBERS // width, KEPT))
        scale = self._generator.random((count, 1)) ** 0.5
        starts = scale * (low + (high - low) * self._generator.random((count, len(low))))
        pairs = self.equations.solved(starts, low, high, ROUNDS)
        if not len(pairs):
            return pairs
        h, slopes = self.equations.divided(pairs)
        sizes = np.abs(slopes).max(axis=(1, 2)) * np.linalg.norm(pairs, axis=1)
        gaps = np.linalg.norm(self.equations.apart(pairs)[0], axis=1)
        good = (np.abs(h).max(axis=1) < SOLVED * sizes) & (gaps > CLOSEST[-1] * np.median(gaps))
        pairs = pairs[good]
        return pairs[np.argsort(self._distances(pairs), kind="stable")[:KEPT]]

    def _distances(self, pairs: Array) -> Array:
        parts = pairs.reshape(len(pairs), self.equations.size // self.given.size, self.given.size)
        return self.given.norm.lengths(parts).max(axis=1, initial=0.0)

    def _follow_best(self, pairs: Array, reach: float, levels: tuple[float, ...] = CLOSEST) -> bool:
        """Bring pairs nearer, prove the nearest, and go on with that; what was proved stays where time ends."""
        kept = len(pairs) > 0 and self._keep(pairs[0], reach)
        if self.equations.size > MOST_UNKNOWNS:
            return kept
        moved = [self._nearer(pair, levels[0]) for pair in pairs]
        moved = [pair for pair in moved if np.isfinite(pair).all()]
        if not moved:
            return kept
        self._open = pair = moved[int(np.argmin(self._distances(np.array(moved))))]
        kept |= self._keep(pair, reach)
        for closest in levels[1:]:
            better = self._nearer(pair, closest)
            if not np.isfinite(better).all():
                break
            self._open = pair = better
            kept |= self._keep(pair, reach)
        self._open = None
        return kept

    def _nearer(self, pair: Array, closest: float) -> Array:
        """A pair of the same family that is nearer, and as far apart as this part of the ball, or as it was."""
        checkpoint()
        program = NearestPair(self.equations, max(float(self._distances(pair[None])[0]), 1e-300))
        return program.nearest(pair, min(closest * self._scale(program.unit), self._gaps(pair)))

    def _scale(self, unit: float) -> float:
        """How much of a gap is large: the radius, or how much outputs of the other network differ in the ball."""
        if self.told is None:
            return unit
        low, high = self._box(unit)
        pairs = low + (high - low) * np.random.default_rng(0).random((16, len(low)))
        return float(np.linalg.norm(self.equations.apart(pairs)[0], axis=1).max())

    def look_anywhere(self, reach: float) -> bool:
        """Whether there is a violation within the reach, however near."""
        with np.errstate(all="ignore"):
            return not self.is_hopeless and any(self._keep(pair, reach) for pair in self._candidates(reach, FEW))

    def spread(self, radius: float) -> bool:
        """Whether a violation with points farther apart than those of the best one was found in a ball; it becomes the
        best one, although it need not be near."""
        if self.best is None or self.equations.size > MOST_UNKNOWNS:
            return False
        with np.errstate(all="ignore"):
            starts = [self._offsets(self.best[1]), *self._candidates(radius)]
            program, most = NearestPair(self.equations, radius), self._gaps(starts[0])
            for start in starts:
                found = program.farthest_apart(start, radius * INSIDE)
                if np.isfinite(found).all() and self._gaps(found) > most:
                    proved = self._proved(found)
                    if proved is not None and proved[0] <= radius:
                        self.best, most = proved, self._gaps(found)
        return most > self._gaps(starts[0])

    def far_pairs(
        self, radius: float, norm: Norm, known: BoxedPair | None = None, *, first: bool = False
    ) -> Iterator[BoxedPair]:
        """Proved pairs of a ball, from other starts every time, each as far apart in a norm as can be reached; what is
        known is moved first. The first time pairs that linear parts suggest come before these."""
        if self.is_hopeless:
            return
        starts = [] if known is None else [self._offsets(known)]
        linear = linear_starts(self.equations, *self._box(radius), radius) if first else ()
        quick = (self._proved_inside(pair, radius) for pair in linear)
        yield from (pair for pair in quick if pair is not None)
        for start in (*starts, *self._candidates(radius, FEW)):
            checkpoint()
            found = (self._proved_inside(pair, radius) for pair in self._moved_apart(start, radius, norm))
            best = next((pair for pair in found if pair is not None), None)
            if best is not None:
                yield best

    def _proved_inside(self, pair: Array, radius: float) -> BoxedPair | None:
        """Boxes in a ball near a pair, or near one a little nearer to the centre: floats leave round balls."""
        for share in SHRUNK:
            checkpoint()
            proved = self._proved((1 - share) * pair)
            if proved is not None and proved[0] <= radius:
                return proved[1]
        return None

    def _moved_apart(self, start: Array, radius: float, norm: Norm) -> Iterator[Array]:
        """A pair moved as far apart as possible, in norm 2 and then in the norm itself; the start where that fails."""
        if self.equations.size <= MOST_UNKNOWNS:
            program = NearestPair(self.equations, radius)
            found = program.farthest_apart(start, radius * INSIDE)
            best = found if np.isfinite(found).all() else start
            if norm is not Norm.TWO:
                along = norm.slopes(self.equations.apart(best[None])[0][0])
                found = program.farthest_apart(best, radius * INSIDE, along)
                if np.isfinite(found).all():
                    yield found
            yield best
        yield start

    def _gaps(self, pair: Array) -> float:
        return float(np.linalg.norm(self.equations.apart(pair[None])[0]))

    def _offsets(self, pair: BoxedPair) -> Array:
        points = [pair.x] if self.pseudo else [pair.x, pair.y]
        return np.array([float(v - c) for p in points for v, c in zip(p, self.given.exact_center, strict=True)])

    # --- proofs ------------------------------------------------------------------------------------------------------

    def _keep(self, pair: Array, reach: float) -> bool:
        proved = self._proved(pair)
        limit = reach if self.best is None else min(reach, self.best[0])
        if proved is None or not proved[0] <= limit or (self.best is not None and proved[0] >= self.best[0]):
            return False
        self.best = proved
        return True

    def _proved(self, pair: Array) -> tuple[float, BoxedPair] | None:
        """Boxes near a pair that hold a violation, with the radius of a ball that holds them."""
        x, y = (points[0] for points in self.equations.points(pair[None]))
        x, y = (np.clip(point, self.given.low, self.given.high) for point in (x, y))
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            return None
        exact = [[Fraction(v) for v in point.tolist()] for point in (x, y)]
        told = None if self.told is None else self.told.graph
        found = boxed(self.given.graph, exact[0], exact[1], self._unknowns(pair), told)
        if found is None or not self._is_in_domain(found):
            return None
        norm = self.given.norm
        reaches = found.reaches(self.given.exact_center)
        return max(norm.length_up(norm.measure(reach)) for reach in reaches), found

    def _unknowns(self, pair: Array) -> list[tuple[int, int]]:
        """Inputs that are solved for: independent ones, those with room in the domain and the ball first."""
        n, slopes = self.given.size, self.equations.slopes(pair)
        low, high = self._box(float(self._distances(pair[None])[0]))
        room = np.minimum(pair - low, high - pair)
        weights = np.where(room > 0, 1.0, 1e-3)
        order = qr(np.nan_to_num(slopes * weights), mode="r", pivoting=True)[1][: len(slopes)]
        return sorted((int(j) // n, int(j) % n) for j in order)

    def _is_in_domain(self, pair: BoxedPair) -> bool:
        low, high = self.given.low.tolist(), self.given.high.tolist()
        return all(
            a <= v - r and v + r <= b
            for middle, radii in pair.sides
            for v, r, a, b in zip(middle, radii, low, high, strict=True)
        )
