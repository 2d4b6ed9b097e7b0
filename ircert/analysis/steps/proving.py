"""All steps between two lengths at once: a matrix C with sym(C (I + a J)) and sym(C (I + b J)) positive definite.

For a <= h <= b and every Jacobian J of g, C (I + h J) is a mean of C (I + a J) and C (I + b J), so that its symmetric
part is positive definite as well: by E-15 the step of length h is injective on the ball, or on the whole space, if that
was shown there. For a = 0 the first matrix is C. C = I is the case of a one-sided Lipschitz constant: b λ > -1 for the
least eigenvalue λ of all sym(J). Each stretch of lengths may have a matrix of its own.

Without a matrix: |g(x) - g(y)| <= L |x - y| in any norm makes x + h g(x) injective for all h < 1/L.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ircert.analysis.lipschitz.choosing import chosen
from ircert.analysis.lipschitz.seeing import regions_seen
from ircert.bounds.operator_norms import Unbounded
from ircert.bounds.rounding import UNIT, pseudo_inverse
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.one_matrix.all_slopes import holds_everywhere
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.definite import positive_definite
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.outcome import Counts, Outcome, Stopped
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.geometry.place import Place
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph
from ircert.limits import OutOfTime, checkpoint, is_over
from ircert.questions.network import lowered
from ircert.structure.contraction import lipschitz_bound

MOST_INPUTS, MOST_NEURONS = 64, 4_000
"""With more, matrices are not looked for."""
BOXES = 20_000
"""Of a cover."""
FARTHEST = 1e3
"""From where Jacobians are taken for the whole space."""


def least_lipschitz_bound(graph: Graph) -> Fraction | None:
    """A Lipschitz constant of a graph in one of the three norms, on the whole space; None where none is found."""
    found = []
    for norm in Norm:
        try:
            found.append(lipschitz_bound(graph, norm))
        except Unbounded:
            continue
    return min(found, default=None)


class Steps:
    """Proofs about the steps from one length to another, both as graphs, at a place; without the first, from 0 on."""

    def __init__(self, step: Graph, place: Place, seed: int, first: Graph | None = None, scale: float = 1.0) -> None:
        graphs = [step] if first is None else [step, first]
        self.settings = [Setting(lowered(graph), "local", graph.output_dim, place, scale) for graph in graphs]
        self.setting = self.settings[0]
        self.seed = seed

    @property
    def is_small(self) -> bool:
        """Whether matrices are worth looking for."""
        return self.setting.size <= MOST_INPUTS and self.setting.neurons <= MOST_NEURONS

    def hold_everywhere(self) -> bool:
        """Whether these steps are injective on the whole space, for sure."""
        with np.errstate(all="ignore"):
            networks = [Batches(setting) for setting in self.settings]
            matrices = self._matrices(FARTHEST)
            return any(all(holds_everywhere(network, matrix) for network in networks) for matrix in matrices)

    def hold_on(self, ball: Ball) -> bool:
        """… on a ball of the place."""
        with np.errstate(all="ignore"):
            made = [(Batches(setting), Points(setting, self.seed)) for setting in self.settings]
            return any(
                all(self._closes(OneMatrix(network, matrix), points, ball.radius) for network, points in made)
                for matrix in self._matrices(ball.radius)
            )

    def _matrices(self, radius: float) -> Iterator[Array]:
        """I, and one that fits the Jacobians of points that were looked at, and I if steps begin at 0."""
        unit = np.eye(self.setting.size)
        seen = [regions_seen(Points(setting, self.seed), radius).jacobians for setting in self.settings]
        jacobians = np.concatenate([*seen, unit[None]] if len(seen) == 1 else seen)
        if _is_likely(unit, jacobians):
            yield unit
        try:
            matrix = chosen(pseudo_inverse(jacobians.mean(axis=0)), jacobians, Norm.TWO)
        except np.linalg.LinAlgError:
            return
        if _is_likely(matrix, jacobians) and (len(seen) > 1 or is_definite(matrix)):
            yield matrix

    def _closes(self, matrix: OneMatrix, points: Points, radius: float) -> bool:
        cover = Cover(matrix, points, Counts(), lambda: None)
        outcome: Outcome | None = None
        cover.begin(radius)
        try:
            while outcome is None and cover.spent < BOXES:
                checkpoint()
                outcome = cover.step(radius, is_over)
        except (OutOfTime, Stopped):
            return False
        return outcome == "closed"


def _is_likely(matrix: Array, jacobians: Array) -> bool:
    products = np.matmul(matrix, jacobians)
    return bool((np.linalg.eigvalsh(products + products.transpose(0, 2, 1))[:, 0] > 0).all())


def is_definite(matrix: Array) -> bool:
    """Whether sym(C) is positive definite, for sure: half of a sum of two floats is off by UNIT of its size."""
    total = (matrix + matrix.T) / 2
    rounding = 2 * UNIT * len(matrix) * np.abs(total).max(initial=0.0) + 1e-300
    return bool(positive_definite(total[None], np.array([rounding]))[0])
