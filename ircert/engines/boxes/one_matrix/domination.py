"""Boxes that one matrix closes: sym(C J(λ)) is positive definite for all slopes λ in a cube.

With λ within `spare` of `middle`, J(λ) = J(middle) + sum over free i of δ_i u_i w_i, where w_i is the row below neuron
i at the middle slopes, and u_i the column above it at any slopes of the cube. With a_i = C u_i within ρ_i of its
middle, and any t, θ > 0,

    ± sym(a w)  <=  (t a a + w w / t) / 2,      a a  <=  (1 + θ) a_c a_c + (1 + 1/θ) (sum of ρ) diag(ρ)

in the order of symmetric matrices. So sym(C J(λ)) >= M - R, M = sym(C J(middle)), R the sum of these bounds.
Where slopes move with the point (`tilts`), δ_i = sum over j of G_ij t_j + r_i, and the sum of the linear parts is taken
over all neurons first (`moving`); what is left, r_i a w + (δ_i - r_i) (a - a_c) w, is within |r_i| of a_c times w, and
within |δ_i| ρ: a term with r_i and reach ρ |δ_i| / |r_i|.
Where M - R is not positive definite, a form may be that knows which neurons lie above others (`sectors`). Where neither
is, the cube is cut: v C J(λ) v is affine in every slope, for every v, so that what holds on the two faces λ_i = 0 and
λ_i = 1 (of a curve: at both ends of its slopes) holds between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ircert.bounds.rounding import UNIT
from ircert.engines.boxes.enclosures.batches import Batches, times
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import Enclosures
from ircert.engines.boxes.one_matrix.definite import positive_definite
from ircert.engines.boxes.one_matrix.exclusions import OFF, ON, Exclusions
from ircert.engines.boxes.one_matrix.moving import Moving
from ircert.engines.boxes.one_matrix.remainder import FLAT, FLATTER, Metric, Terms, finite
from ircert.engines.boxes.one_matrix.sectors import Middles, Sectors
from ircert.ir.arrays import Array, Indices, Mask
from ircert.limits import checkpoint

BUDGET, MOST_OPEN = 64, 6
"""Cubes that a box may be cut into, and how many of them may be open at once: where most are, boxes are better cut."""
MOST_CUTS, MOST_FREE = 2, 4
"""Neurons whose slopes are cut: where more would have to be, and more are free, it is not tried."""
SMALL_BATCH, MOST_CUTS_AT_ONCE = 8, 3
"""With less than this part of the cubes that are worked on at once, more cuts are made at a time, up to so many."""


@dataclass(frozen=True)
class Dominations:
    """What was found about each cube.

    closed:    sym(C J) - least I is positive definite for all its slopes, for sure
    middle:    M - least I, in floats (cubes, n, n); rest: the same less R
    definite:  whether M - least I seems positive definite
    excess:    of those not closed, how much too large R is, in parts of M - least I
    weights:   how much each free neuron takes away (neurons, cubes); a number where that is none, too
    above:     the middles of a (neurons, inputs, cubes); below: w
    sides:     where slopes have tilts, how much those take away that move with each input (inputs, cubes)
    moving:    … and the matrices T of these (inputs, cubes, n, n)
    """

    closed: Mask
    middle: Array
    rest: Array
    definite: Mask
    excess: Array
    weights: Array
    above: Array
    below: Array
    sides: Array | None = None
    moving: Array | None = None


@dataclass(frozen=True)
class Closed:
    """Which cubes were closed, by what free neurons take away (`weights`, `sides`) or cut into faces.

    corners:  for each other cube, slopes where C may fail (cubes that stay, neurons); cornered: which cubes they are
    cut:      how many cubes were cut
    excess:   of those not closed by domination, how much too much it takes away
    """

    closed: Mask
    weights: Array
    corners: Array
    cornered: Indices
    cut: int
    excess: Array
    sides: Array | None = None


class OneMatrix:
    """A matrix C for the constrained outputs of a setting, and what floats may get wrong with it.

    With `least`, what is closed has sym(C J) - least I positive definite. C is (moving, constrained):
    J has the columns of the first inputs, as many as C has rows; mostly all of them.
    """

    def __init__(self, network: Batches, matrix: Array, least: float = 0.0) -> None:
        self.network = network
        self.matrix = np.ascontiguousarray(matrix)
        self.least = least
        self.relus = ~network.setting.curved[:, None]
        absolute = np.abs(self.matrix)
        self.moving = n = len(self.matrix)
        # what walks get wrong: in J itself, and in the terms δ a w, with a and w each off by a share of it
        wrong = 4.0 * absolute @ network.doubt[:, :n] + 4.0 * network.underflow * (
            1.0 + absolute.sum(axis=1, keepdims=True)
        )
        self.doubt = float((wrong + wrong.T).sum(axis=1).max()) * (1 + 64 * (n + network.constrained) * UNIT)

    @cached_property
    def sectors(self) -> Sectors:
        """Who tries forms of sectors; made for those who do."""
        return Sectors(self.network, self.matrix)

    def dominations(self, slopes: Slopes) -> Dominations:
        """Try to close every cube as it is."""
        with np.errstate(all="ignore"):
            return self._dominations(slopes)

    def _dominations(self, slopes: Slopes) -> Dominations:
        network, n, count = self.network, self.moving, slopes.middle.shape[1]
        jacobian, below = self._ahead(slopes)
        above, reach = self._back(slopes)
        middle, less = self._center(jacobian)
        shifted = middle - self.least * np.eye(n)  # for choices only: `less` takes it off for sure
        metric = Metric.of(shifted, FLAT)
        moving, sides, tilts = Moving.none(count, n), None, slopes.tilts
        if tilts is None:
            terms = Terms.of(slopes.spare, above, reach, below)
        else:
            moving = Moving.of(above, below, tilts.rates)
            sides = moving.shares(metric.inverse)
            less = less + 3.0 * self.doubt + moving.wrong  # slopes move by at most twice what they are free to
            terms = Terms.of(tilts.rests, above, reach * (slopes.spare / tilts.rests)[:, None], below)
        taken, adds = terms.taken(metric.inverse)
        taken += moving.total
        closed = self._is_definite(middle, taken, less)
        again = np.flatnonzero(~closed & metric.definite & slopes.free.any(axis=0))
        if len(again):
            other, _ = terms.take(again).taken(Metric.of((shifted - taken)[again], FLATTER).inverse)
            other += moving.total[again]
            good = self._is_definite(middle[again], other, less[again])
            closed[again[good]], taken[again[good]] = True, other[good]
        rest = shifted - taken
        failed = np.flatnonzero(~closed)
        excess = np.zeros(count)
        excess[failed] = metric.take(failed).excess(rest[failed])
        if self.sectors.serves and (tilts is None or self.relus.any()):  # boxes without relus are better cut
            near = failed[metric.definite[failed] & (excess[failed] < network.learned.reach)]
            alone = terms if tilts is None else Terms.of(slopes.spare, above, reach, below)
            middles = Middles(
                slopes.take(near), shifted[near], less[near], metric.inverse[near], alone.take(near), excess[near]
            )
            closed[near] = self.sectors.closed(middles)
        weights = terms.spread(adds, len(slopes.spare))
        return Dominations(
            closed, shifted, rest, metric.definite, excess, weights, above, below, sides, moving.matrices
        )

    def _center(self, jacobian: Array) -> tuple[Array, Array]:
        """M = sym(C J) of every cube, and what floats may have got wrong in it."""
        network, n = self.network, self.moving
        product = np.matmul(self.matrix, np.ascontiguousarray(jacobian.transpose(2, 0, 1)))
        size = np.matmul(np.abs(self.matrix), np.abs(jacobian).transpose(2, 0, 1))
        size = size + size.transpose(0, 2, 1)
        less = self.doubt + 8.0 * (network.constrained + n + 4) * UNIT * size.sum(axis=2).max(axis=1, initial=0.0)
        return (product + product.transpose(0, 2, 1)) / 2, less

    def closed_with(self, slopes: Slopes, weights: Array) -> bool:
        """Whether one cube is closed by sectors with these weights of the neurons, for sure."""
        with np.errstate(all="ignore"):
            jacobian, below = self._ahead(slopes)
            terms = Terms.of(slopes.spare, *self._back(slopes), below)
            middle, less = self._center(jacobian)
            given = slopes, (middle, less + self.least), terms, weights
            return self.sectors.serves and self.sectors.closed_with(*given)

    def _is_definite(self, middle: Array, taken: Array, less: Array) -> Mask:
        """Whether M - R is positive definite after what floats may have got wrong in both."""
        n, neurons = self.moving, self.network.setting.neurons
        trace = taken[:, np.arange(n), np.arange(n)].sum(axis=1)
        less = (self.least + less + 16.0 * (2 * neurons + 2 * n + 32) * UNIT * trace) * (1 + 1e-12)
        return positive_definite(middle - taken, less)

    def _ahead(self, slopes: Slopes) -> tuple[Array, Array]:
        """J at the middle (constrained, inputs, cubes), and the rows w below the neurons (neurons, inputs, cubes)."""
        network, n, count = self.network, self.moving, slopes.middle.shape[1]
        below = np.zeros((len(slopes.middle), n, count))

        def relu(name: str, state: Array) -> Array:
            where = network.setting.relus[name]
            below[where] = state
            return state * slopes.middle[where][:, None]

        start = np.zeros((network.size, n, count))
        start[np.arange(n), np.arange(n)] = 1.0
        values = network.forward(start, lambda name, state: times(network.weights[name], state), relu)
        return network.output(values), below

    def _back(self, slopes: Slopes) -> tuple[Array, Array]:
        """a = C u of every neuron for all slopes above it: middles and reaches (neurons, inputs, cubes)."""
        network, n, count = self.network, self.moving, slopes.middle.shape[1]
        above, reach = (np.zeros((len(slopes.middle), n, count)) for _ in range(2))

        def affine(name: str, given: Array) -> Array:
            ahead = times(network.transposed[name], np.ascontiguousarray(given[:, :n]))
            return np.concatenate([ahead, times(network.absolute[name].T, np.ascontiguousarray(given[:, n:]))], axis=1)

        def relu(name: str, given: Array) -> Array:
            where = network.setting.relus[name]
            center, radius = given[:, :n], given[:, n:]
            above[where], reach[where] = center, radius
            middle, spare = slopes.middle[where][:, None], slopes.spare[where][:, None]
            return np.concatenate([center * middle, radius * (np.abs(middle) + spare) + np.abs(center) * spare], axis=1)

        start = np.zeros((network.constrained, 2 * n, count))
        start[:, :n] = self.matrix.T[:, :, None]
        network.backward(start, affine, relu)
        return above, reach

    # --- cutting slopes ----------------------------------------------------------------------------------------------

    def closed(self, slopes: Slopes, known: Enclosures | None = None) -> Closed:
        """Try to close every cube, cut into faces where that may help; as far as boxes may have their points."""
        with np.errstate(all="ignore"):
            found = self._dominations(slopes)
            open_ = np.flatnonzero(~found.closed)
            corners = self._worst(slopes, found, open_)
            heavy = self._of_relus(found.weights[:, open_])
            tried = np.flatnonzero(_promising(slopes.free[:, open_] & self.relus, heavy, found.excess[open_]))
            few = open_[tried]
            weights = heavy[:, tried]
            exclusions = Exclusions.none(len(few)) if known is None else Exclusions.of(known.take(few), weights)
            good, corners[tried] = self._by_faces(slopes.take(few), weights, corners[tried], exclusions)
        closed = found.closed.copy()
        closed[few] = good
        stay = ~closed[open_]
        return Closed(closed, found.weights, corners[stay], open_[stay], len(few), found.excess, found.sides)

    def _by_faces(self, slopes: Slopes, weights: Array, corners: Array, exclusions: Exclusions) -> tuple[Mask, Array]:
        """Which cubes are closed when they are cut into faces; a corner (cubes, neurons) that failed for each other.

        Faces that no point of the box has are left out: all regions lie at corners of the cube.
        """
        count = slopes.middle.shape[1]
        good, failed = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
        used, cube = np.zeros(count, dtype=np.int64), np.arange(count)
        while len(cube):
            checkpoint()
            for _ in range(self._cuts_at_once(len(cube))):
                slopes, kept = _faces(slopes, weights, exclusions.take(cube))
                cube, weights = cube[kept], weights[:, kept]
            found = self._dominations(slopes)
            np.add.at(used, cube, 1)
            hopeless = np.flatnonzero(~found.closed)
            cut = (slopes.free[:, hopeless] & self.relus).any(axis=0)
            hopeless = hopeless[~cut | ~found.definite[hopeless]]
            good[cube[hopeless]] = False
            _, first = np.unique(cube[hopeless], return_index=True)
            chosen = hopeless[first]
            chosen = chosen[~failed[cube[chosen]]]
            corners[cube[chosen]] = self._worst(slopes, found, chosen)
            failed[cube[chosen]] = True
            open_ = np.bincount(cube[~found.closed], minlength=count)
            good &= (open_ <= MOST_OPEN) & ((used <= BUDGET) | (open_ == 0))
            rest = np.flatnonzero(~found.closed & good[cube])
            slopes, cube, weights = slopes.take(rest), cube[rest], self._of_relus(found.weights[:, rest])
        return good, corners

    def _cuts_at_once(self, cubes: int) -> int:
        """Few cubes take as long as some more: they are cut several times before they are looked at again."""
        room = self.network.batch // SMALL_BATCH // max(1, cubes)
        return min(MOST_CUTS_AT_ONCE, max(1, room.bit_length()))

    def _of_relus(self, weights: Array) -> Array:
        """What relus take away: slopes of curves get narrower with the box, and are not cut."""
        return np.where(self.relus, weights, 0.0)

    @staticmethod
    def _worst(slopes: Slopes, known: Dominations, chosen: Indices) -> Array:
        """Corners (cubes, neurons) of some cubes where v C J v is small, v the direction in which M - R is least."""
        _, vectors = np.linalg.eigh(finite(known.rest[chosen]))
        v = vectors[:, :, 0]
        above, below = (np.einsum("kib,bi->kb", part[..., chosen], v) for part in (known.above, known.below))
        if slopes.tilts is None or known.moving is None:
            return np.asarray((slopes.middle[:, chosen] - np.sign(above * below) * slopes.spare[:, chosen]).T)
        tilts = slopes.tilts.take(chosen)
        turns = np.sign(np.einsum("jbik,bi,bk->jb", known.moving[:, chosen], v, v))
        moved = np.einsum("kjb,jb->kb", tilts.rates, turns) + np.sign(above * below) * tilts.rests
        return np.asarray((slopes.middle[:, chosen] - moved).T)


def _faces(slopes: Slopes, weights: Array, exclusions: Exclusions) -> tuple[Slopes, Indices]:
    """Both faces of every cube across its heaviest free neuron, as far as its box may have points of them; and of which
    cube each is. Cubes without a free neuron stay."""
    heaviest = slopes.heaviest(weights)
    has_free = slopes.free.any(axis=0)
    rest, here = np.flatnonzero(~has_free), np.flatnonzero(has_free)
    faces = slopes.take(here).cut(heaviest[here], faces=True)
    parts = [(slopes.take(rest), rest)]
    for side, chosen in ((OFF, np.arange(len(here))), (ON, np.arange(len(here)) + len(here))):
        face, empty = exclusions.take(here).follow(faces.take(chosen), heaviest[here], side)
        parts.append((face.take(~empty), here[~empty]))
    return Slopes.joined([face for face, _ in parts]), np.concatenate([which for _, which in parts])


def _promising(free: Mask, weights: Array, excess: Array) -> Mask:
    """Where a few of the heaviest neurons make up for what is too much: half of what each adds, about."""
    count = free.sum(axis=0)
    heavy = -np.sort(-weights, axis=0)[:MOST_CUTS]
    enough = heavy.sum(axis=0) / 2 >= excess
    return np.asarray((count > 0) & (enough | (count <= MOST_FREE)))
