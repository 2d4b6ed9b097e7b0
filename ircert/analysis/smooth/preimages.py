"""All points of a ball that a smooth network maps to a value: proved one by one, and none missed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ircert.analysis.smooth.maps import SmoothMap, check_size
from ircert.analysis.smooth.preimage_boxes import Found, PreimageSearch
from ircert.analysis.smooth.roots import Equations, Root, Value
from ircert.errors import QueryError
from ircert.geometry.ball import Ball
from ircert.ir.arrays import Array
from ircert.ir.fractions_text import short
from ircert.ir.graph import Graph

MANY = 4096
"""Undecided boxes that are put together where they touch."""


class UndecidedPreimages(UserWarning):
    """Parts of a ball in which it was not decided whether there are preimages."""


@dataclass(frozen=True, eq=False)
class ProvedPreimage:
    """A solution of f(x) = y: the box within `radius` of `middle` holds exactly one, and so does `around`.

    middle, radius: rational numbers; orientation: the sign of det Df there, 0 where it is not known
    around:         (2, n) corners of a box in which it is the only one
    """

    middle: tuple[Fraction, ...]
    radius: Fraction
    orientation: int
    around: Array = field(repr=False)

    def __repr__(self) -> str:
        return f"<preimage {short(self.middle)}, the only one within {float(self.radius):.3g}>"

    @property
    def point(self) -> Array:
        """The point in floats."""
        return np.array([float(v) for v in self.middle])

    @property
    def set(self) -> Array:
        """(1, n): the point; solutions are isolated."""
        return self.point[None]


class Preimages(list[Any]):
    """Preimages of a value in a ball, and (U, 2, n) boxes in which more may lie.

    All preimages of the ball are listed, or lie in an undecided box.
    """

    def __init__(self, found: Iterable[Any], undecided: Array) -> None:
        super().__init__(found)
        self.undecided = undecided

    @property
    def complete(self) -> bool:
        """Whether there is nothing undecided."""
        return not len(self.undecided)

    def __str__(self) -> str:
        many = f"{len(self) or 'no'} preimage{'s' * (len(self) != 1)}"
        if self.complete:
            return many + "; there are no others"
        places = f"{len(self.undecided)} place{'s' * (len(self.undecided) != 1)}"
        return many + f"; whether there are more is undecided in {places}: {', '.join(self._places())}"

    def _places(self, most: int = 4) -> Iterator[str]:
        for low, high in self.undecided[:most]:
            middle = ", ".join(f"{v:.6g}" for v in (low + high) / 2)
            yield f"({middle}) ± {float((high - low).max()) / 2:.2g}"
        if len(self.undecided) > most:
            yield "…"


def proved_preimages(graph: Graph, y: list[Any], ball: Ball) -> Preimages:
    """All points of a ball with f(x) = y, for as many outputs as inputs; what is undecided is warned of."""
    low, high = ball.box
    if graph.output_dim != graph.input_dim:
        raise QueryError(
            f"preimages of smooth networks need as many outputs as inputs, not {graph.output_dim} of {graph.input_dim}",
            remedy="`select` outputs; with fewer of them than inputs preimages are no points: `fix` inputs",
        )
    check_size(low, high)
    value = Value.of(y)
    smooth = SmoothMap(graph, ball.box)
    found = PreimageSearch(smooth, Equations(graph, value), value, ball).run()
    result = _sorted_out(found, ball)
    if not result.complete:
        warnings.warn(str(result), UndecidedPreimages, stacklevel=3)
    return result


def _sorted_out(found: Found, ball: Ball) -> Preimages:
    """Solutions inside the ball; those that may lie on its border, or outside, are undecided."""
    inside, open_ = [], list(_clusters(found.undecided))
    for root, around in zip(found.roots, found.around, strict=True):
        where = _place(root, ball)
        if where is True:
            inside.append(ProvedPreimage(root.middle, root.radius, root.orientation, np.stack(around)))
        elif where is None:
            sides = np.array([[float(a), float(b)] for a, b in root.sides]).T
            open_.append(np.stack([np.nextafter(sides[0], -np.inf), np.nextafter(sides[1], np.inf)]))
    inside.sort(key=lambda each: each.middle)
    size = len(ball.center)
    return Preimages(inside, np.array(open_).reshape(-1, 2, size))


def _place(root: Root, ball: Ball) -> bool | None:
    """Whether a box lies in a ball (True), outside of it (False), or on its border (None)."""
    corners = [[s[k >> i & 1] for i, s in enumerate(root.sides)] for k in range(1 << len(root.middle))]
    if all(ball.contains(corner) for corner in corners):  # a ball is convex
        return True
    center = [Fraction(v) for v in ball.center.tolist()]
    nearest = [min(max(c, a), b) for c, (a, b) in zip(center, root.sides, strict=True)]
    gone = ball.norm.distance(nearest, center) > Fraction(ball.radius) ** ball.norm.power
    sides = zip(root.sides, ball.low.tolist(), ball.high.tolist(), strict=True)
    gone = gone or any(b < low or a > high for (a, b), low, high in sides)
    return False if gone else None


def _clusters(given: list[Array]) -> Iterator[Array]:
    """Boxes that touch, as one box around all of them; very many stay as they are."""
    boxes = np.array(given)
    if len(boxes) > MANY:
        yield from boxes
        return
    while len(boxes):
        whole, boxes = boxes[0], boxes[1:]
        while (touching := ((boxes[:, 0] <= whole[1]) & (whole[0] <= boxes[:, 1])).all(axis=1)).any():
            more, boxes = boxes[touching], boxes[~touching]
            whole = np.stack(
                [np.minimum(whole[0], more[:, 0].min(axis=0)), np.maximum(whole[1], more[:, 1].max(axis=0))]
            )
        yield whole
