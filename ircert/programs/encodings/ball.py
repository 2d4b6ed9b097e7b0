"""Points of a ball as variables.

    inf:  bounds alone
    1:    |x_i - c_i| <= a_i  (two rows),  sum a_i <= r
    2:    e = x - c,  sum e_i^2 <= r^2

The domain's box is in the bounds of x. Every number is rounded outward, so that the program holds the whole ball.
"""

from __future__ import annotations

import numpy as np

from ircert.geometry.ball import Ball
from ircert.ir.arrays import identity
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Block, Origin


def point_of_ball(build: ProgramBuilder, ball: Ball, name: str, origin: Origin) -> Block:
    """Variables for a point of the ball, with the rows that keep it there."""
    low, high = ball.box
    x = build.variables(name, len(low), low, high, origin=origin)
    if ball.norm == "1":
        a = sizes_of_offsets(build, ball, x, origin)
        build.rows(f"diamond.{name}", [(a, np.ones((1, x.size)))], "<=", up(ball.radius), origin=origin)
    if ball.norm == "2":
        e = offsets(build, ball, x, origin)
        build.squares_at_most(f"sphere.{name}", e, up(ball.radius * ball.radius))
    return x


def sizes_of_offsets(build: ProgramBuilder, ball: Ball, x: Block, origin: Origin) -> Block:
    """Variables a with |x_i - c_i| <= a_i."""
    a = build.variables(f"a.{x.name}", x.size, 0.0, up(ball.radius), origin=origin)
    build.rows(f"right.{x.name}", [(x, 1.0), (a, -1.0)], "<=", ball.center, origin=origin)
    build.rows(f"left.{x.name}", [(x, 1.0), (a, 1.0)], ">=", ball.center, origin=origin)
    return a


def offsets(build: ProgramBuilder, ball: Ball, x: Block, origin: Origin) -> Block:
    """Variables e = x - c."""
    e = build.variables(f"delta.{x.name}", x.size, -up(ball.radius), up(ball.radius), origin=origin)
    build.rows(f"offset.{x.name}", [(x, identity(x.size)), (e, -1.0)], "=", ball.center, origin=origin)
    return e


def up(value: float) -> float:
    """The next larger float."""
    return float(np.nextafter(value, np.inf))
