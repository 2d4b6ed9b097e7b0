"""The arrays of a graph: owned, read-only, finite and exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csr_array

import ircert
from ircert.errors import OpError
from ircert.ir.arrays import Array, below, identity, is_identity, nonzeros, sparse_rows, walkable
from ircert.ir.ops import Affine


@pytest.mark.rule("IR-8")
@pytest.mark.parametrize(
    ("weight", "says"),
    [
        ([[np.nan]], "nan at [0, 0]"),
        ([[1.0, np.inf]], "inf at [0, 1]"),
        ([[1.0, 1e400]], "inf"),
        ([[1.0], [2.0, 3.0]], "rectangular"),
        ([["a"]], "real numbers"),
        ([[1j]], "real numbers"),
        ([1.0], "2 dimensions"),
        (np.zeros((0, 2)), "at least 1"),
        (np.array([[2**53 + 1]]), "integer that float64 cannot represent"),
        (np.array([[2**64 - 1]], dtype=np.uint64), "integer that float64 cannot represent"),
        (np.array([[np.longdouble(1) + np.finfo(np.longdouble).eps]]), "float64 cannot represent"),
        (csr_array(np.array([[1.0, np.nan]])), "nan"),
        (None, "real numbers"),
        ([[2**53 + 1, 0.5]], "integer that float64 cannot represent"),
        ([[True]], "real numbers"),
    ],
)
def test_numbers_that_are_no_finite_doubles_are_refused(weight: object, says: str) -> None:
    with pytest.raises(OpError, match=says.replace("[", r"\[").replace("]", r"\]")):
        Affine(weight)


@pytest.mark.rule("IR-8")
def test_arrays_are_owned_read_only_and_without_negative_zero() -> None:
    weight, bias = np.array([[1.0, -0.0]]), np.array([-0.0])
    op = Affine(weight, bias)
    weight[0, 0] = 7.0
    assert isinstance(op.weight, np.ndarray)
    assert op.weight[0, 0] == 1.0
    assert not np.signbit(op.weight).any()
    assert not np.signbit(op.bias).any()
    with pytest.raises(ValueError, match="read-only"):
        op.weight[0, 0] = 2.0
    frozen_view = np.arange(4.0)[::2].reshape(1, 2)
    frozen_view.setflags(write=False)
    assert Affine(frozen_view).weight is not frozen_view  # a view: its base could still change


@pytest.mark.rule("IR-8")
def test_sparse_arrays_are_owned_and_canonical() -> None:
    source = coo_array((np.array([1.0, 2.0, -0.0]), ([0, 0, 0], [1, 1, 0])), shape=(1, 2))
    weight: Any = Affine(source).weight
    assert weight.nnz == 1
    assert weight.toarray().tolist() == [[0.0, 3.0]]
    mine = csr_array(np.array([[1.0, 2.0]]))
    weight = Affine(mine).weight
    mine.data[0] = 9.0
    mine.indices[0] = 1
    assert weight.toarray().tolist() == [[1.0, 2.0]]
    assert not weight.data.flags.writeable


@pytest.mark.rule("IR-8")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32, np.int64, np.bool_])
def test_narrower_numbers_are_kept_exactly(dtype: type) -> None:
    values = np.array([[0, 1]], dtype=dtype) if dtype is np.bool_ else np.array([[3, -7]], dtype=dtype) / dtype(1)
    assert [float(v) for v in Affine(values).weight[0]] == [float(v) for v in values[0]]


@pytest.mark.rule("IR-8")
def test_an_array_that_its_owner_froze_is_copied_all_the_same() -> None:
    mine = np.array([[1.0, 2.0]])
    mine.setflags(write=False)
    graph = ircert.load([(mine, None)])
    mine.setflags(write=True)
    mine[0, 0] = 9.0
    assert graph([1.0, 0.0]).tolist() == [1.0]


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


def test_large_matrices_that_are_mostly_zero_are_stored_sparse() -> None:
    weight = np.eye(512)
    kept = Affine(weight).weight
    assert isinstance(kept, csr_array)
    assert (kept.toarray() == weight).all()
    assert isinstance(Affine(np.ones((512, 512))).weight, np.ndarray)
    assert isinstance(Affine(np.eye(500)).weight, np.ndarray)
    assert Affine(weight) == Affine(csr_array(weight))


def test_walks_have_dense_matrices_unless_they_are_large_and_mostly_zero() -> None:
    assert isinstance(walkable(csr_array(np.eye(500))), np.ndarray)
    assert isinstance(walkable(csr_array(np.eye(512))), csr_array)
    assert isinstance(walkable(csr_array(np.ones((512, 512)))), np.ndarray)
