"""Round balls in linear programs: a variable for the square of each coordinate, and lines below the parabola.

For e = x - c the sum of e_i^2 is at most r^2, and e^2 >= 2 a e - a^2 for every a. So with variables q_i and numbers a
that are a power of 2 apart,

    q_i >= 2 a e_i - a^2,   q_i >= 0,   sum q_i <= r^2,

holds for q_i = e_i^2 at every point of the ball; r^2 is rounded up. With one variable for each coordinate few
lines leave little room around the ball, where planes that touch it would need very many. Numbers are in parts of a
power of 2 next to r, so that they are about as large as e.
"""

from __future__ import annotations

import math

import numpy as np

from ircert.geometry.ball import Ball
from ircert.programs.build import ProgramBuilder
from ircert.programs.encodings.ball import point_of_ball, up
from ircert.programs.program import Block, Origin

FEW = 12
"""Up to so many coordinates the round row is kept as well, for `SafeRelaxation` to cut by planes."""
SMALL = 2.0**-400
"""Squares of numbers between this and its inverse are floats; other balls are replaced by their boxes."""


def point_of_polytope(build: ProgramBuilder, ball: Ball, name: str, origin: Origin) -> Block:
    """Variables for a point of the ball, and rows that hold there: of a polytope around it, where it is round."""
    if ball.norm != "2":
        return point_of_ball(build, ball, name, origin)
    low, high = ball.box
    few = len(low) <= FEW  # then planes that touch the ball are worth adding where points lie outside
    x = point_of_ball(build, ball, name, origin) if few else build.variables(name, len(low), low, high, origin=origin)
    if x.size > 1 and SMALL < ball.radius < 1 / SMALL:
        _squares_below(build, ball, x)
    return x


def _squares_below(build: ProgramBuilder, ball: Ball, x: Block) -> None:
    size, r = x.size, ball.radius
    unit = 2.0 ** math.frexp(r)[1]
    e = build.variables(f"off.{x.name}", size, -up(r), up(r))
    build.rows(f"offs.{x.name}", [(x, 1.0), (e, -1.0)], "=", ball.center)
    q = build.variables(f"square.{x.name}", size, 0.0, up(up(r * r) / unit))
    build.rows(f"squares.{x.name}", [(q, np.ones((1, size)))], "<=", up(up(r * r) / unit))
    steps = math.ceil(math.log2(4 * math.sqrt(size)))
    for k, a in enumerate(sign * unit * 2.0 ** -(k + 1) for k in range(steps) for sign in (1.0, -1.0)):
        build.rows(f"below{k}.{x.name}", [(q, 1.0), (e, -2 * a / unit)], ">=", -(a * a) / unit)
