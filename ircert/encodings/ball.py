"""Points of a ball as variables.

    inf:  bounds alone
    1:    |x_i - c_i| <= a_i  (two rows),  sum a_i <= r
    2:    e = x - c,  sum e_i^2 <= r^2

The domain's box is in the bounds of x. Every number is rounded outward, so that the program holds the whole ball.
"""

from __future__ import annotations

import numpy as np

from ircert.ir.arrays import identity
from ircert.programs.build import ProgramBuilder
from ircert.programs.program import Block, Origin
from ircert.query import Ball


def point_of_ball(build: ProgramBuilder, ball: Ball, name: str, origin: Origin) -> Block:
    """Variables for a point of the ball, with the rows that keep it there."""
    low, high = ball.box
    x = build.variables(name, len(low), low, high, origin=origin)
    if ball.norm == "1":
        _diamond(build, ball, x, origin)
    if ball.norm == "2":
        _sphere(build, ball, x, origin)
    return x


def _diamond(build: ProgramBuilder, ball: Ball, x: Block, origin: Origin) -> None:
    size = x.size
    a = build.variables(f"a.{x.name}", size, 0.0, _up(ball.radius), origin=origin)
    build.rows(f"right.{x.name}", [(x, 1.0), (a, -1.0)], "<=", ball.center, origin=origin)
    build.rows(f"left.{x.name}", [(x, 1.0), (a, 1.0)], ">=", ball.center, origin=origin)
    build.rows(f"diamond.{x.name}", [(a, np.ones((1, size)))], "<=", _up(ball.radius), origin=origin)


def _sphere(build: ProgramBuilder, ball: Ball, x: Block, origin: Origin) -> None:
    e = build.variables(f"delta.{x.name}", x.size, -_up(ball.radius), _up(ball.radius), origin=origin)
    build.rows(f"offset.{x.name}", [(x, identity(x.size)), (e, -1.0)], "=", ball.center, origin=origin)
    build.squares_at_most(f"sphere.{x.name}", e, _up(ball.radius * ball.radius))


def _up(value: float) -> float:
    return float(np.nextafter(value, np.inf))
