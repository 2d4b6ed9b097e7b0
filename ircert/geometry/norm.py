"""The norms of balls and distances."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np

from ircert.errors import QueryError

Norm: TypeAlias = Literal["inf", "1", "2"]

_NORMS: dict[object, Norm] = {"inf": "inf", math.inf: "inf", 1: "1", "1": "1", 2: "2", "2": "2"}


def norm_of(given: object) -> Norm:
    """A norm as people write it: "inf", 1, 2, "1", "2" or numpy.inf."""
    try:
        if isinstance(given, bool | np.bool_ | complex):  # True == 1 == 1 + 0j
            raise KeyError(given)
        return _NORMS[given.lower() if isinstance(given, str) else given]
    except (KeyError, TypeError):
        raise QueryError(f"there is no norm {given!r}", remedy='the norms are 1, 2 and "inf"') from None
