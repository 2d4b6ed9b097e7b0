"""What is said of cubes of slopes, against exact determinants."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import ircert
from ircert.bounds.contraction import kernels_within
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes, contractions, orientation
from ircert.engines.boxes.enclosures.cubes import kernel_free
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.problem.setting import Setting
from tests.engines.boxes.making import boxes_in, determinant, residual, setting_of


def exact_signs(setting: Setting, on: np.ndarray, free: np.ndarray) -> set[int]:
    """The signs of all determinants at the corners of a cube; weights are dyadic, so that floats are exact."""
    places = np.flatnonzero(free)
    signs = set()
    for bits in product([0.0, 1.0], repeat=len(places)):
        slopes = on.astype(float)
        slopes[places] = bits
        matrix = Secants(setting).jacobians(slopes[None])[0]
        value = determinant([[Fraction(v) for v in row] for row in matrix.tolist()])
        signs.add((value > 0) - (value < 0))
    return signs


def dyadic(rng: np.random.Generator, n: int, m: int, hidden: int) -> ircert.Graph:
    def numbers(*shape: int) -> np.ndarray:
        return rng.integers(-8, 9, shape) / 8

    return ircert.load([(numbers(hidden, n), numbers(hidden)), (numbers(hidden, hidden), numbers(hidden)),
                        (numbers(m, hidden), numbers(m))])  # fmt: skip


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_cube_that_is_proved_has_no_singular_slopes(n: int) -> None:
    proved = refused = 0
    for seed in range(6):
        rng = np.random.default_rng([n, seed])
        setting = setting_of(dyadic(rng, n, n, 4), np.zeros(n))
        network = Batches(setting)
        known = enclose(network, *boxes_in(rng, n, 12), radius=4.0)
        free = ~known.on & ~known.off
        slopes = Slopes.of(known.on, free, np.zeros((n, 12), dtype=bool))
        found = contractions(network, slopes)
        by_faces = kernel_free(network, slopes, found)
        home = orientation(found.fixed)
        for k in np.flatnonzero(free.sum(axis=0) <= 6):
            signs = exact_signs(setting, known.on[:, k], free[:, k])
            good = len(signs) == 1 and 0 not in signs
            assert good or not (found.proved[k] or by_faces[k])
            if good and found.proved[k] and found.positive[k] and home[k]:
                assert signs == {int(home[k])}
            proved, refused = proved + bool(by_faces[k]), refused + (not good)
    assert proved > 2
    assert refused > 2


@pytest.mark.rule("E-2")
def test_more_givens_than_inputs() -> None:
    """A curve that turns by 135° at a kink: no fixed projection keeps its sign for all, halves of the slopes do."""
    build = ircert.Builder(1)
    bend = build.affine(build.concat(build.input, build.relu(build.input)), [[1.0, -1.0], [0.0, 1.0]])
    back = ircert.load([(np.array([[1.0]]), np.zeros(1)), (np.array([[-2.0], [0.0]]), np.zeros(2))])
    for graph, good in ((build.graph(bend), True), (_with_skip(back), False)):
        setting = setting_of(graph, [0.0])
        network = Batches(setting)
        neurons = setting.neurons
        slopes = Slopes.of(np.zeros((neurons, 1), bool), np.ones((neurons, 1), bool), np.zeros((1, 1), bool))
        found = contractions(network, slopes)
        assert bool((found.proved | kernel_free(network, slopes, found))[0]) is good


def _with_skip(graph: ircert.Graph) -> ircert.Graph:
    """(x - 2 relu(x), 0): folds back on itself."""
    build = ircert.Builder(1)
    kink = build.relu(build.input)
    return build.graph(build.affine(build.concat(build.input, kink), [[1.0, -2.0], [0.0, 0.0]]))


def test_signs_of_rows_of_different_sizes() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        sizes = 2.0 ** rng.integers(-40, 41, (2, 3))
        matrix = rng.integers(-9, 10, (3, 3)) * sizes[0][:, None] * sizes[1]
        value = determinant([[Fraction(v) for v in row] for row in matrix.tolist()])
        sign = orientation(matrix[:, :, None])[0]
        assert sign in (0, (value > 0) - (value < 0))


@pytest.mark.rule("E-2")
def test_secants_of_pairs_lie_within_the_bounds() -> None:
    """|d| <= E |d| cannot be where f(x) = f(y) is impossible: pairs that collide are never separated."""
    build = ircert.Builder(2)
    fold = build.relu(build.affine(build.input, [[1.0, 0.0]]))
    graph = build.graph(build.affine(build.concat(build.input, fold), [[1.0, 0.0, -2.0], [0.0, 1.0, 0.0]]))
    network = Batches(setting_of(graph, [0.0, 0.0]))
    free = np.ones((1, 1), dtype=bool)
    found = contractions(network, Slopes.of(~free, free, np.zeros((2, 1), dtype=bool)))
    low, high = np.array([[0.5], [-0.1]]), np.array([[1.0], [0.1]])  # holds (0.75, 0), a difference that collides
    assert not kernels_within(found.bounds, low, high, 3)[1][0]
    still = Slopes.of(~free, free, np.array([[True], [False]]))
    assert contractions(network, still).proved[0], "along the fold nothing collides"


@pytest.mark.parametrize("outputs", [2, 4])
def test_networks_with_skips(outputs: int) -> None:
    """Floats of J at the middle slopes agree with a plain forward pass, whatever the graph looks like."""
    rng = np.random.default_rng(outputs)
    setting = setting_of(residual(rng, 2, 5, outputs=outputs), np.zeros(2))
    network = Batches(setting)
    on = rng.integers(0, 2, (setting.neurons, 8)).astype(bool)
    found = contractions(network, Slopes.of(on, np.zeros_like(on), np.zeros((2, 8), dtype=bool)))
    jacobians = Secants(setting).jacobians(on.T.astype(float))
    product_ = np.einsum("imb,bmj->bij", found.fixed, jacobians)
    assert np.allclose(product_, np.eye(2), atol=1e-8)
    assert found.proved.all()


def relu(z: Fraction) -> Fraction:
    return max(z, Fraction(0))


@pytest.mark.parametrize("seed", range(20))
def test_slopes_between_bounds(seed: int) -> None:
    """Exact secants of relu from points between the bounds have slopes of the cube, also next to the kink."""
    rng = np.random.default_rng(seed)
    size = float(rng.choice([1.0, 1e-300, 5e-324, 1e300]))
    ends = size * rng.choice([-2.0, -1.0, -0.3, -1e-17, 0.0, 1e-17, 0.7, 1.0, 3.0], (4, 60))
    low, high = np.minimum(ends[:2], ends[2:]), np.maximum(ends[:2], ends[2:])
    cube = Slopes.between((low[0], low[1]), (high[0], high[1]), np.ones(60, dtype=bool), np.zeros(60, dtype=bool))
    assert (cube.middle[~cube.free] % 1 == 0).all()
    for i in range(60):
        middle, spare = Fraction(float(cube.middle[i])), Fraction(float(cube.spare[i]))
        shares = [Fraction(int(k), 7) for k in rng.integers(0, 8, 8)]
        for a, b in product(shares, shares):
            x, y = (
                Fraction(float(low[k, i])) + s * (Fraction(float(high[k, i])) - Fraction(float(low[k, i])))
                for k, s in ((0, a), (1, b))
            )
            if x != y:
                assert abs((relu(x) - relu(y)) / (x - y) - middle) <= spare


def test_slopes_where_bounds_are_unknown() -> None:
    """Bounds that are no numbers, or too far apart for floats, leave the slope open."""
    low, high = np.array([np.nan, -1.7e308, -np.inf]), np.array([np.nan, 1.7e308, np.inf])
    cube = Slopes.between((low, -high), (high, -low), np.ones(3, dtype=bool), np.zeros(3, dtype=bool))
    assert (cube.middle - cube.spare <= 0).all()
    assert (cube.middle + cube.spare >= 1).all()


def nearly_singular(rng: np.random.Generator, n: int, bits: int) -> np.ndarray:
    """Columns that agree but for about 2^-bits, exactly singular every third time; all entries have few bits."""
    columns = rng.integers(-(2**10), 2**10, (n, n)).astype(float)
    step = rng.integers(-3, 4, n) * 2.0**-bits if rng.integers(3) else np.zeros(n)
    columns[:, -1] = columns[:, 0] + step
    return columns


@pytest.mark.rule("E-2")
@pytest.mark.parametrize("bits", [0, 10, 20, 30, 38])
def test_matrices_that_floats_can_hardly_invert(bits: int) -> None:
    """No singular matrix passes for a regular one, however large the inverses are that floats find for it."""
    proved = singular = 0
    for seed in range(60):
        rng = np.random.default_rng([bits, seed])
        n = int(rng.integers(2, 5))
        head = nearly_singular(rng, n, bits)
        # f = head relu(x): the slopes choose columns, and no product rounds
        setting = setting_of(ircert.load([(np.eye(n), np.full(n, 64.0)), (head, np.zeros(n))]), np.zeros(n))
        on, free = np.ones((n, 1), dtype=bool), np.zeros((n, 1), dtype=bool)
        free[0, 0] = bool(seed % 2)
        found = contractions(Batches(setting), Slopes.of(on & ~free, free, np.zeros((n, 1), dtype=bool)))
        signs = exact_signs(setting, (on & ~free)[:, 0], free[:, 0])
        good = len(signs) == 1 and 0 not in signs
        assert good or not found.proved[0]
        proved, singular = proved + bool(found.proved[0]), singular + (not good)
    assert singular > 10
    assert proved > 10 or bits > 20


@pytest.mark.rule("E-2")
def test_sums_of_many_operands_are_off_by_no_more_than_the_doubt() -> None:
    """The same number added 20,000 times: nearly all of the sums are rounded up."""
    slope, times = 1.8899355557205206, 20_000
    build = ircert.Builder(1)
    setting = setting_of(build.graph(build.add(*[build.affine(build.input, [[slope]])] * times)), [0.0])
    network = Batches(setting)
    jacobian = Secants(setting).jacobians(np.zeros((1, 0)))[0, 0, 0]
    assert abs(Fraction(float(jacobian)) - times * Fraction(slope)) <= Fraction(float(network.doubt[0, 0]))
