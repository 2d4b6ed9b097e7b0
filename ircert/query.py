"""A question about a network: which problem, about which ball, in which norm."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from ircert.errors import QueryError
from ircert.ir.arrays import Array
from ircert.ir.graph import Graph

Norm: TypeAlias = Literal["inf", "1", "2"]
Problem: TypeAlias = Literal["local", "pseudo", "transform"]

PROBLEMS = ("local", "pseudo", "transform")
_NORMS: dict[object, Norm] = {"inf": "inf", math.inf: "inf", 1: "1", "1": "1", 2: "2", "2": "2"}


def norm_of(given: object) -> Norm:
    """A norm as people write it: "inf", 1, 2, "1", "2" or numpy.inf."""
    try:
        if isinstance(given, bool):
            raise KeyError(given)
        return _NORMS[given.lower() if isinstance(given, str) else given]
    except (KeyError, TypeError):
        raise QueryError(f"there is no norm {given!r}", remedy='the norms are 1, 2 and "inf"') from None


@dataclass(frozen=True)
class Ball:
    """The closed ball of a norm around a centre, cut with a box (infinite where there is no domain)."""

    center: Array
    radius: float
    norm: Norm
    low: Array
    high: Array

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """The smallest box of floats that surely holds the ball: rounded outward."""
        below = np.nextafter(self.center - self.radius, -np.inf)
        above = np.nextafter(self.center + self.radius, np.inf)
        return np.maximum(below, self.low), np.minimum(above, self.high)

    def contains(self, point: Iterable[Any]) -> bool:
        """Whether a point lies in the ball and the domain; exact if the coordinates are (floats are)."""
        point = [Fraction(x) for x in point]
        offsets = [abs(x - Fraction(c)) for x, c in zip(point, self.center.tolist(), strict=True)]
        radius = Fraction(self.radius)
        inside = {
            "inf": lambda: max(offsets) <= radius,
            "1": lambda: sum(offsets) <= radius,
            "2": lambda: sum(d * d for d in offsets) <= radius * radius,
        }[self.norm]()
        bounds = zip(point, self.low.tolist(), self.high.tolist(), strict=True)
        return bool(inside) and all(low <= x <= high for x, low, high in bounds)


@dataclass(frozen=True, eq=False)
class Query:
    """A question about a fixed ball.

    problem:   `local` (is f injective on it?), `pseudo` (does another point of it map to f(centre)?) or `transform` (is
               other's output a function of f's on it?)
    norm:      of the ball; objective_norm: of the distance that is maximised
    domain:    (low, high), numbers or vectors: every ball is cut with this box
    """

    problem: str
    center: Any
    radius: float
    norm: Any = "inf"
    other: Graph | None = None
    domain: tuple[Any, Any] | None = None
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
        low, high = _domain(self.domain, len(center))
        outside = np.flatnonzero((center < low) | (center > high))
        if len(outside):
            raise QueryError(
                f"coordinate {outside[0]} of the centre lies outside the domain", remedy="move one of them"
            )
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
        vector = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise QueryError(f"{what} must be a list of numbers, got {str(given)[:60]!r}") from None
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise QueryError(f"{what} must be a list of finite numbers, got {str(given)[:60]!r}")
    vector += 0.0
    vector.setflags(write=False)
    return vector


def _radius(given: Any) -> float:
    try:
        radius = float(given)
    except (TypeError, ValueError):
        radius = math.nan
    if isinstance(given, bool) or not (math.isfinite(radius) and radius > 0):
        raise QueryError(f"the radius must be a positive number, got {given!r}")
    return radius


def _domain(given: tuple[Any, Any] | None, size: int) -> tuple[Array, Array]:
    if given is None:
        return np.full(size, -np.inf), np.full(size, np.inf)
    try:
        low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), size) + 0.0 for side in given)
    except (TypeError, ValueError):
        raise QueryError("the domain is (low, high), numbers or one number per input") from None
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        raise QueryError("the domain must have low <= high everywhere")
    return low, high
