"""Where a query asks, in floats: first a place that holds all of the query's, then perhaps one that it holds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from ircert.errors import IrcertError
from ircert.exact.rounding import rounded_down, rounded_up
from ircert.geometry.norm import Norm
from ircert.vnnlib.balls import ExactBall
from ircert.vnnlib.queries import Asked, Bounds, Side

SMALLEST = 2.0**-1000
"""A radius for boxes that are single points."""
FREE = Bounds()


def places(asked: Asked) -> list[dict[str, Any]]:
    """Centre, radius, norm and domain of the balls to ask about."""
    ball = asked.ball(0)
    found = [_in_box(asked, *box) for box in _boxes(asked.box(0))] if ball is None else _in_ball(asked, ball)
    # a separation is one of coordinates, whatever the ball's norm
    far = {"optimum": True, "objective_norm": "inf"} if asked.separation is not None else {"optimum": False}
    return [{**place, **far} for place in found]


def _boxes(box: list[Bounds]) -> list[tuple[list[float], list[float]]]:
    """The box rounded outward and, where that is another one that is not empty, inward."""
    sides = [(entry.low[0], entry.high[0]) for entry in box]
    outer = [_down(low) for low, _ in sides], [_up(high) for _, high in sides]
    inner = [_up(low) for low, _ in sides], [_down(high) for _, high in sides]
    fits = outer != inner and all(low <= high for low, high in zip(*inner, strict=True))
    return [outer, inner] if fits else [outer]


def _down(side: Fraction | float) -> float:
    return rounded_down(side) if isinstance(side, Fraction) else side


def _up(side: Fraction | float) -> float:
    return rounded_up(side) if isinstance(side, Fraction) else side


def _in_ball(asked: Asked, ball: ExactBall) -> list[dict[str, Any]]:
    """The ball, cut with the sides of the box that it reaches beyond."""
    box = asked.box(0)
    if any(not entry.low[0] <= c <= entry.high[0] for c, entry in zip(ball.center, box, strict=True)):
        raise IrcertError("the centre of the ball lies outside the bounds of its points", remedy="move one of them")
    if asked.problem == "pseudo" and _point(asked) != list(ball.center):
        raise IrcertError(
            "the single point is not the centre of the ball of the other", remedy="ask about a ball at it"
        )
    cut = [Bounds(_cut(ball, i, each.low, FREE.low), _cut(ball, i, each.high, FREE.high)) for i, each in enumerate(box)]
    balls, boxes = ball.rounded(), _boxes(cut)
    outer, inner = _cut_ball(ball.norm, balls[0], boxes[0]), _cut_ball(ball.norm, balls[-1], boxes[-1])
    low, high = boxes[-1]
    fits = outer != inner and all(a <= c <= b for a, c, b in zip(low, inner["center"], high, strict=True))
    return [outer, inner] if fits else [outer]


def _cut_ball(norm: Norm, ball: tuple[list[float], float], box: tuple[list[float], list[float]]) -> dict[str, Any]:
    return {"center": ball[0], "radius": ball[1], "norm": norm, "domain": {"low": box[0], "high": box[1]}}


def _cut(ball: ExactBall, coordinate: int, side: Side, free: Side) -> Side:
    end = side[0]
    return side if isinstance(end, Fraction) and ball.reaches_beyond(coordinate, end) else free


def _point(asked: Asked) -> list[Fraction]:
    """The single point of `pseudo`."""
    point = [Fraction(entry.low[0]) for entry in asked.box(1)]
    if [Fraction(float(value)) for value in point] != point:
        raise IrcertError("the given point is no float64", remedy="write its coordinates in full")
    return point


def _in_box(asked: Asked, low: list[float], high: list[float]) -> dict[str, Any]:
    """The box as the domain of a ball that holds it, around the single point of `pseudo`, or the middle."""
    if asked.problem == "pseudo":
        center = [float(value) for value in _point(asked)]
    else:
        center = [min(max(a / 2 + b / 2, a), b) for a, b in zip(low, high, strict=True)]
    if any(not a <= c <= b for a, c, b in zip(low, center, high, strict=True)):
        raise IrcertError("the single point lies outside the box of the other")
    reach = max(max(c - a, b - c) for a, c, b in zip(low, center, high, strict=True))
    if not math.isfinite(2 * reach):
        raise IrcertError("the box is wider than floats can say", remedy="narrow it")
    return {"center": center, "radius": max(2 * reach, SMALLEST), "domain": {"low": low, "high": high}}
