"""What entries of affine maps read, by the matrices that convolutions stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ircert.bounds.rounding import affine_interval
from ircert.ir.arrays import nonzeros
from ircert.ir.ops import AveragePool, Conv
from ircert.structure import linear_maps
from ircert.structure.linear_maps import affine, bias, correlated, least, reads, reads_signed
from tests.bounds.test_convolutions import convolutions


@pytest.mark.rule("ST-1")
@settings(max_examples=40)
@given(convolutions(), st.integers(0, 2**32 - 1))
def test_a_convolution_as_its_matrix(op: Conv, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight, size = nonzeros(op.affine.weight).toarray(), int(np.prod(op.image))
    x = rng.integers(-4, 5, size) / 2
    np.testing.assert_array_equal(correlated(op, op.weight, x), weight @ x)
    first, second = rng.random((2, size)) < 0.3
    np.testing.assert_array_equal(reads(op, first), ((weight != 0) & first).any(axis=1))
    signed = ((weight > 0) & first) | ((weight < 0) & second)
    np.testing.assert_array_equal(reads_signed(op, first, second), signed.any(axis=1))
    np.testing.assert_array_equal(bias(op), op.affine.bias)
    found, error = least(op, x - 1, x + 2)
    expected = affine_interval(op.affine.weight, bias(op), x - 1, x + 2)[0]
    np.testing.assert_allclose(found - error + bias(op), expected, atol=1e-12)
    np.testing.assert_array_equal(found, least(op.affine, x - 1, x + 2)[0])


@pytest.mark.rule("ST-1")
def test_other_maps_and_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = AveragePool((1, 4), (2,), stride=(2,))
    assert reads(pool, np.array([False, False, False, True])).tolist() == [False, True]
    assert affine(pool) is pool.affine
    monkeypatch.setattr(linear_maps, "MOST_ENTRIES", 3)
    assert affine(pool) is None
