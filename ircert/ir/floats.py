"""Numbers that people give, as the floats they are: a number that float64 does not hold is refused, never rounded."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ircert.ir.arrays import Array

Real: TypeAlias = float | Fraction | Decimal | np.integer[Any] | np.floating[Any]
"""A number that people give; it must be one that float64 holds."""
SHOWN = 60


class NotAFloat(ValueError):
    """What is given is no real number, or none that float64 holds; `remedy` says what to do, where there is a way."""

    def __init__(self, problem: str, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.remedy = remedy


def exact_float(given: Any) -> float:
    """The float that equals a real number, perhaps infinite; NotAFloat if there is none."""
    _refuse_masked(given)
    exact = _exact(given.item() if _is_scalar_array(given) else given)
    if isinstance(exact, float):
        return exact
    near = _nearest(exact)
    if math.isinf(near) or Fraction(near) != exact:
        raise NotAFloat(f"{shown(given)} is no float64 number", f"if the nearest one is meant, give {near!r}")
    return near


def exact_floats(given: Any) -> Array:
    """A new array of the floats that equal the entries of a list or array of any shape; NotAFloat if one has none."""
    _refuse_masked(given)
    raw = np.asarray(given) if hasattr(given, "__array__") else _objects(given)
    if raw.dtype.kind == "f" and raw.dtype.itemsize <= 8:
        if np.isnan(raw).any():
            raise NotAFloat("nan is no number")
        return np.asarray(raw.astype(np.float64) + 0.0)
    return np.array([exact_float(value) for value in raw.flat], dtype=np.float64).reshape(raw.shape)


def _refuse_masked(given: Any) -> None:
    """A masked entry is no number, although numpy keeps one behind the mask."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise NotAFloat("a masked entry is no number", "fill it, or leave it out with `fix`")


def _objects(given: Any) -> NDArray[np.object_]:
    """The entries as they were given: numpy would round integers beside floats."""
    try:
        return np.array(given, dtype=object)
    except ValueError:
        raise NotAFloat(f"{shown(given)} is not rectangular") from None


def _is_scalar_array(given: Any) -> bool:
    """Whether this is a number that an array library wraps; numpy's own scalars know their exact value."""
    return hasattr(given, "item") and not isinstance(given, np.generic) and np.ndim(given) == 0


def _exact(value: Any) -> Fraction | float:
    """The number itself, free of a sign of zero; an infinity as a float."""
    if isinstance(value, complex | np.complexfloating):
        raise NotAFloat(f"{shown(value)} is a complex number", "give real numbers")
    try:
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return Fraction(int(value))
        if isinstance(value, float | np.floating | Fraction | Decimal):
            return Fraction(*value.as_integer_ratio())
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:
        raise NotAFloat("nan is no number") from None
    raise NotAFloat(f"{shown(value)} is no number", "give floats or integers")


def _nearest(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def shown(given: Any) -> str:
    """What was given, shortened."""
    try:
        text = str(given) if isinstance(given, Fraction | np.generic) else repr(given)
    except ValueError:  # Python writes no integer of thousands of digits
        return "a very long number"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
