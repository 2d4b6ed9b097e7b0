"""What follows from some entries of a product: against ranks in rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ircert.structure.linear_systems import determined


def rank(rows: list[list[Fraction]]) -> int:
    """By elimination, without anything of the project."""
    rows, found = [row[:] for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            ratio = rows[i][column] / rows[found][column]
            rows[i] = [a - ratio * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


@pytest.mark.rule("ST-2")
@settings(max_examples=60)
@given(st.data())
def test_nothing_is_claimed_that_does_not_follow(data: st.DataObject) -> None:
    """u_j follows from W' u exactly if e_j lies in the span of the rows that are left."""
    m, n = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    weight = np.array(data.draw(st.lists(st.sampled_from([0, 0, 0, 1, -1, 2]), min_size=m * n, max_size=m * n)))
    weight = weight.reshape(m, n).astype(float)
    rows = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)))
    known = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    found = determined(csr_array(weight), rows, known)
    assert found[known].all()
    left = [[Fraction(v) for v in row] for row in weight[rows][:, ~known].tolist()]
    for i, j in enumerate(np.flatnonzero(~known).tolist()):
        unit = [Fraction(int(i == k)) for k in range(int((~known).sum()))]
        if found[j]:
            assert rank([*left, unit]) == rank(left)


@pytest.mark.rule("ST-2")
def test_triangles_and_blocks_are_solved() -> None:
    triangle = np.tril(np.ones((5, 5)))
    everything, nothing = np.ones(5, dtype=bool), np.zeros(5, dtype=bool)
    assert determined(csr_array(triangle), everything, nothing).all()
    assert determined(csr_array(triangle), np.arange(5) < 3, nothing).tolist() == [True] * 3 + [False] * 2
    blocks = csr_array(np.kron(np.eye(3), [[1.0, 2.0], [3.0, 4.0]]))
    assert determined(blocks, np.arange(6) != 5, np.zeros(6, dtype=bool)).tolist() == [True] * 4 + [False] * 2
    assert not determined(csr_array(np.ones((2, 2))), np.ones(2, dtype=bool), np.zeros(2, dtype=bool)).any()
