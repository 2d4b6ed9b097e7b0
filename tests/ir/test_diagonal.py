"""Diagonal matrices whose zeros are compacted away."""

from __future__ import annotations

import numpy as np

from ircert.ir.arrays import diagonal, freeze, nonzeros
from ircert.ir.ops import Affine


def test_a_diagonal_with_zeros_keeps_its_numbers_when_frozen() -> None:
    values = np.array([0.0, 1.0, 0.0, 2.0])
    np.testing.assert_array_equal(nonzeros(freeze(diagonal(values))).toarray(), np.diag(values))
    np.testing.assert_array_equal(Affine(diagonal(values)).evaluate(np.ones((1, 4))), values[None])


def test_the_index_arrays_do_not_share_memory() -> None:
    matrix = diagonal(np.ones(3))
    assert not np.shares_memory(matrix.indices, matrix.indptr)
