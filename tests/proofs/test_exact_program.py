"""Exact programs where floats propose a wrong basis: many rows pass the optimum closer than a solver's tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from ircert import exact_lp
from ircert.ir.rational import Integers, integer_array
from ircert.limits import Undecided
from ircert.proofs.exact_program import SMALL, maximise

SHIFT = 40


def nearly_one_point(seed: int, count: int) -> tuple[Integers, Integers, Integers]:
    """max 3 s + 2 t in a box, below rows that pass (1, 1) at a distance of about 2^-40."""
    rng = np.random.default_rng(seed)
    slopes = rng.integers(1, 2**20, (count, 2)).tolist()
    offsets = rng.integers(-(2**20), 2**20, count).tolist()
    rows = [[a << SHIFT, b << SHIFT] for a, b in slopes] + [[1, 0], [-1, 0], [0, 1], [0, -1]]
    limits = [((a + b) << SHIFT) + k for (a, b), k in zip(slopes, offsets, strict=True)] + [4] * 4
    return integer_array([3, 2]), np.array([integer_array(row) for row in rows]), integer_array(limits)


@pytest.mark.rule("E-1")
@pytest.mark.parametrize("seed", range(8))
def test_small_programs_are_always_decided(seed: int) -> None:
    objective, rows, limits = nearly_one_point(seed, 24)
    assert rows.size * 2 <= SMALL
    found = maximise(objective, rows, limits, patient=False)
    exact = exact_lp.maximise(*(table.tolist() for table in (objective, rows, limits)))
    assert found is not None
    assert exact is not None
    assert found.value == exact.value


def test_large_ones_need_patience() -> None:
    """Some basis of floats is wrong, and a thousand rows take long."""
    hasty = []
    for seed in range(8):
        try:
            maximise(*nearly_one_point(seed, SMALL // 4), patient=False)
        except Undecided:
            hasty.append(seed)
    assert hasty
    objective, rows, limits = nearly_one_point(hasty[0], SMALL // 4)
    found = maximise(objective, rows, limits)
    assert found is not None
    assert all(limit >= row.dot(found.point) for row, limit in zip(rows, limits, strict=True))
