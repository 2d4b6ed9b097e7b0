from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from ircert.ir.arrays import Array, below, identity, is_identity, nonzeros, sparse_rows

dense = st.tuples(st.integers(1, 4), st.just(3)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, -0.0, 1.0, -2.5]))
)


@given(dense)
def test_nonzeros_are_those_of_scipy(matrix: Array) -> None:
    found, wanted = nonzeros(matrix), csr_array(matrix)
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(found, part), getattr(wanted, part))
        assert getattr(found, part).dtype == getattr(wanted, part).dtype


@given(dense, st.data())
def test_rows_are_those_of_scipy(matrix: Array, data: st.DataObject) -> None:
    rows = np.array(data.draw(st.lists(st.integers(0, len(matrix) - 1))), dtype=np.int64)
    assert np.array_equal(sparse_rows(nonzeros(matrix), rows).toarray(), matrix[rows])


@given(st.lists(dense | st.integers(0, 3), min_size=1, max_size=4), dense)
def test_parts_stand_below_each_other(parts: list[Array | int], last: Array) -> None:
    given = [*parts, last]
    found = below([part if isinstance(part, int) else nonzeros(part) for part in given], 3)
    wanted = [np.zeros((part, 3)) if isinstance(part, int) else part for part in given]
    assert np.array_equal(found.toarray(), np.concatenate(wanted))


@pytest.mark.parametrize(
    "matrix", [np.diag([1.0, 2.0]), np.ones((2, 2)), np.eye(2, 3), np.eye(2)[::-1], np.array([[1.0, 0.0], [1.0, 0.0]])]
)
def test_the_identity_is_known(matrix: Array) -> None:
    assert is_identity(identity(3))
    assert is_identity(identity(0))
    assert not is_identity(nonzeros(matrix))
