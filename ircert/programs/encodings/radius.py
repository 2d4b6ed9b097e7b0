"""Points within a radius that is a variable: |x - c| <= r, in three norms, cut with the domain.

    inf:  x_i - r <= c_i,  x_i + r >= c_i
    1:    |x_i - c_i| <= a_i  (two rows),  sum a_i <= r
    2:    e = x - c,  |e| <= r: a cone

The ball of the question is the largest one: it bounds r, the points, and everything that is derived from them.
"""

from __future__ import annotations

import numpy as np

from ircert.geometry.ball import Ball
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import offsets, sizes_of_offsets, up
from ircert.programs.program import Block, Origin


def variable_radius(build: ProgramBuilder, ball: Ball, least: float = 0.0) -> Block:
    """The variable r between `least` and the ball's radius, to be minimised."""
    r = build.variables("r", 1, least, max(least, up(ball.radius)))
    build.minimise(r)
    return r


def point_within(build: ProgramBuilder, ball: Ball, r: Block, name: str, origin: Origin) -> Block:
    """Variables for a point of the ball that is no further than r from its centre."""
    low, high = ball.box
    x = build.variables(name, len(low), low, high, origin=origin)
    if ball.norm == "2":
        build.length_at_most(f"cone.{name}", offsets(build, ball, x, origin), r)
    elif ball.norm == "1":
        a = sizes_of_offsets(build, ball, x, origin)
        build.rows(f"diamond.{name}", [(a, np.ones((1, x.size))), (r, -1.0)], "<=", 0.0, origin=origin)
    else:
        every = np.ones((x.size, 1))
        build.rows(f"right.{name}", [(x, 1.0), (r, -every)], "<=", ball.center, origin=origin)
        build.rows(f"left.{name}", [(x, 1.0), (r, every)], ">=", ball.center, origin=origin)
    return x
