"""Results in words."""

from __future__ import annotations

import math

import numpy as np

from ircert.result.radius import End, Radius
from tests.result.support import made


def test_the_summary_says_what_was_found() -> None:
    text = made(stats={"seconds": {"cells": 0.5}}).summary()
    for part in ("certified: the network is injective", "0.3", "below", "above", "exact", "x = (", "cells 0.500"):
        assert part in text
    fixed = made(asked_radius=1.0, max_radius=None, verdict="refuted")
    assert "not injective on the closed ball of radius 1.0" in fixed.summary()
    lost = made(radius=Radius(End(0.0, "nothing")), witness=None, verdict="unresolved", reason="too many inputs")
    assert "too many inputs" in lost.summary()
    assert "refuted    none" in lost.summary()
    assert "on any ball" in made(radius=Radius(End(0.0, ""), End(0.0, "flat"))).summary()
    assert "every ball" in made(radius=Radius(End(math.inf, "affine")), witness=None).summary()


def test_no_solver_is_named_that_was_not_asked() -> None:
    assert "a solver's floating-point bound" in made(trust="solver", backend="highs").summary()
    assert "no solver was asked" in made(trust="solver").summary()


def test_long_points_are_shortened() -> None:
    assert "…" in made(center=np.zeros(100)).summary()
