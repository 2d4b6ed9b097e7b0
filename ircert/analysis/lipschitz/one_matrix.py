"""A bound below of L' from one matrix C, for any number of inputs: C J is positive by μ on every region of the body.

With μ > 0 in the sense of `positivity`, |C (f(x) - f(y))| >= μ |x - y|, so that L' >= μ / |C|. In norms 1 and inf what
holds for norm 2 is tried as well: μ |d|_2^2 <= d · C e <= |C^T d|* |e|, * the dual norm, and e = f(x) - f(y). μ is what
covers of the ball prove, with boxes (`engines.boxes.one_matrix`); C stays the same in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ircert.analysis.lipschitz.choosing import chosen
from ircert.analysis.lipschitz.positivity import one_matrix, positivity
from ircert.analysis.lipschitz.seeing import regions_seen
from ircert.bounds.operator_norms import Unbounded, norm_bound
from ircert.bounds.rounding import pseudo_inverse
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.outcome import Counts, Outcome, Stopped
from ircert.engines.boxes.problem.setting import Setting
from ircert.exact.rounding import near_root, rounded_down
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import Deadline, OutOfTime, checkpoint, is_over, until
from ircert.result.radius import End

MOST_INPUTS = 256
"""With more of them covers by boxes are not tried."""
EXACTLY, FEW = 1 - 1e-9, 64
"""The part of the least positivity seen that is tried first, and with how many boxes."""
SHARES = tuple(2.0**-k for k in (1, 2, 4, 8, 16))
"""The parts that are tried then, until one is proved …"""
HALVINGS = 5
"""… and how often what lies between a proof and a failure is halved."""
BOXES, MORE = 1_000, 4
"""How many boxes a cover may take; or that many times those of the cover that found the matrix."""
MATRICES = 3
"""How many matrices are tried, each with the corners of slopes where covers with those before failed …"""
MOST_CORNERS = 1_000
ENOUGH = 0.95
"""… unless this part of what was seen is proved."""
EFFORT = 300_000
"""What finding a matrix by covers may take, in boxes."""

DEFINITE = "one matrix C with sym(C J) >= μ I for every linear region"
DOMINANT = "one matrix C whose C J has a diagonal that outweighs the rest by μ, for every linear region"


def at_least(
    graph: Graph, ball: Ball, norm: Norm, known: End, deadline: Deadline, seed: int, *, definite: bool = False
) -> End:
    """A bound below of L' of a lowered graph: a better one than is known, if one matrix gives it.

    definite: only by matrices with sym(C J) positive definite, in all norms (networks with curves)
    """
    if not ball.center.size <= min(graph.output_dim, MOST_INPUTS):
        return known
    best = known
    with until(deadline), np.errstate(all="ignore"):
        try:
            search = _Search(Setting(graph, "local", graph.output_dim, Place.of(ball), ball.radius), ball.radius, seed)
        except OutOfTime:
            return known
        ways = [search.directly] if norm == "2" else [search.through_definite, search.directly]
        ways = ways[:1] if definite else ways
        for k, way in enumerate(ways):
            with until(Deadline(deadline.left() / (len(ways) - k))):
                best = way(norm, best)
    return best


@dataclass(frozen=True)
class _Worth:
    """What μ = 1 with a matrix bounds L' by, and why."""

    of: Callable[[Array], Fraction]
    evidence: str


@dataclass
class _Search:
    setting: Setting
    radius: float
    seed: int
    counts: Counts = field(default_factory=Counts)

    def __post_init__(self) -> None:
        self.network, self.points = Batches(self.setting), Points(self.setting, self.seed)
        self.jacobians = regions_seen(self.points, self.radius).jacobians
        self.corners = self.jacobians[:0]

    # --- bounds ------------------------------------------------------------------------------------------------------

    def directly(self, norm: Norm, known: End) -> End:
        """μ / |C|, all in one norm."""
        worth = _Worth(lambda matrix: 1 / norm_bound(matrix, norm), DEFINITE if norm == "2" else DOMINANT)
        return self._best(norm, known, worth)

    def through_definite(self, norm: Norm, known: End) -> End:
        """The same from C and μ of norm 2."""
        return self._best(Norm.TWO, known, _Worth(lambda matrix: _from_norm_2(matrix, norm), DEFINITE))

    def _best(self, norm: Norm, known: End, worth: _Worth) -> End:
        """The best bound that was proved, or what is known."""
        best = known
        try:
            for matrix in self._matrices(norm):
                best, is_enough = self._raised(matrix, norm, BOXES, best, worth)
                if is_enough:
                    return best
            if not best and norm == "2":  # no cover closed: matrices that know better where covers fail
                found = self._by_covers()
                if found is not None:
                    best, _ = self._raised(found[0], norm, found[1], best, worth)
        except (OutOfTime, Unbounded, np.linalg.LinAlgError):
            pass  # time is over, or floats hold no such matrix: what was proved stays
        return best

    def _raised(self, matrix: Array, norm: Norm, boxes: int, known: End, worth: _Worth) -> tuple[End, bool]:
        """What a matrix adds to what is known, and whether that is about all it could."""
        value = worth.of(matrix)
        least = self._largest(matrix, norm, boxes, float(Fraction(known) / value))
        found = End(rounded_down(Fraction(least) * value), worth.evidence)
        return max(known, found), least >= ENOUGH * self._likely(matrix, norm)

    # --- matrices ----------------------------------------------------------------------------------------------------

    def _matrices(self, norm: Norm) -> Iterator[Array]:
        """A matrix for the regions seen, then some that know the corners where covers failed."""
        if not len(self.jacobians):
            raise np.linalg.LinAlgError("no Jacobian is finite")
        self.corners = self.jacobians[:0]
        matrix = pseudo_inverse(self.jacobians.mean(axis=0))
        for _ in range(MATRICES):
            better = chosen(matrix, np.concatenate([self.jacobians, self.corners]), norm)
            if np.array_equal(better, matrix):
                break
            yield better
            matrix = better

    def _by_covers(self) -> tuple[Array, int] | None:
        """A matrix that a cover closes with (norm 2), if there is one, and how many boxes other covers may take."""
        covering = Covering(self.network, self.counts, lambda: None, self.seed)
        if covering.advance(self.radius, self._is_enough) != "closed" or covering.matrix is None:
            return None
        return covering.matrix, max(BOXES, MORE * self.counts.boxes)

    def _is_enough(self) -> bool:
        return is_over() or self.counts.effort > EFFORT

    # --- proofs ------------------------------------------------------------------------------------------------------

    def _likely(self, matrix: Array, norm: Norm) -> float:
        """The least positivity seen."""
        return float(positivity(np.matmul(matrix, self.jacobians), norm).min())

    def _largest(self, matrix: Array, norm: Norm, boxes: int, known: float) -> float:
        """About the largest μ above a known one that covers prove; 0 where they prove none."""
        likely = self._likely(matrix, norm)

        def proved(share: float, most: int) -> bool:
            try:
                return self._closes(one_matrix(self.network, matrix, norm, share * likely), most)
            except OutOfTime:  # what was proved with another share stays
                return False

        if not known < likely * EXACTLY < np.inf:
            return 0.0
        if proved(EXACTLY, FEW):
            return EXACTLY * likely
        low, high, least = known / likely, 1.0, 0.0
        for share in SHARES if not known else ():
            if proved(share, boxes):
                low, least = share, share * likely
                break
            high = share
        for _ in range(HALVINGS if low else 0):
            middle = (low + high) / 2
            if proved(middle, boxes):
                low, least = middle, middle * likely
            else:
                high = middle
        return least

    def _closes(self, matrix: OneMatrix, boxes: int) -> bool:
        """Whether a cover of the ball closes, within a number of boxes and the time; else its corners are kept."""
        cover = Cover(matrix, self.points, self.counts, lambda: None, by_size=True)
        cover.begin(self.radius)
        outcome: Outcome | None = None
        try:
            while outcome is None and cover.spent < boxes:
                checkpoint()
                outcome = cover.step(self.radius, is_over)
        except (OutOfTime, Stopped):  # what was proved before stays
            return False
        if outcome != "closed":
            found = [self.points.at_slopes(slopes) for slopes, _ in cover.corners]
            corners = np.concatenate([self.corners, *found])
            self.corners = corners[np.isfinite(corners).all(axis=(1, 2))][-MOST_CORNERS:]
        return outcome == "closed"


def _from_norm_2(matrix: Array, norm: Norm) -> Fraction:
    """What μ of norm 2 is worth: |e| >= μ |d|_2 / max |C^T d|* with |d|_2 <= 1, and |d|_2 >= |d|_inf, |d|_1 / √n."""
    inputs, outputs = matrix.shape
    entries = [[Fraction(t) for t in row] for row in matrix.tolist()]
    if norm == "1":  # the dual norm is that of the largest entry: columns of C
        square = max(sum((t * t for t in column), Fraction(0)) for column in zip(*entries, strict=True))
        return 1 / near_root(square * inputs, up=1)
    sums = sum((sum((abs(t) for t in row), Fraction(0)) ** 2 for row in entries), Fraction(0))
    return 1 / min(near_root(sums, up=1), norm_bound(matrix, Norm.TWO) * near_root(Fraction(outputs), up=1))
