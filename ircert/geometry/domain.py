"""The box that every ball is cut with, as people write it: (low, high), where that has only one reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ircert.errors import QueryError
from ircert.ir.arrays import Array
from ircert.ir.floats import NotAFloat, exact_floats, shown

FORM = 'the domain is (low, high), numbers or one number per input, or {"low": …, "high": …}'


class Sides(dict[str, Any]):
    """low and high, written elsewhere than in Python; `form` says how, in errors about them."""

    def __init__(self, low: Any, high: Any, form: str) -> None:
        super().__init__(low=low, high=high)
        self.form = form


class Box(NamedTuple):
    """A domain whose sides are known: the least and the largest value of each input, perhaps infinite."""

    low: Array
    high: Array


DomainLike: TypeAlias = Box | Mapping[str, Any] | Sequence[Any]
"""What people write: (low, high) or {"low": low, "high": high}, each a number or one number per input."""


def box_of(given: DomainLike | None, size: int, center: Array | None = None) -> Box:
    """The box that was asked for; QueryError if it is none, does not hold the centre, or may be another one."""
    if given is None:
        return Box(np.full(size, -np.inf), np.full(size, np.inf))
    box = given if isinstance(given, Box) else _read(given, size, center)
    if (box.low > box.high).any():
        raise QueryError("the domain must have low <= high everywhere", remedy=_form(given))
    if center is not None:
        outside = np.flatnonzero((center < box.low) | (center > box.high))
        if len(outside):
            where = f"coordinate {outside[0]} of the centre"
            raise QueryError(f"{where} lies outside the domain", remedy="move one of them")
    return box


def _read(given: Any, size: int, center: Array | None) -> Box:
    low, high = _sides(given, size)
    for side in (low, high):
        if side.shape not in ((), (1,), (size,)):
            raise QueryError(f"{_form(given)}, got {side.size} numbers for {size} inputs")
    box = Box(np.broadcast_to(low, size) + 0.0, np.broadcast_to(high, size) + 0.0)
    if low.shape == high.shape == (size,) == (2,) and not _names_sides(given):
        _check_reading(given, box, center)
    return box


def _names_sides(given: Any) -> bool:
    """Whether two vectors are surely low and high: by their names, or as a tuple of two arrays, which no pairs are."""
    return isinstance(given, Mapping) or (isinstance(given, tuple) and all(isinstance(v, np.ndarray) for v in given))


def _form(given: Any) -> str:
    return given.form if isinstance(given, Sides) else FORM


def _sides(given: Any, size: int) -> list[Array]:
    """Low and high, each a number or a vector."""
    form = _form(given)
    if isinstance(given, Mapping):
        if set(given) != {"low", "high"}:
            raise QueryError(f"a domain has the keys low and high, got {shown(sorted(map(str, given)))}", remedy=FORM)
        given = given["low"], given["high"]
    try:
        parts = [exact_floats(side) for side in given]
    except NotAFloat as error:
        raise QueryError(f"{form}, and {error}", remedy=error.remedy) from None
    except TypeError:
        raise QueryError(f"{FORM}, got {shown(given)}") from None
    if len(parts) == size and all(part.shape == (2,) for part in parts) and size != 2:
        low, high = np.array(parts).T.tolist()
        raise QueryError(f"{FORM}", remedy=f"for these pairs write {_spelt(low, high)}")
    if len(parts) != 2:
        raise QueryError(f"{FORM}, got {len(parts)} parts")
    return parts


def _check_reading(given: Any, box: Box, center: Array | None) -> None:
    """QueryError where two pairs of numbers may as well be the intervals of two inputs."""
    low, high = np.array(box).T
    possible = (low <= high).all() and (low < high).any()  # a single point is not what people ask about
    if center is not None:
        possible = possible and (low <= center).all() and (center <= high).all()
    if possible and not (low[1] == high[0]):  # then both are the same box
        raise QueryError(
            f"the domain {shown(given)} can be read in two ways",
            remedy=f"write {_spelt(box.low.tolist(), box.high.tolist())} if the pairs are low and high, "
            f"or {_spelt(low.tolist(), high.tolist())} if each is the interval of an input",
        )


def _spelt(low: list[float], high: list[float]) -> str:
    return f'{{"low": {low}, "high": {high}}}'
