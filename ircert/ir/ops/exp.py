"""The exponential function: the scales of affine couplings, mostly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ircert.ir.ops.curves import FunctionCurve

if TYPE_CHECKING:
    from flint import arb_series


class Exp(FunctionCurve):
    """y_i = exp(x_i)."""

    kind = "exp"
    steep = True
    function = staticmethod(np.exp)

    def series(self, x: arb_series, piece: int) -> arb_series:
        return x.exp()
