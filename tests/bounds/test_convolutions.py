"""Bounds on norms of convolutions by their symbols, against the matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ircert.bounds.convolutions import convolution_bound, unrolled
from ircert.ir.arrays import nonzeros
from ircert.ir.ops import Conv


@st.composite
def convolutions(draw: st.DrawFn) -> Conv:
    """Small ones with all that a convolution may have."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    axes, groups = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    inputs, outputs = (draw(st.integers(1, 3)) for _ in range(2))
    image = (inputs * groups, *rng.integers(5, 9, axes).tolist())
    kernel = rng.integers(1, 4, axes).tolist()
    return Conv(
        image,
        rng.integers(-4, 5, (outputs * groups, inputs, *kernel)) / 4,
        stride=tuple(rng.integers(1, 4, axes).tolist()),
        padding=tuple(rng.integers(0, 4, 2 * axes).tolist()),
        dilation=tuple(rng.integers(1, 3, axes).tolist()),
        groups=groups,
    )


@settings(max_examples=60)
@given(convolutions())
def test_never_below_the_norm(op: Conv) -> None:
    found = convolution_bound(op)
    assert found is not None
    assert float(found) >= np.linalg.norm(nonzeros(op.affine.weight).toarray(), 2) * (1 - 1e-12)


@settings(max_examples=20)
@given(convolutions(), st.integers(0, 2**32 - 1))
def test_it_is_a_part_of_a_circular_convolution(op: Conv, seed: int) -> None:
    """Computed on the torus, entry by entry, from the image and zeros."""
    x = np.random.default_rng(seed).integers(-3, 4, op.image).astype(float)
    circular, inputs = unrolled(op), op.weight.shape[1]
    groups, rows, columns, _ = circular.weight.shape
    strides = np.array(op.stride)
    kernel = np.array(list(np.ndindex(*op.weight.shape[2:]))) * np.array(op.dilation)
    phases = np.unique(np.mod(kernel - np.array(op.padding[: len(strides)]), strides), axis=0)
    assert columns == inputs * len(phases)
    field = np.zeros((groups, columns, *circular.torus))
    for at in np.ndindex(*op.image[1:]):
        match = np.flatnonzero((phases == np.array(at) % strides).all(axis=1))
        if len(match):
            channels = slice(match[0] * inputs, (match[0] + 1) * inputs)
            field[(slice(None), channels, *(np.array(at) // strides))] = x[(slice(None), *at)].reshape(groups, inputs)
    found = np.zeros((groups, rows, *op.windows.output))
    for at in np.ndindex(*op.windows.output):
        for k, tap in enumerate(circular.taps):
            where = (np.array(at) + tap) % np.array(circular.torus)
            found[(..., *at)] += np.einsum("grc,gc->gr", circular.weight[..., k], field[(..., *where)])
    np.testing.assert_array_equal(found.ravel(), op.affine.weight @ x.ravel())


@pytest.mark.parametrize("stride", [1, 2])
def test_close_on_large_images(stride: int) -> None:
    rng = np.random.default_rng(0)
    op = Conv((2, 16, 16), rng.normal(size=(3, 2, 3, 3)), stride=(stride, stride), padding=(1, 1, 1, 1))
    true = np.linalg.norm(nonzeros(op.affine.weight).toarray(), 2)
    found = convolution_bound(op)
    assert found is not None
    assert true * (1 - 1e-12) <= float(found) <= 1.05 * true


def test_sums_of_a_window_are_exact() -> None:
    """At frequency 0 all weights of one sign add up; the bound is not below that, and hardly above."""
    op = Conv((1, 40), np.full((1, 1, 3), 0.1), padding=(1, 1))
    found = convolution_bound(op)
    assert found is not None
    assert 3 * Fraction(0.1) <= found <= 3 * Fraction(0.1) * (1 + Fraction(1, 10**8))


def test_what_takes_too_long_or_leaves_the_floats_is_left() -> None:
    assert convolution_bound(Conv((1, 2**19), np.ones((1, 1, 2)))) is None
    assert convolution_bound(Conv((1, 8), np.full((1, 1, 2), 1.7e308))) is None
