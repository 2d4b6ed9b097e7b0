"""The largest difference of two networks with one or two inputs, exactly: a convex function is largest at a vertex of a
linear region of both."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import ircert
from ircert.geometry.ball import Ball
from ircert.geometry.norm import Norm
from ircert.ir.graph import Graph


def largest(f: Graph, g: Graph, ball: Ball, norm: Norm) -> float:
    """max |f(x) - g(x)| over a ball of norm 1 or inf (on a line: of any), up to the rounding of vertices."""
    best = Fraction(0)
    for region in ircert.enumerate_regions(ircert.stack(f, g), ball):
        for vertex in np.atleast_2d(np.asarray(region.vertices, dtype=np.float64)).reshape(-1, f.input_dim):
            gaps = [a - b for a, b in zip(f.exact(vertex), g.exact(vertex), strict=True)]
            best = max(best, norm.measure(gaps))
    return norm.length(best)
