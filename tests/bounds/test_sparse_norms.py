"""Bounds on norms of sparse matrices: never below the norm, tight where blocks are small or weights have one sign."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, diags_array, random_array

from ircert.bounds import sparse_norms
from ircert.bounds.operator_norms import Unbounded
from ircert.bounds.sparse_norms import sparse_norm_bound
from ircert.geometry.norm import Norm


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("shape", [(40, 60), (60, 40), (50, 50)])
def test_never_below(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch, *, large: bool) -> None:
    if large:  # as if all blocks were too large to be written out
        monkeypatch.setattr(sparse_norms, "SMALL", 0)
    rng = np.random.default_rng(shape[0])
    for scale in (1e-200, 1.0, 1e200):
        matrix = csr_array(random_array(shape, density=0.1, rng=rng, data_sampler=rng.normal) * scale)
        for norm in Norm:
            true = float(np.linalg.norm(matrix.toarray(), norm.order))
            found = float(sparse_norm_bound(matrix, norm))
            assert true * (1 - 1e-12) <= found <= true * (1.05 if large else 1 + 1e-7)


def test_blocks_and_diagonals() -> None:
    rng = np.random.default_rng(1)
    blocks = [rng.normal(size=(2, 3)) for _ in range(3)] * 50
    matrix = csr_array(block_diag(blocks))
    order = rng.permutation(matrix.shape[0])
    true = max(np.linalg.norm(block, 2) for block in blocks)
    assert float(sparse_norm_bound(csr_array(matrix[order]), Norm.TWO)) == pytest.approx(true, rel=1e-8)
    assert float(sparse_norm_bound(csr_array(diags_array(np.arange(-9.0, 5.0))), Norm.TWO)) == pytest.approx(9)
    assert sparse_norm_bound(csr_array((4, 5)), Norm.TWO) == 0


def test_large_averages_are_tight() -> None:
    """A band of 1/3: its powers are nonnegative, so that Perron's vector is all that is needed."""
    matrix = csr_array(
        diags_array([np.full(2999, 1 / 3), np.full(3000, 1 / 3), np.full(2999, 1 / 3)], offsets=[-1, 0, 1])
    )
    assert 0.9999 <= float(sparse_norm_bound(matrix, Norm.TWO)) <= 1 + 1e-12


def test_what_leaves_the_floats_has_no_bound() -> None:
    with pytest.raises(Unbounded):
        sparse_norm_bound(csr_array(np.full((2, 2), 1.7e308)), Norm.TWO)
