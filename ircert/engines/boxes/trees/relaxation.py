"""The linear relaxation of all pairs with given phases, and proofs that there are none.

Both copies of the network are rows. An open relu h = max(0, z) with l <= z <= u becomes h >= 0, h >= z, h <= s z + t;
the phase z >= 0 turns the second row into an equation and the phase z <= 0 fixes h at 0: phases are bounds, and the
matrix stays. That a node is empty is believed only of multipliers that prove it (`dual_bound`). The matrix holds the
network's own numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array, vstack

from ircert.bounds.bounds import Bounds
from ircert.bounds.dual_bound import dual_bound
from ircert.bounds.symbolic import relaxation
from ircert.engines.boxes.problem.outcome import Stopped
from ircert.engines.boxes.problem.setting import Phases, Setting
from ircert.engines.boxes.trees.parts import Part
from ircert.errors import ProgramError
from ircert.exact.live_program import LiveProgram, Sides
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.arrays import Array, Indices, Matrix, diagonal
from ircert.limits import left
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball, up
from ircert.programs.encodings.form import Form
from ircert.programs.encodings.network import NetworkCopy
from ircert.programs.program import Block, Origin

MOST_CUTS = 200
CUTS = 6
SMALLEST = 1e-12
"""The solver is not given smaller coefficients; proofs know them."""
ENTRIES = 10**9
"""Iterations of the simplex method times entries of the matrix, seconds of work, after which `stop` is asked …"""
FEWEST_ITERATIONS = 50
"""… but not before so many."""
MOST_DENSE = 200_000
"""Entries of matrices that proofs know with their zeros: products take less than to find the others."""
LARGEST = Fraction(2) ** 1023
NEAR = 1e-9
"""Within that points have phases and signs."""
DIFFERENCES = 3
"""Rows of a neuron whose sign is that of z(x) - z(y)."""
MOST_COSTS, SUMS = 6, 1
"""Differences that are tried one by one, and how many random sums in the place of more."""


class _OpenCopy(NetworkCopy):
    """A copy whose open relus are relaxed by three lines, on a variable z of their own."""

    places: dict[str, tuple[Indices, Indices, Indices, int]] | None = None

    def _open(self, z: Form, y: Form, low: Array, high: Array, labels: Indices, tag: str, origin: Origin) -> None:
        inner = self.build.variables(self._name("z", tag), len(low), low, high, origin=origin, labels=labels)
        zero = np.zeros(len(low))
        z.rows(self.build, self._name("pre", tag), "=", zero, (inner, -1.0), origin=origin, labels=labels)
        ((outer, picked),) = y.terms.items()
        above = self.build.rows(self._name("above", tag), [(outer, picked), (inner, -1.0)], ">=", zero)
        slope, offset, _ = relaxation(low, high)
        self.build.rows(self._name("line", tag), [(outer, picked), (inner, diagonal(-slope))], "<=", offset)
        self.places = self.places or {}
        self.places[tag] = (labels, outer.start + labels, inner.start + np.arange(len(low)), above.start)


@dataclass(frozen=True)
class _Places:
    """For all neurons: the columns of h and z, the rows h >= z, and how far behind those the rows h <= s z + t are."""

    neurons: Indices
    outer: Indices
    inner: Indices
    above: Indices
    step: Indices


@dataclass(frozen=True)
class Solved:
    """A node's relaxation: proved empty, or a point of it (None where the solver failed)."""

    empty: bool
    point: Array | None = None


class Relaxation:
    """The relaxation of all pairs of two parts, ready for any phases; `fit` takes it to other parts.

    alone:    of single points instead, which need not have equal constrained outputs with any other
    measured: with a variable r that is at least the distance of x and of y from the centre
    signed:   with rows for the signs of differences z(x) - z(y), for nodes that know some
    stop:     asked while a program is solved that takes long
    """

    def __init__(self, setting: Setting, *, alone: bool = False, measured: bool = False, signed: bool = False) -> None:
        self.setting = setting
        self.signed = signed
        self.radius = -1.0
        build = ProgramBuilder()
        self.x, forms_x, places_x = self._copy(build, "x")
        self.places = [places_x]
        self.y: Block | None = None
        if setting.pseudo or alone:
            if not alone:
                self._equal_to_center(build, forms_x)
            self.gap_forms = [Form.of(self.x).take(np.array([j])) for j in range(setting.size)]
        else:
            self.y, forms_y, places_y = self._copy(build, "y")
            self.places.append(places_y)
            constrained = np.arange(setting.constrained)
            forms_x.take(constrained).plus(forms_y.take(constrained), -1.0).rows(
                build, "equal", "=", np.zeros(len(constrained))
            )
            apart = Form.of(self.x).plus(Form.of(self.y), -1.0)
            self.gap_forms = [apart.take(np.array([j])) for j in range(setting.size)]
            if setting.unknowns:
                rest = forms_x.plus(forms_y, -1.0)
                self.gap_forms = self.gap_forms + [rest.take(np.array([j])) for j in setting.unknowns]
        self.r = self._distance(build) if measured else None
        program = build.program()
        self._blocks = program.variables
        self._base = csr_array(program.matrix)
        self._base.sort_indices()
        self._slopes = [self._entries(places.above + places.step, places.inner) for places in self.places]
        self._base_lower, self._base_upper = program.sides
        self._rows_of = {block.name: block for block in program.rows}
        self._cuts: list[tuple[Array, float, float]] = []
        self.stop: Callable[[], bool] = lambda: False
        self.solved = 0
        self.unproved = 0

    # --- building ----------------------------------------------------------------------------------------------------

    def _copy(self, build: ProgramBuilder, tag: str) -> tuple[Block, Form, _Places]:
        """A copy whose bounds are placeholders; `fit` puts the real ones in their place."""
        setting = self.setting
        sizes = setting.graph.sizes
        ones = {name: np.ones(size) for name, size in sizes.items()}
        bounds = Bounds(setting.graph, {name: -one for name, one in ones.items()}, ones, "none")
        ball = setting.ball(1.0)
        if setting.norm == "2":
            ball = Ball(ball.center, ball.radius, Norm.INF, ball.low, ball.high)
        block = point_of_ball(build, ball, tag, Origin(setting.graph.input, tag))
        copy = _OpenCopy(build, bounds, block, tag)
        parts = [
            (
                setting.relus[name].start + labels,
                outer,
                inner,
                above + np.arange(len(labels)),
                np.full(len(labels), len(labels)),
            )
            for name, (labels, outer, inner, above) in (copy.places or {}).items()
        ]
        empty = np.zeros(0, dtype=np.int64)
        joined = [np.concatenate([empty, *(part[i] for part in parts)]).astype(np.int64) for i in range(5)]
        return block, copy.output, _Places(*joined)

    @property
    def _points(self) -> list[Block]:
        """The variables x, and y where there are any."""
        return [block for block in (self.x, self.y) if block is not None]

    def _distance(self, build: ProgramBuilder) -> Block:
        """The variable r; in norm 2 `_cut_rows` know more about it than these rows."""
        center = self.setting.center
        r = build.variables("r", 1, 0.0, 1.0, origin=Origin(self.setting.graph.input, "x"))
        for block in self._points:
            column = np.ones((block.size, 1))
            if self.setting.norm == "1":
                sizes = build.block(f"a.{block.name}")
                build.rows(f"measured.{block.name}", [(sizes, column.T), (r, -column[:1])], "<=", 0.0)
                continue
            build.rows(f"above.{block.name}", [(block, 1.0), (r, -column)], "<=", center)
            build.rows(f"below.{block.name}", [(block, 1.0), (r, column)], ">=", center)
        return r

    def _equal_to_center(self, build: ProgramBuilder, output: Form) -> None:
        """The centre's outputs, rounded outward."""
        exact = self.setting.graph.exact(self.setting.center)
        linear = Form(output.terms, np.zeros(len(output)))
        gaps = [v - Fraction(c) for v, c in zip(exact, output.constant.tolist(), strict=True)]
        above = np.array([up(float(v)) for v in gaps])
        below = np.array([math.nextafter(float(v), -math.inf) for v in gaps])
        if linear.terms:
            linear.rows(build, "most", "<=", above)
            linear.rows(build, "least", ">=", below)

    def fit(self, first: Part, second: Part) -> None:
        """Take the bounds of two parts."""
        if first.ball.radius != self.radius:
            self.radius = first.ball.radius
            if self.r is None or not self._cuts:  # planes with a variable r hold for balls of all sizes
                self._cuts = []
                if self.setting.norm == "2" and self.setting.size > 1:
                    self._first_cuts()
        parts = {"x": first, "y": second}
        self.lower, self.upper = (np.full(self._base.shape[1], v) for v in (-np.inf, np.inf))
        self._rows = self._base.copy()
        self.row_lower, self.row_upper = self._base_lower.copy(), self._base_upper.copy()
        for block in self._blocks:
            assert block.origin is not None
            low, high = self._limits_of(block, parts[block.origin.copy])
            self.lower[block.where], self.upper[block.where] = low, high
        if not (np.isfinite(self.lower).all() and np.isfinite(self.upper).all()):
            raise ProgramError("a neuron has no finite bounds on this ball", remedy="use a smaller ball")
        for places, entries, part in zip(self.places, self._slopes, parts.values(), strict=False):
            slope, offset, _ = relaxation(part.low[places.neurons], part.high[places.neurons])
            self._rows.data[entries] = -slope
            self.row_upper[places.above + places.step] = offset
        for tag in parts:
            if self.setting.norm == "1" and f"diamond.{tag}" in self._rows_of:
                self.row_upper[self._rows_of[f"diamond.{tag}"].where] = up(self.radius)
        self._load()

    def _limits_of(self, block: Block, part: Part) -> tuple[Array, Array]:
        assert block.origin is not None
        kind, _, _ = block.name.partition(".")
        if kind in ("x", "y"):
            return part.ball.box
        if kind in ("a", "r"):
            return np.zeros(block.size), np.full(block.size, up(self.radius))
        name, bounds = block.origin.node, part.bounds
        if kind == "v":
            return bounds.low[name], bounds.high[name]
        operand = self.setting.graph[name].operands[0]
        low, high = bounds.low[operand], bounds.high[operand]
        return (low, high) if kind == "z" else (np.maximum(low, 0.0), np.maximum(high, 0.0))

    def _first_cuts(self) -> None:
        n = self.setting.size
        if 2 * n * (n - 1) > MOST_CUTS:  # those that points need are made when they do
            return
        for i in range(n):
            for j in range(i):
                for a in (1.0, -1.0):
                    for b in (1.0, -1.0):
                        u = np.zeros(n)
                        u[i], u[j] = a, b
                        self._cut(u)

    def _cut(self, direction: Array) -> None:
        """2 g·v <= s² + |g|² for v = x - c and v = y - c, with g about s times the direction: s is the radius, or 1
        where r is a variable, and the right side r times that."""
        scale = self.radius if self.r is None else 1.0
        g = direction / np.linalg.norm(direction) * scale
        exact = [Fraction(v) for v in g.tolist()]
        length = Fraction(scale) ** 2 + sum((v * v for v in exact), Fraction(0))
        right = sum((2 * v * c for v, c in zip(exact, self.setting.exact_center, strict=True)), Fraction(0))
        if self.r is None:
            length, right = Fraction(0), right + length
        if abs(right) < LARGEST:  # a plane that floats cannot hold is left out
            self._cuts.append((2.0 * g, up(float(length)), up(float(right))))

    def _cut_rows(self) -> csr_array:
        """The planes of all cuts, for x and for y."""
        blocks = self._points
        planes = np.repeat(np.array([g for g, _, _ in self._cuts]).reshape(-1, self.setting.size), len(blocks), axis=0)
        starts = np.tile([block.start for block in blocks], len(self._cuts))
        columns = starts[:, None] + np.arange(self.setting.size)
        if self.r is not None:
            lengths = np.repeat([length for _, length, _ in self._cuts], len(blocks))
            planes = np.hstack([planes, -lengths[:, None]])
            columns = np.hstack([columns, np.full((len(planes), 1), self.r.start)])
        rows = np.repeat(np.arange(len(planes)), planes.shape[1])
        shape = (len(planes), self._base.shape[1])
        return csr_array((planes.ravel(), (rows, columns.ravel().astype(np.int64))), shape=shape)

    def _difference_rows(self) -> csr_array:
        """z(x) - z(y), h(x) - h(y) and the difference of z - h, which have one sign: h and z - h grow with z."""
        columns = self._base.shape[1]
        if not self.signed or self.y is None:
            return csr_array((0, columns))
        first, second = self.places
        assert (first.neurons == second.neurons).all()
        rows = np.arange(len(first.neurons))
        ones = np.ones(len(rows))

        def difference(here: Indices, there: Indices) -> csr_array:
            place = np.tile(rows, 2), np.concatenate([here, there])
            return csr_array((np.concatenate([ones, -ones]), place), shape=(len(rows), columns))

        below, behind = difference(first.inner, second.inner), difference(first.outer, second.outer)
        return csr_array(vstack([below, behind, below - behind], format="csr"))

    def _entries(self, rows: Indices, columns: Indices) -> Indices:
        """Where entries of the base matrix lie in its data."""
        first, last = self._base.indptr[rows], self._base.indptr[rows + 1]
        pairs = zip(first.tolist(), last.tolist(), columns.tolist(), strict=True)
        indices = self._base.indices
        found = np.array([a + int(np.searchsorted(indices[a:b], j)) for a, b, j in pairs], dtype=np.int64)
        assert (indices[found] == columns).all(), "the base matrix has all entries that `fit` changes"
        return found

    def _load(self) -> None:
        cuts = self._cut_rows()
        limits = np.repeat([limit for _, _, limit in self._cuts], cuts.shape[0] // max(1, len(self._cuts)))
        size = self._base.shape[0]
        differences = self._difference_rows()
        given = csr_array(vstack([self._rows, cuts, differences], format="csr"))
        self.matrix: Matrix = given.toarray() if math.prod(given.shape) <= MOST_DENSE else given
        any_side = np.full(differences.shape[0], np.inf)
        self.row_lower = np.concatenate([self.row_lower[:size], np.full(len(limits), -np.inf), -any_side])
        self.row_upper = np.concatenate([self.row_upper[:size], limits, any_side])
        self.absolute = abs(self.matrix)
        self.live = LiveProgram(
            given,
            (self.row_lower, self.row_upper),
            (self.lower, self.upper),
            smallest=SMALLEST,
            presolve="off",
            simplex_strategy=1,
            simplex_iteration_limit=max(FEWEST_ITERATIONS, ENTRIES // max(1, math.prod(given.shape))),
        )

    # --- nodes -------------------------------------------------------------------------------------------------------

    def costs(self) -> list[Array]:
        """The objectives worth maximising: differences of unknowns and of coordinates, with both signs.

        Of many, which take long to try one by one, random sums: where a difference is possible, so is one of theirs.
        """
        found = [cost for form in self.gap_forms if (cost := self._cost(form)).any()]
        if len(found) > MOST_COSTS:
            found = list(np.random.default_rng(0).normal(size=(SUMS, len(found))) @ np.array(found))
        return [side for cost in found for side in (cost, -cost)]

    def rising(self, signs: Array) -> Array:
        """The objective that sums z(x) - z(y), each with its sign."""
        cost = np.zeros(self._base.shape[1])
        for side, places in zip((1.0, -1.0), self.places, strict=True):
            cost[places.inner] += side * signs[places.neurons]
        return cost

    def _cost(self, form: Form) -> Array:
        cost = np.zeros(self._base.shape[1])
        for block, term in form.terms.items():
            cost[block.where] += term.toarray()[0]
        return cost

    def solve(self, first: Phases, second: Phases, cost: Array, signs: Phases | None = None) -> Solved:
        """Maximise over the pairs with these phases, and these signs of z(x) - z(y); raises Stopped."""
        lower, upper = columns = self._columns(first, second)
        if (lower > upper).any():
            return Solved(empty=True)
        rows = self._sides(first, second, signs)
        self.live.set_columns(columns)
        self.live.set_rows(rows)
        self.solved += 1
        status = self.live.maximise(cost, seconds=left(), goes_on=lambda: not self.stop())
        if status == "stopped":
            raise Stopped
        if status == "optimal":
            return Solved(empty=False, point=self.live.point)
        if status == "infeasible":
            if self._ray_proves(rows, columns):
                return Solved(empty=True)
            self.unproved += 1
            self.live.solver.clearSolver()
        return Solved(empty=False)

    def solve_rounded(self, first: Phases, second: Phases, cost: Array, signs: Phases | None = None) -> Solved:
        """The same; norm 2: points outside the ball are cut off, a few times."""
        solved = self.solve(first, second, cost, signs)
        for _ in range(CUTS):
            if solved.empty or solved.point is None or not self.round_off(solved.point):
                break
            solved = self.solve(first, second, cost, signs)
        return solved

    def least_distance(self, first: Phases, second: Phases, signs: Phases | None = None) -> tuple[float, Array | None]:
        """A bound on r from below, for all pairs with these phases and signs; infinite where there are none. Where it
        is reached, in floats. Raises Stopped."""
        assert self.r is not None
        cost = np.zeros(self._base.shape[1])
        cost[self.r.where] = -1.0
        solved = self.solve_rounded(first, second, cost, signs)
        if solved.empty:
            return math.inf, None
        if solved.point is None:
            return 0.0, None
        rows, columns = self._sides(first, second, signs), self._columns(first, second)
        bound = dual_bound(self.matrix, rows, columns, cost, self.live.multipliers, self.absolute)
        return max(0.0, -bound), solved.point

    def _columns(self, first: Phases, second: Phases) -> Sides:
        lower, upper = self.lower.copy(), self.upper.copy()
        for phases, places in zip((first, second), self.places, strict=False):
            here = phases[places.neurons]
            on, off = here > 0, here < 0
            lower[places.inner[on]] = np.maximum(lower[places.inner[on]], 0.0)
            upper[places.outer[off]] = 0.0
            upper[places.inner[off]] = np.minimum(upper[places.inner[off]], 0.0)
        return lower, upper

    def _sides(self, first: Phases, second: Phases, signs: Phases | None) -> Sides:
        lower, upper = self.row_lower.copy(), self.row_upper.copy()
        for phases, places in zip((first, second), self.places, strict=False):
            upper[places.above[phases[places.neurons] > 0]] = 0.0
        if signs is not None:
            known = np.tile(signs[self.places[0].neurons], DIFFERENCES)
            lower[-len(known) :][known > 0] = 0.0
            upper[-len(known) :][known < 0] = 0.0
        return lower, upper

    def _ray_proves(self, rows: Sides, columns: Sides) -> bool:
        ray = self.live.ray()
        if ray is None:
            return False
        nothing = np.zeros(len(columns[0]))
        return any(
            dual_bound(self.matrix, rows, columns, nothing, sign * ray, self.absolute) < 0 for sign in (1.0, -1.0)
        )

    # --- reading points ----------------------------------------------------------------------------------------------

    def points(self, point: Array) -> tuple[Array, Array]:
        """x and y of a point of the relaxation."""
        x = point[self.x.where]
        return x, self.setting.center if self.y is None else point[self.y.where]

    def has(self, point: Array, first: Phases, second: Phases, signs: Phases) -> bool:
        """Whether a point of a relaxation has more phases and signs as well, as far as floats say."""
        below, behind = (np.zeros((2, self.setting.neurons)) for _ in range(2))
        for k, places in enumerate(self.places):
            below[k, places.neurons], behind[k, places.neurons] = point[places.inner], point[places.outer]
        phases, near = np.stack([first, second]), NEAR * (1.0 + np.abs(below))
        fitting = (phases * below >= -near) & (behind - below * (phases > 0) <= near) | (phases == 0)
        return bool(fitting.all() and (signs * (below[0] - below[1]) >= -near.max(axis=0)).all())

    def gaps(self, point: Array) -> Array:
        """For all neurons, how far h exceeds max(0, z) in x and y (the larger); relative to the width of z."""
        result = np.zeros((2, self.setting.neurons))
        for k, places in enumerate(self.places):
            z = point[places.inner]
            result[k, places.neurons] = point[places.outer] - np.maximum(z, 0.0)
        return result

    def sides(self, point: Array) -> tuple[Phases, Phases]:
        """The phases of x and y at a point of the relaxation; 0 for y where it is the centre."""
        found = np.zeros((2, self.setting.neurons), dtype=np.int8)
        for k, places in enumerate(self.places):
            found[k, places.neurons] = np.where(point[places.inner] > 0, 1, -1)
        return found[0], found[1]

    def round_off(self, point: Array) -> bool:
        """Norm 2: cut off a point outside the ball; whether there was need."""
        if self.setting.norm != "2" or self.setting.size == 1:
            return False
        cut, radius = False, self.radius if self.r is None else float(point[self.r.start])
        radius = max(radius * (1 + 1e-7), 1e-9 * self.radius)  # floats take r a little below 0, too
        for w in self.points(point):
            d = w - self.setting.center
            if np.linalg.norm(d) > radius and len(self._cuts) < MOST_CUTS:
                self._cut(d)
                cut = True
        if cut:
            self._load()
        return cut
