"""Changes of u from those of W u: by exact solutions, group by group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array

from ircert.structure import left_inverses
from ircert.structure.left_inverses import changes, groups, weighted


@pytest.mark.rule("L-9")
@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_changes_hold_for_all_solutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    blocks = [rng.integers(-3, 4, (int(rng.integers(1, 5)), int(rng.integers(1, 4)))) for _ in range(4)]
    shuffled = np.asarray(block_diag(blocks).toarray(), dtype=np.float64)
    weight = shuffled[rng.permutation(len(shuffled))][:, rng.permutation(shuffled.shape[1])]
    result, k = rng.choice([0.5, 1.0, np.inf], len(weight)), rng.choice([0.25, np.inf], weight.shape[1])
    found = changes(csr_array(weight), result, k)
    assert (found <= k).all()
    sizes = np.where(np.isfinite(found), 1.0, 0.0)
    for _ in range(20):  # a change of u that is as large as W u and what is known allow
        d = rng.normal(size=weight.shape[1]) * rng.choice([0.0, 1.0], weight.shape[1])
        limits = np.concatenate([np.abs(weight @ d) / result, np.abs(d) / k])
        if limits.max() > 0:
            assert (np.abs(d) / limits.max() * sizes <= np.where(sizes > 0, found, 0.0) * (1 + 1e-9)).all()


@pytest.mark.rule("L-9")
def test_groups_of_one_shape() -> None:
    weight = csr_array(np.kron(np.eye(3), [[1.0, 2.0], [3.0, 4.0]]))
    ((rows, columns, blocks),) = groups(weight)
    np.testing.assert_array_equal(rows, columns)
    np.testing.assert_array_equal(blocks, [[[1.0, 2.0], [3.0, 4.0]]] * 3)
    inverse = np.abs(np.linalg.inv([[1.0, 2.0], [3.0, 4.0]])).sum(axis=1)
    found = changes(weight, np.ones(6), np.full(6, np.inf))
    assert found == pytest.approx(np.tile(inverse, 3), rel=1e-9)


@pytest.mark.rule("L-9")
def test_what_is_too_large_or_singular_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = np.full(2, np.inf)
    assert np.isinf(changes(csr_array(np.ones((2, 2))), np.ones(2), nothing)).all()
    assert np.isinf(changes(csr_array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), np.ones(2), nothing)).all()
    monkeypatch.setattr(left_inverses, "MOST", 1)
    assert np.isinf(changes(csr_array([[1.0, 1.0], [1.0, 2.0]]), np.ones(2), nothing)).all()


def test_entries_without_weight_do_not_count() -> None:
    assert weighted(csr_array([[2.0, 0.0], [1.0, 1.0]]), np.array([1.0, np.inf])) == pytest.approx([2.0, np.inf])
