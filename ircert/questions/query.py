"""A question about a network: which problem, about which ball, in which norm."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.geometry.domain import DomainLike, box_of
from ircert.geometry.norm import norm_of
from ircert.ir.arrays import Array
from ircert.ir.floats import NotAFloat, exact_float, exact_floats, shown
from ircert.ir.graph import Graph

Problem: TypeAlias = Literal["local", "pseudo", "transform"]

PROBLEMS = ("local", "pseudo", "transform")


@dataclass(frozen=True, eq=False)
class Query:
    """A question about a fixed ball.

    problem:   `local` (is f injective on it?), `pseudo` (does another point of it map to f(centre)?) or `transform` (is
               other's output a function of f's on it?)
    norm:      of the ball; objective_norm: of the distance that is maximised
    domain:    (low, high), numbers or vectors, or {"low": …, "high": …}: every ball is cut with this box
    """

    problem: str
    center: Any
    radius: Any
    norm: Any = "inf"
    other: Graph | None = None
    domain: DomainLike | None = None
    objective_norm: Any = None
    ball: Ball = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.problem not in PROBLEMS:
            raise QueryError(f"there is no problem {self.problem!r}", remedy=f"the problems are {', '.join(PROBLEMS)}")
        if (self.problem == "transform") != (self.other is not None):
            need = "needs an" if self.problem == "transform" else "takes no"
            raise QueryError(
                f"the problem `{self.problem}` {need} other network",
                remedy="give other=… (--other on the command line) for `transform` only",
            )
        center = _vector(self.center, "the centre")
        norm = norm_of(self.norm)
        low, high = box_of(self.domain, len(center), center)
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "norm", norm)
        object.__setattr__(
            self, "objective_norm", norm if self.objective_norm is None else norm_of(self.objective_norm)
        )
        object.__setattr__(self, "radius", _radius(self.radius))
        object.__setattr__(self, "ball", Ball(center, self.radius, norm, low, high))

    def check(self, graph: Graph) -> None:
        """QueryError unless the question fits the network."""
        for what, network in (("the network", graph), ("the other network", self.other)):
            if network is not None and network.input_dim != len(self.center):
                raise QueryError(
                    f"the centre has {len(self.center)} coordinates but {what} has {network.input_dim} inputs",
                    remedy="give one number per input; `fix` the inputs that should not vary",
                )


def _vector(given: Any, what: str) -> Array:
    try:
        vector = exact_floats(given)
    except NotAFloat as error:
        raise QueryError(f"{what} must be a list of finite numbers, and {error}", remedy=error.remedy) from None
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise QueryError(f"{what} must be a list of finite numbers, got {shown(given)}")
    vector.setflags(write=False)
    return vector


def positive_float(given: Any, what: str) -> float:
    """A positive number, perhaps infinite, that is a float; QueryError if it is not."""
    try:
        number = exact_float(given)
    except NotAFloat as error:
        raise QueryError(f"{what} must be a positive number, and {error}", remedy=error.remedy) from None
    if not number > 0:
        raise QueryError(f"{what} must be a positive number, got {shown(given)}")
    return number


def _radius(given: Any) -> float:
    radius = positive_float(given, "the radius")
    if math.isinf(radius):
        raise QueryError(
            "the radius must be a positive number, got inf", remedy="max_radius=inf asks about the whole space"
        )
    return radius
