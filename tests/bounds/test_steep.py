from __future__ import annotations

import numpy as np
import pytest

from ircert.bounds.exponentials import ExpBounds
from ircert.bounds.squares import SquareBounds
from ircert.bounds.steep import SteepBounds


@pytest.mark.parametrize("kind", [SquareBounds, ExpBounds])
def test_each_entry_has_a_limit_of_its_own(kind: type[SteepBounds]) -> None:
    found = kind(np.array([3.0, 30.0]))
    low, high = np.full((2, 3), 0.5), np.array([[1.0, 2.0, 20.0]] * 2)
    least, most = found.slopes(low, high)
    known = np.array([[True, False, False], [True, True, False]])
    assert np.array_equal(np.isfinite(least), known)
    assert np.array_equal(np.isfinite(most), known)
    assert np.shape(found.steepest) == (2, 1, 1)
