"""Ranges of affine maps are sums of ends in fractions, rounded outward; signs are those of the exact sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ircert.ir.ops import Affine
from ircert.structure import affine_ranges
from ircert.structure.affine_ranges import of_affine
from ircert.structure.range import Range


def exact(weight: np.ndarray, bias: float, x: Range) -> Fraction | None:
    """The lower end of one row."""
    found = Fraction(bias)
    for w, low, high in zip(weight.tolist(), x.low.tolist(), x.high.tolist(), strict=True):
        end = low if w > 0 else high
        if w and not np.isfinite(end):
            return None
        found += Fraction(w) * Fraction(end) if w else 0
    return found


@pytest.mark.rule("ST-5")
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_ends_by_fractions(seed: int, cancelling: bool) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 0.1, -0.1, 1.0, 0.3], (3, 4))
    x = Range(
        rng.choice([-np.inf, -1.0, 0.0], 4, p=[0.1, 0.45, 0.45]),
        rng.choice([0.1, 1.0, np.inf], 4, p=[0.45, 0.45, 0.1]),
        rng.random(4) < 0.5,
        rng.random(4) < 0.5,
    )
    bias = np.array([0.1, 0.0, 2.0])
    if cancelling:  # the float nearest to what makes the lower end 0
        ends = [exact(row, 0.0, x) for row in weight]
        bias = np.array([0.0 if end is None else -float(end) for end in ends])
    found = of_affine(Affine(weight, bias), x)
    for i, row in enumerate(weight):
        low, strict = exact(row, float(bias[i]), x), any(x.above[row > 0]) or any(x.below[row < 0])
        assert found.above[i] == strict
        assert (low is None) == (found.low[i] == -np.inf)
        if low is not None:
            assert Fraction(float(found.low[i])) <= low
            assert float(found.low[i]) == pytest.approx(float(low), abs=1e-12)
            assert bool(found.positive[i]) == (low > 0 or (low == 0 and strict))


@pytest.mark.rule("ST-5")
def test_too_many_terms_are_not_added_up_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Range.between(2, -1.0, 1.0, strictly=True)
    op = Affine(np.array([[0.5, 0.5]]), np.ones(1))
    assert of_affine(op, x).positive.all()
    monkeypatch.setattr(affine_ranges, "MOST_EXACT", 1)
    assert not of_affine(op, x).never_zero.any()
