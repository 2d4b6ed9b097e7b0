"""Trees of single points, for one matrix: many planes through one point, which no cutting of boxes settles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat

import ircert
from ircert.engines.boxes.enclosures.batches import Batches
from ircert.engines.boxes.linear_regions.exact_map import ExactMaps
from ircert.engines.boxes.one_matrix.definite_tree import DefiniteTree, is_positive_definite
from ircert.engines.boxes.one_matrix.domination import OneMatrix
from ircert.engines.boxes.problem.outcome import Counts, Violated
from ircert.engines.boxes.problem.setting import Setting
from ircert.engines.boxes.trees.parts import part_of
from tests.engines.boxes.making import setting_of


def star(step: float, rays: int = 7) -> Setting:
    """x + step * (a sum of relus of planes through 0): homogeneous, all kinks meet at the centre."""
    angles = np.arange(rays) * np.pi / rays
    rows = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1) * 64) / 64
    build = ircert.Builder(2)
    hidden = build.relu(build.affine(build.input, rows))
    return setting_of(build.graph(build.add(build.input, build.affine(hidden, step * rows.T))), np.zeros(2))


def tree_of(setting: Setting, matrix: np.ndarray) -> DefiniteTree:
    return DefiniteTree(OneMatrix(Batches(setting), matrix), ExactMaps(setting), Counts())


@pytest.mark.rule("E-15")
def test_planes_through_one_point_are_closed() -> None:
    """sum of r r^T over the open sides of a line is positive semidefinite: C = 1 is good for any positive step."""
    setting = star(0.5)
    tree = tree_of(setting, np.eye(2))
    tree.close(part_of(setting, 1.0, np.full(2, -1.0), np.full(2, 1.0)), 10_000, lambda: False)
    assert tree.failing is None


@pytest.mark.rule("E-15")
def test_a_region_where_the_matrix_is_wrong_is_found() -> None:
    setting = star(-2.0)
    tree = tree_of(setting, np.eye(2))
    with pytest.raises(Violated):
        tree.close(part_of(setting, 1.0, np.full(2, -1.0), np.full(2, 1.0)), 10_000, lambda: False)
    assert tree.failing is not None
    assert np.abs(tree.failing).max() <= 1.0
    phases = (setting.preactivations(tree.failing) > 0).astype(float)[0]
    weights = [node.op.weight for node in setting.graph.nodes if isinstance(node.op, ircert.ir.ops.Affine)]
    jacobian = np.eye(2) + weights[1] @ np.diag(phases) @ weights[0]
    assert np.linalg.eigvalsh((jacobian + jacobian.T) / 2)[0] <= 0


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_definite_integers(n: int) -> None:
    rng = np.random.default_rng(n)
    seen = {True: 0, False: 0}
    for _ in range(60):
        root = rng.integers(-3, 4, (n, n))
        table = root.T @ root + int(rng.integers(-1, 2)) * np.eye(n, dtype=np.int64)
        # Sylvester's criterion anew, by elimination in fractions
        rows = [[Fraction(int(v)) for v in row] for row in table]
        definite = True
        for k in range(n):
            definite &= rows[k][k] > 0
            if not definite:
                break
            for i in range(k + 1, n):
                share = rows[i][k] / rows[k][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
        assert is_positive_definite(fmpz_mat(table.tolist())) == definite
        seen[definite] += 1
    assert min(seen.values()) > 5
