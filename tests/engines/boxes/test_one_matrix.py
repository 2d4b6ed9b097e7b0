"""One matrix for a ball: what it closes, against exact arithmetic and the oracle."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.enclosures.contractions import Slopes
from ircert.engines.boxes.enclosures.enclosures import enclose
from ircert.engines.boxes.enclosures.secants import Secants
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix import cover as cover_module
from ircert.engines.boxes.one_matrix import definite
from ircert.engines.boxes.one_matrix.cover import Cover
from ircert.engines.boxes.one_matrix.covering import Covering
from ircert.engines.boxes.one_matrix.definite import positive_definite
from ircert.engines.boxes.one_matrix.definite_tree import DefiniteTree
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.one_matrix.exclusions import Exclusions
from ircert.engines.boxes.one_matrix.finding import Finder
from ircert.engines.boxes.one_matrix.points import Points
from ircert.engines.boxes.problem.outcome import Counts
from ircert.engines.boxes.problem.setting import Setting
from ircert.geometry.norm import Norm
from ircert.passes.merge_multiples import merged
from ircert.questions.network import lowered as canonical
from tests.engines.boxes.enclosures.test_contractions import dyadic
from tests.engines.boxes.making import boxes_in, determinant, fold, residual, setting_of
from tests.oracle.families import sample
from tests.oracle.oracle import local_radius

WAVES = 60


def covering_of(setting: Setting) -> Covering:
    return Covering(Batches(setting), Counts(), lambda: None)


def advanced(found: Covering, radius: float, waves: int = WAVES) -> str:
    with np.errstate(all="ignore"):
        return found.advance(radius, lambda: found.counts.waves > waves)


def is_definite(matrix: list[list[Fraction]]) -> bool:
    """By the leading minors of the symmetric part, exactly."""
    n = len(matrix)
    whole = [[(matrix[i][j] + matrix[j][i]) / 2 for j in range(n)] for i in range(n)]
    return all(determinant([row[:k] for row in whole[:k]]) > 0 for k in range(1, n + 1))


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("many", [32, 0])
def test_definite_matrices_are_definite(n: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By pivots of many at once, and one by one, as large ones are."""
    monkeypatch.setattr(definite, "MANY", many)
    rng = np.random.default_rng(n)
    said = refused = 0
    for _ in range(60):
        root = rng.integers(-4, 5, (n, n)) * 1.0
        root[-1] *= 2.0 ** -int(rng.integers(0, 40))
        matrix = root.T @ root + np.eye(n) * float(rng.choice([0.0, 2.0**-30, -(2.0**-30), 1.0]))
        less = float(rng.choice([0.0, 2.0**-20]))
        found = bool(positive_definite(matrix[None], np.array([less]))[0])
        exact = [[Fraction(v) - (Fraction(less) if i == j else 0) for j, v in enumerate(row)]
                 for i, row in enumerate(matrix.tolist())]  # fmt: skip
        assert not found or is_definite(exact)
        said, refused = said + found, refused + (not found)
    assert said > 5
    assert refused > 5


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("many", [32, 0])
def test_what_is_not_finite_is_not_definite(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definite, "MANY", many)
    matrices = np.stack([np.eye(2), np.eye(2), np.eye(2)])
    matrices[1, 0, 1] = np.nan
    found = positive_definite(matrices, np.array([0.0, 0.0, np.inf]))
    assert found.tolist() == [True, False, False]


@pytest.mark.rule("E-15")
def test_large_matrices_are_read_above_the_diagonal() -> None:
    root = np.random.default_rng(0).standard_normal((40, 40))
    whole = root @ root.T + np.eye(40)
    upper = np.triu(whole) + np.tril(np.full((40, 40), 9.0), -1)
    less = np.array([1.0, float(np.linalg.eigvalsh(whole)[0]) * 1.001])
    assert positive_definite(np.stack([upper, upper]), less).tolist() == [True, False]


@pytest.mark.rule("E-15")
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 2), (2, 3), (3, 3)])
def test_all_corners_of_a_closed_cube_are_definite(n: int, m: int) -> None:
    closed = refused = 0
    for seed in range(10):
        rng = np.random.default_rng([n, m, seed])
        graph = dyadic(rng, n, m, 6)
        setting = setting_of(graph, np.zeros(n))
        network, secants = Batches(setting), Secants(setting)
        known = enclose(network, *boxes_in(rng, n, 12, width=0.125), radius=4.0)
        slopes = Slopes.of(known.on, ~known.on & ~known.off, np.zeros((n, 12), dtype=bool))
        inverse = np.linalg.pinv(secants.jacobians(slopes.middle.T)[0])
        matrix = OneMatrix(network, np.round(inverse * 64) / 64)
        found = matrix.dominations(slopes)
        good = matrix.closed(slopes).closed
        assert (good | ~found.closed).all()
        for k in np.flatnonzero(slopes.free.sum(axis=0) <= 6):
            corners = list(_corners(slopes.middle[:, k], slopes.free[:, k]))
            exact = [_product(matrix.matrix, secants.jacobians(corner[None])[0]) for corner in corners]
            whole = all(is_definite(one) for one in exact)
            assert whole or not good[k]
            closed, refused = closed + bool(good[k]), refused + (not whole)
    assert closed > 3
    assert refused > 3


def _tangled(rng: np.random.Generator, n: int) -> ircert.Graph:
    """Dyadic weights, skips, entries that are selected twice, and a node that is added to itself."""
    build = ircert.Builder(n)

    def dyadic_map(x: str, rows: int) -> str:
        return build.affine(x, rng.integers(-2, 3, (rows, build.size(x))) / 4, rng.integers(-2, 3, rows) / 4)

    first = build.relu(dyadic_map(build.input, 3))
    twice = build.select(first, [0, 2, 2, 1, 0])
    second = build.relu(dyadic_map(build.concat(twice, build.input), 3))
    doubled = build.add(second, second, first)
    return build.graph(build.add(build.input, dyadic_map(build.concat(doubled, twice), n)))


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_corners_of_closed_cubes_of_tangled_graphs_are_definite(n: int) -> None:
    closed = refused = 0
    for seed in range(25):
        rng = np.random.default_rng([n, seed])
        setting = setting_of(_tangled(rng, n), np.zeros(n))
        network, secants = Batches(setting), Secants(setting)
        free = rng.integers(3, size=(setting.neurons, 8)) == 0
        slopes = Slopes.of((rng.integers(2, size=free.shape) > 0) & ~free, free, np.zeros((n, 8), dtype=bool))
        matrix = OneMatrix(network, np.round(np.linalg.pinv(secants.jacobians(slopes.middle.T)[0]) * 64) / 64)
        good = matrix.closed(slopes).closed
        for k in range(8):
            corners = _corners(slopes.middle[:, k], slopes.free[:, k])
            exact = (_product(matrix.matrix, secants.jacobians(corner[None])[0]) for corner in corners)
            whole = all(is_definite(one) for one in exact)
            assert whole or not good[k]
            closed, refused = closed + bool(good[k]), refused + (not whole)
    assert closed > 5
    assert refused > 5


def _corners(middle: np.ndarray, free: np.ndarray) -> Any:
    places = np.flatnonzero(free)
    for bits in product([0.0, 1.0], repeat=len(places)):
        corner = middle.copy()
        corner[places] = bits
        yield corner


def _product(matrix: np.ndarray, jacobian: np.ndarray) -> list[list[Fraction]]:
    left, right = ([[Fraction(v) for v in row] for row in part.tolist()] for part in (matrix, jacobian))
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*right, strict=True)]
            for row in left]  # fmt: skip


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("index", range(40))
def test_a_covered_ball_holds_no_collision(index: int) -> None:
    given = sample(np.random.default_rng([15, index]), index)
    graph = ircert.load(given.layers)
    if graph.output_dim < graph.input_dim:
        pytest.skip("fewer outputs than inputs")
    norm = list(Norm)[index % 3].on(graph.input_dim)
    true = local_radius(given.layers, given.center, str(norm), limit=4)
    upper = math.inf if true.upper is None else float(true.upper)
    found = covering_of(setting_of(graph, given.center, norm=norm))
    for radius in (0.25, 1.0, 3.0):
        outcome = advanced(found, radius)
        assert found.reached <= upper
        assert outcome != "closed" or radius <= upper


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize("norm", Norm)
def test_a_network_near_the_identity_is_covered(n: int, norm: Norm) -> None:
    graph = residual(np.random.default_rng(n), n, 12, scale=0.05)
    found = covering_of(setting_of(graph, np.zeros(n), norm=norm))
    assert advanced(found, 2.0) == "closed"
    assert found.reached == 2.0


@pytest.mark.rule("E-15")
def test_more_outputs_than_inputs_need_more_than_a_pseudo_inverse() -> None:
    """(x - 1.1 relu(x - 1), relu(x - 1)): injective, and no M J^+ shows it."""
    weight, bias = np.array([[1.0], [-1.0], [1.0]]), np.array([0.0, 0.0, -1.0])
    graph = ircert.load([(weight, bias), (np.array([[1.0, -1.0, -1.1], [0.0, 0.0, 1.0]]), np.zeros(2))])
    found = covering_of(setting_of(merged(canonical(graph)), [0.5]))
    assert advanced(found, 4.0) == "closed"


@pytest.mark.rule("E-15")
def test_slopes_below_a_neuron_are_those_of_the_corner() -> None:
    """0.8 x - relu(relu(x) - 0.001): it turns at 0.001, though each kink alone does no harm."""
    build = ircert.Builder(1)
    inner = build.relu(build.affine(build.relu(build.input), [[1.0]], [-0.001]))
    graph = build.graph(build.add(build.affine(build.input, [[0.8]]), build.affine(inner, [[-1.0]])))
    found = covering_of(setting_of(graph, [0.0]))
    assert advanced(found, 1.0) == "stopped"
    assert found.reached <= 0.001


@pytest.mark.rule("E-15")
def test_products_too_small_for_floats_between_affine_maps_are_counted() -> None:
    """A V of slopes -1/8 and 3/8, times 2^-474; floats see 1/8 and 5/8, because 3/4 of the smallest float rounds up."""
    build = ircert.Builder(1)
    tiny = build.affine(build.affine(build.input, [[2.0**-500]]), [[(0.75 + 2.0**-40) * 2.0**-574]])
    large = build.affine(tiny, [[(1 + 2.0**-30) * 2.0**600]])  # their product has too many digits to be fused
    line = build.affine(build.input, [[-0.875 * 2.0**-474]])
    kink = build.affine(build.relu(build.input), [[2.0**-475]])
    graph = build.graph(build.add(large, line, kink))
    assert advanced(covering_of(setting_of(graph, [0.25])), 1.0) == "stopped"
    assert ircert.certify(graph, [0.25], radius=1.0, engine="boxes").verdict == "refuted"


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("units", [1.0, 1e12, 1e60])
def test_neurons_in_other_units_take_no_more_boxes(units: float) -> None:
    rng = np.random.default_rng(0)
    scale = units ** rng.uniform(-1, 1, 12)
    weight, bias, out = rng.standard_normal((12, 3)), rng.standard_normal(12), rng.standard_normal((3, 12)) / 10
    build = ircert.Builder(3)
    hidden = build.relu(build.affine(build.input, weight * scale[:, None], bias * scale))
    graph = build.graph(build.add(build.input, build.affine(hidden, out / scale)))
    found = covering_of(setting_of(graph, np.zeros(3)))
    assert advanced(found, 1.0) == "closed"
    assert found.counts.boxes == 1


@pytest.mark.rule("E-15")
def test_every_matrix_begins_with_the_whole_ball() -> None:
    graph = residual(np.random.default_rng(3), 3, 10, scale=0.4)
    setting = setting_of(graph, np.zeros(3))
    network, points = Batches(setting), Points(setting)
    first = Cover(OneMatrix(network, np.asarray(np.linalg.inv(points.reference(0.5)))), points, Counts(), lambda: None)
    first.begin(0.5)
    with np.errstate(all="ignore"):
        for _ in range(3):
            first.step(0.5, lambda: False)
    second = Cover(first.matrix, points, Counts(), lambda: None)
    second.begin(0.5)
    assert second.reached == 0.0
    assert second.open_share(0.5) == 1.0
    assert first.open_share(0.5) < 1.0


@pytest.mark.rule("E-15")
def test_a_matrix_that_was_wrong_once_proves_nothing_later() -> None:
    setting = setting_of(residual(np.random.default_rng(3), 3, 10, scale=0.4), np.zeros(3))
    cover = Cover(OneMatrix(Batches(setting), -np.eye(3)), Points(setting), Counts(), lambda: None)
    cover.begin(1.0)
    with np.errstate(all="ignore"):
        ends = (cover.step(1.0, lambda: False) for _ in range(20))
        assert next(end for end in ends if end is not None) == "violated"
        assert cover.step(0.5, lambda: False) in ("violated", None)
    assert cover.reached == 0.0
    assert cover.open_share(0.5) > 0


@pytest.mark.rule("E-15")
def test_a_matrix_that_is_wrong_leaves_its_boxes_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """… also for a smaller ball, which the same cover may be asked about later."""
    monkeypatch.setattr(cover_module, "ENOUGH", 1)
    setting = setting_of(fold(at=0.5), np.zeros(2))
    cover = Cover(OneMatrix(Batches(setting), np.eye(2)), Points(setting), Counts(), lambda: None)
    assert cover.advance(1.0, lambda: False) == "violated"
    for _ in range(20):
        assert cover.step(0.9, lambda: False) in ("violated", None)
    assert cover.reached <= 0.5
    assert cover.open_share(0.9) > 0.0


@pytest.mark.rule("E-15")
def test_a_tree_does_not_show_by_how_much_a_matrix_is_good() -> None:
    setting = setting_of(fold(), np.zeros(2))
    matrix = OneMatrix(Batches(setting), np.eye(2), least=0.5)
    with pytest.raises(TypeError):
        DefiniteTree(matrix, ExactMaps(setting), Counts())


@pytest.mark.rule("E-15", "L-8")
def test_covers_that_show_by_how_much_ask_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """x - 0.75 relu(x - 1/2) has slopes 1 and 1/4, which is less than what is asked for."""
    monkeypatch.setattr(cover_module, "DEEP", -1_000)
    build = ircert.Builder(1)
    kink = build.relu(build.affine(build.input, [[1.0]], [-0.5]))
    setting = setting_of(build.graph(build.add(build.input, build.affine(kink, [[-0.75]]))), np.zeros(1))
    for least, outcome in ((0.0, "closed"), (0.5, "stopped")):
        cover = Cover(OneMatrix(Batches(setting), np.eye(1), least), Points(setting), Counts(), lambda: None)
        assert cover.advance(1.0, partial(_has_waves, cover.counts)) == outcome


def _has_waves(counts: Counts) -> bool:
    return counts.waves > 20


def finder_of(base: np.ndarray, jacobians: np.ndarray) -> Finder:
    finder = Finder(base)
    with np.errstate(all="ignore"):
        finder.learn(jacobians, np.zeros(len(jacobians)))
    return finder


@pytest.mark.rule("E-15")
def test_determinants_of_both_signs_leave_no_matrix() -> None:
    finder = finder_of(np.eye(2), np.stack([np.eye(2), np.diag([1.0, -1.0])]))
    assert not finder.find(1.0)


@pytest.mark.rule("E-15")
def test_opposite_jacobians_leave_no_matrix() -> None:
    """det(-I) = 1 in the plane: only the program says that no C is positive for I and for -I."""
    finder = finder_of(np.eye(2), np.stack([np.eye(2), -np.eye(2)]))
    assert not finder.find(1.0)


@pytest.mark.rule("E-15")
def test_a_smaller_ball_has_fewer_jacobians() -> None:
    finder = Finder(np.eye(2))
    finder.learn(np.stack([np.eye(2), -np.eye(2)]), np.array([0.0, 2.0]))
    assert not finder.find(3.0)
    assert finder.find(1.0)


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("degrees", [160, 176])
def test_a_matrix_for_jacobians_that_turn_far(degrees: int) -> None:
    """Rotations by up to 80 or 88 degrees to either side: the inverse of the first one fails for the last."""
    angles = np.deg2rad(np.linspace(0, degrees, 30))
    jacobians = np.stack([[[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]] for t in angles])
    finder = finder_of(jacobians[0], jacobians)
    assert finder.find(1.0)
    products = finder.matrix @ jacobians
    assert np.linalg.eigvalsh((products + products.transpose(0, 2, 1)) / 2).min() > 0


@pytest.mark.rule("E-15")
def test_a_matrix_too_large_for_programs_stays_as_it_is() -> None:
    graph = residual(np.random.default_rng(1), 21, 12, scale=0.2)
    found = covering_of(setting_of(graph, np.zeros(21)))
    found.network.learned.reach = 0.0  # forms would close it at once
    assert advanced(found, 2.0, waves=8) == "stopped"
    assert found.counts.waves > 8
    assert found._finder is not None
    assert not found._finder.is_small


@pytest.mark.rule("E-15")
def test_jacobians_that_floats_cannot_invert_leave_no_matrix() -> None:
    graph = ircert.load([(np.eye(2) * 2.0**-1074, np.zeros(2))])
    found = covering_of(setting_of(graph, np.zeros(2)))
    assert advanced(found, 1.0) == "stopped"
    assert ircert.certify(graph, [0.0, 0.0], radius=1.0, engine="boxes").verdict != "refuted"


@pytest.mark.rule("E-15")
def test_jacobians_that_overflow_are_left_out() -> None:
    finder = finder_of(np.eye(2), np.stack([np.eye(2), np.full((2, 2), np.inf)]))
    assert finder.find(1.0)
    assert np.isfinite(finder.matrix).all()


@pytest.mark.rule("E-15")
def test_a_distance_that_is_no_number_proves_nothing() -> None:
    setting = setting_of(residual(np.random.default_rng(3), 3, 10, scale=0.4), np.zeros(3))
    points = Points(setting)
    cover = Cover(
        OneMatrix(Batches(setting), np.asarray(np.linalg.inv(points.reference(0.5)))), points, Counts(), lambda: None
    )
    cover.begin(0.5)
    assert cover._frontier is not None
    cover._frontier.keys[:] = np.nan
    assert cover.step(0.5, lambda: False) == "stopped"
    assert cover.reached == 0.0


@pytest.mark.rule("E-15")
@pytest.mark.parametrize("norm", tuple(Norm))
@pytest.mark.parametrize("n", [1, 2, 3])
def test_sides_that_exclude_each_other_meet_at_no_point(n: int, norm: Norm) -> None:
    excluded, radius = 0, 8.0 if norm == "inf" else 0.75
    for seed in range(12):
        rng = np.random.default_rng([n, seed])
        setting = setting_of(dyadic(rng, n, n, 6), np.zeros(n), norm=norm)
        low, high = boxes_in(rng, n, 8, width=0.5)
        if norm != "inf":
            low, high = low / 4 - 0.5, high / 4 + 0.5
        known = enclose(Batches(setting), low, high, radius)
        found = Exclusions.of(known, rng.random((setting.neurons, 8)))
        for k in range(8):
            shares = np.concatenate([rng.integers(0, 17, (60, n)) / 16, list(product([0.0, 1.0], repeat=n))])
            points = low[k] + shares * (high[k] - low[k])
            points = points[
                [norm.measure(map(Fraction, point)) <= Fraction(radius) ** norm.power for point in points.tolist()]
            ]
            z = setting.preactivations(points)[:, found.neurons[:, k]]
            taken = np.stack([z >= 0, z <= 0])  # dyadic numbers: exact
            both = np.einsum("apx,bpy->xayb", taken, taken)
            assert not (found.sides[..., k] & (both > 0)).any()
        excluded += int(found.sides.sum())
    assert excluded > 10 or n == 1


@pytest.mark.rule("E-15")
def test_regions_of_closed_boxes_are_definite_where_sides_exclude_each_other() -> None:
    """Planes in pairs that are nearly parallel: one of the four corners of each pair has no point."""
    closed = helped = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.integers(-8, 9, (3, 2)) / 8
        weight = np.concatenate([rows, rows * (1 + 2.0**-6)])
        bias = rng.integers(-4, 5, 3) / 8
        out = rng.integers(-8, 9, (2, 3)) / 16
        graph = ircert.Builder(2)
        hidden = graph.relu(graph.affine(graph.input, weight, np.concatenate([bias, bias - 2.0**-4])))
        whole = graph.graph(graph.add(graph.input, graph.affine(hidden, np.concatenate([out * 3, -out * 3], axis=1))))
        setting = setting_of(whole, np.zeros(2))
        network, secants = Batches(setting), Secants(setting)
        low, high = boxes_in(rng, 2, 16, width=0.5)
        known = enclose(network, low, high, radius=8.0)
        slopes = Slopes.of(known.on, ~known.on & ~known.off, np.zeros((2, 16), dtype=bool))
        matrix = OneMatrix(network, np.eye(2))
        good, alone = matrix.closed(slopes, known).closed, matrix.closed(slopes).closed
        assert (good | ~alone).all()
        for k in np.flatnonzero(good):
            points = low[k] + rng.random((200, 2)) * (high[k] - low[k])
            patterns = np.unique(setting.preactivations(points) > 0, axis=0)
            for pattern in patterns:
                assert is_definite(_product(matrix.matrix, secants.jacobians(pattern[None].astype(float))[0]))
        closed, helped = closed + int(good.sum()), helped + int((good & ~alone).sum())
    assert closed > 20
    assert helped > 0
