"""hat: max(0, 1 - |x|), entry by entry."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import hstack

from ircert.ir.arrays import identity
from ircert.ir.ops.base import ElementwiseOp
from ircert.ir.rational import Rationals


@dataclass(frozen=True, eq=False)
class Hat(ElementwiseOp):
    """y_i = max(0, 1 - |x_i|)."""

    kind = "hat"

    def evaluate(self, *operands):
        return np.maximum(0.0, 1.0 - np.abs(operands[0]))

    def exact(self, *operands):
        (x,) = operands
        return Rationals(np.maximum(x.numerators * 0, x.denominator - np.abs(x.numerators)), x.denominator)

    def lower(self, build, *operands):
        """max(0, 1 - |x|) = relu(x + 1) - 2 relu(x) + relu(x - 1), which holds for all x."""
        size = build.size(operands[0])
        eye, one = identity(size), np.ones(size)
        parts = [build.relu(build.affine(operands[0], eye, shift)) for shift in (one, 0 * one, -one)]
        return build.affine(build.concat(*parts), hstack([eye, -2.0 * eye, eye], format="csr"))
