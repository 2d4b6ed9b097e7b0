from __future__ import annotations

import numpy as np
import pytest

from ircert.bounds.all_curves import STEEP, all_bounds_of
from ircert.bounds.curves import bounds_of
from ircert.ir.ops import ALL, Curve, Exp, Square
from ircert.ir.ops.curves import Tanh


def test_every_curve_has_bounds() -> None:
    steep = {op for op in ALL if issubclass(op, Curve) and op.steep}
    assert steep == set(STEEP) == {Square, Exp}
    assert all_bounds_of(Tanh()) is not None
    assert type(all_bounds_of(Tanh())) is type(bounds_of(Tanh()))


@pytest.mark.parametrize("op", [Square(), Exp()], ids=lambda op: op.kind)
def test_without_a_limit_all_slopes_are_followed(op: Curve) -> None:
    least, most = all_bounds_of(op).slopes(np.array([-3.0, 100.0]), np.array([4.0, 600.0]))
    assert np.isfinite([least, most]).all()
    assert (least <= most).all()
